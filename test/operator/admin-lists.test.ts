// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, type JsonAnswer, newClient, newUser, type TestUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const users: TestUser[] = [];
const server = await startServer();
after(() => server.close());
for (let n = 0; n < 7; n++) users.push(await newUser(server));
for (let n = 0; n < 7; n++) {
  await newClient(server);
  await admin(server, 'POST', '/organizations', { name: `org-${n}`, domain: 'org.example' });
  const { body } = await admin(server, 'POST', '/groups', { name: `group-${n}` });
  await admin(server, 'PUT', `/groups/${body.id}/members/${users[0]?.id}`);
}

const get = (path: string, query: Readonly<Record<string, string>> = {}): Promise<JsonAnswer> =>
  admin(server, 'GET', `${path}?${new URLSearchParams(query)}`);
const namesOf = ({ body }: JsonAnswer): string[] => body.items.map((item: { username: string }) => item.username);
const find = async (q: string): Promise<string[]> => namesOf(await get('/users', { q }));

for (const [path, id] of [
  ['/users', 'id'],
  ['/clients', 'clientId'],
  ['/organizations', 'id'],
  ['/audit-events', 'id'],
  ['/groups', 'id'],
  [`/users/${users[0]?.id}/groups`, 'id'],
] as const) {
  test(`GET ${path}: pages of any size, followed by nextCursor, are the whole list once and in order`, async () => {
    const whole = await get(path, { limit: '200' });
    assert.deepEqual([whole.status, whole.body.nextCursor], [200, null]);
    assert.ok(whole.body.items.length >= 7);
    for (const limit of ['1', '3', '7', String(whole.body.items.length)]) {
      const items: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body }: JsonAnswer = await get(path, { limit, ...(cursor !== '' && { cursor }) });
        assert.deepEqual(Object.keys(body), ['items', 'nextCursor']);
        assert.ok(body.items.length > 0 && body.items.length <= Number(limit));
        items.push(...body.items);
        cursor = body.nextCursor;
      }
      assert.deepEqual(items, whole.body.items);
    }
    const ids = whole.body.items.map((item: Record<string, string>) => BigInt(item[id] ?? 0));
    assert.deepEqual(
      ids,
      ids.toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1)),
    );
  });

  test(`GET ${path}: a wrong limit, a forged cursor, an unknown or repeated parameter is 400 naming it`, async () => {
    const forged = ['x', 'null', '1', Buffer.from('after 1 OR 1=1').toString('base64url')];
    for (const text of ['after 0', 'after -1', 'before 1', 'after 99999999999999999999']) {
      forged.push(Buffer.from(text).toString('base64url'));
    }
    const wrong: [string, string][] = [
      ...['0', '-1', '201', '1.5', '1e2', 'ten', '٣', ' 5', '5;', '1 OR 1=1', '99999'].map((v): [string, string] => [
        'limit',
        v,
      ]),
      ...forged.map((v): [string, string] => ['cursor', v]),
      ['offset', '5'],
      ['sort', 'id'],
      ['password_hash', 'x'],
    ];
    for (const [name, value] of wrong) {
      const answer = await get(path, { [name]: value });
      assert.equal(answer.status, 400, `${name}=${value}`);
      assert.equal(answer.body.error, 'invalid_request');
      assert.match(answer.body.error_description, new RegExp(`^${name} `), value);
    }
    const twice = await admin(server, 'GET', `${path}?limit=1&limit=2`);
    assert.deepEqual([twice.status, twice.body.error], [400, 'invalid_request']);
    assert.match(twice.body.error_description, /^limit was sent more than once/);
  });
}

test('50 items where no limit is given', async () => {
  for (let n = 0; n < 52 - users.length; n++) await newUser(server);
  const { body } = await get('/users');
  assert.equal(body.items.length, 50);
  assert.equal((await get('/users', { cursor: body.nextCursor })).body.items.length, 2);
});

test('a list followed while it grows and shrinks neither repeats nor skips what stays', async () => {
  const first = await get('/users', { limit: '3' });
  await admin(server, 'DELETE', `/users/${first.body.items[2].id}`);
  const added = await newUser(server);
  const rest = await get('/users', { limit: '200', cursor: first.body.nextCursor });
  const ids = rest.body.items.map((item: { id: string }) => item.id);
  assert.equal(ids.at(-1), added.id);
  for (const item of first.body.items) assert.ok(!ids.includes(item.id));
});

