// store: SQLite, PostgreSQL with --all
/**
 * Decisions §12: every route of the admin API × every role × an object of one's own organization, of another one, and of none. The cells
 * are written by hand, from the decision and not from the table of permissions.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AdminApp } from '../../src/admin/admin-app.ts';
import type { OperationExample } from '../../src/platform/http/operation.ts';
import { sample } from '../../src/platform/http/samples.ts';
import { described } from '../support/api-scopes.ts';
import { admin, type JsonAnswer, newUser } from '../support/flow.ts';
import { HOUR, query } from '../support/outcome.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { startRouted } from './routes.ts';

const server = await startRouted({ TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_MAILBOX: 'on' });
after(() => server.close());

/** The callers, in the order of the columns below: roles of the installation, then those of one organization. */
const CALLERS = [
  'owner',
  'admin',
  'support',
  'auditor',
  'developer',
  'owner of an organization',
  'admin of an organization',
  'auditor of an organization',
  'developer of an organization',
] as const;
type Caller = (typeof CALLERS)[number];

const PLACES = ['own', 'foreign', 'none'] as const;
type PlaceName = (typeof PLACES)[number];

/**
 * What each caller gets: `+` done, `F` 403 with the permission, `N` 404. Three letters are for an object of the caller's own organization
 * (of a developer: an app that the developer made), of another one, and of none; one letter is for all three.
 */
