// store: SQLite, PostgreSQL
/** Decisions §13: writes carry the version that was read, and a stale one changes nothing. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { allow, newApi } from '../support/api-scopes.ts';
import { admin, newClient, newUser, tokensFor } from '../support/flow.ts';
import { METADATA, manage, newSelfRegistered } from '../support/registration.ts';
import { ADMIN_KEY, SEVERAL, spread, startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_REGISTRATION: 'open' }, SEVERAL);
after(() => server.close());
const nodes = spread(server);

interface Answer {
  readonly status: number;
  readonly etag: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
  readonly body: any;
}

async function call(method: string, path: string, body?: object, ifMatch?: string, key = ADMIN_KEY): Promise<Answer> {
  const response = await fetch(`${nodes.nodeInTurn?.() ?? nodes.baseUrl}/api/v2/admin${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    body: text === '' ? undefined : JSON.parse(text),
  };
}

let count = 0;

/** A record of each kind, by its path, and two changes of it. */
const KINDS: Readonly<Record<string, () => Promise<string>>> = {
  user: async () => `/users/${(await newUser(server, { password: undefined })).id}`,
  client: async () => `/clients/${(await newClient(server)).clientId}`,
  group: async () => `/groups/${(await call('POST', '/groups', { name: `group-${++count}` })).body.id}`,
  organization: async () =>
    `/organizations/${(await call('POST', '/organizations', { name: `org-${++count}`, domain: 'a.example' })).body.id}`,
  async upstream() {
    const fields = { name: `provider-${++count}`, issuer: 'https://id.example.com', clientId: 'tessera' };
    const { body } = await call('POST', '/upstreams', fields);
    // An active one is not deleted.
    assert.equal((await call('POST', `/upstreams/${body.id}/disable`, {})).status, 200);
    return `/upstreams/${body.id}`;
  },
};
const CHANGES: Readonly<Record<string, readonly [object, object]>> = {
  user: [{ about: 'one' }, { about: 'two' }],
  client: [{ name: 'One' }, { name: 'Two' }],
  group: [{ description: 'one' }, { description: 'two' }],
  // Both change something, whichever comes first.
  organization: [{ requireSecondFactor: true }, { requireSecondFactor: true }],
  // What is not shown counts as well.
  upstream: [{ clientSecret: 'one' }, { displayName: 'Two' }],
};

for (const [kind, make] of Object.entries(KINDS)) {
  const [one = {}, two = {}] = CHANGES[kind] ?? [];
  describe(kind, () => {
    test('a read has its version; a change with it is done, and gives the next one', async () => {
      const path = await make();
      const read = await call('GET', path);
      assert.match(read.etag ?? '', /^"[\w-]{43}"$/);
      assert.equal((await call('GET', path)).etag, read.etag);
      const changed = await call('PATCH', path, one, read.etag ?? '');
      assert.equal(changed.status, 200, JSON.stringify(changed.body));
      assert.notEqual(changed.etag, read.etag);
      assert.equal((await call('GET', path)).etag, changed.etag);
    });

    test('a stale version: 412 with both, and nothing is changed', async () => {
      const path = await make();
      const { etag } = await call('GET', path);
      const current = await call('PATCH', path, one);
      for (const [method, body] of [['PATCH', two], ['DELETE']] as const) {
        const refused = await call(method, path, body, etag ?? '');
        assert.deepEqual(
          [refused.status, refused.body.error, refused.etag],
          [412, 'precondition_failed', current.etag],
        );
        for (const tag of [etag, current.etag]) assert.ok(refused.body.error_description.includes(tag));
      }
      assert.equal((await call('GET', path)).etag, current.etag);
    });

    test('of two who read the same version, on two nodes at once, one changes it', async () => {
      for (let round = 0; round < 3; round++) {
        const path = await make();
        const { etag } = await call('GET', path);
        const answers = await Promise.all([one, two, one, two].map((body) => call('PATCH', path, body, etag ?? '')));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
      }
    });

    test('* stands for any version, a list for any of it; a weak tag is none', async () => {
      const path = await make();
      const { etag } = await call('GET', path);
      assert.equal((await call('PATCH', path, one, `W/${etag}`)).status, 412);
      assert.equal((await call('PATCH', path, one, `"other", ${etag}`)).status, 200);
      assert.equal((await call('PATCH', path, two, '*')).status, 200);
      const malformed = await call('PATCH', path, one, 'unquoted');
      assert.deepEqual([malformed.status, malformed.body.error], [400, 'invalid_request']);
    });

    test('with the right version it is deleted; then it is not found, whatever the version', async () => {
      const path = await make();
      const { etag } = await call('GET', path);
      assert.ok((await call('DELETE', path, undefined, etag ?? '')).status < 300);
      assert.equal((await call('PATCH', path, one, etag ?? '')).status, 404);
    });
  });
}

