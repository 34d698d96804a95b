// store: PostgreSQL, SQLite with --all
/** Decisions §11: what an admin key handed out and nobody used ends with the key. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createAdminKey, revokeAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { registerConfiguredAdminKey } from '../../src/admin/keys.ts';
import { openCore } from '../../src/core.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD } from '../support/flow.ts';
import { handingOut, RECOVERED_PASSWORD, TABLE_OF } from '../support/handed-out.ts';
import { holdCommits } from '../support/held-commits.ts';
import { query, tablesOf } from '../support/outcome.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';
import { times } from './crowd.ts';

const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
/** Tables whose rows may be handed out with a key. */
const TABLES = ['challenge', 'initial_access_token', 'invitation'] as const;

const commits = holdCommits();
const server = await startServer({ TESSERA_REGISTRATION: 'token' }, 1, undefined, { database: commits.database });
// Keys are made and revoked as the command line does it: beside the server, over connections of its own.
const beside = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await beside.close();
  await server.close();
});

interface Key {
  readonly id: string;
  readonly secret: string;
}

async function newKey(): Promise<Key> {
  const { key, adminKey } = await createAdminKey({ ...beside, operator: undefined }, { name: 'a key' }, ORIGIN);
  return { id: key.id, secret: adminKey };
}

const revoke = ({ id }: Key, options = {}) => revokeAdminKey({ ...beside, operator: undefined }, id, ORIGIN, options);
const { linkBy, inviteBy, kinds: KINDS } = handingOut(server);
const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];

const statusOf = async (browser: Agent, path: string): Promise<number> => (await browser.get(path)).status;

test('the tables with rows that a key handed out are those that a revocation empties', async () => {
  const withKey = await Promise.all(
    (await tablesOf(server)).map(async (table) =>
      query(server, `SELECT admin_key_id FROM ${table} LIMIT 1`).then(
        () => [table],
        () => [],
      ),
    ),
  );
  assert.deepEqual(withKey.flat().sort(), [...TABLES]);
});

for (const kind of kinds) {
  describe(kind, () => {
    test('a page that was opened before the revocation does nothing after it', async () => {
      const key = await newKey();
      const send = await KINDS[kind](key.secret);
      const { ended } = await revoke(key);
      assert.deepEqual(ended, { invitations: 0, recoveryLinks: 0, initialAccessTokens: 0, [kind]: 1 });
      assert.ok((await send()) >= 400);
    });

    test('a row that the revocation missed is refused at its use', async () => {
      const [key, ended] = [await newKey(), await newKey()];
      await revoke(ended);
      const send = await KINDS[kind](key.secret);
      const table = TABLE_OF[kind];
      await query(server, `UPDATE ${table} SET admin_key_id = ? WHERE admin_key_id = ?`, ended.id, key.id);
      assert.ok((await send()) >= 400);
    });

    test('of a revocation and a use at the same time one is first, and the other finds nothing', async () => {
      await Promise.all(
        times(6, async () => {
          const key = await newKey();
          const send = await KINDS[kind](key.secret);
          const [status, { ended }] = await Promise.all([send(), revoke(key)]);
          assert.equal(status < 400, ended[kind] === 0, `${status} ${JSON.stringify(ended)}`);
        }),
      );
    });

    test('revoked before any of the commits of a use, it refuses', async () => {
      let held = 0;
      for (let before = 1; before === 1 || held === before - 1; before++) {
        const key = await newKey();
        const send = await KINDS[kind](key.secret);
        held = 0;
        const { header } = commits.watch(async (commit) => {
          if (commit !== before) return;
          held = commit;
          await revoke(key);
        });
        const status = await send(header);
        assert.equal(status >= 400, held === before, `before commit ${before}: ${status}`);
      }
    });

    test('of the key of the configuration: a start with another one, or none, ends it', async () => {
      const send = await KINDS[kind](ADMIN_KEY);
      await server.restart();
      assert.ok((await send()) < 400, 'the same key');
      for (const next of [randomSecret(), '']) {
        const opened = await KINDS[kind](ADMIN_KEY);
        Object.assign(server.environment, { TESSERA_ADMIN_KEY: next });
        await server.restart();
        assert.ok((await opened()) >= 400, `started with ${next}`);
        Object.assign(server.environment, { TESSERA_ADMIN_KEY: ADMIN_KEY });
        await server.restart();
        assert.ok((await opened()) >= 400, 'nothing revives');
      }
    });

    test('of the key of the configuration: another node that starts with another one ends it here', async () => {
      const opened = await KINDS[kind](ADMIN_KEY);
      await registerConfiguredAdminKey(beside, randomSecret());
      assert.ok((await opened()) >= 400);
      // This process still takes the key, but what that would hand out would not work.
      const path = {
        invitations: '/invitations',
        recoveryLinks: `/users/${(await newUser(server)).id}/recovery-link`,
        initialAccessTokens: '/initial-access-tokens',
      };
      const body = kind === 'initialAccessTokens' ? { name: 'partner' } : {};
      const refused = await admin(server, 'POST', path[kind], body);
      assert.equal(refused.status, 409, JSON.stringify(refused.body));
      await server.restart();
    });
  });
}

