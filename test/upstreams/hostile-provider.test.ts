// store: none
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK } from 'jose';
import { type Outgoing, type OutgoingRequest, outgoing } from '../../src/platform/http/outgoing.ts';
import { newAttempt, type ProviderAttempt, type ProviderClient } from '../../src/upstreams/kind.ts';
import { oidc } from '../../src/upstreams/kinds/oidc.ts';
import { createProviderDocuments } from '../../src/upstreams/provider-documents.ts';
import { UpstreamRefusal } from '../../src/upstreams/refusal.ts';
import { type Members, type Tricks, UpstreamProvider } from '../support/upstream-provider.ts';

const REDIRECT = 'http://localhost:3000/login/with/example/callback';
const STATE = 'the state of this sign-in';

let provider: UpstreamProvider;
const requests: OutgoingRequest[] = [];
const guarded = outgoing({ local: true, networks: [] });
const watched: Outgoing = (request) => {
  requests.push(request);
  return guarded(request);
};

before(async () => {
  provider = await UpstreamProvider.start();
});
after(() => provider[Symbol.asyncDispose]());

const client = (): ProviderClient => ({
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
  scopes: ['openid', 'email'],
  subjectClaim: 'sub',
  signer: null,
  claimsMap: {},
});

const newServices = () => ({
  documents: createProviderDocuments(watched, Date.now, true),
  outgoing: watched,
  clock: Date.now,
  local: true,
});

interface SignIn {
  readonly maxAge?: number | null;
  readonly services?: ReturnType<typeof newServices>;
  /** What is kept of the sign-in, changed before the person comes back. */
  readonly attempt?: (attempt: ProviderAttempt) => ProviderAttempt;
}

async function signIn({ maxAge = null, services = newServices(), attempt: changed = (kept) => kept }: SignIn = {}) {
  const attempt = newAttempt(maxAge, null);
  const question = { redirectUri: REDIRECT, state: STATE, prompt: null, loginHint: null, acrs: [] };
  const url = await oidc.begin(services, client(), attempt, question);
  const callback = provider.authorize(url).searchParams;
  return oidc.finish(services, client(), changed(attempt), { callback, redirectUri: REDIRECT, state: STATE });
}

async function honest(of: SignIn = {}): Promise<void> {
  provider.tricks = {};
  const person = await signIn(of);
  assert.deepEqual([person.issuer, person.subject], [provider.issuer, 'alice-1']);
}

type Trick = readonly [name: string, reason: RegExp, tricks: Tricks, of?: SignIn];

const claim = (name: string, value: unknown): Tricks => ({
  claims: (claims) => {
    const { [name]: _, ...rest } = claims;
    return value === undefined ? rest : { ...rest, [name]: value };
  },
});
const metadata = (changes: Members): Tricks => ({ metadata: (known) => ({ ...known, ...changes }) });
const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;
const callback = (change: (parameters: URLSearchParams) => void): Tricks => ({ callback: change });
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Answers one path with a status, headers and a body. */
const answer = (path: string, status: number, headers: Record<string, string>, body = ''): Tricks => ({
  answer(asked, _request, response) {
    if (asked !== path) return false;
    response.writeHead(status, headers).end(body);
    return true;
  },
});
/** Answers one path with a body that never ends. */
const endless = (path: string): Tricks => ({
  answer(asked, _request, response) {
    if (asked !== path) return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(16_384)));
    };
    response.on('drain', more);
    more();
    return true;
  },
});
const JSON_TYPE = { 'content-type': 'application/json' };
const DISCOVERY = '/.well-known/openid-configuration';
const LONG = JSON.stringify({ filler: 'x'.repeat(200_000) });
const elsewhere = { location: 'http://127.0.0.1:9/elsewhere' };

