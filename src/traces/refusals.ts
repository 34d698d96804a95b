import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestRefusal } from '../platform/http/errors.ts';
import { STORE_UNAVAILABLE } from '../platform/http/outages.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { maskedPath } from '../platform/masking.ts';
import { NOTHING_HERE } from '../platform/oauth-error.ts';
import { explainRefusal } from './rules/explain-refusal.ts';
import { sentGrantType, sentParameters } from './rules/sent-parameters.ts';
import type { RefusedStep, StepFacts, StepName } from './step.ts';

/** The step of a route, by the end of its pattern. */
const STEPS: readonly (readonly [RegExp, StepName])[] = [
  [/\/authorize$|\/continue$/, 'authorize'],
  [/\/login$|\/login\/with\/|\/signup$/, 'sign-in'],
  [/\/consent$/, 'consent'],
  [/\/device_authorization$|\/device$/, 'device'],
  [/\/token$/, 'token'],
  [/\/userinfo$/, 'userinfo'],
  [/\/introspect$/, 'introspection'],
  [/\/revoke$/, 'revocation'],
  [/\/oidc\/register(\/|$)/, 'registration'],
  [/\/logout$|\/end-session$/, 'sign-out'],
  [/\/api\/v2\/admin\//, 'admin'],
  [/\/account(\/|$)/, 'account'],
];

/** The steps whose descriptions are kept. Elsewhere one may repeat what a person or an operator typed. */
const FOR_PROGRAMS: ReadonlySet<StepName> = new Set([
  'authorize',
  'device',
  'token',
  'refresh',
  'userinfo',
  'introspection',
  'revocation',
  'sign-out',
  'registration',
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
  // A device asks every few seconds until the person has answered: RFC 8628 §3.5.
  if (refusal?.code === 'authorization_pending') return undefined;
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
      description: isDescribed(step, refusal, path) ? refusal?.description : undefined,
      reason: refusal?.reason,
      rule: detail?.rule,
      ...undescribed({ step, status, path, isWithoutCookies: request.headers.cookie === undefined }, refusal),
      ...(detail?.expected !== undefined && { expected: detail.expected }),
      ...(detail?.received !== undefined && { received: detail.received }),
      ...(detail?.remedy !== undefined && { remedy: detail.remedy }),
      ...(unreadable !== undefined && {
        reason: unreadable.cause,
        expected: unreadable.expected,
        received: `Origin: ${request.headers.origin}`,
        remedy: unreadable.remedy,
      }),
      sent: sentParameters(request.query, request.body),
    }),
  };
}

/** The errors whose descriptions are made of our own words alone. */
const REPEAT_NOTHING: ReadonlySet<string> = new Set([
  'invalid_token',
  'idempotency_key_reused',
  'insufficient_permission',
]);

/** The fields of an app that hold no words of a person: what is said of them is made of names that programs use. */
const TECHNICAL =
  /^(?:tokenEndpointAuthMethod private_key_jwt needs\b|(?:jwks\.keys|jwks|redirectUris|postLogoutRedirectUris|grantTypes|scopes|type|endpoints|resource|tokenEndpointAuthMethod|jwksUri|idTokenSignedResponseAlg|backchannelLogoutUri|requirePkce|defaultMaxAge)\b(?:\[\d{1,3}\])? (?:must|is)\b)/;

/** The routes of a registration. What others say of `scopes` may name another app, in the words of its developer. */
const REGISTRATION = /\/admin\/clients(\/:clientId(\/consent-approval)?)?$/;

const isOfClient = (path: string, { description }: RequestRefusal): boolean =>
  REGISTRATION.test(path) && TECHNICAL.test(description);

/** What is said of a token, an admin key or a technical field of an app repeats nothing that a person typed. */
const isDescribed = (step: StepName, refusal: RequestRefusal | null, path: string): boolean =>
  FOR_PROGRAMS.has(step) ||
  (refusal !== null &&
    (REPEAT_NOTHING.has(refusal.code) || refusal.description.startsWith(NOTHING_HERE) || isOfClient(path, refusal)));

/** The field that a description begins with: a path such as `redirectUris[0]`. */
const FIELD =
  /^(?:--)?(?!There )([A-Za-z][A-Za-z_]{0,39}(?:\[\d{1,3}\])?(?:\.[A-Za-z]{1,40}(?:\[\d{1,3}\])?)*) (?:must|is)\b/;

/** What a description says of the field that it begins with. */
const RULE = /\bmust\b.*(?=\.$)/s;

/** The commands that list what the paths of the admin API name. */
const LISTS: readonly (readonly [RegExp, string])[] = [
  [/\/admin\/users(\/|$)/, 'tessera user list'],
  [/\/admin\/clients(\/|$)/, 'tessera client list'],
  [/\/admin\/groups(\/|$)/, 'tessera group list'],
  [/\/admin\/organizations(\/|$)/, 'tessera org list'],
  [/\/admin\/invitations(\/|$)/, 'tessera invite list'],
  [/\/admin\/admin-keys(\/|$)/, 'tessera admin-key list'],
];

/** Of a field that does not exist. Its name is shown where it can be the name of one. */
const UNKNOWN_FIELD =
  /^(?<name>[A-Za-z_]{1,40}) is not a field here\.(?: Did you mean (?<meant>[A-Za-z]{1,40})\?)? The fields are:/;

