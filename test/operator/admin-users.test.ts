// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, type JsonAnswer, newClient, newUser, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { columnNames, refuseBadBodies, refuses, sendRaw } from './refusals.ts';

const server = await startServer();
after(() => server.close());

const api = (method: string, path: string, body?: unknown): Promise<JsonAnswer> => admin(server, method, path, body);

const FIELDS = [
  'id',
  'username',
  'displayName',
  'email',
  'emailVerified',
  'about',
  'language',
  'theme',
  'website',
  'location',
  'birthDate',
  'phone',
  'socialLinks',
  'avatarColor',
  'hasPicture',
  'hasPassword',
  'status',
  'ban',
  'suspension',
  'deletion',
  'createdAt',
  'updatedAt',
];

test('POST /users: 201, the user with its defaults and nothing of the password', async () => {
  const answer = await api('POST', '/users', {
    username: 'ada.l_1-x',
    displayName: 'Ada Lovelace',
    email: 'Ada@Example.com',
    password: 'canary-password-1',
  });
  assert.equal(answer.status, 201);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.deepEqual(Object.keys(answer.body), FIELDS);
  const { id, avatarColor, ...rest } = answer.body;
  assert.match(id, /^[1-9]\d{15,18}$/);
  assert.match(avatarColor, /^#[0-9a-f]{6}$/);
  const at = new Date(server.now()).toISOString();
  assert.deepEqual(rest, {
    username: 'ada.l_1-x',
    displayName: 'Ada Lovelace',
    email: 'Ada@Example.com',
    emailVerified: false,
    about: '',
    language: 'en',
    theme: null,
    website: null,
    location: null,
    birthDate: null,
    phone: null,
    socialLinks: [],
    hasPicture: false,
    hasPassword: true,
    status: 'active',
    ban: null,
    deletion: null,
    suspension: null,
    createdAt: at,
    updatedAt: at,
  });
  assert.deepEqual((await api('GET', `/users/${id}`)).body, answer.body);
});

const CHANGE = {
  username: 'grace',
  displayName: 'Grace Hopper',
  email: 'Grace.Hopper@navy.example',
  emailVerified: true,
  about: 'Two\nlines',
  language: 'pt-BR',
  theme: 'dark',
  website: 'https://grace.example/?q=1',
  location: 'New York',
  birthDate: '1906-12-09',
  phone: '+905551234567',
  socialLinks: [{ platform: 'github', url: 'https://github.com/grace', label: 'GitHub' }],
  avatarColor: '#123abc',
};
const ALL_SCOPES = 'openid email details phone social organization.read';

test('decisions §7: all that UserInfo can show is set through the API, and shows in the next request', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  // A decision on the address ends tokens, so it is made before.
  const { email, emailVerified } = CHANGE;
  assert.equal((await api('PATCH', `/users/${user.id}`, { email, emailVerified })).status, 200);
  const tokens = await tokensFor(server, client, user, { scope: ALL_SCOPES });
  const { createdAt } = (await api('GET', `/users/${user.id}`)).body;
  server.advance(1000);
  const changed = await api('PATCH', `/users/${user.id}`, CHANGE);
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, {
    ...changed.body,
    ...CHANGE,
    createdAt,
    updatedAt: new Date(server.now()).toISOString(),
  });
  const organization = (await api('POST', '/organizations', { name: 'navy', domain: 'navy.example' })).body;
  const membership = await api('PUT', `/organizations/${organization.id}/members/${user.id}`, { role: 'OWNER' });
  assert.equal(membership.status, 200);
  const shown = await userinfo(server, tokens.access_token);
  assert.equal(shown.status, 200);
  const { avatar, ...person } = shown.body.user;
  assert.equal(avatar.color, '#123abc');
  assert.deepEqual(person, {
    displayName: 'Grace Hopper',
    username: 'grace',
    about: 'Two\nlines',
    email: { username: 'Grace.Hopper', domain: 'navy.example', isVerified: true },
    website: 'https://grace.example/?q=1',
    location: 'New York',
    birthDate: '1906-12-09',
    phone: '+905551234567',
    socialLinks: CHANGE.socialLinks,
    organization: { id: organization.id, name: 'navy', role: 'OWNER', domain: 'navy.example' },
  });
  assert.equal(shown.body.language, 'pt');
  assert.equal(shown.body.theme, 'dark');
  assert.equal(shown.body.createdAt, createdAt);
  const unset = {
    theme: null,
    website: null,
    location: null,
    birthDate: null,
    phone: null,
    socialLinks: [],
    about: '',
  };
  assert.equal((await api('PATCH', `/users/${user.id}`, unset)).status, 200);
  await api('DELETE', `/organizations/${organization.id}/members/${user.id}`);
  const { user: bare, theme } = (await userinfo(server, tokens.access_token)).body;
  assert.equal(theme, null);
  const nulls = { website: null, location: null, birthDate: null, phone: null, organization: null };
  assert.deepEqual({ ...bare, ...nulls, socialLinks: [], about: '' }, bare);
});

