// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { allRefused, assertInvalidGrant, assertRefused, KINDS, type Kind } from '../support/api-call.ts';
import { newClient, newUser, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { forge, parts, realKeys } from '../support/forged-token.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const other = await newClient(server);
const stranger = await newUser(server);
const user = await newUser(server);
const tokens = await tokensFor(server, client, user, {}, { browser: await signedIn(server, user) });
const keys = await realKeys(server);

const genuine = (kind: Kind): string => (kind === 'access' ? tokens.access_token : tokens.refresh_token);

/** Our own header and key around other claims: what the signature alone would let pass. */
function resigned(kind: Kind, claims: object | string): string {
  return forge(parts(genuine(kind)).header, claims, keys[kind]);
}
const refuseAll = (kind: Kind, claims: readonly (object | string)[]) =>
  allRefused(
    server,
    client,
    kind,
    claims.map((each) => resigned(kind, each)),
  );

for (const kind of KINDS) {
  describe(`correctly signed ${kind} tokens`, () => {
    const claims = () => parts(genuine(kind)).claims;
    const theirs = () => parts(genuine(kind === 'access' ? 'refresh' : 'access')).claims;
    const required = [
      'iss',
      'aud',
      'sub',
      'exp',
      'iat',
      'jti',
      'client_id',
      'family',
      ...(kind === 'access' ? ['scope'] : []),
    ];

    for (const name of required) {
      test(`JW-12: ${name} missing`, async () => {
        const { [name]: _, ...rest } = claims();
        await refuseAll(kind, [rest]);
      });
      test(`JW-12: ${name} of another type`, async () => {
        const value = claims()[name];
        const number = typeof value === 'number';
        const wrong: readonly unknown[] = [null, true, false, {}, [], [[]], '', -1, 1.5, { toString: 'x' }];
        const retyped = number ? [String(value), (value as number) + 0.5, [value]] : [[[value]], { 0: value }, 5];
        await refuseAll(
          kind,
          [...wrong, ...retyped].map((each) => ({ ...claims(), [name]: each })),
        );
      });
    }
    for (const name of ['exp', 'iat', 'nbf']) {
      test(`JW-12: ${name} as an extravagant number`, async () => {
        const text = JSON.stringify({ ...claims(), [name]: 'HERE' });
        const numbers = ['1e400', '-1e400', '1e308', '9007199254740993', '-5', '1.5', '"1e10"', 'null', '[2000000000]'];
        await refuseAll(
          kind,
          numbers.map((number) => text.replace('"HERE"', number)),
        );
      });
    }

    test('JW-11: another issuer', async () => {
      const issuers = [
        'http://localhost',
        `${server.baseUrl}/`,
        server.baseUrl.toUpperCase(),
        server.baseUrl.replace('localhost', '127.0.0.1'),
        server.baseUrl.replace(/:\d+$/, ''),
        server.baseUrl.replace('http:', 'https:'),
        'https://evil.example.com',
        client.clientId,
      ];
      await refuseAll(
        kind,
        issuers.map((iss) => ({ ...claims(), iss })),
      );
    });

    test('JW-11: another audience', async () => {
      const audiences: readonly unknown[] = [
        theirs()['aud'],
        [theirs()['aud']],
        client.clientId,
        [client.clientId],
        server.baseUrl,
        `${claims()['aud']}/`,
        '*',
        [],
        'https://evil.example.com',
        ['https://orders.example.com', 'https://bills.example.com'],
        [theirs()['aud'], client.clientId],
        [claims()['aud'], 5],
      ];
      await refuseAll(
        kind,
        audiences.map((aud) => ({ ...claims(), aud })),
      );
    });

    test('JW-13: expired, or good only later', async () => {
      const now = Math.floor(server.now() / 1000);
      await refuseAll(kind, [
        { ...claims(), exp: now },
        { ...claims(), exp: now - 1 },
        { ...claims(), exp: 0 },
        { ...claims(), nbf: now + 61 },
        { ...claims(), nbf: now + 1_000_000 },
        { ...claims(), nbf: 'now' },
      ]);
    });

    test('JW-13: issued in the future by a key of ours, so that a clock must be wrong: neither taken nor refused for good', async () => {
      const now = Math.floor(server.now() / 1000);
      for (const ahead of [61, 1_000_000, 1e12]) {
        const token = resigned(kind, { ...claims(), iat: now + ahead, exp: now + ahead + 1800 });
        const answer = kind === 'access' ? await userinfo(server, token) : await refresh(server, client, token);
        assertRefused(answer, 503, 'temporarily_unavailable');
        assertRefused(await introspect(server, client, token), 503, 'temporarily_unavailable');
      }
    });

    test('JW-12, JW-13: iat and nbf may lie sixty seconds ahead, for clocks of nodes that differ, and no more', async () => {
      const now = Math.floor(server.now() / 1000);
      const taken = async (token: string): Promise<boolean> =>
        (await introspect(server, client, token)).body.active === true;
      for (const name of ['iat', 'nbf']) {
        assert.equal(await taken(resigned(kind, { ...claims(), [name]: now + 60 })), true, name);
      }
      assert.equal(await taken(resigned(kind, { ...claims(), nbf: now + 61 })), false);
    });

    test('RT-06: claims that name an unknown family, user or client, or another’s', async () => {
      const unknown = '123456789012345678';
      const mine = claims();
      await refuseAll(kind, [
        { ...mine, family: unknown },
        { ...mine, family: '0' },
        { ...mine, family: `0${mine['family']}` },
        { ...mine, family: `${mine['family']} ` },
        { ...mine, family: '99999999999999999999999999' },
        { ...mine, family: "1' OR '1'='1" },
        { ...mine, sub: unknown },
        { ...mine, sub: stranger.id },
        { ...mine, sub: mine['client_id'], client_id: mine['sub'] },
        { ...mine, client_id: unknown },
        { ...mine, client_id: other.clientId },
        { ...mine, sub: '-1' },
        { ...mine, sub: '1e5' },
      ]);
    });

    test('a claim in a prototype is no claim', async () => {
      const { exp, ...rest } = claims();
      const text = JSON.stringify(rest).slice(1);
      await refuseAll(kind, [`{"__proto__":{"exp":${exp}},${text}`, `{"constructor":{"exp":${exp}},${text}`]);
    });
  });
}

test('a scope that was never granted gives nothing beyond the grant', async () => {
  // The key would have to leak for this; the scopes in an access token are those that it was signed with.
  const { header, claims } = parts(tokens.access_token);
  const odd = ['unknown', 'openid __proto__', 'openid constructor email2', 'OPENID EMAIL', 'openid\u00a0email'];
  const plain = await userinfo(server, tokens.access_token);
  for (const scope of odd) {
    const answer = await userinfo(server, forge(header, { ...claims, scope }, keys.access));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, plain.body);
  }
});

test('RT-06: a correctly signed refresh token with a jti that was never issued is refused', async () => {
  assert.equal((await userinfo(server, tokens.access_token)).status, 200, 'nothing before this harmed the family');
  const { claims } = parts(tokens.refresh_token);
  assertInvalidGrant(await refresh(server, client, resigned('refresh', { ...claims, jti: 'A'.repeat(22) })));
});