const CELLS: Readonly<Record<string, readonly [permission: string, cells: string]>> = {
  'POST /users': ['users.create', '+ + F F F F F F F'],
  'GET /users': ['users.read', '+ + + + F F F F F'],
  'GET /users/:id': ['users.read', '+ + + + N N N N N'],
  'PATCH /users/:id': ['users.update', '+ + F F N N N N N'],
  'DELETE /users/:id': ['users.delete', '+ + F F N N N N N'],
  'PUT /users/:id/ban': ['users.ban', '+ + F F N N N N N'],
  'DELETE /users/:id/ban': ['users.ban', '+ + F F N N N N N'],
  'PUT /users/:id/suspension': ['users.suspend', '+ + + F N N N N N'],
  'DELETE /users/:id/suspension': ['users.reinstate', '+ + F F N N N N N'],
  'DELETE /users/:id/deletion': ['users.delete', '+ + F F N N N N N'],
  'PUT /users/:id/deletion': ['users.delete', '+ + F F N N N N N'],
  'PUT /users/:id/picture': ['users.update', '+ + F F N N N N N'],
  'DELETE /users/:id/picture': ['users.update', '+ + F F N N N N N'],
  'POST /users/:id/recovery-link': ['users.recovery_link', '+ + F F N N N N N'],
  'POST /users/:id/recovery': ['users.send_recovery', '+ + + F N N N N N'],
  'GET /users/:id/factors': ['users.read', '+ + + + N N N N N'],
  'GET /users/:id/last-sign-ins': ['users.read', '+ + + + N N N N N'],
  'DELETE /users/:id/factors/:factorId': ['users.remove_factor', '+ + + F N N N N N'],
  'GET /users/:id/identities': ['users.read', '+ + + + N N N N N'],
  'DELETE /users/:id/identities/:identityId': ['users.remove_factor', '+ + + F N N N N N'],
  'POST /users/:id/email-verification': ['users.remind_verification', '+ + + F N N N N N'],
  'DELETE /held-usernames/:username': ['users.update', '+ + F F F F F F F'],
  'POST /users/:id/unlock': ['users.unlock', '+ + + F N N N N N'],
  'GET /users/:id/connections': ['users.read', '+ + + + N N N N N'],
  'DELETE /users/:id/connections/:clientId': ['users.revoke_connections', '+ + F F N N N N N'],
  'GET /users/:id/sessions': ['users.read', '+ + + + N N N N N'],
  'DELETE /users/:id/sessions': ['users.end_sessions', '+ + + F N N N N N'],
  'DELETE /users/:id/sessions/:sessionId': ['users.end_sessions', '+ + + F N N N N N'],
  'GET /users/:id/groups': ['groups.read', '+ + F + N N N N N'],
  'GET /users/:id/roles': ['operators.read', '+ + F + N N N N N'],
  'PUT /users/:id/roles/:role': ['operators.manage', '+ + F F N N N N N'],
  'DELETE /users/:id/roles/:role': ['operators.manage', '+ + F F N N N N N'],
  'POST /clients': ['apps.create', '+ + F F NN+ +NF +NF F +NF'],
  'GET /clients': ['apps.read', '+ + F + + + + + +'],
  'GET /clients/:clientId': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'PATCH /clients/:clientId': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'DELETE /clients/:clientId': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'PUT /clients/:clientId/picture': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'DELETE /clients/:clientId/picture': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'POST /clients/:clientId/secrets': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'DELETE /clients/:clientId/secrets/:id': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'GET /clients/:clientId/allowed-clients': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'GET /clients/:clientId/allowed-clients/:allowedClientId': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'PUT /clients/:clientId/allowed-clients/:allowedClientId': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'DELETE /clients/:clientId/allowed-clients/:allowedClientId': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'GET /clients/:clientId/api-scopes': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'POST /clients/:clientId/scope-requests': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'GET /clients/:clientId/scope-requests': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'DELETE /clients/:clientId/scope-requests/:id': ['apps.manage', '+ + N F +NN +NN +NN FNN +NN'],
  'POST /clients/:clientId/scope-requests/:id/approve': ['apps.approve', '+ + N F FNN +NN +NN FNN FNN'],
  'POST /clients/:clientId/scope-requests/:id/decline': ['apps.approve', '+ + N F FNN +NN +NN FNN FNN'],
  'GET /scope-requests': ['apps.read', '+ + F + + + + + +'],
  'GET /clients/:clientId/trace-steps': ['apps.traces', '+ + N + +NN +NN +NN +NN +NN'],
  'PUT /clients/:clientId/consent-approval': ['apps.approve', '+ + N F FNN +NN +NN FNN FNN'],
  'DELETE /clients/:clientId/consent-approval': ['apps.approve', '+ + N F FNN +NN +NN FNN FNN'],
  'PUT /clients/:clientId/acceptance': ['apps.admit', '+ + N F FNN FNN FNN FNN FNN'],
  'DELETE /clients/:clientId/acceptance': ['apps.admit', '+ + N F FNN FNN FNN FNN FNN'],
  'DELETE /clients/:clientId/self-registration': ['apps.admit', '+ + N F FNN FNN FNN FNN FNN'],
  'POST /initial-access-tokens': ['apps.admit', '+ + F F F F F F F'],
  'GET /initial-access-tokens': ['apps.review', '+ + F + F F F F F'],
  'DELETE /initial-access-tokens/:id': ['apps.admit', '+ + F F F F F F F'],
  'GET /unregistered-clients': ['apps.review', '+ + F + F F F F F'],
  'GET /blocked-domains': ['apps.review', '+ + F + F F F F F'],
  'POST /upstreams': ['upstreams.manage', '+ F F F F F F F F'],
  'GET /upstreams': ['upstreams.read', '+ + F + F F F F F'],
  'GET /upstreams/:id': ['upstreams.read', '+ + F + F F F F F'],
  'PATCH /upstreams/:id': ['upstreams.manage', '+ F F F F F F F F'],
  'POST /upstreams/:id/disable': ['upstreams.manage', '+ F F F F F F F F'],
  'POST /upstreams/:id/enable': ['upstreams.manage', '+ F F F F F F F F'],
  'POST /upstreams/:id/test': ['upstreams.manage', '+ F F F F F F F F'],
  'DELETE /upstreams/:id': ['upstreams.manage', '+ F F F F F F F F'],
  'POST /upstreams/:id/preview': ['upstreams.manage', '+ F F F F F F F F'],
  'GET /organizations/:id/only-upstream': ['upstreams.read', '+ + F + F F F F F'],
  'PUT /organizations/:id/only-upstream': ['upstreams.manage', '+ F F F F F F F F'],
  'PUT /blocked-domains/:domain': ['apps.admit', '+ + F F F F F F F'],
  'DELETE /blocked-domains/:domain': ['apps.admit', '+ + F F F F F F F'],
  'GET /clients/:clientId/assignments': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'GET /clients/:clientId/assignments/:id': ['apps.read', '+ + N + +NN +NN +NN +NN +NN'],
  'POST /clients/:clientId/assignments': ['apps.assign', '+ + N F FNN +NN +NN FNN FNN'],
  'PATCH /clients/:clientId/assignments/:id': ['apps.assign', '+ + N F FNN +NN +NN FNN FNN'],
  'DELETE /clients/:clientId/assignments/:id': ['apps.assign', '+ + N F FNN +NN +NN FNN FNN'],
  'GET /clients/:clientId/access/:userId': ['users.read', '+ + N + FNN FNN FNN FNN FNN'],
  'POST /clients/:clientId/preview': ['apps.preview', '+ + N F FNN FNN FNN FNN FNN'],
  'POST /groups': ['groups.manage', '+ + F F F +NF +NF F F'],
  'GET /groups': ['groups.read', '+ + F + F + + + F'],
  'GET /groups/:id': ['groups.read', '+ + N + N +NN +NN +NN N'],
  'PATCH /groups/:id': ['groups.manage', '+ + N F N +NN +NN FNN N'],
  'DELETE /groups/:id': ['groups.manage', '+ + N F N +NN +NN FNN N'],
  'GET /groups/:id/members': ['groups.read', '+ + N + N +NN +NN +NN N'],
  'PUT /groups/:id/members/:userId': ['groups.manage', '+ + N F N +NN +NN FNN N'],
  'DELETE /groups/:id/members/:userId': ['groups.manage', '+ + N F N +NN +NN FNN N'],
  'POST /organizations': ['organizations.create', '+ + F F F F F F F'],
  'GET /organizations': ['organizations.read', '+ + F + F + + + F'],
  'GET /organizations/:id': ['organizations.read', '+ + N + N +NN +NN +NN N'],
  'PATCH /organizations/:id': ['organizations.update', '+ F N F N +NN FNN FNN N'],
  'DELETE /organizations/:id': ['organizations.delete', '+ + N F N FNN FNN FNN N'],
  'GET /organizations/:id/members/:userId': ['organizations.read', '+ + N + N +NN +NN +NN N'],
  'PUT /organizations/:id/members/:userId': ['members.manage', '+ + N F N +NN +NN FNN N'],
  'DELETE /organizations/:id/members/:userId': ['members.manage', '+ + N F N +NN +NN FNN N'],
  'POST /end-weaker-access': ['access.end', '+ + F F F F F F F'],
  'GET /trace-steps': ['traces.read', '+ + F + F F F F F'],
  'GET /traces/:id': ['traces.read', '+ + F + F F F F F'],
  'GET /audit-events': ['events.read', '+ + F + F F F F F'],
  'GET /mail': ['mail.read', '+ + F + F F F F F'],
  'POST /invitations': ['invitations.manage', '+ + F F F +NF +NF F F'],
  'GET /invitations': ['invitations.read', '+ + F + F + + + F'],
  'DELETE /invitations/:id': ['invitations.manage', '+ + N F N +NN +NN FNN N'],
  'GET /operators': ['operators.read', '+ + F + F + + + F'],
  'POST /admin-keys': ['operators.manage', '+ + F F F +NF +NF F F'],
  'GET /admin-keys': ['operators.read', '+ + F + F + + + F'],
  'GET /admin-keys/:id': ['operators.read', '+ + N + N +NN +NN +NN N'],
  'DELETE /admin-keys/:id': ['operators.manage', '+ + N F N +NN +NN FNN N'],
};