const TAKEN = /^([A-Za-z]{1,40}) is taken\b/;
const FIXED_FIELD = /^(?<name>[A-Za-z]{1,40}) cannot be changed\. /;
const MISSING_FIELD = /^([A-Za-z]{1,40}) is missing\./;
const UNKNOWN_PARAMETER =
  /^(?<name>[A-Za-z_]{1,40}) is not a parameter here:[^.]*\.(?<advice> Pages are read with cursor: [A-Za-z ]+\.)?/;

interface RefusedRequest {
  readonly step: StepName;
  readonly status: number;
  readonly path: string;
  readonly isWithoutCookies: boolean;
}

/** The secrets of a client: what is said of them repeats nothing that a person typed. */
const SECRETS = /\/admin\/clients\/:clientId\/secrets(\/|$)/;

/** A description of our own words, whose first sentence is the cause. */
function inSentences(description: string): Pick<StepFacts, 'received' | 'remedy'> {
  const [cause = '', ...advice] = description.split('. ');
  return { received: cause, ...(advice.length > 0 && { remedy: advice.join('. ') }) };
}

/** Of a description that is not kept, the field that it begins with. */
function undescribed(
  { step, status, path, isWithoutCookies }: RefusedRequest,
  refusal: RequestRefusal | null,
): Pick<StepFacts, 'received' | 'remedy'> {
  if (refusal !== null && isOfClient(path, refusal)) {
    const name = FIELD.exec(refusal.description)?.[1] ?? 'a field';
    if (refusal.description === `${name} is missing.`)
      return { received: `no ${name}`, remedy: `Send ${name} as well.` };
    const rule = RULE.exec(refusal.description)?.[0];
    if (status === 409) return inSentences(refusal.description);
    return {
      received: `a value of ${name} that was refused`,
      ...(rule !== undefined && { remedy: `Correct ${name}: it ${rule}.` }),
    };
  }
  if (isDescribed(step, refusal, path) && !(step === 'device' && refusal === null)) return {};
  if (refusal === null && isWithoutCookies) {
    return {
      received: 'a form without cookies: they were cleared, or are blocked',
      remedy:
        'Allow cookies for this site, and use the host of the base URL everywhere, not localhost in one place and an IP address in another.',
    };
  }
  if (refusal === null)
    return { received: 'a form that is incomplete, or of an earlier page', remedy: 'Reload the page.' };
  if (status === 409 && SECRETS.test(path)) return inSentences(refusal.description);
  if (refusal.reason !== undefined || refusal.detail?.remedy !== undefined) return {};
  const field = FIELD.exec(refusal.description)?.[1];
  if (field !== undefined && refusal.detail?.expected !== undefined) {
    return {
      received: `a value of ${field} that was refused`,
      remedy: 'Send a value as it is expected. What was sent is not kept here.',
    };
  }
  if (refusal.description.startsWith('the body must be ') && refusal.detail?.expected !== undefined) {
    return { received: 'a body of another form', remedy: `Send ${refusal.detail.expected} as the body.` };
  }
  const taken = TAKEN.exec(refusal.description)?.[1];
  if (taken !== undefined) {
    return {
      received: `a value of ${taken} that another record has`,
      remedy: `Choose another ${taken}, or change the record that has this one.`,
    };
  }
  if (step === 'admin' && status === 404 && path.includes('/:')) {
    const list = LISTS.find(([pattern]) => pattern.test(path))?.[1];
    return {
      received: 'an id that nothing here has, or whose record the caller may not see',
      remedy: `Take the id from the list of its kind${list === undefined ? '' : `: ${list}`}`,
    };
  }
  const unknown = UNKNOWN_FIELD.exec(refusal.description)?.groups;
  if (unknown !== undefined) {
    const { name, meant } = unknown;
    return {
      received: `a field named ${name}`,
      remedy: meant === undefined ? 'Correct the name: the response lists the fields.' : `Send ${meant} instead.`,
    };
  }
  const fixed = FIXED_FIELD.exec(refusal.description)?.groups?.['name'];
  if (fixed !== undefined) {
    return {
      received: `${fixed}, which cannot be changed`,
      remedy: 'Leave it out, or make another record with the value that it shall have.',
    };
  }
  const missing = MISSING_FIELD.exec(refusal.description)?.[1];
  if (missing !== undefined) return { received: `no ${missing}`, remedy: `Send ${missing} as well.` };
  const parameter = UNKNOWN_PARAMETER.exec(refusal.description)?.groups;
  if (parameter !== undefined) {
    return {
      received: `a parameter named ${parameter['name']}`,
      remedy: parameter['advice']?.trim() ?? 'Correct the name: the response lists the parameters.',
    };
  }
  return {
    ...(field !== undefined && { received: `a value of ${field} that was refused` }),
    remedy:
      'Correct what the response said. Its text is not kept here, because it may repeat what a person or an operator typed.',
  };
}

function stepOf({ body }: FastifyRequest, path: string): StepName {
  const step = stepOfRoute(path);
  return step === 'token' && sentGrantType(body) === 'refresh_token' ? 'refresh' : step;
}