test('GET /users?q=: part of the name, display name or address in any letter case, or the id', async () => {
  const user = await newUser(server, {
    username: 'q_under.score',
    displayName: 'Özgür Ünal 100% Ada',
    email: 'q+tag@q.example',
  });
  await newUser(server, { username: 'qxunder.score', displayName: 'Plain', email: 'plain@q2.example' });
  const matching = ['q_under', 'Q_UNDER', 'Özgür', 'gür', 'q+tag@Q.example', '100%', '% ada', user.id];
  for (const q of matching) assert.deepEqual(await find(q), ['q_under.score'], q);
  assert.deepEqual(await find('under.score'), ['q_under.score', 'qxunder.score']);
  for (const q of ['q%under', 'q%', '\\', 'q\\_under', user.id.slice(1)]) assert.deepEqual(await find(q), [], q);
  for (const q of ['_', '%']) assert.deepEqual(await find(q), ['q_under.score'], 'no wildcard');
  const pages = await get('/users', { q: 'under.score', limit: '1' });
  assert.deepEqual(namesOf(await get('/users', { q: 'under.score', cursor: pages.body.nextCursor })), [
    'qxunder.score',
  ]);
});

test('GET /groups?q=: part of the name or of the name for people in any letter case, or the id', async () => {
  const add = async (name: string, more: object = {}): Promise<string> =>
    (await admin(server, 'POST', '/groups', { name, ...more })).body.id;
  const { body: organization } = await admin(server, 'POST', '/organizations', { name: 'q-org', domain: 'q.example' });
  const found = async (q: string, more: Readonly<Record<string, string>> = {}) =>
    (await get('/groups', { q, ...more })).body.items.map(({ name }: { name: string }) => name);
  const id = await add('q_analysts', { displayName: 'Özgür 100% Analysts' });
  await add('qxanalysts', { organizationId: organization.id });
  for (const q of ['q_an', 'Q_AN', 'Özgür', '100%', '% anal', id]) assert.deepEqual(await found(q), ['q_analysts'], q);
  assert.deepEqual(await found('analysts'), ['q_analysts', 'qxanalysts']);
  assert.deepEqual(await found('analysts', { organizationId: organization.id }), ['qxanalysts']);
  for (const q of ['q%an', '\\', "' OR '1'='1", id.slice(1)]) assert.deepEqual(await found(q), [], q);
  const { body } = await get('/groups', { q: 'analysts', limit: '1' });
  assert.deepEqual(await found('analysts', { cursor: body.nextCursor }), ['qxanalysts']);
  await admin(server, 'DELETE', `/groups/${id}`);
  assert.deepEqual(await found('analysts'), ['qxanalysts']);
});

test('GET /users?q=: the account whose username, address or id it is comes first, on pages of any size', async () => {
  const names = ['a-dora', 'b-dora', 'dora', 'c-dora'];
  for (const name of names) await newUser(server, { username: name, displayName: 'D', email: `${name}@d.example` });
  for (const q of ['dora', 'Dora@d.example']) {
    for (const limit of ['1', '2', '3', '4', '50']) {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await get('/users', { q, limit, ...(cursor !== '' && { cursor }) });
        found.push(...namesOf(page));
        cursor = page.body.nextCursor;
      }
      assert.deepEqual(found, ['dora', 'a-dora', 'b-dora', 'c-dora'], `${q}, ${limit} at a time`);
    }
  }
});