/** What is made in the organization that the body names. */
const MADE_IN = [
  'POST /clients',
  'PUT /clients/:clientId/consent-approval',
  'POST /groups',
  'POST /invitations',
  'POST /admin-keys',
];

/** Routes that act on a person. */
const ON_PERSONS = Object.keys(CELLS).filter((route) =>
  /^(PUT|PATCH|POST|DELETE) .*\/(users\/:id|:userId)/.test(route),
);

let count = 0;

async function done(answering: Promise<JsonAnswer>): Promise<JsonAnswer['body']> {
  const { status, body } = await answering;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

const make = (path: string, body: object, key = ADMIN_KEY) => done(admin(server, 'POST', path, body, key));

/** A provider through which people sign in. */
async function upstream(isDisabled: boolean): Promise<string> {
  const input = { name: `provider-${++count}`, issuer: 'https://provider.example', clientId: 'tessera' };
  const { id } = await make('/upstreams', input);
  if (isDisabled) await make(`/upstreams/${id}/disable`, {});
  return id;
}

const newOrganization = async (): Promise<string> =>
  (await make('/organizations', { name: `org-${++count}`, domain: 'org.example' })).id;

const [own, foreign, third] = [await newOrganization(), await newOrganization(), await newOrganization()];
/** An object of no organization is of the installation; where it has to be an organization, of a third one. */
const ORGANIZATIONS = { own, foreign, none: third } as const;

/** A person who may be replaced as the last owner. */
const keeper = await newUser(server, { password: undefined });
await done(admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {}));

