// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { allRefused, KINDS, type Kind } from '../support/api-call.ts';
import { newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { encode, forge, parts, realKeys } from '../support/forged-token.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const tokens = await tokensFor(server, client, await newUser(server));
const keys = await realKeys(server);

const genuine = (kind: Kind): string => (kind === 'access' ? tokens.access_token : tokens.refresh_token);
const refuseAll = (kind: Kind, forgeries: readonly string[]) => allRefused(server, client, kind, forgeries);

for (const kind of KINDS) {
  describe(`JW-02, JW-03: the form of ${kind} tokens`, () => {
    test('truncated at every length', async () => {
      const token = genuine(kind);
      const cuts = Array.from({ length: token.length - 1 }, (_, i) => token.slice(0, i + 1));
      await refuseAll(kind, cuts);
      await refuseAll(
        kind,
        cuts.filter((_, i) => i % 7 === 0).map((cut) => token.slice(cut.length)),
      );
    });

    test('every encoding but the one', async () => {
      const token = genuine(kind);
      const [header = '', claims = '', signature = ''] = token.split('.');
      const last = signature.at(-1) ?? '';
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const sameBits = [...alphabet].filter(
        (c) => c !== last && alphabet.indexOf(c) >> 2 === alphabet.indexOf(last) >> 2,
      );
      assert.equal(sameBits.length, 3);
      const json = { payload: claims, signatures: [{ protected: header, signature }] };
      await refuseAll(kind, [
        ...sameBits.map((c) => token.slice(0, -1) + c),
        `${token}=`,
        `${token}==`,
        `${header}=.${claims}.${signature}`,
        `${header}.${claims}=.${signature}`,
        `${token}.`,
        `.${token}`,
        `${token}.${signature}`,
        `${token}..`,
        `${header}.${claims}..${signature}`,
        `${header}..${claims}.${signature}.`,
        `${header}.${claims}.${signature}.${claims}.${signature}`,
        `${header}.${claims}`,
        `${header}..${signature}`,
        `.${claims}.${signature}`,
        `..`,
        `${header} .${claims}.${signature}`,
        `${header}.${claims}.${signature}%3D`,
        token.replaceAll('-', '+').replaceAll('_', '/').replace(/$/, '='),
        `"${token}"`,
        JSON.stringify({ payload: claims, protected: header, signature }),
        JSON.stringify(json),
        encode(token),
        `${encode(`${Buffer.from(header, 'base64url')} `)}.${claims}.${signature}`,
        token.toUpperCase(),
        `${header}.${claims}.${'A'.repeat(43)}`,
        `${header}.${claims}.${signature}${'A'.repeat(9000)}`,
        '.'.repeat(8000),
        'A'.repeat(16_000),
      ]);
    });

    test('correctly signed, but not as we write it: reordered and spaced headers, claims that are no object', async () => {
      const { header, claims } = parts(genuine(kind));
      const key = keys[kind];
      const sorted = Object.fromEntries(Object.entries(header).reverse());
      await refuseAll(kind, [
        forge(sorted, claims, key),
        forge(` ${JSON.stringify(header)}`, claims, key),
        forge(JSON.stringify(header, null, 1), claims, key),
        forge({ ...header, cty: 'JWT' }, claims, key),
        ...['', '[]', 'null', '5', '"text"', '{', `[${JSON.stringify(claims)}]`, '\ufeff{}', 'not json'].map((text) =>
          forge(header, text, key),
        ),
      ]);
    });

    test('white space and padding inside what is signed', async () => {
      const { header, claims } = parts(genuine(kind));
      const spoilt = [`${encode(claims)}=`, `${encode(claims)}==`, `${encode(claims)}~`, `${encode(claims)}%20`];
      // A header cannot carry a line break, and its token ends at a space; a body can and does.
      if (kind === 'refresh') spoilt.push(`${encode(claims)}\n`, ` ${encode(claims)}`, `${encode(claims)}\t`);
      await refuseAll(
        kind,
        spoilt.map((part) => {
          const input = `${encode(header)}.${part}`;
          return `${input}.${createHmac('sha256', keys[kind]).update(input).digest('base64url')}`;
        }),
      );
    });
  });
}

test('JW-02: every single bit of an access token matters', async () => {
  const token = Buffer.from(tokens.access_token, 'ascii');
  const forgeries: string[] = [];
  for (let i = 0; i < token.length; i++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(token);
      flipped.writeUInt8((flipped[i] ?? 0) ^ (1 << bit), i);
      const text = flipped.toString('latin1');
      // Octets that a header cannot carry never reach the service.
      if (/^[\x21-\x7e\x80-\xff]+$/.test(text)) forgeries.push(text);
    }
  }
  assert.ok(forgeries.length > token.length * 6);
  await refuseAll('access', forgeries);
});

test('the genuine tokens are good, before and after all this', async () => {
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  const { header, claims } = parts(tokens.access_token);
  assert.equal(forge(header, claims, keys.access), tokens.access_token, 'the keys of these tests are the real ones');
  const again = parts(tokens.refresh_token);
  assert.equal(forge(again.header, again.claims, keys.refresh), tokens.refresh_token);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});
