// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { unassign } from '../../src/account-actions/access/assignments.ts';
import { deleteGroup } from '../../src/account-actions/access/groups.ts';
import { deleteOrganization } from '../../src/account-actions/organizations/organizations.ts';
import type { Core } from '../../src/core.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { Failure } from '../../src/platform/failure.ts';
import {
  admin,
  claimsOf,
  newClient,
  newUser,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { type Receiver, startReceiver, tokenOf } from '../support/logout-receiver.ts';
import { startServer, type TestServer } from '../support/server.ts';

// An act that takes access away from many people may be killed between any two of its steps: nothing that ended is alive, and every app
// is notified in the end.

let server: TestServer;
let receiver: Receiver;
before(async () => {
  server = await startServer();
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
  await server.close();
});

const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let made = 0;
interface Situation {
  readonly client: TestClient;
  readonly users: readonly TestUser[];
  /** Takes the access of all of them away. */
  readonly end: (core: Pick<Core, 'database' | 'clock'>) => Promise<unknown>;
  /** Gives one of them access again, in the same way where what it goes by is still there; whether it is. */
  readonly again: (user: TestUser) => Promise<boolean>;
}

const group = async (organizationId: string | null, users: readonly TestUser[]): Promise<string> => {
  const { id } = await call('POST', '/groups', { name: `interrupted-${++made}`, organizationId });
  for (const user of users) await call('PUT', `/groups/${id}/members/${user.id}`);
  return id;
};
const organization = async (users: readonly TestUser[]): Promise<string> => {
  const { id } = await call('POST', '/organizations', { name: `interrupted-${++made}`, domain: 'i.example' });
  for (const user of users) await call('PUT', `/organizations/${id}/members/${user.id}`, {});
  return id;
};
const assign = async ({ clientId }: TestClient, whom: object): Promise<string> =>
  (await call('POST', `/clients/${clientId}/assignments`, whom)).id;
const succeeds = async (...steps: (readonly [method: string, path: string, body?: object])[]): Promise<boolean> => {
  for (const step of steps) if ((await admin(server, ...step)).status >= 300) return false;
  return true;
};

/** The acts, each with the access of two people that it ends. */
const ACTS: Readonly<
  Record<string, (client: TestClient, users: readonly TestUser[]) => Promise<Omit<Situation, 'client' | 'users'>>>
> = {
  async 'an assignment of a group is taken away'(client, users) {
    const groupId = await group(null, users);
    const id = await assign(client, { groupId });
    return {
      end: (core) => unassign({ ...core, operator: undefined }, client.clientId, id, origin),
      again: () => succeeds(['POST', `/clients/${client.clientId}/assignments`, { groupId }]),
    };
  },
  async 'a group is deleted'(client, users) {
    const groupId = await group(null, users);
    await assign(client, { groupId });
    return {
      end: (core) => deleteGroup(core, groupId, origin),
      again: ({ id }) => succeeds(['PUT', `/groups/${groupId}/members/${id}`]),
    };
  },
  async 'an organization is deleted that is assigned'(client, users) {
    const organizationId = await organization(users);
    await assign(client, { organizationId });
    return {
      end: (core) => deleteOrganization(core, organizationId, origin),
      again: ({ id }) =>
        succeeds(
          ['PUT', `/organizations/${organizationId}/members/${id}`, {}],
          ['POST', `/clients/${client.clientId}/assignments`, { organizationId }],
        ),
    };
  },
  async 'an organization is deleted with a group that is assigned'(client, users) {
    const organizationId = await organization(users);
    const groupId = await group(organizationId, users);
    await assign(client, { groupId });
    return {
      end: (core) => deleteOrganization(core, organizationId, origin),
      async again(user) {
        const path = `/organizations/${organizationId}/members/${user.id}`;
        if (!(await succeeds(['PUT', path, {}]))) return false;
        await assign(client, { groupId: await group(organizationId, [user]) });
        return true;
      },
    };
  },
};

const KILLED = new Error('the process was killed');
/** A database whose process is killed before one of its commits. */
function killedBefore(database: Database, commit: number): Database {
  let commits = 0;
  return {
    ...database,
    commit: (work) => (++commits === commit ? Promise.reject(KILLED) : database.commit(work)),
  };
}

/** Acts, and is killed before a commit; whether there were so many. */
async function killed({ end }: Situation, commit: number): Promise<boolean> {
  return withData(server, async ({ database, clock }) => {
    try {
      await end({ clock, database: killedBefore(database, commit) });
      return false;
    } catch (error) {
      if (error === KILLED) return true;
      throw error;
    }
  });
}

/** Acts again; what is gone already is not found. */
const endAgain = ({ end }: Situation): Promise<unknown> =>
  withData(server, async (core) => {
    try {
      await end(core);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_found')) throw error;
    }
  });

const housekeep = () => withData(server, ({ database }) => sweep(database, server.now()));
const sidOf = (tokens: { readonly id_token: string }): string => String(claimsOf(tokens.id_token).sid);
const isAlive = async (tokens: { readonly access_token: string }): Promise<boolean> =>
  (await userinfo(server, tokens.access_token)).status === 200;

async function begin(act: string): Promise<Situation> {
  const client = await newClient(server, {
    access: 'assigned',
    backchannelLogoutUri: receiver.uri,
    idTokenSignedResponseAlg: 'RS256',
  });
  const users = [await newUser(server), await newUser(server)];
  const acting = await ACTS[act]?.(client, users);
  assert.ok(acting);
  return { client, users, ...acting };
}

/** The sessions that the app was told of, each as often as it was. */
async function notified({ clientId }: TestClient): Promise<readonly string[]> {
  await server.deliverNotices();
  return receiver.received
    .map((received) => claimsOf(tokenOf(received)))
    .filter(({ aud }) => aud === clientId)
    .map(({ sid }) => String(sid));
}

for (const act of Object.keys(ACTS)) {
  describe(act, () => {
    test('and killed between any two steps: nothing that ended is alive, and every notice is sent', async () => {
      let wasKilled = true;
      for (let commit = 1; wasKilled; commit++) {
        const situation = await begin(act);
        const { client, users, again } = situation;
        const held = [];
        for (const user of users) held.push(await tokensFor(server, client, user));
        wasKilled = await killed(situation, commit);
        const alive = await Promise.all(held.map(isAlive));
        // Before the commit that ends the access all are alive, and then none.
        const { items } = await call('GET', `/clients/${client.clientId}/assignments`);
        const isPresent = items.length > 0;
        assert.deepEqual(alive, [isPresent, isPresent], `killed before commit ${commit}`);

        // One of them is given access again while the act is incomplete.
        const [user] = users;
        assert.ok(user);
        const isBack = alive.every((one) => !one) && wasKilled && (await again(user));
        if (isBack) held.push(await tokensFor(server, client, user));

        await endAgain(situation);
        await housekeep();
        const after = await Promise.all(held.map(isAlive));
        const isNew = act === 'an assignment of a group is taken away' && isBack;
        // Assigned again is another assignment, which the act does not concern.
        assert.deepEqual(after, [false, false, ...(isBack ? [isNew] : [])], `killed before commit ${commit}`);
        const ended = held.filter((_, n) => !after[n]).map(sidOf);
        assert.deepEqual((await notified(client)).toSorted(), ended.toSorted(), `killed before commit ${commit}`);
      }
    });
  });
}