interface Key {
  readonly id: string;
  readonly secret: string;
}

async function newKey(caller: Caller, expiresAt: string | null = null): Promise<Key> {
  const [role, ofOrganization] = caller.split(' of ');
  const organizationId = ofOrganization === undefined ? null : own;
  const { id, adminKey } = await make('/admin-keys', { name: caller, role, organizationId, expiresAt });
  return { id, secret: adminKey };
}

const routes = server.described.filter(({ schema }) => schema.caller === 'admin key');
const nameOf = ({ method, url }: { method: string; url: string }) => `${method} ${url.slice('/api/v2/admin'.length)}`;

test('every route of the admin API has its row, and none is left over', () => {
  assert.deepEqual(Object.keys(CELLS).sort(), routes.map(nameOf).sort());
});

test('a route without a permission does not compile', () => {
  const register = (app: AdminApp) => {
    // @ts-expect-error: the schema names no permission
    app.get('/nothing', { schema: { summary: 'Nothing' } }, async () => 'nothing');
  };
  assert.equal(typeof register, 'function');
});

/** The role that a person holds as an operator, for routes that act on one. */
type GiveRole = (userId: string) => Promise<void>;

interface Cell {
  readonly name: string;
  readonly caller: Caller;
  readonly place: PlaceName;
  readonly key: Key;
  readonly giveRole?: GiveRole;
}

/** What would take the callers' own organization away is about another one, where it is done. */
const DELETION = 'DELETE /organizations/:id';

