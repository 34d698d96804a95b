// store: SQLite, PostgreSQL
/** What the keys of a person handed out ends, as the invitations of the person do, when the person may not act any more. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { handingOut, TABLE_OF } from '../support/handed-out.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_REGISTRATION: 'token' });
after(() => server.close());
const { kinds: KINDS } = handingOut(server);
const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** An admin with a key that was made with a key of theirs. */
async function newMaker(): Promise<{ readonly maker: TestOperator; readonly key: string; readonly keyId: string }> {
  const maker = await newOperator(server, 'admin');
  const page = await act(server, maker, '/console/keys/new', {}, { name: 'Left behind', role: 'admin' });
  const own = /tak_[\w-]+/.exec(page.text)?.[0] ?? '';
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: 'In turn', role: 'admin' }, own);
  assert.equal(status, 201);
  return { maker, key: body.adminKey, keyId: body.id };
}

interface Barring {
  readonly event: string;
  readonly bar: (maker: TestOperator) => Promise<number>;
  readonly lift: (maker: TestOperator) => Promise<number>;
}

const byOperator = (path: string, ...liftPaths: readonly string[]): Pick<Barring, 'bar' | 'lift'> => ({
  bar: async ({ id }) => (await admin(server, 'PUT', `/users/${id}/${path}`, {})).status,
  async lift({ id }) {
    const statuses: number[] = [];
    for (const lifted of liftPaths) {
      statuses.push((await admin(server, 'DELETE', `/users/${id}/${lifted}`)).status);
    }
    return Math.max(...statuses);
  },
});

const BARRED: Readonly<Record<string, Barring>> = {
  banned: { event: 'account.banned', ...byOperator('ban', 'ban') },
  suspended: { event: 'account.suspended', ...byOperator('suspension', 'suspension') },
  offboarded: { event: 'account.deletion_requested', ...byOperator('deletion', 'deletion', 'suspension') },
  'gone by their own wish': {
    event: 'account.deletion_requested',
    async bar(maker) {
      const page = await open(server, maker, '/account/data');
      return (await maker.browser.submit(page, { confirm: 'yes' }, '/account/deletion')).status;
    },
    lift: async ({ id }) => (await admin(server, 'DELETE', `/users/${id}/deletion`)).status,
  },
};

for (const [how, { event, bar, lift }] of Object.entries(BARRED)) {
  describe(how, () => {
    test('what a key that their key made handed out does nothing, then or later', async () => {
      const { maker, key } = await newMaker();
      const sends = await Promise.all(kinds.map((kind) => KINDS[kind](key)));
      assert.ok((await bar(maker)) < 400);
      for (const [index, send] of sends.entries()) assert.ok((await send()) >= 400, `${kinds[index]}`);
      const { items } = (await admin(server, 'GET', `/audit-events?type=${event}&order=desc&limit=1`)).body;
      assert.deepEqual(items[0].details.handedOut, { invitations: 1, recoveryLinks: 1, initialAccessTokens: 1 });
      assert.ok((await lift(maker)) < 400);
      assert.equal((await admin(server, 'GET', '/users', undefined, key)).status, 200, 'the key works again');
      for (const [index, send] of sends.entries()) assert.ok((await send()) >= 400, `${kinds[index]} revived`);
    });

    for (const kind of kinds) {
      test(`of ${kind}: a row that this missed is refused at its use`, async () => {
        const [barred, other] = [await newMaker(), await newMaker()];
        assert.ok((await bar(barred.maker)) < 400);
        const send = await KINDS[kind](other.key);
        await query(
          server,
          `UPDATE ${TABLE_OF[kind]} SET admin_key_id = ? WHERE admin_key_id = ?`,
          barred.keyId,
          other.keyId,
        );
        assert.ok((await send()) >= 400);
      });
    }
  });
}
