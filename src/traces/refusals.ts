import type { FastifyReply, FastifyRequest } from 'fastify';
import { STORE_UNAVAILABLE } from '../platform/http/outages.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { maskedPath } from '../platform/masking.ts';
import { explainRefusal } from './rules/explain-refusal.ts';
import { sentGrantType, sentParameters } from './rules/sent-parameters.ts';
import type { RefusedStep, StepName } from './step.ts';

/** The step of a route, by the end of its pattern. */
const STEPS: readonly (readonly [RegExp, StepName])[] = [
  [/\/authorize$|\/continue$/, 'authorize'],
  [/\/login$|\/signup$/, 'sign-in'],
  [/\/consent$/, 'consent'],
  [/\/token$/, 'token'],
  [/\/userinfo$/, 'userinfo'],
  [/\/introspect$/, 'introspection'],
  [/\/revoke$/, 'revocation'],
  [/\/logout$|\/end-session$/, 'sign-out'],
  [/\/api\/v2\/admin\//, 'admin'],
  [/\/account(\/|$)/, 'account'],
];

/** The steps whose descriptions are kept. Elsewhere one may repeat what a person or an operator typed. */
const FOR_PROGRAMS: ReadonlySet<StepName> = new Set([
  'authorize',
  'token',
  'refresh',
  'userinfo',
  'introspection',
  'revocation',
  'sign-out',
  'cross-origin',
  'other',
]);

const UNTRACED = /\/health\/(live|ready)$/;

function stepOfRoute(route: string): StepName {
  return STEPS.find(([pattern]) => pattern.test(route))?.[1] ?? 'other';
}

/** The step that a refused request was; undefined if it is not traced. */
export function refusedStep(request: FastifyRequest, reply: FastifyReply): RefusedStep | undefined {
  const { refusal, subject, unreadable } = request;
  const status = reply.statusCode;
  if (refusal?.reason === STORE_UNAVAILABLE) return undefined;
  const route = request.routeOptions.url;
  if (route !== undefined && UNTRACED.test(route)) return undefined;
  const path = route ?? maskedPath((request.raw.url ?? '').split('?', 1)[0] ?? '');
  const step = unreadable === undefined ? stepOf(request, path) : 'cross-origin';
  const { detail } = refusal ?? {};
  return {
    requestId: request.id,
    step,
    // Anyone can send any text as an id.
    clientId: subject?.clientId !== undefined && isSnowflake(subject.clientId) ? subject.clientId : null,
    accountId: subject?.accountId,
    proof: subject?.proof,
    flow: detail?.flow ?? subject?.flow,
    address: request.address,
    facts: explainRefusal(step, {
      method: request.method,
      path,
      status,
      error: refusal?.code,
      description: FOR_PROGRAMS.has(step) ? refusal?.description : undefined,
      reason: refusal?.reason,
      rule: detail?.rule,
      expected: detail?.expected,
      received: detail?.received,
      remedy: detail?.remedy,
      ...(unreadable !== undefined && {
        reason: unreadable,
        expected: detail?.expected ?? 'the origin of a redirect URI of an active public client',
        received: `Origin: ${request.headers.origin}`,
        remedy: unreadable,
      }),
      sent: sentParameters(request.query, request.body),
    }),
  };
}

function stepOf({ body }: FastifyRequest, path: string): StepName {
  const step = stepOfRoute(path);
  return step === 'token' && sentGrantType(body) === 'refresh_token' ? 'refresh' : step;
}
