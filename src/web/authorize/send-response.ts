import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnregistered } from '../../clients/rules/unregistered.ts';
import type { Client } from '../../clients/store.ts';
import type { Site } from '../../pages/layout.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { RequestRefusal } from '../../platform/http/errors.ts';
import { redirect } from '../../platform/http/server.ts';
import type { IssueResult } from '../../protocol/authorize/issue-code.ts';
import type { RedirectTarget } from '../../protocol/authorize/rules/check-target.ts';
import {
  type AuthorizationRequest,
  type ClientResponse,
  errorResponse,
  locationOf,
  type RedirectedError,
} from '../../protocol/authorize/rules/request.ts';
import { readVisitor, type Visitor } from '../../sessions/sessions.ts';
import type { Browser, Browsers } from '../browser/browser.ts';
import { sendDeviceAnswer, sendDeviceGone } from './device-answer.ts';
import { sendFormPost } from './form-post.ts';
import { sendLeavePage } from './leave-page.ts';

/** What responses to clients need. */
interface ResponseServices extends SessionServices {
  readonly browsers: Browsers;
  readonly site: Site;
  readonly issuer: string;
}

/** Sends a response to the client, through the browser. */
export const sendResponse = (
  services: Omit<ResponseServices, 'issuer'>,
  request: FastifyRequest,
  reply: FastifyReply,
  response: ClientResponse,
): FastifyReply | Promise<FastifyReply> => {
  switch (response.mode) {
    case 'query':
      return redirect(request, reply, locationOf(response));
    case 'form_post':
      return sendFormPost(reply, services.site, response);
    case 'device':
      return sendDeviceAnswer(services, request, reply, response.parameters['error'] === undefined);
  }
};

/** Sends a code that was issued, or why none was. */
export const sendIssued = (
  services: ResponseServices,
  request: FastifyRequest,
  reply: FastifyReply,
  authorization: AuthorizationRequest,
  result: Exclude<IssueResult, { kind: 'changed' }>,
): FastifyReply | Promise<FastifyReply> =>
  result.kind === 'device gone'
    ? sendDeviceGone(services, request, reply)
    : result.kind === 'response'
      ? sendResponse(services, request, reply, result.response)
      : sendErrorResponse(services, request, reply, authorization, result.refusal);

/** A redirected error as the refusal of its request. */
export const refusalOfRedirect = ({ error, reason, description, detail }: RedirectedError): RequestRefusal => ({
  code: error,
  reason,
  description,
  detail,
});

/**
 * Sends an error to the client, which also goes to the log and the metrics. The person has been authenticated, or sent it themselves:
 * otherwise it is {@link sendEarlyError}.
 */
export function sendErrorResponse(
  services: ResponseServices,
  request: FastifyRequest,
  reply: FastifyReply,
  target: RedirectTarget | AuthorizationRequest,
  error: RedirectedError,
): FastifyReply | Promise<FastifyReply> {
  request.refusal = refusalOfRedirect(error);
  return sendResponse(services, request, reply, errorResponse(target, error, services.issuer));
}

/** Who is sent away with an error, and to whom. */
export interface Sent {
  readonly client: Pick<Client, 'name' | 'registeredBy' | 'acceptedAt'>;
  /** Whether the client asked for a response without any page (`prompt=none`). */
  readonly isSilent: boolean;
  /** Read where it matters, unless it is known. */
  readonly visitor?: Visitor['kind'];
}

/**
 * Sends an error to the client, of a request whose person may not have been authenticated. To an app that no operator answers for, such a
 * person is sent by a page that names it: RFC 9700 §4.11.2.
 */
export async function sendEarlyError(
  services: ResponseServices,
  request: FastifyRequest,
  reply: FastifyReply,
  target: RedirectTarget | AuthorizationRequest,
  error: RedirectedError,
  { client, isSilent, visitor }: Sent,
): Promise<FastifyReply> {
  const mayLead = !isUnregistered(client) || isSilent || target.responseMode === 'device';
  if (mayLead || (visitor ?? (await visitorOf(services, request, reply))) !== 'anonymous') {
    return sendErrorResponse(services, request, reply, target, error);
  }
  request.refusal = refusalOfRedirect(error);
  return sendLeavePage(reply, services.site, client, errorResponse(target, error, services.issuer), error);
}

/** What finds out who the person is. */
interface SessionServices {
  readonly browsers: Browsers;
  readonly database: Pick<Database, 'read'>;
  readonly clock: Clock;
}

/** The hash of the session of a browser. */
export const hashOf = ({ sessionSecret }: Pick<Browser, 'sessionSecret'>): string | undefined =>
  sessionSecret === undefined ? undefined : digest(sessionSecret);

async function visitorOf(
  { browsers, database, clock }: SessionServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Visitor['kind']> {
  const session = hashOf(browsers.of(request, reply));
  return (await database.read(() => readVisitor(session, clock()))).kind;
}
