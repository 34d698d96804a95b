import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { adviceForMetadata } from '../../clients/rules/registration-metadata.ts';
import { acceptJson } from '../../platform/http/bodies.ts';
import { readByHandler } from '../../platform/http/parameters.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import { describeIgnored } from '../../traces/rules/ignored.ts';
import { answer } from '../client-authentication/client-requests.ts';
import { deleteOwn, type RegistrationParts, readOwn, register, replaceOwn } from './register.ts';
import { REGISTRATION_PATH, registrationResponse } from './response.ts';
import * as schemas from './route-schemas.ts';

interface RegistrationServices extends RegistrationParts {
  readonly issuer: string;
  readonly recordThrottled: RecordThrottled;
  readonly traces: Pick<TraceRecorder, 'completed'>;
}

/** Nobody is signed in by it, so the page of any app may register there. */
const PAGES = { config: { readers: 'anyone' } } as const;

/** The endpoints by which apps register themselves, and manage that: RFC 7591 and RFC 7592. */
export function registrationRoutes(app: FastifyInstance, services: RegistrationServices): void {
  app.register(async (scope) => {
    acceptJson(scope);
    // The metadata has errors of its own.
    scope.setValidatorCompiler(readByHandler);

    scope.post(REGISTRATION_PATH, { ...PAGES, schema: schemas.registerSchema }, async (request, reply) => {
      const token = tokenOf(request);
      const { client, registrationToken, clientSecret, ignored } = await recorded(request, undefined, () =>
        register(services, request.body, token, originOf(request)),
      );
      trace(request, client.id, 'An app registered itself.', ignored);
      reply.code(201);
      return answer(reply, registrationResponse(client, { ...services, registrationToken, clientSecret }));
    });

    const own = `${REGISTRATION_PATH}/:clientId`;
    scope.get<{ Params: { clientId: string } }>(own, { schema: schemas.readOwnSchema }, async (request, reply) => {
      const about = aboutOwn(request);
      const client = await recorded(request, about.id, () => readOwn(services, about));
      return sendOwn(reply, client, about.token, undefined);
    });

    scope.put<{ Params: { clientId: string } }>(own, { schema: schemas.replaceOwnSchema }, async (request, reply) => {
      const about = aboutOwn(request);
      const { client, clientSecret, ignored } = await recorded(request, about.id, () =>
        replaceOwn(services, about, request.body),
      );
      trace(request, client.id, 'An app changed its registration.', ignored);
      return sendOwn(reply, client, about.token, clientSecret);
    });

    scope.delete<{ Params: { clientId: string } }>(own, { schema: schemas.deleteOwnSchema }, async (request, reply) => {
      const about = aboutOwn(request);
      await recorded(request, about.id, () => deleteOwn(services, about));
      return reply.code(204).header('cache-control', 'no-store').send();
    });
  });

  const sendOwn = (
    reply: FastifyReply,
    client: Parameters<typeof registrationResponse>[0],
    registrationToken = '',
    clientSecret: string | undefined,
  ): FastifyReply => answer(reply, registrationResponse(client, { ...services, registrationToken, clientSecret }));

  /** Records a refused token once a minute, so that a flood writes nothing more. */
  async function recorded<T>(request: FastifyRequest, id: string | undefined, work: () => Promise<T>): Promise<T> {
    if (id !== undefined) request.subject = { clientId: id };
    try {
      const result = await work();
      if (id !== undefined) request.subject = { clientId: id, proof: 'client' };
      return result;
    } catch (error) {
      if (error instanceof OAuthError && error.status === 401 && error.reason !== 'no token sent') {
        await services.recordThrottled({
          ...{ at: services.clock(), type: 'registration.refused', outcome: 'failure' },
          ...{ origin: originOf(request), details: { reason: error.reason } },
        });
      }
      throw error;
    }
  }

  function trace(request: FastifyRequest, clientId: string, description: string, ignored: readonly string[]): void {
    const { method, routeOptions } = request;
    const left = describeIgnored({ parameters: ignored, parameterAdvice: adviceForMetadata });
    services.traces.completed.push({
      ...{ at: services.clock(), requestId: request.id, step: 'registration', clientId },
      facts: { method, path: routeOptions.url, description, ignored: left },
    });
  }
}

/** RFC 6750 §2.1. A header that is malformed is no valid token: without it, an app might register openly that was to have one. */
const tokenOf = ({ headers: { authorization } }: FastifyRequest): string | undefined =>
  authorization && (/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');

function aboutOwn(request: FastifyRequest<{ Params: { clientId: string } }>): {
  readonly id: string;
  readonly token: string | undefined;
  readonly origin: Origin;
} {
  const id = request.params.clientId;
  return { id, token: tokenOf(request), origin: originOf(request, { type: 'client', id }) };
}
