import assert from 'node:assert/strict';
import { ENDPOINT_RULES } from '../../src/claims/endpoint-set.ts';
import { IDENTITY_SCOPES, parseResources, parseScope } from '../../src/claims/permissions.ts';
import { readAssertion, validateAssertion } from '../../src/clients/rules/assertion.ts';
import { documentLifetime, metadataUrlProblem, readDocument } from '../../src/clients/rules/metadata-document.ts';
import { isRegisteredUri, redirectUriProblem } from '../../src/clients/rules/redirect-uri.ts';
import { readRegistration } from '../../src/clients/rules/registration-metadata.ts';
import { explainUnregisteredUri } from '../../src/clients/rules/unregistered-uri.ts';
import { readUserCode, USER_CODE_LETTERS } from '../../src/credentials/rules/user-code.ts';
import { ASSERTION_ALGS, chooseKey, readRegisteredSet, usableKeys } from '../../src/keys/rules/jwks.ts';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { asciiDomain, readableDomain } from '../../src/platform/domain-name.ts';
import { parseJsonBody } from '../../src/platform/http/bodies.ts';
import { formParameters, jsonParameters } from '../../src/platform/http/parameters.ts';
import { findJsonProblem } from '../../src/platform/validation/json-problem.ts';
import { languageTag } from '../../src/platform/validation/language.ts';
import { canonicalAddress, parseForwardedEntry } from '../../src/platform/validation/origin.ts';
import { unwrapped } from '../../src/platform/validation/sent-text.ts';
import { checkRequest } from '../../src/protocol/authorize/rules/check-request.ts';
import { checkTarget } from '../../src/protocol/authorize/rules/check-target.ts';
import { parseClaims } from '../../src/protocol/authorize/rules/claims-parameter.ts';
import {
  errorResponse,
  locationOf,
  restoredRequest,
  storedRequest,
} from '../../src/protocol/authorize/rules/request.ts';
import { readCredentials } from '../../src/protocol/client-authentication/read-credentials.ts';
import { describeSecret, kindByForm } from '../../src/protocol/client-authentication/rules/secret-kind.ts';
import { bearerToken } from '../../src/protocol/token/bearer.ts';
import { describeForm } from '../../src/protocol/token/rules/presented-form.ts';
import { sentParameters } from '../../src/traces/rules/sent-parameters.ts';
import { browserTargets } from './browser-targets.ts';
import { providerTargets } from './provider-targets.ts';
import { DESCRIPTION, jsonOf, jwt, refusing, type Target } from './target.ts';

const URL_SEEDS = [
  'https://agent.example/oauth/client.json',
  'https://app.example.com/callback?x=1',
  'http://127.0.0.1:8080/cb',
  'http://[::1]/cb',
  'com.example.app:/cb',
  'https://xn--bcher-kva.example:8443/a/b',
];
const URL_WORDS = [
  'https://',
  'http://',
  '/../',
  '%2e%2e',
  '//',
  '@',
  '#',
  '?',
  ':443',
  '\\',
  '\u0000',
  '.',
  'localhost',
  '[::1]',
  'javascript:',
];
const ISSUER = 'https://id.example.com';
const DOCUMENT_URL = 'https://agent.example/oauth/client.json';
const CLIENT = {
  ...{ id: '1', name: 'App', redirectUris: ['https://app.example.com/callback', 'http://127.0.0.1/cb'], scopes: null },
  ...{ grantTypes: ['authorization_code'], endpoints: ['oidc' as const], type: 'public' as const, requirePkce: true },
  ...{
    defaultMaxAge: null,
    status: 'active' as const,
    generation: 'g',
    metadataUrl: null,
    registeredBy: null,
    acceptedAt: null,
  },
};
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
const NOW = Date.parse('2026-03-01T12:00:00Z');
const EXPECTED = { clientId: 'c', audiences: ['https://id.example.com'], now: NOW };

