// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { dictionary } from '@zxcvbn-ts/language-common';
import { allRefused, KINDS, type Kind } from '../support/api-call.ts';
import { startCanary } from '../support/canary.ts';
import { newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { encode, forge, parts, realKeys } from '../support/forged-token.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const other = await newClient(server);
const tokens = await tokensFor(server, client, await newUser(server));
const keys = await realKeys(server);
const canary = await startCanary();
after(() => canary.close());

const genuine = (kind: Kind): string => (kind === 'access' ? tokens.access_token : tokens.refresh_token);
const refuseAll = (kind: Kind, forgeries: readonly string[]) => allRefused(server, client, kind, forgeries);

for (const kind of KINDS) {
  describe(`JW-01: another algorithm in the header of ${kind} tokens`, () => {
    const algorithms: readonly unknown[] = [
      ...['none', 'None', 'nOnE', 'NONE', '', 'hs256', 'Hs256', 'HS256 ', ' HS256', 'HS384', 'HS512', 'RS256'],
      ...['ES256', 'PS256', 'EdDSA', null, 0, true, ['HS256'], { name: 'HS256' }],
    ];
    for (const alg of algorithms) {
      test(`alg ${JSON.stringify(alg)}`, async () => {
        const { header, claims } = parts(genuine(kind));
        const changed = { ...header, alg };
        const key = keys[kind];
        const unsigned = `${encode(changed)}.${encode(claims)}.`;
        await refuseAll(kind, [
          forge(changed, claims, key),
          forge(changed, claims, key, 'sha384'),
          forge(changed, claims, key, 'sha512'),
          forge(changed, claims, ''),
          unsigned,
          unsigned.slice(0, -1),
          `${unsigned}${genuine(kind).split('.')[2]}`,
        ]);
      });
    }
    test('absent, twice, or under another name', async () => {
      const { header, claims } = parts(genuine(kind));
      const { alg: _, ...rest } = header;
      const text = JSON.stringify(header).slice(0, -1);
      await refuseAll(kind, [
        forge(rest, claims, keys[kind]),
        forge({ ...rest, ALG: 'HS256' }, claims, keys[kind]),
        forge(`${text},"alg":"none"}`, claims, keys[kind]),
        forge(`{"alg":"none",${text.slice(1)}}`, claims, keys[kind]),
      ]);
    });
    test('a real RSA signature', async () => {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const { header, claims } = parts(genuine(kind));
      const jwk = publicKey.export({ format: 'jwk' });
      const input = `${encode({ ...header, alg: 'RS256', jwk })}.${encode(claims)}`;
      await refuseAll(kind, [`${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`]);
    });
  });

  describe(`JW-04, JW-05: ${kind} tokens signed with other keys`, () => {
    test('client secrets, empty and guessable keys, the other kind’s key, the material and the root', async () => {
      const { header, claims } = parts(genuine(kind));
      const wrong: readonly (Buffer | string)[] = [
        ...[
          client.clientSecret,
          other.clientSecret,
          '',
          'secret',
          'null',
          'undefined',
          'password',
          'tessera',
          keys.kid,
        ],
        ...[
          Buffer.alloc(32),
          Buffer.alloc(64),
          keys[kind === 'access' ? 'refresh' : 'access'],
          keys.material,
          keys.root,
        ],
        Buffer.from(keys[kind].toString('hex')),
        Buffer.from(keys[kind].toString('base64')),
        keys[kind].subarray(0, 16),
      ];
      await refuseAll(
        kind,
        wrong.map((key) => forge(header, claims, key)),
      );
    });
  });

  test(`JW-04: the key of ${kind} tokens is none of the 10,000 most used passwords, nor what their hashes give`, () => {
    const { header, claims } = parts(genuine(kind));
    const weak = dictionary['passwords-common'].slice(0, 10_000);
    assert.equal(weak.length, 10_000);
    // HMAC is a function of key and text: a key that signs alike would be the key.
    const digestOf = (word: string) => hash('sha256', word, 'buffer');
    for (const word of weak) {
      for (const key of [word, digestOf(word)]) assert.notEqual(forge(header, claims, key), genuine(kind), word);
    }
  });

  describe(`JW-14: key selection in the header of ${kind} tokens`, () => {
    const kids: readonly unknown[] = [
      ...['', 'unknown', '../../../../dev/null', '/dev/null', '/proc/self/environ', 'file:///dev/null', '__proto__'],
      ...['constructor', 'toString', "' OR 1=1 --", canary.url, null, 0, 1, true, [], {}, '*', '%'],
    ];
    for (const kid of kids) {
      test(`kid ${JSON.stringify(kid)}`, async () => {
        const { header, claims } = parts(genuine(kind));
        await refuseAll(
          kind,
          [keys[kind], ''].map((key) => forge({ ...header, kid }, claims, key)),
        );
      });
    }
    test('kid absent, in an array, in another case, with its own kid twice', async () => {
      const { header, claims } = parts(genuine(kind));
      const { kid: _, ...rest } = header;
      const text = JSON.stringify(header).slice(0, -1);
      const headers = [
        rest,
        { ...rest, kid: [keys.kid] },
        { ...rest, kid: `${keys.kid} ` },
        { ...rest, kid: `./${keys.kid}` },
        `${text},"kid":"${keys.kid}"}`,
        `${text},"kid":"unknown"}`,
      ];
      await refuseAll(
        kind,
        headers.map((changed) => forge(changed, claims, keys[kind])),
      );
    });
    test('jwk, jku, x5u, x5c, crit, b64 and zip, signed with the key they offer', async () => {
      const { header, claims } = parts(genuine(kind));
      const own = Buffer.alloc(32, 7);
      const jwk = { kty: 'oct', k: own.toString('base64url'), alg: 'HS256' };
      const extras = [
        { jwk },
        { jwk, kid: undefined },
        { jku: canary.url },
        { x5u: canary.url },
        { x5c: [own.toString('base64')] },
        { crit: ['exp'] },
        { crit: [] },
        { crit: ['b64'], b64: false },
        { zip: 'DEF' },
      ];
      for (const extra of extras) {
        await refuseAll(
          kind,
          [own, ...('crit' in extra ? [keys[kind]] : [])].map((key) => forge({ ...header, ...extra }, claims, key)),
        );
      }
    });
  });

  describe(`JW-10: typ in the header of ${kind} tokens`, () => {
    const foreign = kind === 'access' ? 'rt+jwt' : 'at+jwt';
    const upper = kind === 'access' ? 'AT+JWT' : 'RT+JWT';
    for (const typ of [
      foreign,
      'JWT',
      'jwt',
      '',
      'jose',
      `application/${foreign}`,
      upper,
      null,
      undefined,
      ['at+jwt', 'rt+jwt'],
    ]) {
      test(`typ ${JSON.stringify(typ)}, correctly signed`, async () => {
        const { header, claims } = parts(genuine(kind));
        await refuseAll(kind, [forge({ ...header, typ }, claims, keys[kind])]);
      });
    }
    test('the other kind’s claims under this kind’s header and key, and the reverse', async () => {
      const mine = parts(genuine(kind));
      const theirs = parts(genuine(kind === 'access' ? 'refresh' : 'access'));
      await refuseAll(kind, [
        forge(mine.header, theirs.claims, keys[kind]),
        forge(theirs.header, mine.claims, keys[kind]),
        forge(theirs.header, theirs.claims, keys[kind]),
      ]);
    });
  });
}

test('JW-14: no address that a header or claim named was ever connected to', () => canary.assertUntouched());

test('the genuine tokens are good, before and after all this', async () => {
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  const { header, claims } = parts(tokens.access_token);
  assert.equal(forge(header, claims, keys.access), tokens.access_token, 'the keys of these tests are the real ones');
  const again = parts(tokens.refresh_token);
  assert.equal(forge(again.header, again.claims, keys.refresh), tokens.refresh_token);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});