test('AD-10, ST-04: SQL in q finds nothing, breaks nothing and changes nothing', async () => {
  const before = await get('/users', { limit: '200' });
  for (const text of [
    "'",
    "''",
    '"',
    '`',
    ';',
    '--',
    '/*',
    "' OR '1'='1",
    "' OR 1=1 --",
    '" OR ""="',
    "'; DROP TABLE account; --",
    "' UNION SELECT password_hash FROM account --",
    "%' ESCAPE '!",
    "') OR ('1'='1",
    '\\',
    "\\'",
    '?1',
    ':p',
    '$1',
    '\ud800',
    'ʼ OR 1=1',
    'x'.repeat(256),
    '%'.repeat(200),
    '_'.repeat(60),
  ]) {
    const answer = await get('/users', { q: text });
    assert.deepEqual([answer.status, answer.body.items], [200, []], text.slice(0, 60));
  }
  for (const text of ['\u0000', 'a\u0000b', 'a\nb', 'x'.repeat(257)]) {
    const answer = await get('/users', { q: text });
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
    assert.match(answer.body.error_description, /^q must be/);
  }
  assert.deepEqual((await get('/users', { limit: '200' })).body, before.body);
});

test('GET /audit-events: what was done, by whom, filtered by type, user and client', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  await admin(server, 'PUT', `/users/${user.id}/ban`, { reason: 'spam' });
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { status: 'disabled' });
  const events = (await get('/audit-events', { userId: user.id })).body.items;
  assert.deepEqual(
    events.map(({ type }: { type: string }) => type),
    ['account.created', 'account.banned'],
  );
  const { id, requestId, ...banned } = events[1];
  assert.match(id, /^\d+$/);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(banned, {
    at: new Date(server.now()).toISOString(),
    type: 'account.banned',
    outcome: 'success',
    actor: { type: 'admin', id: null },
    userId: user.id,
    clientId: null,
    address: '127.0.0.1',
    details: { until: null, reason: 'spam', actorRole: 'owner' },
  });
  const ofClient = (await get('/audit-events', { clientId: client.clientId, type: 'client.disabled' })).body.items;
  assert.equal(ofClient.length, 1);
  assert.deepEqual((await get('/audit-events', { clientId: client.clientId, userId: user.id })).body.items, []);
  for (const [name, value] of [
    ['type', 'nothing'],
    ['type', "x' OR 1=1"],
    ['type', 'constructor'],
    ['userId', '0'],
    ['userId', "1' OR '1'='1"],
    ['clientId', 'abc'],
    ['actor', 'root'],
    ['actorId', 'x'],
    ['address', 'localhost'],
    ['requestId', 'abc'],
    ['outcome', 'maybe'],
    ['since', '2026-01-01'],
    ['until', 'yesterday'],
    ['order', 'newest'],
  ] as const) {
    const answer = await get('/audit-events', { [name]: value });
    assert.equal(answer.status, 400, `${name}=${value}`);
    assert.match(answer.body.error_description, new RegExp(`^${name} must be`));
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.equal((await admin(server, method, '/audit-events')).status, 405, 'LG-04: append-only');
  }
});

test('GET /audit-events: filters by family, actor, address, request, outcome and time, in both orders', async () => {
  const user = await newUser(server);
  server.advance(60 * 60_000);
  const began = new Date(server.now()).toISOString();
  await admin(server, 'PATCH', `/users/${user.id}`, { about: 'x' });
  await admin(server, 'GET', '/users', undefined, 'a-wrong-key');
  server.advance(60 * 60_000);
  const ended = new Date(server.now()).toISOString();
  const ban = await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  const types = async (query: Readonly<Record<string, string>>): Promise<string[]> =>
    (await get('/audit-events', { limit: '200', ...query })).body.items.map(({ type }: { type: string }) => type);
  const own = ['account.created', 'account.updated', 'account.banned'];
  const since = { since: began };
  assert.deepEqual(await types({ userId: user.id }), own);
  assert.deepEqual(await types({ userId: user.id, order: 'desc' }), own.toReversed());
  assert.deepEqual(await types({ userId: user.id, type: 'account' }), own);
  assert.deepEqual(await types(since), ['account.updated', 'admin_key.refused', 'account.banned']);
  assert.deepEqual(await types({ ...since, until: ended }), ['account.updated', 'admin_key.refused']);
  assert.deepEqual(await types({ since: ended }), ['account.banned']);
  assert.deepEqual(await types({ ...since, outcome: 'failure' }), ['admin_key.refused']);
  assert.deepEqual(await types({ ...since, actor: 'admin' }), ['account.updated', 'account.banned']);
  assert.deepEqual(await types({ ...since, actor: 'cli' }), []);
  assert.deepEqual(await types({ ...since, address: '127.0.0.1', type: 'admin_key' }), ['admin_key.refused']);
  assert.deepEqual(await types({ ...since, address: '192.0.2.1' }), []);
  assert.deepEqual(await types({ actorId: user.id }), []);
  assert.deepEqual(await types({ requestId: ban.headers.get('x-request-id') ?? '' }), ['account.banned']);
  assert.ok((await types({ until: began })).length > 7);
  const newest = await get('/audit-events', { ...since, limit: '2', order: 'desc' });
  assert.equal(newest.body.items[0].type, 'account.banned');
  const next = await get('/audit-events', { ...since, limit: '2', order: 'desc', cursor: newest.body.nextCursor });
  assert.deepEqual(
    [next.body.items.length, next.body.items[0].type, next.body.nextCursor],
    [1, 'account.updated', null],
  );
});

