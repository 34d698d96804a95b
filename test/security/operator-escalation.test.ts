// store: SQLite, PostgreSQL with --all
/** Decisions §12: ways in which an operator might get more than was given, or at somebody stronger. Each is refused and changes nothing. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { COMMAND_LINE_ID } from '../../src/clients/rules/command-line.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
  TESSERA_MAILBOX: 'on',
});
after(() => server.close());

const HOUR = 3_600_000;

async function done(answering: ReturnType<typeof admin>) {
  const { status, body } = await answering;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

const newOrganization = (name: string) =>
  done(admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).then(({ id }) => String(id));

/** Who is attacked: an owner with a key, who is a member of an organization. */
const owner = await newUser(server, { emailVerified: true });
await done(admin(server, 'PUT', `/users/${owner.id}/roles/owner`, {}));
const ownersKey = await done(admin(server, 'POST', '/admin-keys', { name: 'owner', role: 'owner' }));
const [acme, other] = [await newOrganization('acme'), await newOrganization('other')];
await done(admin(server, 'PUT', `/organizations/${acme}/members/${owner.id}`, {}));
const anyone = await newUser(server, { password: undefined });
await done(admin(server, 'PUT', `/organizations/${acme}/members/${anyone.id}`, {}));
const app = await done(
  admin(server, 'POST', '/clients', { name: 'App', redirectUris: ['https://app.example.com/cb'], consent: 'operator' }),
);
const foreignGroup = await done(admin(server, 'POST', '/groups', { name: 'admins', organizationId: other }));
const upstream = await done(
  admin(server, 'POST', '/upstreams', { name: 'staff', issuer: 'https://id.example.com', clientId: 'a' }),
);

interface Attacker {
  readonly credential: string;
  /** The account, where the attacker is a person. */
  readonly id: string;
  /** Until when it holds its role. */
  readonly until?: string;
}

async function key(role: string, organizationId?: string): Promise<Attacker> {
  const body = await done(admin(server, 'POST', '/admin-keys', { name: role, role, organizationId }));
  return { credential: body.adminKey, id: body.id };
}

async function person(role: string, until?: string): Promise<Attacker> {
  const operator = await operatorInBrowser(server);
  const { id } = operator.user;
  await done(admin(server, 'PUT', `/users/${id}/roles/${role}`, until === undefined ? {} : { expiresAt: until }));
  return { credential: await signInOnCommandLine(server, operator), id, ...(until !== undefined && { until }) };
}

const until = new Date(server.now() + 100 * HOUR).toISOString();
const later = new Date(server.now() + 200 * HOUR).toISOString();
const ATTACKERS = {
  'an admin': await person('admin'),
  'an admin for a while': await person('admin', until),
  'the help desk': await person('support'),
  'an auditor': await person('auditor'),
  'a developer': await person('developer'),
  'an admin key': await key('admin'),
  'a key of an organization’s owner': await key('owner', acme),
  'a key of an organization’s admin': await key('admin', acme),
  'a developer’s key': await key('developer'),
} as const;

/** The app of the developer, and that of another one. */
const own = await done(
  admin(
    server,
    'POST',
    '/clients',
    { name: 'Own', redirectUris: ['https://own.example.com/cb'], consent: 'operator' },
    ATTACKERS['a developer’s key'].credential,
  ),
);

type Attempt = readonly [
  what: string,
  who: keyof typeof ATTACKERS,
  method: string,
  path: string | ((by: Attacker) => string),
  body?: object,
];

const itself = (rest: string) => (by: Attacker) => `/users/${by.id}${rest}`;

