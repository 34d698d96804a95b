import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { usableKeys } from '../../src/keys/rules/jwks.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { createProviderDocuments } from '../../src/upstreams/provider-documents.ts';
import { UpstreamRefusal } from '../../src/upstreams/refusal.ts';
import { appleName } from '../../src/upstreams/rules/apple-name.ts';
import { readGithubPerson } from '../../src/upstreams/rules/github-person.ts';
import { readIdToken } from '../../src/upstreams/rules/id-token.ts';
import { readLogoutToken } from '../../src/upstreams/rules/logout-token.ts';
import { LOGOUT_EVENT } from '../../src/upstreams/rules/token-claims.ts';
import { verifyLogoutToken } from '../../src/upstreams/tokens.ts';
import { jsonOf, type Target } from './target.ts';

// What providers say, and what anyone can send to the address of their logout tokens.

const ISSUER = 'https://provider.example';
const NOW = Date.parse('2026-03-01T12:00:00Z');
const SECONDS = NOW / SECOND;
const EXPECTED = { issuer: ISSUER, clientId: 'c' };
const LOGOUT = {
  ...{ iss: ISSUER, aud: 'c', iat: SECONDS, exp: SECONDS + 120, jti: 'x', sid: 's', sub: 'p' },
  events: { [LOGOUT_EVENT]: {} },
};
const ID_TOKEN = {
  ...{ iss: ISSUER, aud: ['c'], azp: 'c', iat: SECONDS, exp: SECONDS + 120, nonce: 'n', sub: 'p', sid: 's' },
  ...{ auth_time: SECONDS - 5, amr: ['pwd'], name: 'Ada', email: 'ada@provider.example', tid: 't', oid: 'o' },
};
const CLAIM_WORDS = [
  '"iss":"https://evil.example"',
  '"aud":["c","d"]',
  '"nonce":"n"',
  '"sid":null',
  '"events":{}',
  '"exp":1e999',
  '-1',
  'null',
  '[]',
  '{}',
  '"__proto__":',
  '\\u0000',
];

/** A key of a provider: the same one in every run, so that its signatures are the same. */
const privateKey = createPrivateKey({
  format: 'jwk',
  key: {
    ...{ kty: 'OKP', crv: 'Ed25519', d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' },
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
});
const PUBLIC_JWK = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: '1' };
const [publicKey] = usableKeys({ keys: [PUBLIC_JWK] }) ?? [];

function signed(claims: object, header: object = {}): string {
  const parts = [{ alg: 'EdDSA', kid: '1', typ: 'logout+jwt', ...header }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

const METADATA = {
  ...{ issuer: ISSUER, authorization_endpoint: `${ISSUER}/authorize`, token_endpoint: `${ISSUER}/token` },
  ...{ jwks_uri: `${ISSUER}/jwks`, response_types_supported: ['code'] },
  ...{ id_token_signing_alg_values_supported: ['RS256'], token_endpoint_auth_methods_supported: ['none'] },
};
const providerServices = {
  documents: {
    metadata: async () => METADATA,
    key: async (_metadata: object, alg: string) => (alg === 'EdDSA' ? publicKey : undefined),
    usableKeys: async () => 1,
  },
  outgoing: async () => assert.fail('nothing is sent'),
  clock: () => NOW,
  local: false,
};

/** Runs what may refuse as providers are refused. */
async function refusingProvider<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UpstreamRefusal) return undefined;
    throw error;
  }
}

const claimsOf = (input: string): Readonly<Record<string, unknown>> | undefined => {
  const value = jsonOf(input);
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
};

const isRecent = (at: number): boolean => at >= NOW - 10 * MINUTE && at <= NOW + MINUTE;