/** Makes what a request names, in a place; an app by the developer, where the developer is to own it. */
async function valuesFor({ name, place, caller, key, giveRole }: Cell, text: string) {
  const names = (name: keyof typeof sample) => text.includes(sample[name]);
  const organizationId = place === 'none' ? undefined : ORGANIZATIONS[place];
  const n = ++count;
  const values: Record<string, string> = {
    [`"${sample.username}"`]: `"person-${n}"`,
    '"ada@example.com"': `"person-${n}@example.com"`,
    '"analytical-engines"': `"engines-${n}"`,
    '"analysts"': `"analysts-${n}"`,
    [sample.requestId]: names('requestId') ? await newRequestId() : sample.requestId,
    [sample.sessionId]: sample.sessionId,
  };
  const person = async (): Promise<string> => {
    const { id } = await newUser(server, { password: undefined, emailVerified: true });
    const home = ORGANIZATIONS[place];
    if (place !== 'none' || names('organizationId')) {
      await done(admin(server, 'PUT', `/organizations/${home}/members/${id}`, {}));
    }
    await giveRole?.(id);
    return id;
  };
  const ownsApps = place === 'own' && caller.startsWith('developer');
  const app = async (fields: object = {}): Promise<string> => {
    // A developer of the installation makes apps of the installation.
    const home = ownsApps && caller === 'developer' ? undefined : organizationId;
    const body = { name: 'An app', redirectUris: ['https://app.example.com/callback'], ...fields };
    return (
      await make('/clients', { ...body, ...(home && { organizationId: home }) }, ownsApps ? key.secret : ADMIN_KEY)
    ).clientId;
  };
  if (names('heldUsername')) {
    const { id, username } = await newUser(server, { password: undefined });
    await done(admin(server, 'PATCH', `/users/${id}`, { username: `${username}.x` }));
    values[sample.heldUsername] = username;
  }
  if (names('userId')) values[sample.userId] = await person();
  if (names('organizationId'))
    values[sample.organizationId] =
      name === DELETION && !caller.includes(' of ') ? await newOrganization() : ORGANIZATIONS[place];
  if (names('groupId')) {
    values[sample.groupId] = (
      await make('/groups', { name: `group-${n}`, ...(organizationId && { organizationId }) })
    ).id;
    const member = values[sample.userId];
    if (member !== undefined) await done(admin(server, 'PUT', `/groups/${values[sample.groupId]}/members/${member}`));
  }
  if (names('invitationId')) {
    values[sample.invitationId] = (await make('/invitations', organizationId ? { organizationId } : {})).id;
  }
  if (names('adminKeyId')) {
    const body = { name: 'a key', role: 'auditor', ...(organizationId && { organizationId }) };
    values[sample.adminKeyId] = (await make('/admin-keys', body)).id;
  }
  if (names('operatorId')) {
    values[sample.operatorId] = await person();
    await done(admin(server, 'PUT', `/users/${values[sample.operatorId]}/roles/support`, {}));
  }
  if (names('clientId')) values[sample.clientId] = await app();
  if (names('upstreamId')) values[sample.upstreamId] = await upstream(false);
  if (names('upstreamToDeleteId')) values[sample.upstreamToDeleteId] = await upstream(true);
  if (names('metadataClientId')) {
    values[sample.metadataClientId] = await app({ type: 'public' });
    await query(
      server,
      "UPDATE client SET registered_by = 'metadata' WHERE id = ?",
      values[sample.metadataClientId] ?? '',
    );
  }
  if (names('selfRegisteredId')) {
    const id = await app({ type: 'public' });
    values[sample.selfRegisteredId] = id;
    await query(server, "UPDATE client SET registered_by = 'open', registration_hash = 'hash' WHERE id = ?", id);
  }
  if (names('initialTokenId')) values[sample.initialTokenId] = (await make('/initial-access-tokens', { name: 'a' })).id;
  if (names('blockedDomain')) await done(admin(server, 'PUT', `/blocked-domains/${sample.blockedDomain}`));
  if (names('operatorClientId')) values[sample.operatorClientId] = await app({ consent: 'operator' });
  if (names('apiId')) {
    const scopes = described(['notes.read', 'notes.write']);
    values[sample.apiId] = await app({ resource: `https://api-${n}.example`, resourceScopes: scopes });
    const path = `/clients/${values[sample.apiId]}/allowed-clients/${values[sample.clientId]}`;
    if (names('clientId')) await done(admin(server, 'PUT', path, { scopes: ['notes.read'] }));
  }
  const client = values[sample.clientId];
  if (names('assignmentId')) {
    values[sample.assignmentId] = (await make(`/clients/${client}/assignments`, { userId: await person() })).id;
  }
  if (names('scopeRequestId')) {
    const asked = { scope: 'groups', reason: 'To show teams.' };
    values[sample.scopeRequestId] = (await make(`/clients/${client}/scope-requests`, asked)).id;
  }
  if (names('secretId')) {
    values[sample.secretId] = (await done(admin(server, 'GET', `/clients/${client}`))).secrets[0].id;
    await make(`/clients/${client}/secrets`, {});
  }
  return values;
}

