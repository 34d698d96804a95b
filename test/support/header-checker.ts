/**
 * Holds the header of every answer that a test of this process gets against what every answer must carry (HB-01 to HB-03,
 * SE-02), and its body against client secrets that have no business there (AD-06).
 */
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { afterEach } from 'node:test';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../src/pages/html.ts';
import { en } from '../../src/pages/messages.ts';

/** What caches may keep: it is the same for everyone. */
const PUBLIC = /\/(assets|avatars|app-pictures|\.well-known)\/|\/openapi\.json$|\/api(\/[a-z-]+)?$/;
/** By itself: the signature of a token has every text of this length now and then. */
const CLIENT_SECRET = /(?<![A-Za-z0-9_-])tcs_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/;
/** Where a client secret is shown, once: to the operator who asked for it, and to the visitor whose own app it is. */
const SHOWS_SECRETS =
  /^POST .*\/api\/v2\/admin\/clients(\/:clientId\/secrets)?$|^POST .*\/console\/apps\/(new|rotate-secret)$|^(GET|POST) .*\/playground(\/callback)?$|^(POST|PUT) .*\/oidc\/register(\/:clientId)?$/;
/** A message as mail programs show it has styles of its own, and is alone in a sandbox without scripts. */
const MESSAGE = /\/mailbox\/:id\/html$/;
const MESSAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** What is wrong with a cookie as it is set: RFC 6265bis §4.1.3, decisions §7. */
export function cookieProblem(line: string): string | undefined {
  const [pair = '', ...attributes] = line.split('; ');
  const [name = '', value = ''] = pair.split('=');
  // The mailbox of developers: no page of another site opens it, and no other page gets its cookie.
  const isMailbox = /^(__Secure-)?tessera_mailbox(_[\w-]{8})?$/.test(name);
  const expected = isMailbox ? ['HttpOnly', 'SameSite=Strict'] : ['Path=/', 'HttpOnly', 'SameSite=Lax'];
  for (const attribute of expected) {
    if (!attributes.includes(attribute)) return `${name} without ${attribute}`;
  }
  if (attributes.some((attribute) => /^Domain/i.test(attribute))) return `${name} with a Domain`;
  if (isMailbox && !attributes.some((attribute) => /^Path=.*\/mailbox$/.test(attribute)))
    return `${name} for other pages`;
  const prefix = isMailbox ? '__Secure-' : '__Host-';
  if (name.startsWith(prefix) !== attributes.includes('Secure')) return `${name}: ${prefix} and Secure go together`;
  if (!isMailbox && !/^(__Host-)?tessera_/.test(name)) return `an unknown cookie ${name}`;
  // Says only that a passkey was declined.
  if (/^(__Host-)?tessera_no_passkey(_[\w-]{8})?$/.test(name)) return value === '1' ? undefined : `${name} is ${value}`;
  // What the account says once.
  if (/^(__Host-)?tessera_said(_[\w-]{8})?$/.test(name)) {
    return /^(created|kept|recovered|disconnected|notConnected|notProved)?$/.test(value)
      ? undefined
      : `${name} is ${value}`;
  }
  // Sealed by the server, for this browser.
  if (/^(__Host-)?tessera_(new_codes|draft|named|upstream)(_[\w-]{8})?$/.test(name)) {
    return /^[A-Za-z0-9_.-]{0,3800}$/.test(value) ? undefined : `${name} is ${value}`;
  }
  // A tag and 256 random bits for each of the accounts that signed in last.
  if (/^(__Host-)?tessera_known(_[\w-]{8})?$/.test(name)) {
    return /^[\w-]{51}(\.[\w-]{51}){0,7}$/.test(value) ? undefined : `${name} is no list of marks`;
  }
  // A cookie that is taken away is empty; every other one is 256 random bits.
  if (value !== '' && !/^[A-Za-z0-9_-]{43}$/.test(value)) return `${name} is no secret of 256 bits`;
  return undefined;
}

export type Headers = Readonly<Record<string, number | string | string[] | undefined>>;