const OF_METADATA: readonly Trick[] = [
  ['names another issuer', /issuer/, metadata({ issuer: 'https://other.example' })],
  [
    'writes its issuer differently',
    /names the issuer/,
    { metadata: (known) => ({ ...known, issuer: `${known['issuer']}/` }) },
  ],
  ['names an issuer that is no URL', /names the issuer "provider"/, metadata({ issuer: 'provider' })],
  ['names no issuer', /issuer/, metadata({ issuer: undefined })],
  ['is no JSON', /JSON/, answer(DISCOVERY, 200, JSON_TYPE, '{')],
  ['is a list', /metadata/, answer(DISCOVERY, 200, JSON_TYPE, '[]')],
  ['is a page', /content-type/, answer(DISCOVERY, 200, { 'content-type': 'text/html' }, '<p>')],
  ['is too long', /longer than/, answer(DISCOVERY, 200, JSON_TYPE, LONG)],
  ['never ends', /longer than/, endless(DISCOVERY)],
  ['leads elsewhere', /status/, answer(DISCOVERY, 302, elsewhere)],
  ['is missing', /status/, answer(DISCOVERY, 404, JSON_TYPE, '{}')],
  ['fails', /status/, answer(DISCOVERY, 500, JSON_TYPE, '{}')],
  ['has an odd status', /status/, answer(DISCOVERY, 600, JSON_TYPE, '{}')],
  ['has no keys', /jwks_uri must/, metadata({ jwks_uri: undefined })],
  ['has an endpoint that is no URL', /token_endpoint must/, metadata({ token_endpoint: '/token' })],
  [
    'has an endpoint that is a script',
    /authorization_endpoint must/,
    metadata({ authorization_endpoint: 'javascript:alert(1)' }),
  ],
  ['has an endpoint that is a file', /token_endpoint must/, metadata({ token_endpoint: 'file:///etc/passwd' })],
  ['has an endpoint with a password', /jwks_uri must/, metadata({ jwks_uri: 'https://user:secret@host.example/jwks' })],
  ['has an endpoint that is a list', /token_endpoint must/, metadata({ token_endpoint: ['https://a.example/token'] })],
  ['knows no code', /response_types_supported/, metadata({ response_types_supported: ['id_token'] })],
  ['signs with secrets only', /id_token_signing_alg/, metadata({ id_token_signing_alg_values_supported: ['HS256'] })],
  [
    'asks for another authentication',
    /auth_methods/,
    metadata({ token_endpoint_auth_methods_supported: ['tls_client_auth'] }),
  ],
];

/** A key that the provider does not publish. */
const OTHER_KEY = await generateKeyPair('ES256', { extractable: true });
const SMALL_KEY = {
  kty: 'RSA',
  kid: 'key-1',
  e: 'AQAB',
  n: Buffer.alloc(128, 0xab).toString('base64url'),
};

const OF_KEYS: readonly Trick[] = [
  ['are no JSON', /no JSON Web Key Set/, { keys: () => 'keys' }],
  ['are none', /no key/, { keys: () => ({ keys: [] }) }],
  ['are too many', /no JSON Web Key Set/, { keys: ([key]) => ({ keys: Array.from({ length: 30 }, () => key) }) }],
  ['are too long', /longer than/, answer('/jwks', 200, JSON_TYPE, LONG)],
  ['never end', /longer than/, endless('/jwks')],
  ['lead elsewhere', /status 302/, answer('/jwks', 302, elsewhere)],
  ['are a secret', /no key/, { keys: () => ({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'key-1', alg: 'ES256' }] }) }],
  ['are too small', /no key/, { keys: () => ({ keys: [SMALL_KEY] }) }],
  ['are private', /no key/, { keys: ([key]) => ({ keys: [{ ...key, d: 'AAAA' }] }) }],
  ['are for encryption', /no key/, { keys: ([key]) => ({ keys: [{ ...key, use: 'enc' }] }) }],
  ['are for another algorithm', /no key/, { keys: ([key]) => ({ keys: [{ ...key, alg: 'RS256' }] }) }],
  ['have another name', /no key/, { keys: ([key]) => ({ keys: [{ ...key, kid: 'key-2' }] }) }],
  ['share a name', /no key/, { keys: ([key]) => ({ keys: [key, { ...key }] }) }],
  [
    'are another one',
    /signature/,
    { keys: () => exportJWK(OTHER_KEY.publicKey).then((key) => ({ keys: [{ ...key, kid: 'key-1' }] })) },
  ],
];