/** The ID of a request that was refused just now: only the newest are kept. */
const newRequestId = async (): Promise<string> =>
  (await fetch(`${server.baseUrl}/api/v2/oauth/userinfo`)).headers.get('x-request-id') ?? '';

const replaced = (text: string, values: Readonly<Record<string, string>>): string =>
  Object.entries(values).reduce((result, [from, to]) => result.replaceAll(from, to), text);

/** Sends the example of a route, about an object in a place. */
async function send(cell: Cell): Promise<JsonAnswer> {
  const { name, place, key } = cell;
  const route = routes.find((one) => nameOf(one) === name);
  const example: OperationExample | undefined = route?.schema.examples.find(({ status }) => status < 300);
  assert.ok(route !== undefined && example !== undefined, name);
  const { params = {}, query = {}, file } = example;
  let body: Readonly<Record<string, unknown>> | undefined = example.body;
  if (MADE_IN.includes(name)) {
    body = { ...body, ...(place !== 'none' && { organizationId: ORGANIZATIONS[place] }) };
    if (name === 'POST /admin-keys') body = { ...body, role: 'auditor' };
    if (name === 'POST /invitations') body = place === 'none' ? {} : { organizationId: ORGANIZATIONS[place] };
  }
  if (name === 'POST /upstreams') body = { ...body, name: `provider-${++count}` };
  const path = route.url.replaceAll(/:(\w+)/g, (_, parameter: string) => params[parameter] ?? '');
  const text = JSON.stringify({ path, query, body });
  const sent = JSON.parse(replaced(text, await valuesFor(cell, text)));
  const type = file === undefined ? 'application/json' : 'image/png';
  const payload = file === undefined ? sent.body && JSON.stringify(sent.body) : Buffer.from(file, 'base64');
  const response = await fetch(`${server.baseUrl}${sent.path}?${new URLSearchParams(sent.query)}`, {
    method: route.method,
    headers: { authorization: `Bearer ${key.secret}`, ...(payload !== undefined && { 'content-type': type }) },
    ...(payload !== undefined && { body: payload }),
  });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, body: answer === '' ? undefined : JSON.parse(answer) };
}

function assertCell(expected: string, permission: string, { status, body }: JsonAnswer, where: string): void {
  const text = `${where}: ${status} ${JSON.stringify(body)}`;
  if (expected === '+') {
    assert.ok(status < 300, text);
    return;
  }
  assert.equal(status, expected === 'F' ? 403 : 404, text);
  assert.equal(body.error, expected === 'F' ? 'insufficient_permission' : 'not_found', text);
  if (expected === 'F') assert.match(body.error_description, new RegExp(`Missing permission: ${permission}\\.`), text);
}

/** What an operator did, apart from asking for what was refused. */
async function actsOf({ id }: Key): Promise<readonly string[]> {
  const { items } = await done(admin(server, 'GET', `/audit-events?limit=200&order=desc&actorId=${id}`));
  return items.map(({ type }: { type: string }) => type).filter((type: string) => type !== 'operator.refused');
}

for (const [column, caller] of CALLERS.entries()) {
  const [refusing, acting] = [await newKey(caller), await newKey(caller)];
  describe(caller, () => {
    for (const [name, [permission, cells]] of Object.entries(CELLS)) {
      const cell = cells.split(' ')[column] ?? '';
      test(name, async () => {
        for (const [index, place] of PLACES.entries()) {
          const expected = cell.length === 1 ? cell : (cell[index] ?? '');
          const key = expected === '+' ? acting : refusing;
          const answer = await send({ name, caller, place, key });
          assertCell(expected, permission, answer, `${caller}, ${name}, ${place}`);
        }
      });
    }
    test('what was refused did nothing', async () => {
      const acts = await actsOf(refusing);
      // Apps of the developer's own, on which something was tried.
      assert.deepEqual(
        acts.filter((type) => type !== 'client.created'),
        [],
      );
    });
  });
}

