// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { formParameters } from '../../../platform/http/parameters.ts';
import { checkRequest } from './check-request.ts';
import { checkTarget, type RedirectingClient } from './check-target.ts';

const client: RedirectingClient = {
  id: '1',
  metadataUrl: null,
  registeredBy: null,
  acceptedAt: null,
  name: 'App',
  redirectUris: ['https://app.example.com/cb'],
  scopes: ['openid', 'email'],
  grantTypes: ['authorization_code'],
  endpoints: ['v2', 'oidc'],
  type: 'confidential',
  requirePkce: false,
  defaultMaxAge: 60,
  status: 'active',
  generation: 'generation',
};
const check = (
  parameters: Readonly<Record<string, string>>,
  change: Partial<RedirectingClient> = {},
  rules = ENDPOINT_RULES.v2,
) => {
  const sent = { response_type: 'code', redirect_uri: 'https://app.example.com/cb', ...parameters };
  const read = formParameters(new URLSearchParams(sent).toString());
  const target = checkTarget(read, { ...client, ...change }, false);
  assert.ok(target.kind === 'target');
  return checkRequest(read, target, rules);
};

const errors: [string, Readonly<Record<string, string>>, Partial<RedirectingClient>, string][] = [
  ['RFC 6749 §4.1.1: response_type', { response_type: 'token' }, {}, 'invalid_request'],
  ['RFC 6749 §4.1.2.1: the grant', {}, { grantTypes: [] }, 'unauthorized_client'],
  ['RFC 6749 §3.3: an unknown scope', { scope: 'openid x' }, {}, 'invalid_scope'],
  ['RFC 6749 §3.3: a scope that is not registered', { scope: 'profile' }, {}, 'invalid_scope'],
  ['RFC 7636 §4.4.1: PKCE is required', {}, { type: 'public' }, 'invalid_request'],
  ['RFC 7636 §4.4.1: plain', { code_challenge: 'a'.repeat(43) }, {}, 'invalid_request'],
  ['RFC 8707 §2: a fragment', { resource: 'https://api.example.com/#a' }, {}, 'invalid_target'],
  ['OpenID Connect Core 1.0 §6.1: request', { request: 'x' }, {}, 'request_not_supported'],
  ['OpenID Connect Core 1.0 §6.2: request_uri', { request_uri: 'x' }, {}, 'request_uri_not_supported'],
  ['OpenID Connect Core 1.0 §7.2.1: registration', { registration: 'x' }, {}, 'registration_not_supported'],
  ['OpenID Connect Core 1.0 §3.1.2.1: prompt=none with another', { prompt: 'none login' }, {}, 'invalid_request'],
  ['OpenID Connect Core 1.0 §3.1.2.1: max_age', { max_age: '-1' }, {}, 'invalid_request'],
  [
    'OpenID Connect Core 1.0 §5.5.1.1: an essential acr',
    { claims: '{"id_token":{"acr":{"essential":true,"value":"x"}}}' },
    {},
    'unmet_authentication_requirements',
  ],
];
for (const [name, parameters, change, error] of errors) {
  test(`${name}: ${error}`, () => {
    const checked = check(parameters, change);
    assert.equal(checked.kind === 'redirect' && checked.error, error);
  });
}

test('a request without optional parameters', () => {
  const checked = check({});
  assert.deepEqual(checked.kind === 'request' && checked.request, {
    endpointSet: 'v2',
    clientId: '1',
    clientGeneration: 'generation',
    redirectUri: 'https://app.example.com/cb',
    responseMode: 'query',
    state: null,
    scopes: ['openid'],
    nonce: null,
    codeChallenge: null,
    prompt: { none: false, login: false, consent: false, select: false },
    maxAge: 60,
    subjects: null,
    loginHint: null,
    claims: null,
    hinted: null,
  });
});

const standard = (parameters: Readonly<Record<string, string>>, change: Partial<RedirectingClient> = {}) =>
  check(parameters, change, ENDPOINT_RULES.oidc);

test('RFC 6749 §3.1.1: the OIDC endpoints reject another response_type by its own code', () => {
  const checked = standard({ response_type: 'token' });
  assert.ok(checked.kind === 'redirect' && checked.error === 'unsupported_response_type');
});

const scopeCases: [string, string | undefined, string[] | string][] = [
  ['an unknown scope is left out', 'openid x email', ['openid', 'email']],
  ['so is one that the client is not registered for', 'openid phone', ['openid']],
  ['openid is not added', 'email', ['email']],
  ['no scope means openid', undefined, ['openid']],
  ['nothing known is left', 'x y', 'invalid_scope'],
  ['a malformed list', 'openid  email', 'invalid_scope'],
];
for (const [name, scope, expected] of scopeCases) {
  test(`OpenID Connect Core 1.0 §3.1.2.1, at the OIDC endpoints: ${name}`, () => {
    const checked = standard(scope === undefined ? {} : { scope });
    assert.deepEqual(checked.kind === 'request' ? checked.request.scopes : checked.error, expected);
  });
}

test('a client that is registered for one set of endpoints may not use the other', () => {
  const checked = standard({}, { endpoints: ['v2'] });
  assert.ok(checked.kind === 'redirect' && checked.error === 'unauthorized_client');
  assert.match(checked.description, /\/api\/v2\/oauth\/authorize/);
});
