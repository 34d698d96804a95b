// store: SQLite, PostgreSQL with --all
/** Decisions §12: operators with roles, keys that end, the last owner, and what the help desk does. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { openCore } from '../../src/core.ts';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { tessera } from './command.ts';

const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_MAILBOX: 'on' });
const beside = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await beside.close();
  await server.close();
});

interface Key {
  readonly id: string;
  readonly secret: string;
}

async function newKey(role: string, fields: object = {}, by?: Key): Promise<Key> {
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: role, role, ...fields }, by?.secret);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.id, secret: body.adminKey };
}

const iso = (at: number): string => new Date(at).toISOString();
const events = async (filter: string) =>
  (await admin(server, 'GET', `/audit-events?order=desc&limit=50&${filter}`)).body.items;

async function refused(call: Promise<{ status: number; body: { error: string; error_description: string } }>) {
  const { status, body } = await call;
  return [status, body?.error, body?.error_description ?? ''] as const;
}

test('nobody makes a key or gives a role beyond their own rights', async () => {
  const key = await newKey('admin');
  const user = await newUser(server);
  for (const call of [
    admin(server, 'POST', '/admin-keys', { name: 'more', role: 'owner' }, key.secret),
    admin(server, 'PUT', `/users/${user.id}/roles/owner`, {}, key.secret),
  ]) {
    const [status, error, text] = await refused(call);
    assert.deepEqual([status, error], [403, 'insufficient_permission']);
    assert.match(text, /organizations\.update/);
  }
  assert.deepEqual((await admin(server, 'GET', `/users/${user.id}/roles`)).body.items, []);
  const [refusal] = await events(`type=operator.refused&actorId=${key.id}`);
  assert.deepEqual(
    [refusal.details.permission, refusal.details.actorRole, refusal.outcome],
    ['organizations.update', 'admin', 'failure'],
  );
});

test('nobody makes a key or gives a role for longer than they hold their own', async () => {
  const end = server.now() + DAY;
  const key = await newKey('admin', { expiresAt: iso(end) });
  for (const expiresAt of [undefined, iso(end + 1)]) {
    const [status, , text] = await refused(
      admin(server, 'POST', '/admin-keys', { name: 'longer', role: 'support', expiresAt }, key.secret),
    );
    assert.equal(status, 403);
    assert.match(text, /for longer than they hold it/);
  }
  await newKey('support', { expiresAt: iso(end) }, key);
  const { body: organization } = await admin(server, 'POST', '/organizations', { name: 'longer', domain: 'l.example' });
  const user = await newUser(server);
  const path = `/organizations/${organization.id}/members/${user.id}`;
  assert.equal(
    (await admin(server, 'PUT', path, { role: 'ADMIN' }, key.secret)).status,
    403,
    'a membership has no end',
  );
  assert.equal((await admin(server, 'PUT', path, { role: 'MEMBER' }, key.secret)).status, 200);
});

test('a key that has ended is refused like an unknown one, and its links with it', async () => {
  const key = await newKey('admin', { expiresAt: iso(server.now() + HOUR) });
  const { body: invitation } = await admin(server, 'POST', '/invitations', {}, key.secret);
  const open = () => agent(server.baseUrl).get(invitation.link.slice(server.baseUrl.length));
  assert.equal((await open()).status, 200);
  server.advance(HOUR);
  assert.equal((await admin(server, 'GET', '/users', undefined, key.secret)).status, 401);
  assert.ok((await open()).status >= 400);
  const { body } = await admin(server, 'GET', `/admin-keys/${key.id}`);
  assert.equal(body.status, 'ended');
});

test('an end in the past, a role that does not exist, and support of an organization are refused with the field', async () => {
  const { body: organization } = await admin(server, 'POST', '/organizations', { name: 'fields', domain: 'f.example' });
  for (const [body, field] of [
    [{ name: 'a', role: 'support', expiresAt: iso(server.now() - 1) }, 'expiresAt'],
    [{ name: 'a', role: 'root' }, 'role'],
    [{ name: 'a' }, 'role'],
    [{ name: 'a', role: 'support', organizationId: organization.id }, 'organizationId'],
  ] as const) {
    const [status, , text] = await refused(admin(server, 'POST', '/admin-keys', body));
    assert.equal(status, 400, text);
    assert.match(text, new RegExp(`^${field}`));
  }
  const user = await newUser(server);
  const [status, , text] = await refused(
    admin(server, 'PUT', `/users/${user.id}/roles/admin`, { organizationId: organization.id }),
  );
  assert.equal(status, 400);
  assert.match(text, /role of the membership|role ADMIN of the membership/);
});

test('what a key made is listed, and ends with it on request', async () => {
  const key = await newKey('admin');
  const child = await newKey('admin', {}, key);
  const grandchild = await newKey('support', {}, child);
  const user = await newUser(server);
  await admin(server, 'PUT', `/users/${user.id}/roles/auditor`, {}, child.secret);
  const read = (await admin(server, 'GET', `/admin-keys/${key.id}`)).body.made.adminKeys;
  assert.deepEqual(
    read.map(({ id }: { id: string }) => id),
    [child.id],
  );
  const { body } = await admin(server, 'DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual(
    [body.made.adminKeys.map(({ id }: { id: string }) => id).sort(), body.made.roles.length],
    [[child.id, grandchild.id].sort(), 1],
  );
  for (const { secret } of [key, child, grandchild]) {
    assert.equal((await admin(server, 'GET', '/users', undefined, secret)).status, 401);
  }
  assert.deepEqual((await admin(server, 'GET', `/users/${user.id}/roles`)).body.items, []);
});

test('what a key made ends with it also over a key that ended before, and after the key itself has ended', async () => {
  for (const endedBefore of ['the key between', 'the key itself'] as const) {
    const key = await newKey('admin');
    const child = await newKey('admin', {}, key);
    const grandchild = await newKey('admin', {}, child);
    await admin(server, 'DELETE', `/admin-keys/${child.id}`, undefined, grandchild.secret);
    if (endedBefore === 'the key itself') await admin(server, 'DELETE', `/admin-keys/${key.id}`);
    const { status, body } = await admin(server, 'DELETE', `/admin-keys/${key.id}?endMade=true`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.made.adminKeys.map(({ id }: { id: string }) => id),
      [grandchild.id],
    );
    assert.equal((await admin(server, 'GET', '/users', undefined, grandchild.secret)).status, 401, endedBefore);
  }
});

test('a role that is given again stays that of who gave it first, and the last owner keeps theirs', async () => {
  const [honest, thief] = [await newKey('owner'), await newKey('owner')];
  const [auditor, owner] = [await newUser(server), await newUser(server)];
  for (const { secret } of [honest, thief]) {
    await admin(server, 'PUT', `/users/${auditor.id}/roles/auditor`, {}, secret);
  }
  await admin(server, 'PUT', `/users/${owner.id}/roles/owner`, {}, thief.secret);
  const { status, body } = await admin(server, 'DELETE', `/admin-keys/${thief.id}?endMade=true`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.made.roles, [], 'nothing but the role of the last owner was the thief’s');
  for (const [{ id }, role] of [
    [auditor, 'auditor'],
    [owner, 'owner'],
  ] as const) {
    const { items } = (await admin(server, 'GET', `/users/${id}/roles`)).body;
    assert.deepEqual(
      items.map((item: { role: string }) => item.role),
      [role],
    );
  }
  await query(server, 'DELETE FROM operator_grant WHERE account_id = ?', owner.id);
});

test('nobody ends, with what somebody made, a key that may do more than they do', async () => {
  const [person, admins] = [await newUser(server), await newKey('admin')];
  const mighty = await newKey('owner');
  await query(server, 'UPDATE admin_key SET maker_id = ? WHERE id = ?', person.id, mighty.id);
  await admin(server, 'PUT', `/users/${person.id}/roles/admin`, {});
  const path = `/users/${person.id}/roles/admin?endMade=true`;
  const [status, error] = await refused(admin(server, 'DELETE', path, undefined, admins.secret));
  assert.deepEqual([status, error], [403, 'insufficient_permission']);
  assert.equal((await admin(server, 'GET', '/users', undefined, mighty.secret)).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${person.id}/roles`)).body.items.length, 1, 'nothing half done');
  assert.equal((await admin(server, 'DELETE', path)).status, 200);
  assert.equal((await admin(server, 'GET', '/users', undefined, mighty.secret)).status, 401);
});

test('a key of an earlier version is an owner’s', async () => {
  const { key, adminKey } = await createAdminKey({ ...beside, operator: undefined }, { name: 'from before' }, ORIGIN);
  await query(server, 'UPDATE admin_key SET role = NULL WHERE id = ?', key.id);
  assert.equal((await admin(server, 'GET', '/mail', undefined, adminKey)).status, 200);
  assert.equal((await admin(server, 'GET', `/admin-keys/${key.id}`)).body.role, 'owner');
});

test('the last use of a key is kept, to within an hour', async () => {
  const key = await newKey('auditor');
  const used = async () => (await admin(server, 'GET', `/admin-keys/${key.id}`)).body.lastUsedAt;
  assert.equal(await used(), null);
  const first = iso(server.now());
  await admin(server, 'GET', '/users', undefined, key.secret);
  assert.equal(await used(), first);
  server.advance(HOUR - 1);
  await admin(server, 'GET', '/users', undefined, key.secret);
  assert.equal(await used(), first);
  server.advance(2);
  await admin(server, 'GET', '/users', undefined, key.secret);
  assert.notEqual(await used(), first);
});

test('lists leave out what a role does not see', async () => {
  const { body: own } = await admin(server, 'POST', '/organizations', { name: 'seen', domain: 'seen.example' });
  const { body: other } = await admin(server, 'POST', '/organizations', { name: 'unseen', domain: 'u.example' });
  const key = await newKey('admin', { organizationId: own.id });
  for (const organizationId of [own.id, other.id, undefined]) {
    await admin(server, 'POST', '/groups', { name: `g-${organizationId ?? 'none'}`, organizationId });
    await admin(server, 'POST', '/invitations', { ...(organizationId && { organizationId }) });
    await newClient(server, { ...(organizationId && { organizationId }) });
  }
  const listed = async (path: string) => (await admin(server, 'GET', path, undefined, key.secret)).body.items;
  assert.deepEqual(
    (await listed('/organizations')).map(({ id }: { id: string }) => id),
    [own.id],
  );
  for (const path of ['/groups', '/invitations', '/clients', '/admin-keys', '/groups?q=g']) {
    const items = await listed(path);
    assert.equal(items.length, 1, path);
    assert.equal(items[0].organizationId, own.id, path);
  }
  assert.deepEqual(await listed(`/groups?organizationId=${other.id}`), []);
});

test('opening a person’s record is an event with actor, role and subject', async () => {
  const key = await newKey('auditor');
  const user = await newUser(server);
  for (const part of [
    '',
    '/sessions',
    '/connections',
    '/groups',
    '/roles',
    '/factors',
    '/identities',
    '/last-sign-ins',
  ]) {
    assert.equal((await admin(server, 'GET', `/users/${user.id}${part}`, undefined, key.secret)).status, 200, part);
  }
  const found = await events(`type=account.viewed&userId=${user.id}`);
  assert.deepEqual(found.map(({ details }: { details: { part: string } }) => details.part).sort(), [
    'connections',
    'factors',
    'groups',
    'identities',
    'record',
    'roles',
    'sessions',
    'sign_ins',
  ]);
  for (const { actor, details } of found) {
    assert.deepEqual([actor, details.actorRole], [{ type: 'admin', id: key.id }, 'auditor']);
  }
});

test('the help desk, who may not read the audit trail, sees the last sign-in of a person, and why one failed', async () => {
  const key = await newKey('support');
  const user = await newUser(server);
  const read = async () => (await admin(server, 'GET', `/users/${user.id}/last-sign-ins`, undefined, key.secret)).body;
  assert.deepEqual(await read(), { succeeded: null, failed: null });
  await signedIn(server, user);
  const browser = agent(server.baseUrl);
  const wrong = { identifier: user.username, password: 'another horse battery' };
  assert.equal((await browser.submit(await browser.get('/login'), wrong)).status, 401);
  const { succeeded, failed } = await read();
  assert.equal(Object.hasOwn(succeeded, 'reason'), false);
  assert.deepEqual([failed.reason, failed.network], ['unknown name or wrong password', succeeded.network]);
  assert.match(failed.requestId, /^[\w-]+$/);
  assert.ok(failed.at >= succeeded.at);
  assert.equal((await admin(server, 'GET', '/audit-events', undefined, key.secret)).status, 403);
});

test('the last owner stays: not banned, suspended, deleted, ended or without the role; --last-owner does it', async () => {
  const owner = await newUser(server);
  const path = `/users/${owner.id}`;
  assert.equal((await admin(server, 'PUT', `${path}/roles/owner`, {})).status, 200);
  const removals = [
    ['PUT', `${path}/ban`, {}],
    ['PUT', `${path}/suspension`, {}],
    ['DELETE', path, undefined],
    ['DELETE', `${path}/roles/owner`, undefined],
    ['PUT', `${path}/roles/owner`, { expiresAt: iso(server.now() + DAY) }],
  ] as const;
  for (const [method, address, body] of removals) {
    const [status, error, text] = await refused(admin(server, method, address, body));
    assert.deepEqual([status, error], [409, 'conflict'], `${method} ${address}`);
    assert.match(text, /last owner/);
  }
  // An owner whose role ends does not keep the installation.
  const second = await newUser(server);
  await admin(server, 'PUT', `/users/${second.id}/roles/owner`, { expiresAt: iso(server.now() + DAY) });
  assert.equal((await admin(server, 'DELETE', `${path}/roles/owner`)).status, 409);
  assert.equal((await admin(server, 'DELETE', `${path}/sessions`)).status, 204, 'sessions can always be ended');
  await admin(server, 'PUT', `/users/${second.id}/roles/owner`, {});
  assert.equal((await admin(server, 'DELETE', `${path}/roles/owner`)).status, 200);
  const command = (...args: string[]) => tessera(args, { env: server.environment });
  assert.equal((await command('user', 'revoke-role', second.id, 'owner')).code, 1);
  const done = await command('user', 'revoke-role', second.id, 'owner', '--last-owner');
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /tessera user grant-role/);
});

test('the help desk sends recovery to a verified address alone, and sees no link', async () => {
  const key = await newKey('support');
  const [verified, unverified] = [await newUser(server, { emailVerified: true }), await newUser(server)];
  const sent = await admin(server, 'POST', `/users/${verified.id}/recovery`, undefined, key.secret);
  assert.deepEqual([sent.status, sent.body], [204, undefined]);
  const [status, , text] = await refused(
    admin(server, 'POST', `/users/${unverified.id}/recovery`, undefined, key.secret),
  );
  assert.equal(status, 409);
  assert.match(text, /not verified/);
  const kinds = (await admin(server, 'GET', '/mail')).body.items
    .filter(({ userId }: { userId: string }) => userId === verified.id)
    .map(({ kind }: { kind: string }) => kind);
  assert.ok(kinds.includes('recovery'), kinds);
  const mail = await newestMail(server, `${verified.username}@example.com`, 'recovery');
  assert.match(mail.text, /^An operator of this service sends you this link/);
  assert.equal(mail.code, undefined, 'no browser asked, so none takes a code');
  assert.equal((await events(`type=recovery.requested&userId=${verified.id}`))[0].actor.id, key.id);
});

test('the help desk unlocks an account', async () => {
  const key = await newKey('support');
  const user = await newUser(server);
  const attempt = async (password: string) => {
    const browser = agent(server.baseUrl);
    return browser.submit(await browser.get('/login'), { identifier: user.username, password });
  };
  for (let n = 0; n < 11; n++) await attempt('not the password');
  assert.equal((await attempt(PASSWORD)).status, 429);
  assert.equal((await admin(server, 'POST', `/users/${user.id}/unlock`, undefined, key.secret)).status, 204);
  assert.equal((await attempt(PASSWORD)).status, 303);
});

test('what the help desk may not do is refused with the permission', async () => {
  const key = await newKey('support');
  const user = await newUser(server);
  await signedIn(server, user);
  for (const [method, path, body, permission] of [
    ['POST', `/users/${user.id}/recovery-link`, { resetFactors: true }, 'users.recovery_link'],
    ['PATCH', `/users/${user.id}`, { email: 'other@example.com' }, 'users.update'],
    ['PUT', `/users/${user.id}/ban`, {}, 'users.ban'],
    ['DELETE', `/users/${user.id}`, undefined, 'users.delete'],
  ] as const) {
    const [status, , text] = await refused(admin(server, method, path, body, key.secret));
    assert.equal(status, 403, path);
    assert.ok(text.includes(`Missing permission: ${permission}.`), text);
  }
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/suspension`, {}, key.secret)).status, 200);
});