for (const [part, body] of [
  ['ban', { reason: 'x' }],
  ['suspension', { reason: 'x' }],
] as const) {
  test(`the ${part} of a user needs the version of the user that was read, and gives the next one`, async () => {
    const path = await (KINDS['user'] ?? assert.fail)();
    const { etag } = await call('GET', path);
    const current = await call('PATCH', path, { about: 'changed' });
    for (const method of ['PUT', 'DELETE']) {
      const sent = method === 'PUT' ? body : undefined;
      const refused = await call(method, `${path}/${part}`, sent, etag ?? '');
      assert.deepEqual([refused.status, refused.etag], [412, current.etag]);
      for (const tag of [etag, current.etag]) assert.ok(refused.body.error_description.includes(tag));
    }
    assert.equal((await call('GET', path)).etag, current.etag);
    const done = await call('PUT', `${path}/${part}`, body, current.etag ?? '');
    assert.equal(done.status, 200, JSON.stringify(done.body));
    assert.equal((await call('GET', path)).etag, done.etag);
    assert.notEqual(done.etag, current.etag);
    assert.equal((await call('DELETE', `${path}/${part}`, undefined, done.etag ?? '')).status, 200);
  });
}

test('roles: one is given or taken away with the version of all of them; a stale one is 412, and without a version as before', async () => {
  const path = `${await (KINDS['user'] ?? assert.fail)()}/roles`;
  const none = await call('GET', path);
  assert.match(none.etag ?? '', /^"[\w-]{43}"$/);
  assert.equal((await call('PUT', `${path}/support`, {}, none.etag ?? '')).status, 200);
  const one = await call('GET', path);
  for (const [method, body] of [['PUT', { expiresAt: '2036-01-31T12:00:00Z' }], ['DELETE']] as const) {
    const refused = await call(method, `${path}/support`, body, none.etag ?? '');
    assert.deepEqual([refused.status, refused.etag], [412, one.etag]);
  }
  assert.deepEqual((await call('GET', path)).body, one.body);
  assert.equal((await call('PUT', `${path}/auditor`, {})).status, 200);
  assert.equal((await call('DELETE', `${path}/support`, undefined, one.etag ?? '')).status, 412);
  const { etag } = await call('GET', path);
  assert.equal((await call('DELETE', `${path}/support`, undefined, etag ?? '')).status, 200);
});