const grantOf =
  (role: string): GiveRole =>
  async (userId) =>
    void (await done(admin(server, 'PUT', `/users/${userId}/roles/${role}`, {})));

const memberAs =
  (role: string): GiveRole =>
  async (userId) =>
    void (await done(admin(server, 'PUT', `/organizations/${own}/members/${userId}`, { role })));

/** Whom each caller acts on: somebody who holds as much, and somebody who holds a permission that the caller lacks. */
const STRENGTHS: readonly (readonly [Caller, PlaceName, equal: GiveRole, stronger: GiveRole | undefined])[] = [
  ['owner', 'none', grantOf('owner'), undefined],
  ['admin', 'none', grantOf('admin'), grantOf('owner')],
  ['support', 'none', grantOf('support'), grantOf('auditor')],
  ['owner of an organization', 'own', memberAs('OWNER'), grantOf('support')],
  ['admin of an organization', 'own', memberAs('ADMIN'), memberAs('OWNER')],
];

for (const [caller, place, equal, stronger] of STRENGTHS) {
  const key = await newKey(caller);
  describe(`${caller}, by whom it is about`, () => {
    for (const name of ON_PERSONS) {
      const [, cells] = CELLS[name] ?? [];
      const cell = cells?.split(' ')[CALLERS.indexOf(caller)] ?? '';
      if ((cell[PLACES.indexOf(place)] ?? cell) !== '+') continue;
      test(name, async () => {
        const alike = await send({ name, caller, place, key, giveRole: equal });
        assert.ok(alike.status < 300, `equal: ${alike.status} ${JSON.stringify(alike.body)}`);
        if (stronger === undefined) return;
        const { status, body } = await send({ name, caller, place, key, giveRole: stronger });
        assert.deepEqual([status, body.error], [403, 'insufficient_permission'], JSON.stringify(body));
        assert.match(body.error_description, /Nobody acts on somebody who holds a permission that they lack/);
      });
    }
  });
}

/** What opens the account of a person: not for somebody who holds the same role, but not for as long. */
const OPENING = [
  'PATCH /users/:id',
  'PUT /users/:id/picture',
  'DELETE /users/:id/picture',
  'POST /users/:id/recovery-link',
  'DELETE /users/:id/factors/:factorId',
  'DELETE /users/:id/identities/:identityId',
];
/** These give a role, which has a rule of its own. */
const GIVING = ['PUT /users/:id/roles/:role', 'PUT /organizations/:id/members/:userId'];

for (const caller of ['owner', 'admin', 'support'] as const) {
  const key = await newKey(caller, new Date(server.now() + HOUR).toISOString());
  describe(`${caller} for an hour, on somebody with the same role`, () => {
    for (const name of ON_PERSONS) {
      const cell = CELLS[name]?.[1].split(' ')[CALLERS.indexOf(caller)];
      if (cell !== '+' || GIVING.includes(name)) continue;
      test(name, async () => {
        const { status, body } = await send({ name, caller, place: 'none', key, giveRole: grantOf(caller) });
        if (!OPENING.includes(name)) {
          assert.ok(status < 300, `without an end: ${status} ${JSON.stringify(body)}`);
          return;
        }
        assert.deepEqual([status, body.error], [403, 'insufficient_permission'], JSON.stringify(body));
        assert.match(
          body.error_description,
          /lasts longer than yours, which ends at .*whose role ends no earlier than theirs/,
        );
        const expiresAt = new Date(server.now() + HOUR / 2).toISOString();
        const giveRole: GiveRole = async (userId) =>
          void (await done(admin(server, 'PUT', `/users/${userId}/roles/${caller}`, { expiresAt })));
        const sooner = await send({ name, caller, place: 'none', key, giveRole });
        assert.ok(sooner.status < 300, `that ends sooner: ${sooner.status} ${JSON.stringify(sooner.body)}`);
      });
    }
  });
}