/** Routes whose every answer is a step of an authorization flow, which may run in a popup (decisions §10). */
const IN_FLOW = /\/(oauth|oidc)\/authorize$|\/(continue|consent|no-access)$/;
/** Routes that are steps of a flow only where a request is pending. */
const PERHAPS_IN_FLOW =
  /(?<!\/oidc)\/(login|login\/code|login\/code\/enter|login\/verify|login\/verify\/passkey|login\/passkey|login\/enroll|login\/enroll\/passkey|login\/verify\/used|recovery-codes|login\/come-back|login\/with\/:name(\/callback|\/new)?|signup|signup\/verify|logout)$/;

const openerPolicyOf = (url: string, headers: Headers): string => {
  if (IN_FLOW.test(url)) return 'unsafe-none';
  const isPending = PERHAPS_IN_FLOW.test(url) && headers['cross-origin-opener-policy'] === 'unsafe-none';
  return isPending ? 'unsafe-none' : 'same-origin';
};

/** What is wrong with the header of an answer. */
export function headerProblems(url: string, headers: Headers): readonly string[] {
  const expected: Readonly<Record<string, string>> = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': openerPolicyOf(url, headers),
  };
  const problems = Object.entries(expected)
    .filter(([name, value]) => headers[name] !== value)
    .map(([name, value]) => `${name} is ${headers[name]} and not ${value}`);
  for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-credentials']) {
    if (headers[name] !== undefined) problems.push(`there is ${name}`);
  }
  if (headers['cache-control'] !== 'no-store' && !PUBLIC.test(url)) problems.push('a cache may keep it');
  const type = String(headers['content-type'] ?? '');
  if (type.startsWith('text/') && !/; charset=utf-8$/i.test(type)) problems.push(`a text without its charset: ${type}`);
  if (MESSAGE.test(url) && headers['content-security-policy'] === MESSAGE_POLICY) return problems;
  if (type.startsWith('text/html')) {
    const policy = String(headers['content-security-policy']).split('; ');
    for (const directive of POLICY) if (!policy.includes(directive)) problems.push(`a page without ${directive}`);
    if (!policy.some((directive) => directive.startsWith('form-action '))) problems.push('a page without form-action');
    if (/unsafe-|\*/.test(policy.join())) problems.push(`a policy that is too wide: ${policy.join('; ')}`);
  }
  const cookies = [headers['set-cookie'] ?? []].flat().map(String);
  return [...problems, ...cookies.flatMap((line) => cookieProblem(line) ?? [])];
}

/** Where a body shows a client secret that its route has no reason to show. */
export const showsSecret = (route: string, body: unknown): boolean =>
  typeof body === 'string' && CLIENT_SECRET.test(body) && !SHOWS_SECRETS.test(route);

/** Where the title of a page does not say what the page shows: whether something has to be corrected (WCAG 2.2, 2.4.2 and 3.3.1). */
export const isMistitled = (body: unknown): boolean =>
  typeof body === 'string' &&
  body.startsWith('<!doctype html>') &&
  body.includes(html`<title>${en.problemPage('')}`.text) !== /aria-invalid="true"|role="alert"/.test(body);

const routeOf = ({ method, routeOptions: { url }, url: asked }: FastifyRequest): string => `${method} ${url ?? asked}`;

const found: string[] = [];

function watch(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (showsSecret(routeOf(request), payload)) found.push(`${routeOf(request)}: the body shows a client secret`);
    if (isMistitled(payload)) found.push(`${routeOf(request)}: the title does not say whether something is wrong`);
    done();
  });
  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done) => {
    // A preflight is kept as its own headers say, and has no body.
    if (request.method === 'OPTIONS' && reply.statusCode === 204) return done();
    const problems = headerProblems(request.routeOptions.url ?? '', reply.getHeaders());
    found.push(...problems.map((problem) => `${routeOf(request)} (${reply.statusCode}): ${problem}`));
    done();
  });
}

if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  // Fastify's own notice of a new server: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', (message) => watch((message as { fastify: FastifyInstance }).fastify));
  afterEach(() => assert.deepEqual([...new Set(found.splice(0))], [], 'answers that lack protection'));
}