const hmac = (claims: Members, secret: string): string => {
  const signed = `${base64({ alg: 'HS256', kid: 'key-1' })}.${base64(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};

async function publishedPem({ issuer }: UpstreamProvider): Promise<string> {
  const published: unknown = await (await fetch(`${issuer}/jwks`)).json();
  const { keys } = published as { keys: [JWK] };
  const key = await importJWK(keys[0], 'ES256', { extractable: true });
  assert.ok(!(key instanceof Uint8Array));
  return exportSPKI(key as CryptoKey);
}

const changed = (token: string, part: number, replacement: string): string =>
  token
    .split('.')
    .map((text, index) => (index === part ? replacement : text))
    .join('.');

const OF_SIGNATURES: readonly Trick[] = [
  ['is missing', /./, { idToken: (claims) => `${base64({ alg: 'none' })}.${base64(claims)}.` }],
  ['is empty', /signature/, { idToken: async (claims, from) => changed(await from.sign(claims), 2, '') }],
  ['is made with our secret', /./, { idToken: (claims, from) => hmac(claims, from.clientSecret) }],
  ['is made with the public key', /./, { idToken: async (claims, from) => hmac(claims, await publishedPem(from)) }],
  [
    'is of other claims',
    /signature/,
    { idToken: async (claims, from) => changed(await from.sign(claims), 1, base64({ ...claims, sub: 'mallory' })) },
  ],
  ['is made with another key', /signature/, { idToken: (claims, from) => from.sign(claims, {}, OTHER_KEY.privateKey) }],
  [
    'brings its key along',
    /signature/,
    {
      idToken: async (claims, from) =>
        from.sign(claims, { jwk: await exportJWK(OTHER_KEY.publicKey) }, OTHER_KEY.privateKey),
    },
  ],
  [
    'says where its key is',
    /signature/,
    { idToken: (claims, from) => from.sign(claims, { jku: `${from.issuer}/jwks` }, OTHER_KEY.privateKey) },
  ],
  ['names an unknown key', /no key/, { header: () => ({ kid: 'key-9' }) }],
  ['names a key by a path', /no key/, { header: () => ({ kid: '../../dev/null' }) }],
  [
    'has an unknown critical header',
    /./,
    {
      idToken: async (claims, from) =>
        changed(await from.sign(claims), 0, base64({ alg: 'ES256', kid: 'key-1', crit: ['x'], x: 1 })),
    },
  ],
  [
    'names an algorithm of another key',
    /./,
    { idToken: async (claims, from) => changed(await from.sign(claims), 0, base64({ alg: 'RS256', kid: 'key-1' })) },
  ],
  ['is of no claims', /./, { idToken: async (claims, from) => changed(await from.sign(claims), 1, base64([1])) }],
];

const OF_CLAIMS: readonly Trick[] = [
  ['iss is another', /iss/, claim('iss', 'https://other.example')],
  ['iss is missing', /iss/, claim('iss', undefined)],
  ['aud is another', /aud/, claim('aud', 'other')],
  ['aud is missing', /aud/, claim('aud', undefined)],
  ['aud has others only', /aud/, claim('aud', ['other', 'third'])],
  ['aud has several, and azp is missing', /aud/, claim('aud', ['tessera', 'other'])],
  ['azp is another', /azp/, claim('azp', 'other')],
  ['nonce is missing', /nonce/, claim('nonce', undefined)],
  ['nonce is another', /nonce/, claim('nonce', 'old')],
  ['nonce is a list', /nonce/, claim('nonce', ['old'])],
  ['exp has passed', /exp/, claim('exp', seconds(-3600))],
  ['exp is missing', /exp/, claim('exp', undefined)],
  ['exp is a text', /exp/, claim('exp', '2999-01-01')],
  ['iat is in the future', /iat/, claim('iat', seconds(3600))],
  ['iat is long ago', /iat/, claim('iat', seconds(-3600))],
  ['iat is missing', /iat/, claim('iat', undefined)],
  ['nbf is in the future', /nbf|before/, claim('nbf', seconds(3600))],
  ['sub is missing', /sub/, claim('sub', undefined)],
  ['sub is empty', /sub/, claim('sub', '')],
  ['sub is too long', /sub/, claim('sub', 'x'.repeat(256))],
  ['sub is no ASCII', /sub/, claim('sub', 'аlice-1')],
  ['sub has a line break', /sub/, claim('sub', 'alice-1\n')],
  ['sub is a number', /sub/, claim('sub', 1)],
  ['sub is a list', /sub/, claim('sub', ['alice-1'])],
  ['at_hash is another', /at_hash/, claim('at_hash', 'AAAAAAAAAAAAAAAAAAAAAA')],
  [
    'events are those of a logout',
    /events/,
    claim('events', { 'http://schemas.openid.net/event/backchannel-logout': {} }),
  ],
  ['auth_time is missing, though asked for', /auth_time/, claim('auth_time', undefined), { maxAge: 60 }],
  ['auth_time is long ago', /auth_time/, claim('auth_time', seconds(-3600)), { maxAge: 60 }],
  ['auth_time is in the future', /auth_time/, claim('auth_time', seconds(3600)), { maxAge: 60 }],
  ['auth_time is a text', /auth_time/, claim('auth_time', 'now'), { maxAge: 60 }],
];

const tokens = (changes: Members): Tricks => ({ tokens: (response) => ({ ...response, ...changes }) });

const OF_TOKENS: readonly Trick[] = [
  ['has no ID token', /id_token/, tokens({ id_token: undefined })],
  ['has an ID token that is none', /./, tokens({ id_token: 'token' })],
  ['has an ID token that is a number', /id_token/, tokens({ id_token: 1 })],
  ['has no access token', /access_token/, tokens({ access_token: undefined })],
  ['has a type that is not known', /token_type/, tokens({ token_type: 'mac' })],
  ['is a page', /content-type/, answer('/token', 200, { 'content-type': 'text/html' }, '<p>')],
  ['is too long', /longer than/, answer('/token', 200, JSON_TYPE, LONG)],
  ['never ends', /longer than/, endless('/token')],
  ['leads elsewhere', /./, answer('/token', 307, elsewhere)],
  ['fails', /./, answer('/token', 500, JSON_TYPE, '{}')],
  ['is an error', /invalid_grant/, answer('/token', 400, JSON_TYPE, '{"error":"invalid_grant"}')],
  ['is of a code that was used', /invalid_grant/, callback((parameters) => parameters.set('code', 'code-0'))],
  [
    'is of another verifier',
    /invalid_grant/,
    {},
    { attempt: (kept) => ({ ...kept, verifier: newAttempt(null, null).verifier }) },
  ],
  ['is of another sign-in', /nonce/, {}, { attempt: (kept) => ({ ...kept, nonce: newAttempt(null, null).nonce }) }],
  ['has an encrypted ID token', /./, tokens({ id_token: 'a.b.c.d.e' })],
  [
    'has an ID token without end',
    /longer/,
    { idToken: (claims, from) => from.sign({ ...claims, groups: 'x'.repeat(40_000) }) },
  ],
];

const OF_RESPONSES: readonly Trick[] = [
  ['has another state', /state/, callback((parameters) => parameters.set('state', 'other'))],
  ['has no state', /state/, callback((parameters) => parameters.delete('state'))],
  ['has two states', /state/, callback((parameters) => parameters.append('state', 'other'))],
  ['is of another issuer', /iss/, callback((parameters) => parameters.set('iss', 'https://other.example'))],
  ['names no issuer', /iss/, callback((parameters) => parameters.delete('iss'))],
  ['names two issuers', /iss/, callback((parameters) => parameters.append('iss', 'https://other.example'))],
  ['has two codes', /code/, callback((parameters) => parameters.append('code', 'other'))],
  ['has no code', /code/, callback((parameters) => parameters.delete('code'))],
  ['is a JWT', /JARM/, callback((parameters) => parameters.set('response', 'a.b.c'))],
  ['has an ID token', /hybrid/, callback((parameters) => parameters.set('id_token', 'a.b.c'))],
  ['is a refusal', /access_denied/, callback((parameters) => parameters.set('error', 'access_denied'))],
  ['is a refusal and a code', /server_error/, callback((parameters) => parameters.set('error', 'server_error'))],
];

const TABLES: Readonly<Record<string, readonly Trick[]>> = {
  'the metadata': OF_METADATA,
  'the keys': OF_KEYS,
  'the signature': OF_SIGNATURES,
  'a claim:': OF_CLAIMS,
  'the token response': OF_TOKENS,
  'the authorization response': OF_RESPONSES,
};

for (const [what, tricks] of Object.entries(TABLES)) {
  describe(`a hostile provider: ${what}`, () => {
    for (const [name, reason, trick, of] of tricks) {
      test(`${what} ${name}`, async () => {
        await honest(of?.maxAge === undefined ? {} : { maxAge: of.maxAge });
        provider.tricks = trick;
        await assert.rejects(signIn(of), (error: unknown) => {
          assert.ok(error instanceof UpstreamRefusal, String(error));
          assert.match(error.message, reason);
          assert.ok(!error.message.includes(provider.clientSecret));
          return true;
        });
        await honest();
      });
    }
  });
}

test('at least 60 tricks are played', () => {
  assert.ok(Object.values(TABLES).flat().length >= 60);
});

test('nothing is fetched without bounds', () => {
  assert.ok(requests.length > 100);
  for (const { timeoutMs, longestBody } of requests) {
    assert.ok(timeoutMs <= 5000);
    assert.ok(longestBody !== undefined && longestBody <= 128 * 1024);
  }
});

test('a provider in a private network is not asked', async () => {
  const closed = outgoing({ local: false, networks: [] }, async () => [{ address: '10.0.0.1', family: 4 }]);
  const documents = createProviderDocuments(closed, Date.now, false);
  await assert.rejects(documents.metadata('https://internal.example'), /not on the public internet/);
  await assert.rejects(documents.metadata('http://public.example'), UpstreamRefusal);
});

describe('copies of metadata and keys', () => {
  test('are used again, and fetched for an unknown key at most once a minute', async () => {
    let now = Date.now();
    provider.tricks = {};
    const documents = createProviderDocuments(watched, () => now, true);
    const known = await documents.metadata(provider.issuer);
    provider.asked.length = 0;
    assert.ok(await documents.key(known, 'ES256', 'key-1'));
    assert.ok(await documents.key(known, 'ES256', 'key-1'));
    assert.deepEqual(provider.asked, ['/jwks']);
    await provider.rotate('key-2');
    assert.ok(await documents.key(known, 'ES256', 'key-2'));
    assert.deepEqual(provider.asked, ['/jwks', '/jwks']);
    for (let attempt = 0; attempt < 5; attempt++) assert.equal(await documents.key(known, 'ES256', 'key-3'), undefined);
    assert.equal(provider.asked.length, 2);
    await provider.rotate('key-3');
    now += 61_000;
    assert.ok(await documents.key(known, 'ES256', 'key-3'));
    await provider.rotate('key-1');
  });

  test('outlast a provider that does not answer, but not its keys', async () => {
    let now = Date.now();
    const documents = createProviderDocuments(watched, () => now, true);
    provider.tricks = {};
    const known = await documents.metadata(provider.issuer);
    assert.ok(await documents.key(known, 'ES256', 'key-1'));
    provider.tricks = { answer: (_path, request) => request.destroy() !== undefined };
    now += 2 * 3_600_000;
    assert.equal((await documents.metadata(provider.issuer)).token_endpoint, known.token_endpoint);
    await assert.rejects(documents.key(known, 'ES256', 'key-1'), UpstreamRefusal);
    now += 24 * 3_600_000;
    await assert.rejects(documents.metadata(provider.issuer), UpstreamRefusal);
    provider.tricks = {};
    await assert.rejects(documents.metadata(provider.issuer), UpstreamRefusal);
    now += 31_000;
    assert.ok(await documents.metadata(provider.issuer));
  });

  test('are shared by those who need one at the same time', async () => {
    provider.tricks = {};
    provider.asked.length = 0;
    const documents = createProviderDocuments(watched, Date.now, true);
    await Promise.all(Array.from({ length: 20 }, () => documents.metadata(provider.issuer)));
    assert.deepEqual(provider.asked, [DISCOVERY]);
  });
});

describe('Microsoft Entra, for people of any tenant', () => {
  const HOST = 'https://login.microsoftonline.com';
  const ISSUER = `${HOST}/organizations/v2.0`;
  const tenant = '11111111-2222-3333-4444-555555555555';
  const own = (id: string): string => `${HOST}/${id}/v2.0`;

  async function entra(changes: Members): Promise<{ readonly issuer: string; readonly subject: string }> {
    provider.tricks = {
      metadata: (known) => ({
        ...known,
        issuer: own('{tenantid}'),
        authorization_response_iss_parameter_supported: false,
      }),
      callback: (parameters) => parameters.delete('iss'),
      claims: (claims) => ({ ...claims, iss: own(tenant), tid: tenant, oid: 'person-1', ...changes }),
    };
    const { origin } = new URL(provider.issuer);
    const redirected: Outgoing = (request) => guarded({ ...request, url: request.url.replace(ISSUER, origin) });
    const documents = createProviderDocuments(redirected, Date.now, true);
    const services = { documents, outgoing: redirected, clock: Date.now, local: true };
    const registered: ProviderClient = { ...client(), issuer: ISSUER, subjectClaim: 'oid' };
    const attempt = newAttempt(null, null);
    const question = { redirectUri: REDIRECT, state: STATE, prompt: null, loginHint: null, acrs: [] };
    const url = await oidc.begin(services, registered, attempt, question);
    const { searchParams } = provider.authorize(url);
    return oidc.finish(services, registered, attempt, { callback: searchParams, redirectUri: REDIRECT, state: STATE });
  }
  const refused = (changes: Members) => assert.rejects(entra(changes), UpstreamRefusal);

  test('a person is known by the tenant and their object', async () => {
    const { issuer, subject } = await entra({});
    assert.deepEqual([issuer, subject], [own(tenant), `${tenant}/person-1`]);
  });

  test('a token names the tenant that made it', async () => {
    await refused({ iss: own('99999999-2222-3333-4444-555555555555') });
    await refused({ iss: own('{tenantid}') });
    await refused({ tid: '{tenantid}', iss: own('{tenantid}') });
    await refused({ tid: `${tenant}/../other` });
    await refused({ tid: undefined });
    await refused({ oid: undefined });
  });

  test('only the tenant that owns the domain vouches for an address', async () => {
    const said = async (changes: Members) => (await entra({ email: 'a@b.example', ...changes })) as unknown as Members;
    assert.equal((await said({ email_verified: true }))['emailVerified'], false);
    assert.equal((await said({ xms_edov: '1' }))['emailVerified'], true);
  });
});
