// store: SQLite, PostgreSQL
/** Decisions §12: a list shows what its reader reaches at the moment of the read that answers, not when the request began. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Database } from '../../src/platform/database/database.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import { admin, newClient } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

/** A name that everything has that only a role of the installation reaches. */
const BEYOND = 'beyond';

/** How many reads of the watched request go on before the role ends; undefined while none is watched. */
let before: number | undefined;
let endRole = async (): Promise<void> => {};
let hasEnded = false;
let leaked = false;

async function turn(): Promise<void> {
  if (before === undefined || before-- > 0) return;
  before = undefined;
  await endRole();
  hasEnded = true;
}

const holding = (own: Database): Database => ({
  ...own,
  async read(work) {
    await turn();
    const isAfter = hasEnded;
    const found = await own.read(work);
    if (isAfter && JSON.stringify(found ?? null).includes(BEYOND)) leaked = true;
    return found;
  },
});

const server = await startServer({}, 1, undefined, { database: holding });
after(() => server.close());

const newOrganization = async (name: string): Promise<string> =>
  (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
const made = async (path: string, body: object) => {
  const { status } = await admin(server, 'POST', path, body);
  assert.equal(status, 201, path);
};
const [own, organizationId] = [await newOrganization('own'), await newOrganization(BEYOND)];
await newClient(server, { name: `App ${BEYOND}`, organizationId });
await made('/groups', { name: `group-${BEYOND}`, displayName: BEYOND, organizationId });
await made('/admin-keys', { name: `Key ${BEYOND}`, role: 'auditor', organizationId });
await made('/invitations', { organizationId, email: `somebody@${BEYOND}.example` });
const holder = await newOperator(server, 'auditor', { username: `auditor-${BEYOND}` });
assert.equal((await admin(server, 'PUT', `/users/${holder.id}/roles/developer`, { organizationId })).status, 200);

const operator = await newOperator(server, 'auditor');
assert.equal(
  (await admin(server, 'PUT', `/organizations/${own}/members/${operator.id}`, { role: 'ADMIN' })).status,
  200,
);
const token = await signInOnCommandLine(server, { user: operator, ...operator });
const role = (method: string) =>
  admin(server, method, `/users/${operator.id}/roles/auditor`, method === 'PUT' ? {} : undefined);

const ofApi = (path: string) => async () => JSON.stringify((await admin(server, 'GET', path, undefined, token)).body);
const ofConsole = (path: string) => async () => (await operator.browser.get(`/console/${path}`)).text;

const LISTS: Readonly<Record<string, () => Promise<string>>> = {
  ...Object.fromEntries(
    ['/clients', '/groups', `/groups?q=${BEYOND}`, '/organizations', '/admin-keys', '/invitations'].map((path) => [
      path,
      ofApi(path),
    ]),
  ),
  ...Object.fromEntries(
    [
      ...['apps', `apps?q=${BEYOND}`, 'groups', `groups?q=${BEYOND}`, 'organizations', `organizations?q=${BEYOND}`],
      ...['keys', 'invitations', 'operators', `search?text=${BEYOND}`],
    ].map((path) => [`/console/${path}`, ofConsole(path)]),
  ),
};

for (const [name, list] of Object.entries(LISTS)) {
  test(`${name} shows nothing of a role that has ended since the request began`, async () => {
    assert.ok((await list()).includes(BEYOND), 'with the role, it is shown');
    let isOver = false;
    for (let reads = 0; !isOver; reads++) {
      [before, hasEnded, leaked] = [reads, false, false];
      endRole = async () => assert.equal((await role('DELETE')).status, 200);
      await list();
      isOver = before !== undefined;
      before = undefined;
      assert.equal(leaked, false, `the role ended before read ${reads + 1}`);
      if (isOver) assert.ok(reads > 1, 'it was held before the read that lists');
      hasEnded = false;
      assert.ok((await role('PUT')).status < 300);
    }
  });
}