test('PATCH /users/{id}: a field alone changes that field alone; nothing changes nothing', async () => {
  const user = await newUser(server, { ...CHANGE, username: 'solo', email: 'solo@example.com' });
  let expected = (await api('GET', `/users/${user.id}`)).body;
  const changes = { about: 'new', language: 'de', theme: null, phone: null, avatarColor: '#000000', socialLinks: [] };
  for (const [field, value] of Object.entries(changes)) {
    const answer = await api('PATCH', `/users/${user.id}`, { [field]: value });
    expected = { ...expected, [field]: value };
    assert.deepEqual(answer.body, expected, field);
  }
  assert.deepEqual((await api('PATCH', `/users/${user.id}`, {})).body, expected);
  const moved = await api('PATCH', `/users/${user.id}`, { email: 'other@example.com' });
  assert.equal(moved.body.emailVerified, false, 'another address is not verified yet');
});

test('409 conflict: username and email address in any letter case, on POST and PATCH, and the remedy', async () => {
  await newUser(server, { username: 'taken', email: 'Taken@Example.com' });
  const other = await newUser(server);
  const [before, fresh] = [(await api('GET', `/users/${other.id}`)).body, { displayName: 'X', email: 'x@example.com' }];
  const cases: [object, RegExp][] = [
    [{ username: 'taken' }, /^username is taken.*Choose another/],
    [{ email: 'taken@example.com' }, /^email is taken.*Choose another/],
    [{ email: 'TAKEN@EXAMPLE.COM' }, /^email is taken/],
    [{ email: 'Taken@Example.com' }, /^email is taken/],
  ];
  for (const [fields, message] of cases) {
    const made = await api('POST', '/users', { username: 'fresh', ...fresh, ...fields });
    const changed = await api('PATCH', `/users/${other.id}`, fields);
    for (const answer of [made, changed]) {
      assert.equal(answer.status, 409, JSON.stringify(fields));
      assert.equal(answer.body.error, 'conflict');
      assert.match(answer.body.error_description, message);
    }
  }
  assert.deepEqual((await api('GET', `/users/${other.id}`)).body, before);
  const own = await api('PATCH', `/users/${other.id}`, {
    username: before.username,
    email: before.email.toUpperCase(),
  });
  assert.equal(own.status, 200, 'one’s own name and address are no conflict');
});

test('of parallel creations with one name exactly one succeeds', async () => {
  const make = (n: number) =>
    api('POST', '/users', { username: 'racer', displayName: 'R', email: `racer${n % 2}@example.com` });
  const statuses = (await Promise.all(Array.from({ length: 12 }, (_, n) => make(n)))).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [201, ...Array(11).fill(409)]);
});

const long = (length: number): string => 'x'.repeat(length);
const BAD_FIELDS: Record<string, unknown[]> = {
  username: ['', 'ab', long(33), 'Ada', 'a b', 'adä', 'ada\n', 'a/b', "a'b", null, 5, ['ada'], {}, true],
  displayName: [
    '\u3164',
    '\u115f\u1160',
    '\u2800',
    '\u200b\u2060',
    '\u034f',
    '',
    ' Ada',
    'Ada ',
    long(65),
    'a\nb',
    'a\u202eb',
    'a\u0000',
    null,
    5,
    [],
  ],
  email: ['', 'ada', '@example.com', 'ada@', 'ada@@b.example', 'a b@c.example', `${long(65)}@b.example`, null, {}],
  password: ['', 'seven77', long(257), null, 12345678],
  emailVerified: ['true', 1, 0, null],
  about: [long(501), 'a\u0000b', null, 5],
  language: ['', 'english', 'fil', 'en_US', 'e', null, 1],
  theme: ['', 'Dark', 'blue', 1, false],
  website: ['', 'http://a.example', 'javascript:alert(1)', 'https://', 'https://u:p@a.example', 'a.example', 1],
  location: ['', long(101), 'a\nb', '\u3164', 1],
  birthDate: ['', '2001-02-29', '1990-1-1', '2026-03-01', '2999-01-01', '1990-01-01T00:00:00Z', 19900101],
  phone: ['', '5551234567', '+0123', '+90 555 123 45 67', 'tel:+905551234567', 905551234567],
  socialLinks: [
    null,
    {},
    'x',
    [1],
    [{ platform: 'x', url: 'https://x.example' }],
    [{ platform: 'x', url: 'http://x.example', label: 'X' }],
    [{ platform: 'X Y', url: 'https://x.example', label: 'X' }],
    [{ platform: 'x', url: 'https://x.example', label: '' }],
    [{ platform: 'x', url: 'https://x.example', label: '\u2800' }],
    [{ platform: 'x', url: 'https://x.example', label: 'X', extra: 1 }],
    Array(21).fill({ platform: 'x', url: 'https://x.example', label: 'X' }),
  ],
  avatarColor: ['', '#fff', '#FFFFFF', 'red', 'url(x)', null],
};
const GOOD = { username: 'valid', displayName: 'Valid', email: 'valid@example.com' };