/** What is tried. Every one has to be refused: 403, 404, or 400 for what is no request at all. */
const ATTEMPTS: readonly Attempt[] = [
  // More than one holds.
  ['to make itself an owner', 'an admin', 'PUT', itself('/roles/owner'), {}],
  ['to make somebody else an owner', 'an admin', 'PUT', `/users/${anyone.id}/roles/owner`, {}],
  ['to make an owner’s key', 'an admin', 'POST', '/admin-keys', { name: 'x', role: 'owner' }],
  ['to make a key without a role', 'an admin', 'POST', '/admin-keys', { name: 'x' }],
  ['to name the role in the body', 'an admin', 'PUT', itself('/roles/admin'), { role: 'owner' }],
  ['to make itself an admin', 'the help desk', 'PUT', itself('/roles/admin'), {}],
  ['to make itself an owner', 'an auditor', 'PUT', itself('/roles/owner'), {}],
  ['to make a key', 'the help desk', 'POST', '/admin-keys', { name: 'x', role: 'support' }],
  ['to make a key', 'a developer', 'POST', '/admin-keys', { name: 'x', role: 'developer' }],
  [
    'to make an owner’s key of the organization',
    'a key of an organization’s admin',
    'POST',
    '/admin-keys',
    { name: 'x', role: 'owner', organizationId: acme },
  ],
  [
    'to make a key of the installation',
    'a key of an organization’s owner',
    'POST',
    '/admin-keys',
    { name: 'x', role: 'auditor' },
  ],
  [
    'to make a key of another organization',
    'a key of an organization’s owner',
    'POST',
    '/admin-keys',
    { name: 'x', role: 'auditor', organizationId: other },
  ],
  [
    'to make an owner of the organization',
    'a key of an organization’s admin',
    'PUT',
    `/organizations/${acme}/members/${anyone.id}`,
    { role: 'OWNER' },
  ],
  [
    'to give a role of the installation',
    'a key of an organization’s owner',
    'PUT',
    `/users/${anyone.id}/roles/support`,
    {},
  ],
  // For longer than one holds.
  ['to prolong its own role', 'an admin for a while', 'PUT', itself('/roles/admin'), { expiresAt: later }],
  ['to take the end from its own role', 'an admin for a while', 'PUT', itself('/roles/admin'), {}],
  ['to make a key without an end', 'an admin for a while', 'POST', '/admin-keys', { name: 'x', role: 'admin' }],
  [
    'to make a key that lasts longer',
    'an admin for a while',
    'POST',
    '/admin-keys',
    { name: 'x', role: 'support', expiresAt: later },
  ],
  ['to give somebody a role without an end', 'an admin for a while', 'PUT', `/users/${anyone.id}/roles/support`, {}],
  // At somebody stronger.
  ['to ban an owner', 'an admin', 'PUT', `/users/${owner.id}/ban`, {}],
  ['to suspend an owner', 'the help desk', 'PUT', `/users/${owner.id}/suspension`, {}],
  ['to delete an owner', 'an admin key', 'DELETE', `/users/${owner.id}`],
  ['to set an owner’s password', 'an admin', 'PATCH', `/users/${owner.id}`, { password: 'my own fine secret' }],
  ['to move an owner’s address', 'an admin key', 'PATCH', `/users/${owner.id}`, { email: 'me@evil.example' }],
  ['to take an owner’s role', 'an admin', 'DELETE', `/users/${owner.id}/roles/owner`],
  ['to end an owner’s key', 'an admin', 'DELETE', `/admin-keys/${ownersKey.id}`],
  ['to take an owner’s key over', 'an admin key', 'DELETE', `/admin-keys/${ownersKey.id}?takeOver=true&endMade=true`],
  [
    'to make a recovery link of an owner',
    'an admin key',
    'POST',
    `/users/${owner.id}/recovery-link`,
    { resetFactors: true },
  ],
  ['to send an owner recovery', 'the help desk', 'POST', `/users/${owner.id}/recovery`],
  ['to remove an owner’s factor', 'the help desk', 'DELETE', `/users/${owner.id}/factors/totp`],
  ['to unlock an owner', 'the help desk', 'POST', `/users/${owner.id}/unlock`],
  ['to sign an owner out', 'the help desk', 'DELETE', `/users/${owner.id}/sessions`],
  ['to end an owner’s command line', 'an admin', 'DELETE', `/users/${owner.id}/connections/${COMMAND_LINE_ID}`],
  ['to remind an owner', 'the help desk', 'POST', `/users/${owner.id}/email-verification`],
  // By the way of an organization.
  [
    'to remove an operator from the organization',
    'a key of an organization’s admin',
    'DELETE',
    `/organizations/${acme}/members/${owner.id}`,
  ],
  ['to suspend a member’s account', 'a key of an organization’s owner', 'PUT', `/users/${anyone.id}/suspension`, {}],
  ['to read a member’s account', 'a key of an organization’s owner', 'GET', `/users/${anyone.id}`],
  ['to see a member’s factors', 'a key of an organization’s owner', 'GET', `/users/${anyone.id}/factors`],
  [
    'to be let into another organization',
    'a key of an organization’s owner',
    'PUT',
    `/organizations/${other}/members/${anyone.id}`,
    { role: 'OWNER' },
  ],
  [
    'to fill a group of another organization',
    'a key of an organization’s owner',
    'PUT',
    `/groups/${foreignGroup.id}/members/${anyone.id}`,
  ],
  ['to make a group of the installation', 'a key of an organization’s admin', 'POST', '/groups', { name: 'admins' }],
  [
    'to invite into another organization',
    'a key of an organization’s owner',
    'POST',
    '/invitations',
    { organizationId: other },
  ],
  [
    'to change what the organization requires',
    'a key of an organization’s admin',
    'PATCH',
    `/organizations/${acme}`,
    { requireSecondFactor: false },
  ],
  // By the way of an app.
  [
    'to approve its own app for everybody',
    'a developer’s key',
    'PUT',
    `/clients/${own.clientId}/consent-approval`,
    { scopes: ['openid'] },
  ],
  ['to assign its own app', 'a developer’s key', 'POST', `/clients/${own.clientId}/assignments`, { userId: anyone.id }],
  [
    'to preview somebody’s tokens in its own app',
    'a developer’s key',
    'POST',
    `/clients/${own.clientId}/preview`,
    { userId: owner.id },
  ],
  [
    'to change somebody else’s app',
    'a developer’s key',
    'PATCH',
    `/clients/${app.clientId}`,
    { redirectUris: ['https://evil.example/cb'] },
  ],
  ['to get a secret of somebody else’s app', 'a developer', 'POST', `/clients/${app.clientId}/secrets`, {}],
  [
    'to own an app that it did not make',
    'a developer',
    'POST',
    '/clients',
    { name: 'X', redirectUris: ['https://x.example/cb'], developerId: '1' },
  ],
  [
    'to register an app of an organization',
    'a developer',
    'POST',
    '/clients',
    { name: 'X', redirectUris: ['https://x.example/cb'], organizationId: '1' },
  ],
  [
    'to give the command line an address',
    'an admin',
    'PATCH',
    `/clients/${COMMAND_LINE_ID}`,
    { redirectUris: ['https://evil.example/cb'] },
  ],
  [
    'to let a provider of the installation maintain a group',
    'a key of an organization’s owner',
    'POST',
    '/groups',
    { name: 'bound', organizationId: acme, upstreamId: upstream.id },
  ],
  [
    'to let a provider maintain a group of the installation',
    'an admin',
    'POST',
    '/groups',
    { name: 'bound', upstreamId: upstream.id },
  ],
  // By what is no request of the API.
  ['to leave the path', 'an auditor', 'DELETE', `/users/..%2Fadmin-keys%2F${ownersKey.id}`],
  ['to name another role by its case', 'an admin', 'PUT', itself('/roles/OWNER'), {}],
  ['to send a prototype', 'an admin', 'PUT', itself('/roles/admin'), JSON.parse('{"__proto__": {"role": "owner"}}')],
  ['to release a name it may not', 'the help desk', 'DELETE', '/held-usernames/countess'],
];