test('a revocation tells how many it ended, and leaves what others handed out and what was used', async () => {
  const [key, other] = [await newKey(), await newKey()];
  const user = await newUser(server);
  const used = await KINDS.invitations(key.secret);
  assert.ok((await used()) < 400);
  const mine = [await inviteBy(key.secret), await inviteBy(key.secret), await linkBy(key.secret, user)];
  const theirs = [await inviteBy(other.secret), await linkBy(other.secret, await newUser(server))];
  const { made, ...counted } = await revoke(key);
  assert.deepEqual(counted, {
    ended: { invitations: 2, recoveryLinks: 1, initialAccessTokens: 0 },
    takenOver: { invitations: 0 },
  });
  // The invitation that was used let somebody in.
  assert.deepEqual(
    [made.adminKeys, made.roles, made.apps, made.access.map((one: { kind: string }) => one.kind)],
    [[], [], [], ['member']],
  );
  const { body } = await admin(server, 'GET', '/audit-events?type=admin_key.revoked&order=desc&limit=1');
  assert.deepEqual(body.items[0].details, {
    adminKeyId: key.id,
    ended: { invitations: 2, recoveryLinks: 1, initialAccessTokens: 0 },
    takenOver: { invitations: 0 },
  });
  const browser = agent(server.baseUrl);
  for (const link of mine) assert.ok((await statusOf(browser, link)) >= 400, link);
  for (const link of theirs) assert.equal(await statusOf(browser, link), 200, link);
  for (const table of TABLES) {
    assert.deepEqual(
      await query(
        server,
        `SELECT hash FROM ${table} WHERE admin_key_id = ? AND ${table === 'initial_access_token' ? 'revoked_at' : 'used_at'} IS NULL`,
        key.id,
      ),
      [],
      table,
    );
  }
});

test('invitations can be taken over, and are no key’s then; recovery links end in any case', async () => {
  const key = await newKey();
  const join = await KINDS.invitations(key.secret);
  const recover = await KINDS.recoveryLinks(key.secret);
  assert.deepEqual(await revoke(key, { takeOver: true }), {
    ended: { invitations: 0, recoveryLinks: 1, initialAccessTokens: 0 },
    takenOver: { invitations: 1 },
    made: {
      adminKeys: [],
      roles: [],
      apps: [],
      unblockedDomains: [],
      settings: [],
      upstreams: [],
      access: [],
      hasMoreAccess: false,
      changedRights: [],
      hasMoreChangedRights: false,
      accounts: [],
      hasMoreAccounts: false,
      through: [],
    },
  });
  assert.ok((await recover()) >= 400);
  assert.ok((await join()) < 400);
});

test('what had expired before is not counted', async () => {
  const key = await newKey();
  await linkBy(key.secret, await newUser(server));
  server.advance(31 * 60_000);
  assert.deepEqual((await revoke(key)).ended, { invitations: 0, recoveryLinks: 0, initialAccessTokens: 0 });
});

test('the account of a refused recovery keeps its password', async () => {
  const [key, user] = [await newKey(), await newUser(server)];
  const link = await linkBy(key.secret, user);
  const browser = agent(server.baseUrl);
  const page = await browser.get(link);
  await revoke(key);
  assert.equal((await browser.submit(page, { password: RECOVERED_PASSWORD }, '/recover/link')).status, 410);
  const signIn = async (password: string) => {
    const own = agent(server.baseUrl);
    return (await own.submit(await own.get('/login'), { identifier: user.username, password })).status;
  };
  assert.deepEqual([await signIn(RECOVERED_PASSWORD), await signIn(PASSWORD)], [401, 303]);
});
