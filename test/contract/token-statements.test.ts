// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { assertRefused } from '../support/api-call.ts';
import {
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { countRows, query, tablesOf } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// TK-11: spending a credential, recording its successor and its audit event commit together or not at all. Each statement that
// writes is made to fail, one at a time, and then the commit itself.

let server: TestServer;
let client: TestClient;
let user: TestUser;
let browser: Agent;
before(async () => {
  // The count of requests is a statement, too.
  server = await startServer({ TESSERA_LIMIT_TOKEN: '1000000/h' });
  client = await newClient(server);
  user = await newUser(server);
  browser = await signedIn(server, user);
  if (isPostgres) {
    await define('fault_now', "RAISE EXCEPTION 'a fault of the test';");
    await define('fault_at_commit', 'INSERT INTO at_commit VALUES (-1); RETURN NULL;');
  }
  // No account has this id, which is looked at when the transaction commits.
  const column = `id ${isPostgres ? 'BIGINT' : 'INTEGER'} REFERENCES account (id) DEFERRABLE INITIALLY DEFERRED`;
  await query(server, `CREATE TABLE at_commit (${column})`);
});
after(() => server.close());

const isPostgres = process.env['TESSERA_TEST_POSTGRES'] !== undefined;
const define = (name: string, body: string) =>
  query(server, `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`);

/** Where a fault is: the first write of its kind to a table fails, or the commit after it. */
interface Fault {
  readonly table: string;
  readonly write: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly when: 'now' | 'at commit';
}

async function during<T>({ table, write, when }: Fault, work: () => Promise<T>): Promise<T> {
  const [moment, act] =
    when === 'now'
      ? ['BEFORE', "SELECT RAISE(ABORT, 'a fault of the test');"]
      : ['AFTER', 'INSERT INTO at_commit VALUES (-1);'];
  const body = isPostgres ? `FOR EACH ROW EXECUTE FUNCTION fault_${when.replace(' ', '_')}()` : `BEGIN ${act} END`;
  await query(server, `CREATE TRIGGER fault ${moment} ${write} ON ${table} ${body}`);
  try {
    return await work();
  } finally {
    await query(server, `DROP TRIGGER fault${isPostgres ? ` ON ${table}` : ''}`);
  }
}

/** A credential that is used once, and what is made of it. */
interface Use {
  /** The writes of which none may be missing: what is made to fail must be what happens. */
  readonly writes: readonly string[];
  prepare(): Promise<string>;
  use(credential: string): Promise<JsonAnswer>;
}
const USES: Readonly<Record<string, Use>> = {
  'a code': {
    writes: [
      'UPDATE rate_count, now',
      'INSERT token_family, now',
      'UPDATE authorization_code, now',
      'INSERT audit_event, now',
      'INSERT audit_event, at commit',
    ],
    prepare: () => codeFor(server, client, user, {}, { browser }),
    use: (code) => redeem(server, client, code),
  },
  'a refresh token': {
    writes: [
      'UPDATE rate_count, now',
      'UPDATE token_family, now',
      'INSERT audit_event, now',
      'INSERT audit_event, at commit',
    ],
    prepare: async () => (await tokensFor(server, client, user, {}, { browser })).refresh_token,
    use: (token) => refresh(server, client, token),
  },
};

const traces = async (): Promise<readonly number[]> =>
  Promise.all(['token_family', 'audit_event'].map((table) => countRows(server, table)));

async function faults(): Promise<readonly Fault[]> {
  const tables = (await tablesOf(server)).filter((table) => !/^sqlite_|^at_commit$/.test(table));
  return [
    ...tables.flatMap((table) =>
      (['INSERT', 'UPDATE', 'DELETE'] as const).map((write) => ({ table, write, when: 'now' }) as const),
    ),
    { table: 'audit_event', write: 'INSERT', when: 'at commit' },
  ];
}

for (const [name, { writes, prepare, use }] of Object.entries(USES)) {
  test(`${name} is as good as before where its exchange failed, and spent where it did not`, async () => {
    const failed: string[] = [];
    for (const fault of await faults()) {
      const what = `${fault.write} ${fault.table}, ${fault.when}`;
      const credential = await prepare();
      const before = await traces();
      const answer = await during(fault, () => use(credential));
      if (answer.status === 200) {
        assert.equal((await userinfo(server, answer.body.access_token)).status, 200, what);
        continue;
      }
      failed.push(what);
      assertRefused(answer, 500, 'server_error');
      assert.deepEqual(await traces(), before, `${what}: something of it was kept`);
      const again = await use(credential);
      assert.equal(again.status, 200, `${what}: ${JSON.stringify(again.body)}`);
      assert.equal((await userinfo(server, again.body.access_token)).status, 200, what);
      assert.equal((await refresh(server, client, again.body.refresh_token)).status, 200, what);
    }
    for (const write of writes) assert.ok(failed.includes(write), `${write} is not among: ${failed.join('; ')}`);
  });
}