test('400 invalid_request names the field and what it must be, on POST and PATCH, and changes nothing', async () => {
  const user = await newUser(server);
  const before = (await api('GET', `/users/${user.id}`)).body;
  for (const [field, values] of Object.entries(BAD_FIELDS)) {
    for (const value of values) {
      await refuses(
        server,
        ['POST', '/users', { ...GOOD, [field]: value }],
        field,
        / must | is missing| is not a field/,
      );
      await refuses(
        server,
        ['PATCH', `/users/${user.id}`, { [field]: value }],
        field,
        / must | is missing| is not a field/,
      );
    }
  }
  for (const field of Object.keys(GOOD)) {
    await refuses(server, ['POST', '/users', { ...GOOD, [field]: undefined }], field, /is missing/);
  }
  assert.deepEqual((await api('GET', `/users/${user.id}`)).body, before);
  assert.deepEqual((await api('GET', '/users?q=valid@example.com')).body.items, []);
});

test('AD-04: a field that is not on the list is refused by its name, also every column of the database', async () => {
  const user = await newUser(server);
  const before = (await api('GET', `/users/${user.id}`)).body;
  const names = [
    ...columnNames('account'),
    'id',
    'status',
    'ban',
    'createdAt',
    'roles',
    'isAdmin',
    'constructor',
    'sub',
  ];
  for (const name of names.filter((column) => !Object.hasOwn({ ...GOOD, ...BAD_FIELDS }, column))) {
    for (const value of [1, 'x', null, {}]) {
      await refuses(
        server,
        ['POST', '/users', { ...GOOD, [name]: value }],
        name,
        /is not a field here\.( Did you mean [A-Za-z]+\?)? The fields are/,
      );
      await refuses(server, ['PATCH', `/users/${user.id}`, { [name]: value }], name, /is not a field here/);
    }
  }
  for (const name of ['id', 'userId', 'actor', 'banned_at', 'status']) {
    await refuses(server, ['PUT', `/users/${user.id}/ban`, { [name]: 'x' }], name, /is not a field here/);
    await refuses(server, ['PUT', `/users/${user.id}/suspension`, { [name]: 'x' }], name, /is not a field here/);
  }
  assert.deepEqual((await api('GET', `/users/${user.id}`)).body, before);
});

test('a body that is no JSON object of distinct members is refused on every call that reads one', async () => {
  const user = await newUser(server);
  const calls = [
    'POST /users',
    `PATCH /users/${user.id}`,
    `PUT /users/${user.id}/ban`,
    `PUT /users/${user.id}/suspension`,
  ];
  const before = (await api('GET', `/users/${user.id}`)).body;
  for (const call of calls) await refuseBadBodies(server, call);
  const twice = await sendRaw(server, 'POST', '/users', `{"username":"a","\\u0075sername":"b"}`);
  assert.equal(twice.status, 400);
  assert.match(twice.body.error_description, /twice/);
  assert.deepEqual((await api('GET', `/users/${user.id}`)).body, before);
});