export const targets: Readonly<Record<string, Target>> = {
  'metadata document': {
    seeds: [
      JSON.stringify({
        ...{ client_id: DOCUMENT_URL, client_name: 'Agent', client_uri: 'https://agent.example/' },
        ...{
          redirect_uris: ['https://agent.example/cb'],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
        ...{ token_endpoint_auth_method: 'none', scope: 'openid profile', jwks_uri: 'https://agent.example/jwks' },
        ...{
          backchannel_logout_uri: 'https://agent.example/out',
          post_logout_redirect_uris: ['https://agent.example/bye'],
        },
      }),
    ],
    words: [
      '"client_secret":"x"',
      '"jwks":{"keys":[]}',
      'private_key_jwt',
      '"__proto__":{}',
      'null',
      '[]',
      '\\u202e',
      'javascript:',
    ],
    run(input) {
      const read = readDocument(jsonOf(input), DOCUMENT_URL);
      if ('problem' in read) return;
      assert.equal((JSON.parse(input) as { client_id: unknown }).client_id, DOCUMENT_URL);
      assert.ok(
        read.redirectUris.length > 0 &&
          read.redirectUris.every((uri) => redirectUriProblem(uri, read.type) === undefined),
      );
      assert.ok(read.name.length <= 64 && !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(read.name));
      assert.ok(read.type === 'public' || read.jwks !== null || read.jwksUri !== null);
      assert.ok(read.grantTypes.includes('authorization_code') && !read.grantTypes.includes('client_credentials'));
    },
  },
  'metadata URL': {
    seeds: URL_SEEDS,
    words: URL_WORDS,
    run(input) {
      if (metadataUrlProblem(input) !== undefined) return;
      const url = new URL(input);
      assert.ok(
        url.protocol === 'https:' || url.hostname === 'localhost' || /^127\.|^\[::1\]$/.test(url.hostname),
        input,
      );
      assert.ok(input.includes(`//${url.hostname}`), url.hostname);
      assert.ok(url.username === '' && url.password === '' && url.hash === '' && url.pathname.startsWith('/'));
      // What is compared is what is fetched: a parser resolves no dots in it.
      assert.ok(input.includes(url.pathname), url.pathname);
    },
  },
  'registration body': {
    seeds: [
      JSON.stringify({
        ...{ redirect_uris: ['https://agent.example/cb', 'http://127.0.0.1/cb'], client_name: 'Agent' },
        ...{ token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] },
        ...{ scope: 'openid email', contacts: ['a@agent.example'], default_max_age: 60 },
      }),
      JSON.stringify({
        ...{
          redirect_uris: ['https://agent.example/cb'],
          response_types: ['code'],
          client_uri: 'https://agent.example/',
        },
        ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://agent.example/jwks' },
        ...{ id_token_signed_response_alg: 'ES256', userinfo_signed_response_alg: 'EdDSA' },
        ...{ backchannel_logout_uri: 'https://agent.example/out', backchannel_logout_session_required: false },
        ...{ post_logout_redirect_uris: ['https://agent.example/bye'], subject_type: 'public' },
      }),
    ],
    words: [
      '"jwks":{"keys":[{"kty":"oct","k":"AAAA"}]}',
      '"client_credentials"',
      '"__proto__":{}',
      'null',
      '[]',
      '""',
      '1e999',
      'com.example.app:/cb',
      'javascript:',
      '\\u202e',
      '"HS256"',
      '"none"',
    ],
    run(input) {
      const read = readRegistration(jsonOf(input));
      if ('error' in read) {
        assert.match(`${read.problem} ${read.remedy}`, DESCRIPTION);
        return;
      }
      const { fields, ignored } = read;
      assert.ok(fields.redirectUris.length > 0 && fields.redirectUris.length <= 50);
      for (const uri of [...fields.redirectUris, ...fields.postLogoutRedirectUris])
        assert.equal(redirectUriProblem(uri, fields.type), undefined);
      assert.ok(fields.name !== '' && fields.name.length <= 64);
      assert.doesNotMatch(fields.name, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      assert.ok(fields.grantTypes.every((grant) => grant === 'authorization_code' || grant === 'refresh_token'));
      for (const scope of fields.scopes ?? []) assert.ok(IDENTITY_SCOPES.includes(scope));
      assert.equal(fields.type === 'public', fields.tokenEndpointAuthMethod === 'none');
      if (fields.tokenEndpointAuthMethod === 'private_key_jwt') assert.ok(fields.jwks ?? fields.jwksUri);
      if (fields.type === 'public') assert.notEqual(fields.idTokenSignedResponseAlg, 'HS256');
      assert.doesNotMatch(JSON.stringify(fields.jwks), /"(d|p|q|dp|dq|qi|oth|k)":/);
      for (const uri of [fields.homepageUrl, fields.policyUrl, fields.termsUrl])
        assert.ok(uri === null || new URL(uri).protocol === 'https:');
      assert.ok(fields.contacts.length <= 10 && (fields.defaultMaxAge ?? 0) >= 0 && ignored.length < 100);
    },
  },
  'cache header': {
    seeds: ['max-age=3600', 'no-store', 'public, max-age="60"', 's-maxage=1, must-revalidate'],
    words: ['max-age=', 'no-cache', ',', '99999999999999999999', '-1', '"'],
    run(input) {
      const lifetime = documentLifetime(input, input);
      assert.ok(lifetime >= 5 * MINUTE && lifetime <= DAY);
    },
  },
  'key set': {
    seeds: [
      '{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"1"}]}',
      '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}',
    ],
    words: ['"d":"x"', '"k":"x"', '"use":"enc"', '"key_ops":[]', '"kty":"oct"', 'null', '{}', '"n":"AQAB","e":"AQAB"'],
    run(input) {
      const value = jsonOf(input);
      const keys = usableKeys(value) ?? [];
      for (const { key, algs } of keys) assert.ok(key.type === 'public' && algs.length > 0);
      for (const alg of ASSERTION_ALGS) assert.ok(chooseKey(keys, alg, undefined)?.algs.includes(alg) ?? true);
      const read = readRegisteredSet(value, 'jwks');
      if ('set' in read) assert.doesNotMatch(JSON.stringify(read.set), /"(d|p|q|dp|dq|qi|oth|k)":/);
    },
  },
  'request object': {
    seeds: [jwt({ alg: 'RS256' }, { response_mode: 'form_post' }), jwt({ alg: 'none' }, { response_mode: 'query' })],
    words: ['.', 'e30', 'eyJhbGciOiJub25lIn0', '=', '\u0000'],
    run(input) {
      const query = new URLSearchParams({
        client_id: '1',
        redirect_uri: 'https://app.example.com/callback',
        request: input,
      });
      const target = checkTarget(formParameters(String(query)), CLIENT, false);
      assert.equal(target.kind, 'target');
    },
  },
  'authorization request': {
    seeds: [
      'client_id=1&redirect_uri=https://app.example.com/callback&state=x',
      `client_id=1&redirect_uri=https://app.example.com/callback&response_type=code&scope=openid+email&state=%C3%A9&nonce=n&code_challenge=${'c'.repeat(43)}&code_challenge_method=S256&prompt=login&max_age=60&login_hint=a@b.example&claims=%7B%22id_token%22%3A%7B%22email%22%3Anull%7D%7D&resource=https://api.example`,
      'client_id=1&redirect_uri=http://127.0.0.1:99/cb',
    ],
    words: [
      '&redirect_uri=',
      '&state=',
      '&prompt=none',
      '&max_age=',
      '&claims={"id_token":{',
      '&scope=',
      '&nonce=',
      '&acr_values=',
      '&response_type=code',
      '%00',
      '%',
      '&client_id=1',
      'https://evil.example',
      '&response_mode=form_post',
      '%0d%0a',
    ],
    run(input) {
      // It comes as bytes, in which no half of a character stands by itself.
      const parameters = formParameters(input.toWellFormed());
      const target = checkTarget(parameters, CLIENT, false);
      if (target.kind !== 'target') return;
      assert.ok(isRegisteredUri(target.redirectUri, CLIENT.redirectUris, 'public'));
      const checked = checkRequest(parameters, target, ENDPOINT_RULES.oidc);
      if (checked.kind === 'redirect') {
        assert.match(checked.description, DESCRIPTION);
        const to = new URL(locationOf(errorResponse(target, checked, ISSUER)));
        assert.equal(to.origin, new URL(target.redirectUri).origin);
        assert.equal(to.searchParams.get('state'), target.state);
        return;
      }
      const { request } = checked;
      assert.ok(request.codeChallenge !== null && request.scopes.length > 0, 'a public client uses PKCE');
      const { json, state } = storedRequest(request);
      const { ignored: _, sent: __, ...rest } = request;
      assert.deepEqual(restoredRequest(json, state), rest);
    },
  },
  'redirect URI': {
    seeds: URL_SEEDS,
    words: URL_WORDS,
    run(input) {
      explainUnregisteredUri(CLIENT, {
        name: 'redirect_uri',
        sent: input,
        registered: CLIENT.redirectUris,
        local: true,
      });
      if (redirectUriProblem(input, 'confidential') !== undefined) return;
      const { protocol, hostname } = new URL(input);
      assert.ok(protocol === 'https:' || hostname === 'localhost' || /^127\.|^\[::1\]$/.test(hostname), input);
    },
  },
  assertion: {
    seeds: [
      jwt(
        { alg: 'ES256', kid: '1' },
        { iss: 'c', sub: 'c', aud: 'https://id.example.com', exp: NOW / 1000 + 60, jti: 'x' },
      ),
      jwt({ alg: 'RS256', typ: 'JWT' }, { iss: 'c', sub: 'c' }),
    ],
    words: ['.', 'eyJhbGciOiJub25lIn0', 'e30', '='],
    run(input) {
      const read = readAssertion(input);
      if (!('is' in read)) assert.ok(['RS256', 'PS256', 'ES256', 'EdDSA'].includes(read.alg) && input === read.token);
    },
  },
  'assertion claims': {
    seeds: [
      JSON.stringify({
        iss: 'c',
        sub: 'c',
        aud: ['https://id.example.com'],
        exp: NOW / 1000 + 60,
        iat: NOW / 1000,
        jti: 'x',
      }),
    ],
    words: ['1e999', '-1', 'null', '[]', '{}', '"exp":', '"nbf":', '"aud":"https://evil.example"'],
    run(input) {
      const value = jsonOf(input);
      if (typeof value !== 'object' || value === null) return;
      const valid = validateAssertion({ ...value }, EXPECTED);
      if ('jti' in valid) assert.ok(valid.expiresAt > NOW && valid.expiresAt <= NOW + 11 * MINUTE && valid.jti !== '');
    },
  },
  form: {
    seeds: ['grant_type=authorization_code&code=x&client_id=1', 'scope=openid+profile&resource=a&resource=b'],
    words: ['&', '=', '%', '%zz', '+', '%C3%28', '&grant_type=', '__proto__=1', 'constructor='],
    run(input) {
      const form = formParameters(input);
      for (const name of form.names) if (form.get(name) !== undefined) assert.ok(form.has(name));
      sentParameters(form);
    },
  },
  'JSON body': {
    seeds: ['{"grant_type":"refresh_token","refresh_token":"x"}', '{"resource":["a","b"]}'],
    words: [
      '"__proto__":',
      '"constructor":{"prototype":{}}',
      '{"a":{"a":',
      '[[[[',
      '\\u0000',
      '"grant_type":1',
      ',"grant_type":"x"',
    ],
    run(input) {
      // Text that is no JSON has a problem that can be named, and JSON has none.
      assert.equal(findJsonProblem(input) === undefined, isJson(input));
      const body = refusing(() => parseJsonBody(Buffer.from(input)));
      const parameters = refusing(() =>
        jsonParameters(body, ['grant_type', 'refresh_token', 'resource'], ['resource']),
      );
      if (parameters !== undefined) assert.equal(typeof (parameters.get('grant_type') ?? ''), 'string');
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    },
  },
  'client credentials': {
    seeds: [`Basic ${btoa('1:secret')}`, `Basic ${btoa('1:')}`, 'Bearer x'],
    words: ['Basic ', '=', ':', '%', 'Og==', '\u0000', '+'],
    run(input) {
      const credentials = refusing(() => readCredentials(input, formParameters('grant_type=x')));
      if (credentials !== undefined) assert.equal(typeof credentials.clientId, 'string');
      refusing(() => readCredentials(undefined, formParameters(input)));
      refusing(() => bearerToken(input));
      describeSecret(kindByForm(input));
      unwrapped(input);
    },
  },
  'presented token': {
    seeds: [jwt({ alg: 'HS256', typ: 'at+jwt' }, { sub: '1' }), 'undefined', '"x"', 'Bearer x', 'tcs_x'],
    words: ['.', '=', 'Bearer ', '%20', '[object Object]', 'eyJ'],
    run(input) {
      for (const wanted of ['access', 'refresh'] as const) {
        const { description } = describeForm(input, wanted, 'https://id.example.com');
        assert.ok(description.length < 600);
      }
    },
  },
  'scope, resource, claims': {
    seeds: [
      'openid profile email',
      'https://api.example.com/notes',
      '{"userinfo":{"email":{"essential":true}},"id_token":{"sub":{"value":"1"}}}',
    ],
    words: [' ', '"', '\\', '#', '{"id_token":{"acr":{"values":[', 'null', ']}}}'],
    run(input) {
      for (const scope of parseScope(input) ?? []) assert.match(scope, /^[\x21\x23-\x5b\x5d-\x7e]+$/);
      for (const resource of parseResources([input]) ?? [])
        assert.ok(!resource.includes('#') && resource.length <= 512);
      parseClaims(input);
    },
  },
  'user code': {
    seeds: ['BCDF-GHJK', 'bcdf ghjk'],
    words: ['-', ' ', 'ı', 'ß', '\u0000', 'A', 'ﬀ'],
    run(input) {
      const code = readUserCode(input);
      if (code !== undefined)
        assert.ok(code.length === 8 && [...code].every((letter) => USER_CODE_LETTERS.includes(letter)));
    },
  },
  'addresses and names': {
    seeds: ['2001:db8::1', '192.0.2.1:443', '[2001:db8::1]:443', 'xn--bcher-kva.example', 'de-AT', 'bücher.example'],
    words: ['::', '%', '[', ']', '.', ':', 'xn--', '-', 'ﬀ', '0x7f'],
    run(input) {
      const address = canonicalAddress(input);
      if (address !== undefined) assert.equal(canonicalAddress(address), address);
      parseForwardedEntry(input);
      const domain = asciiDomain(input);
      if (domain !== undefined) assert.ok(/^[a-z0-9.-]+$/i.test(domain) && readableDomain(domain) !== '');
      languageTag(input);
    },
  },
  ...providerTargets,
  ...browserTargets,
};