test('LG-02: every change through the API leaves its event, and a refused one leaves none', async () => {
  const newest = async (): Promise<string[]> => {
    const all = (await get('/audit-events', { limit: '200' })).body;
    const rest =
      all.nextCursor === null ? [] : (await get('/audit-events', { limit: '200', cursor: all.nextCursor })).body.items;
    return [...all.items, ...rest].map(({ type }: { type: string }) => type);
  };
  const user = await newUser(server);
  const client = await newClient(server);
  const org = (await admin(server, 'POST', '/organizations', { name: 'audited', domain: 'a.example' })).body.id;
  const secret = await admin(server, 'POST', `/clients/${client.clientId}/secrets`, {});
  const first = secret.body.secrets[0].id;
  const calls: [string, string, unknown, string | undefined][] = [
    ['PATCH', `/users/${user.id}`, { about: 'x' }, 'account.updated'],
    ['PATCH', `/users/${user.id}`, { about: 'x' }, undefined],
    ['PATCH', `/users/${user.id}`, {}, undefined],
    ['PATCH', `/users/${user.id}`, { password: 'a new password' }, 'account.password_changed'],
    ['PUT', `/users/${user.id}/ban`, {}, 'account.banned'],
    ['DELETE', `/users/${user.id}/ban`, undefined, 'account.unbanned'],
    ['PUT', `/users/${user.id}/suspension`, {}, 'account.suspended'],
    ['DELETE', `/users/${user.id}/suspension`, undefined, 'account.reinstated'],
    ['PATCH', `/clients/${client.clientId}`, { name: 'New' }, 'client.updated'],
    ['PATCH', `/clients/${client.clientId}`, { status: 'disabled' }, 'client.disabled'],
    ['PATCH', `/clients/${client.clientId}`, { status: 'disabled', name: 'New' }, undefined],
    ['PATCH', `/clients/${client.clientId}`, { status: 'active' }, 'client.enabled'],
    ['PATCH', `/clients/${client.clientId}`, { status: 'active', name: 'Newer' }, 'client.updated'],
    ['DELETE', `/clients/${client.clientId}/secrets/${first}`, undefined, 'client.secret_ended'],
    ['DELETE', `/clients/${client.clientId}/secrets/${first}`, undefined, undefined],
    ['PUT', `/organizations/${org}/members/${user.id}`, {}, 'organization.member_set'],
    ['DELETE', `/organizations/${org}/members/${user.id}`, undefined, 'organization.member_removed'],
    ['DELETE', `/organizations/${org}/members/${user.id}`, undefined, undefined],
    ['PATCH', `/users/${user.id}`, { username: 'x' }, undefined],
    ['POST', '/users', { username: user.username, displayName: 'A', email: 'z@z.example' }, undefined],
    ['DELETE', `/users/${user.id}`, undefined, 'account.deleted'],
    ['DELETE', `/users/${user.id}`, undefined, undefined],
    ['DELETE', `/clients/${client.clientId}`, undefined, 'client.deleted'],
  ];
  for (const [method, path, body, type] of calls) {
    const before = await newest();
    await admin(server, method, path, body);
    assert.deepEqual((await newest()).slice(before.length), type === undefined ? [] : [type], `${method} ${path}`);
  }
});