export const providerTargets: Readonly<Record<string, Target>> = {
  'logout token of a provider': {
    seeds: [
      signed(LOGOUT),
      signed({ ...LOGOUT, sid: undefined }, { typ: 'JWT' }),
      signed({ ...LOGOUT, nonce: 'n' }),
      signed(LOGOUT, { alg: 'none' }),
      signed([]),
    ],
    words: ['.', '=', 'eyJhbGciOiJub25lIn0', 'e30', 'bnVsbA', '{"alg":"EdDSA"}'],
    async run(input) {
      const logout = await refusingProvider(() => verifyLogoutToken(providerServices, EXPECTED, input));
      if (logout === undefined) return;
      // Only what the key has signed is believed; its encoding may differ in the last, unused bits.
      const payloadOf = (token: string) => Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
      assert.ok(this.seeds.map(payloadOf).includes(payloadOf(input)), input);
      assert.ok((logout.sid ?? logout.subject) !== null && logout.jti !== '' && isRecent(logout.issuedAt));
    },
  },
  'claims of a logout token': {
    seeds: [JSON.stringify(LOGOUT), JSON.stringify({ ...LOGOUT, sub: undefined })],
    words: CLAIM_WORDS,
    run(input) {
      const claims = claimsOf(input);
      if (claims === undefined) return;
      for (const type of [undefined, 'logout+jwt', 'at+jwt']) {
        const read = readLogoutToken(claims, type, EXPECTED, NOW);
        if ('problem' in read) continue;
        assert.ok(type !== 'at+jwt' && claims['iss'] === ISSUER && !('nonce' in claims), input);
        assert.ok(read.sid !== null || read.subject !== null);
        assert.ok(read.jti !== '' && read.jti.length <= 255 && isRecent(read.issuedAt));
        // One or the other, as a token must not pass for one of another kind.
        const asIdToken = readIdToken(claims, { ...EXPECTED, ...ATTEMPT, subjectClaim: 'sub' }, NOW);
        assert.ok('problem' in asIdToken);
      }
    },
  },
  'claims of an ID token of a provider': {
    seeds: [JSON.stringify(ID_TOKEN), JSON.stringify({ ...ID_TOKEN, at_hash: 'h' })],
    words: CLAIM_WORDS,
    run(input) {
      const claims = claimsOf(input);
      if (claims === undefined) return;
      for (const subjectClaim of ['sub', 'oid'] as const) {
        const read = readIdToken(claims, { ...EXPECTED, ...ATTEMPT, subjectClaim }, NOW);
        if ('problem' in read) continue;
        assert.ok(claims['nonce'] === 'n' && read.issuer === ISSUER && isRecent(read.issuedAt), input);
        assert.match(read.subject, /^[\x21-\x7e]{1,255}$/);
        assert.ok((read.sid?.length ?? 1) <= 255 && read.amr.length <= 10);
        assert.doesNotMatch(`${read.name}${read.email}`, /\p{Cc}|\p{Cf}/u);
      }
    },
  },
  'people of GitHub and Apple': {
    seeds: [
      '{"name":{"firstName":"Ada","lastName":"Lovelace"}}',
      '{"id":7,"login":"ada","name":"Ada","email":"public@example.com"}',
      '[{"email":"ada@example.com","primary":true,"verified":true}]',
    ],
    words: ['"id":1e99', '"id":-1', 'null', '[]', '{}', '"verified":"true"', '\\u202e', '\\u0000'],
    run(input) {
      const value = jsonOf(input);
      const person = readGithubPerson(ISSUER, value, value, NOW);
      const proposals = [appleName(input)];
      if (!('problem' in person)) {
        assert.match(person.subject, /^[1-9][0-9]*$/);
        proposals.push(person.name, person.email);
      }
      for (const text of proposals) assert.doesNotMatch(text ?? '', /\p{Cc}|\p{Cf}/u);
    },
  },
  'metadata and keys of a provider': {
    seeds: [JSON.stringify(METADATA), JSON.stringify({ ...METADATA, keys: [PUBLIC_JWK] })],
    words: ['"issuer":"https://evil.example"', 'http://', 'javascript:', '@', '#', 'null', '[]', '{}', '"d":"x"'],
    async run(input) {
      const headers = { 'content-type': 'application/json' };
      const answer = async () => ({ status: 200, headers, body: Buffer.from(input) });
      const documents = createProviderDocuments(answer, () => NOW, false);
      const metadata = await refusingProvider(() => documents.metadata(ISSUER));
      if (metadata === undefined) return;
      assert.equal(metadata.issuer, ISSUER);
      const { authorization_endpoint, token_endpoint, jwks_uri } = metadata;
      for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri]) {
        const { protocol, username, password } = new URL(endpoint);
        assert.deepEqual([protocol, username, password], ['https:', '', '']);
      }
      await refusingProvider(() => documents.key(metadata, 'EdDSA', '1'));
    },
  },
};

/** What a sign-in expects of its ID token. */
const ATTEMPT = { nonce: 'n', maxAge: 60, notBefore: null, accessTokenHash: 'h' };