test('of two who read the same roles, on two nodes at once, one changes them', async () => {
  const path = `${await (KINDS['user'] ?? assert.fail)()}/roles`;
  const { etag } = await call('GET', path);
  const roles = ['support', 'auditor', 'support', 'auditor'];
  const answers = await Promise.all(roles.map((role) => call('PUT', `${path}/${role}`, {}, etag ?? '')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
});

/** A membership and an assignment, with two roles that each may have. */
const WITH_ROLES: Readonly<Record<string, { make(): Promise<string>; change: string; roles: readonly string[] }>> = {
  membership: {
    async make() {
      const { body: organization } = await call('POST', '/organizations', {
        name: `org-${++count}`,
        domain: 'a.example',
      });
      const { id } = await newUser(server, { password: undefined });
      const path = `/organizations/${organization.id}/members/${id}`;
      assert.equal((await call('PUT', path, { role: 'MEMBER' })).status, 200);
      return path;
    },
    change: 'PUT',
    roles: ['ADMIN', 'OWNER'],
  },
  assignment: {
    async make() {
      const roles = ['viewer', 'editor', 'admin'].map((name) => ({ name, description: name }));
      const { clientId } = await newClient(server, { access: 'assigned', roles });
      const userId = (await newUser(server, { password: undefined })).id;
      const { body } = await call('POST', `/clients/${clientId}/assignments`, { userId, role: 'viewer' });
      return `/clients/${clientId}/assignments/${body.id}`;
    },
    change: 'PATCH',
    roles: ['editor', 'admin'],
  },
};

for (const [kind, { make, change, roles }] of Object.entries(WITH_ROLES)) {
  describe(kind, () => {
    const [one, two] = roles;

    test('its role is changed and it is ended as it was read; a stale version is 412 and changes nothing', async () => {
      const path = await make();
      const read = await call('GET', path);
      assert.match(read.etag ?? '', /^"[\w-]{43}"$/);
      const changed = await call(change, path, { role: one }, read.etag ?? '');
      assert.deepEqual([changed.status, changed.body.role], [200, one], JSON.stringify(changed.body));
      assert.deepEqual(await call('GET', path), { ...changed, status: 200 });
      for (const [method, body] of [[change, { role: two }], ['DELETE']] as const) {
        const refused = await call(method, path, body, read.etag ?? '');
        assert.deepEqual([refused.status, refused.etag], [412, changed.etag]);
      }
      assert.equal((await call('GET', path)).body.role, one);
      assert.ok((await call('DELETE', path, undefined, changed.etag ?? '')).status < 300);
      assert.equal((await call('GET', path)).status, 404);
    });

    test('of two who read the same version, on two nodes at once, one changes it', async () => {
      const path = await make();
      const { etag } = await call('GET', path);
      const answers = await Promise.all([one, two, one, two].map((role) => call(change, path, { role }, etag ?? '')));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
    });
  });
}

test('a membership that was ended is not made again by who read it before: 412', async () => {
  const path = await (WITH_ROLES['membership'] ?? assert.fail()).make();
  const { etag } = await call('GET', path);
  assert.equal((await call('DELETE', path)).status, 204);
  const refused = await call('PUT', path, { role: 'ADMIN' }, etag ?? '');
  assert.deepEqual([refused.status, refused.body.error, refused.etag], [412, 'precondition_failed', null]);
  assert.equal((await call('GET', path)).status, 404);
  assert.equal((await call('PUT', path, { role: 'MEMBER' })).status, 200);
});

test('an admin key is revoked as it was read: not after it made something; its use is no change', async () => {
  const { body: maker } = await call('POST', '/admin-keys', { name: 'maker', role: 'admin' });
  const path = `/admin-keys/${maker.id}`;
  const { etag } = await call('GET', path);
  assert.equal((await call('GET', '/users', undefined, undefined, maker.adminKey)).status, 200);
  assert.equal((await call('GET', path)).etag, etag);
  await call('POST', '/admin-keys', { name: 'made', role: 'auditor' }, undefined, maker.adminKey);
  const refused = await call('DELETE', path, undefined, etag ?? '');
  const current = await call('GET', path);
  assert.deepEqual([refused.status, refused.etag], [412, current.etag]);
  assert.equal((await call('DELETE', path, undefined, current.etag ?? '')).status, 200);
});

test('what may not be seen or changed is told before its version', async () => {
  const { body } = await admin(server, 'POST', '/admin-keys', { name: 'reads', role: 'auditor' });
  const path = await (KINDS['user'] ?? assert.fail)();
  const refused = await call('PATCH', path, { about: 'x' }, '"stale"', body.adminKey);
  assert.deepEqual([refused.status, refused.body.error], [403, 'insufficient_permission']);
});

test('the use of a secret is no change of the app', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const { etag } = await call('GET', `/clients/${client.clientId}`);
  await tokensFor(server, client, user);
  const { body } = await call('GET', `/clients/${client.clientId}`);
  assert.notEqual(body.secrets[0].lastUsedAt, null);
  assert.equal((await call('PATCH', `/clients/${client.clientId}`, { name: 'Other' }, etag ?? '')).status, 200);
});

test('the upstream of an organization: it is set with the version that was read, and a stale one is 412', async () => {
  const upstreamId = (await (KINDS['upstream'] ?? assert.fail)()).replace('/upstreams/', '');
  const path = `${await (KINDS['organization'] ?? assert.fail)()}/only-upstream`;
  const none = await call('GET', path);
  const set = await call('PUT', path, { upstreamId }, none.etag ?? '');
  assert.equal(set.status, 200, JSON.stringify(set.body));
  assert.equal((await call('GET', path)).etag, set.etag);
  const refused = await call('PUT', path, { upstreamId: null }, none.etag ?? '');
  assert.deepEqual([refused.status, refused.etag], [412, set.etag]);
  assert.equal((await call('GET', path)).body.upstreamId, upstreamId);
  assert.equal((await call('PUT', path, { upstreamId: null }, set.etag ?? '')).status, 200);
});

test('changes of the domains of several upstreams with versions, and new ones with the same domains, wait for no other in turn', async () => {
  const paths: string[] = [];
  for (let made = 0; made < 3; made++) paths.push(await (KINDS['upstream'] ?? assert.fail)());
  for (let round = 0; round < 5; round++) {
    const domains = Array.from({ length: 6 }, (_, index) => `a${index}.of-${round}.example`);
    const changes = paths.map(async (path, index) => {
      const { etag } = await call('GET', path);
      return call('PATCH', path, { domains: [`own-${index}.example`, `of-${round}-${index}.example`] }, etag ?? '');
    });
    const made = [domains, domains.toReversed(), domains].map((list) =>
      call('POST', '/upstreams', {
        ...{ name: `provider-${++count}`, issuer: 'https://id.example.com', clientId: 'tessera', domains: list },
      }),
    );
    assert.deepEqual(
      (await Promise.all(changes)).map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual((await Promise.all(made)).map(({ status }) => status).sort(), [201, 409, 409]);
  }
});

test('an approval is of the app that was shown: after a change of it, 412, and nothing is approved', async () => {
  const { clientId } = await newClient(server, { consent: 'operator' });
  const path = `/clients/${clientId}`;
  const { etag } = await call('GET', path);
  const current = await call('PATCH', path, { redirectUris: ['https://other.example/cb'] });
  const refused = await call('PUT', `${path}/consent-approval`, { scopes: ['openid'] }, etag ?? '');
  assert.deepEqual([refused.status, refused.body.error, refused.etag], [412, 'precondition_failed', current.etag]);
  for (const tag of [etag, current.etag]) assert.ok(refused.body.error_description.includes(tag));
  assert.equal((await call('GET', path)).etag, current.etag);
  const approved = await call('PUT', `${path}/consent-approval`, { scopes: ['openid'] }, current.etag ?? '');
  assert.equal(approved.status, 200, JSON.stringify(approved.body));
  assert.equal((await call('GET', path)).etag, approved.etag);
  assert.equal((await call('DELETE', `${path}/consent-approval`, undefined, current.etag ?? '')).status, 412);
  assert.equal((await call('DELETE', `${path}/consent-approval`, undefined, approved.etag ?? '')).status, 204);
});

test('an app that registered itself is accepted as it was shown: after its own change, 412', async () => {
  const app = await newSelfRegistered(server);
  const path = `/clients/${app.clientId}`;
  const { etag } = await call('GET', path);
  const changed = await manage(server, 'PUT', app, { ...METADATA, client_id: app.clientId, client_name: 'Payroll' });
  assert.equal(changed.status, 200, changed.text);
  const current = await call('GET', path);
  const refused = await call('PUT', `${path}/acceptance`, undefined, etag ?? '');
  assert.deepEqual([refused.status, refused.etag], [412, current.etag]);
  assert.equal((await call('GET', path)).body.acceptedAt, null);
  const accepted = await call('PUT', `${path}/acceptance`, undefined, current.etag ?? '');
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
  assert.equal((await call('DELETE', `${path}/acceptance`, undefined, current.etag ?? '')).status, 412);
  assert.equal((await call('DELETE', `${path}/acceptance`, undefined, accepted.etag ?? '')).status, 204);
});

test('the scopes of an API that an app may request are set as they were read; none are made again', async () => {
  const api = await newApi(server, ['a:read', 'a:write', 'a:delete']);
  const client = await newClient(server);
  await allow(server, api, client, ['a:read', 'a:write', 'a:delete']);
  const path = `/clients/${api.clientId}/allowed-clients/${client.clientId}`;
  const { etag } = await call('GET', path);
  assert.match(etag ?? '', /^"[\w-]{43}"$/);
  const current = await call('PUT', path, { scopes: ['a:write', 'a:read'] }, etag ?? '');
  assert.equal(current.status, 200, JSON.stringify(current.body));
  assert.deepEqual(await call('GET', path), current);
  for (const [method, body] of [['PUT', { scopes: ['a:read', 'a:delete'] }], ['DELETE']] as const) {
    const refused = await call(method, path, body, etag ?? '');
    assert.deepEqual([refused.status, refused.etag], [412, current.etag]);
  }
  assert.deepEqual((await call('GET', path)).body.scopes, ['a:read', 'a:write']);
  assert.equal((await call('DELETE', path, undefined, current.etag ?? '')).status, 204);
  const again = await call('PUT', path, { scopes: ['a:read'] }, current.etag ?? '');
  assert.deepEqual([again.status, again.etag], [412, null]);
  assert.equal((await call('GET', path)).status, 404);
});

test('a provider is disabled as it was read', async () => {
  const path = await (KINDS['upstream'] ?? assert.fail)();
  const { etag } = await call('GET', path);
  const enabled = await call('POST', `${path}/enable`, undefined, etag ?? '');
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body));
  assert.equal((await call('GET', path)).etag, enabled.etag);
  assert.equal((await call('POST', `${path}/disable`, {}, etag ?? '')).status, 412);
  const disabled = await call('POST', `${path}/disable`, {}, enabled.etag ?? '');
  assert.deepEqual([disabled.status, disabled.etag], [200, null]);
});