/** What everybody holds, which nothing of this changes. */
async function holdings(): Promise<string> {
  const [{ items: roles }, { items: keys }, victim] = await Promise.all([
    done(admin(server, 'GET', '/operators?limit=200')),
    done(admin(server, 'GET', '/admin-keys?limit=200')),
    done(admin(server, 'GET', `/users?q=${owner.id}&limit=1`)),
  ]);
  const held = keys.map(({ lastUsedAt: _, ...rest }: { lastUsedAt: unknown }) => rest);
  return JSON.stringify([roles, held, victim.items]);
}

const before = await holdings();

describe('nobody gets more than was given', () => {
  for (const [what, who, method, to, body] of ATTEMPTS) {
    test(`${who} tries ${what}`, async () => {
      const by = ATTACKERS[who];
      const path = typeof to === 'string' ? to : to(by);
      const answer = await admin(server, method, path, body, by.credential);
      const isBuiltIn = path === `/clients/${COMMAND_LINE_ID}`;
      assert.ok(
        (isBuiltIn ? [409] : [400, 403, 404]).includes(answer.status),
        `${answer.status} ${JSON.stringify(answer.body)}`,
      );
      assert.equal(await holdings(), before);
    });
  }

  test('a header names no other method', async () => {
    const response = await fetch(`${server.baseUrl}/api/v2/admin/users/${owner.id}`, {
      method: 'GET',
      headers: {
        authorization: `Bearer ${ATTACKERS['an auditor'].credential}`,
        'x-http-method-override': 'DELETE',
        'x-method-override': 'DELETE',
      },
    });
    assert.equal(response.status, 200);
    assert.equal(await holdings(), before);
  });

  test('each refusal for a missing permission is an event with who tried', async () => {
    const { items } = await done(admin(server, 'GET', '/audit-events?type=operator.refused&limit=200&order=desc'));
    const tried = new Set(items.map(({ actor }: { actor: { id: string } }) => actor.id));
    for (const name of ['an admin', 'the help desk', 'a key of an organization’s admin'] as const) {
      assert.ok(tried.has(ATTACKERS[name].id), name);
    }
  });
});