test('PUT and DELETE ban: the status, the end, its replacement, the clock, and the tokens', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const until = new Date(server.now() + 3_600_000).toISOString();
  const banned = await api('PUT', `/users/${user.id}/ban`, { until, reason: 'spam' });
  assert.equal(banned.status, 200);
  assert.deepEqual(Object.keys(banned.body), FIELDS);
  assert.equal(banned.body.status, 'banned');
  assert.deepEqual(banned.body.ban, { since: new Date(server.now()).toISOString(), until, reason: 'spam' });
  const refused = await userinfo(server, tokens.access_token);
  assert.deepEqual(
    [refused.status, refused.body],
    [403, { error: 'access_denied', error_description: 'Account banned' }],
  );
  const forever = await api('PUT', `/users/${user.id}/ban`);
  assert.deepEqual([forever.body.ban.until, forever.body.ban.reason], [null, null], 'PUT replaces all of it');
  const offset = new Date(server.now() + 2 * 3_600_000).toISOString().replace('.250Z', '.250+02:00');
  const short = await api('PUT', `/users/${user.id}/ban`, { until: offset });
  assert.equal(short.status, 400, 'the same wall clock two hours east is now, and now is not in the future');
  assert.match(short.body.error_description, /^until must be in the future/);
  for (const bad of ['', 'tomorrow', '2030-01-31', '2030-01-31T12:00:00', '2030-02-30T12:00:00Z', 1893456000, {}, []]) {
    await refuses(server, ['PUT', `/users/${user.id}/ban`, { until: bad }], 'until', /must be/);
  }
  await api('PUT', `/users/${user.id}/ban`, { until });
  server.advance(3_599_999);
  assert.equal((await api('GET', `/users/${user.id}`)).body.status, 'banned');
  server.advance(1);
  const free = (await api('GET', `/users/${user.id}`)).body;
  assert.deepEqual([free.status, free.ban], ['active', null], 'the instant itself is free');
  assert.equal((await userinfo(server, tokens.access_token)).status, 401, 'tokens from before stay dead');
  await api('PUT', `/users/${user.id}/ban`, {});
  const lifted = await api('DELETE', `/users/${user.id}/ban`);
  assert.deepEqual([lifted.status, lifted.body.status, lifted.body.ban], [200, 'active', null]);
  assert.equal((await api('DELETE', `/users/${user.id}/ban`)).status, 200, 'again is harmless');
});

test('PUT and DELETE suspension, beside a ban', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const answer = await api('PUT', `/users/${user.id}/suspension`, { reason: 'dispute' });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.status, 'suspended');
  assert.deepEqual(answer.body.suspension, { since: new Date(server.now()).toISOString(), reason: 'dispute' });
  const refused = await userinfo(server, tokens.access_token);
  assert.deepEqual(refused.body, { error: 'access_denied', error_description: 'Account is suspended' });
  const both = await api('PUT', `/users/${user.id}/ban`);
  assert.equal(both.body.status, 'banned', 'a ban outranks a suspension');
  assert.notEqual(both.body.suspension, null);
  assert.equal((await api('DELETE', `/users/${user.id}/ban`)).body.status, 'suspended');
  assert.equal((await api('DELETE', `/users/${user.id}/suspension`)).body.status, 'active');
  await refuses(server, ['PUT', `/users/${user.id}/suspension`, { reason: long(501) }], 'reason', /must be/);
});

test('DELETE /users/{id}: 204, the name and address are free, the id is gone for ever, with all that hung on it', async () => {
  const [client, user] = [
    await newClient(server),
    await newUser(server, { username: 'gone', email: 'gone@example.com' }),
  ];
  const tokens = await tokensFor(server, client, user);
  const answer = await api('DELETE', `/users/${user.id}`);
  assert.deepEqual([answer.status, answer.body], [204, undefined]);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['PUT', '/ban'],
    ['DELETE', '/ban'],
    ['PUT', '/suspension'],
    ['DELETE', '/suspension'],
    ['POST', '/recovery-link'],
    ['GET', '/connections'],
    ['DELETE', `/connections/${client.clientId}`],
  ] as const) {
    const gone = await api(method, `/users/${user.id}${path}`, method === 'PATCH' ? {} : undefined);
    assert.deepEqual([gone.status, gone.body.error], [404, 'not_found'], `${method} ${path}`);
  }
  const next = await newUser(server, { username: 'gone', email: 'GONE@example.com' });
  assert.notEqual(next.id, user.id);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401, 'the new user of that name is another one');
});

test('connections: listed as the person sees them, and revoked as the person would', async () => {
  const [client, other, user] = [await newClient(server), await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
  const kept = await tokensFor(server, other, user, {}, { browser });
  const path = `/users/${user.id}/connections`;
  const listed = await api('GET', path);
  assert.deepEqual(Object.keys(listed.body), ['items', 'nextCursor']);
  assert.equal(listed.body.items.length, 2);
  const found = listed.body.items.find((item: { clientId: string }) => item.clientId === client.clientId);
  assert.deepEqual(found.scopes.toSorted(), ['email', 'openid']);
  assert.deepEqual([found.connectedAt, found.lastUsedAt], Array(2).fill(new Date(server.now()).toISOString()));
  for (let round = 0; round < 2; round++) {
    const revoked = await api('DELETE', `${path}/${client.clientId}`);
    assert.deepEqual([revoked.status, revoked.body], [204, undefined]);
  }
  const refused = await userinfo(server, tokens.access_token);
  assert.deepEqual(refused.body, { error: 'access_denied', error_description: 'Access revoked by user' });
  assert.equal((await userinfo(server, kept.access_token)).status, 200, 'the other app keeps its access');
  assert.equal((await api('GET', path)).body.items.length, 1);
  assert.equal((await api('DELETE', `${path}/${user.id}`)).status, 404, 'an unknown client');
});
