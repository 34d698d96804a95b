import assert from 'node:assert/strict';
import { parseResources, parseScope } from '../../src/claims/permissions.ts';
import { readAssertion, validateAssertion } from '../../src/clients/rules/assertion.ts';
import { documentLifetime, metadataUrlProblem, readDocument } from '../../src/clients/rules/metadata-document.ts';
import { isRegisteredUri, redirectUriProblem } from '../../src/clients/rules/redirect-uri.ts';
import { explainUnregisteredUri } from '../../src/clients/rules/unregistered-uri.ts';
import { readUserCode, USER_CODE_LETTERS } from '../../src/credentials/rules/user-code.ts';
import { readRegisteredSet, usableKeys } from '../../src/keys/rules/jwks.ts';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { asciiDomain, readableDomain } from '../../src/platform/domain-name.ts';
import { Failure } from '../../src/platform/failure.ts';
import { parseJsonBody } from '../../src/platform/http/bodies.ts';
import { formParameters, jsonParameters } from '../../src/platform/http/parameters.ts';
import { OAuthError } from '../../src/platform/oauth-error.ts';
import { languageTag } from '../../src/platform/validation/language.ts';
import { canonicalAddress, parseForwardedEntry } from '../../src/platform/validation/origin.ts';
import { checkTarget } from '../../src/protocol/authorize/rules/check-target.ts';
import { parseClaims } from '../../src/protocol/authorize/rules/claims-parameter.ts';
import { readCredentials } from '../../src/protocol/client-authentication/authenticate.ts';
import { describeSecret, kindByForm, unwrapped } from '../../src/protocol/client-authentication/rules/secret-kind.ts';
import { bearerToken } from '../../src/protocol/token/bearer.ts';
import { describeForm } from '../../src/protocol/token/rules/presented-form.ts';
import { sentParameters } from '../../src/traces/rules/sent-parameters.ts';

/**
 * A parser of what a stranger sends. It may refuse as it is meant to, by a result or an `OAuthError`; it throws when it fails in another way,
 * or when what it accepts is not what it promises.
 */
export interface Target {
  /** Inputs to begin with, beside the corpus. */
  readonly seeds: readonly string[];
  /** How the names and values of the format look, for mutations. */
  readonly words: readonly string[];
  run(input: string): void;
}

/** Runs what may refuse with an error of the protocol. */
function refusing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof OAuthError || error instanceof Failure) return undefined;
    throw error;
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

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
const DOCUMENT_URL = 'https://agent.example/oauth/client.json';
const CLIENT = {
  ...{ id: '1', name: 'App', redirectUris: ['https://app.example.com/callback', 'http://127.0.0.1/cb'], scopes: null },
  ...{ grantTypes: ['authorization_code'], endpoints: ['oidc' as const], type: 'public' as const, requirePkce: true },
  ...{ defaultMaxAge: null, status: 'active' as const, generation: 'g', metadataUrl: null },
};
const NOW = Date.parse('2026-03-01T12:00:00Z');
const EXPECTED = { clientId: 'c', audiences: ['https://id.example.com'], now: NOW };
const jwt = (header: object, claims: object) =>
  `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;

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
      for (const { key, algs } of usableKeys(value) ?? []) assert.ok(key.type === 'public' && algs.length > 0);
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
      'client_id=1&redirect_uri=http://127.0.0.1:99/cb',
    ],
    words: [
      '&redirect_uri=',
      '&state=',
      '%00',
      '%',
      '&client_id=1',
      'https://evil.example',
      '&response_mode=form_post',
      '%0d%0a',
    ],
    run(input) {
      const target = checkTarget(formParameters(input), CLIENT, false);
      if (target.kind === 'target') assert.ok(isRegisteredUri(target.redirectUri, CLIENT.redirectUris, 'public'));
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
        const { description } = describeForm(input, wanted);
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
};
