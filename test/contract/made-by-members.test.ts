// store: SQLite, PostgreSQL with --all
/** Decisions §12: the role of a membership is a grant. What ends it lists what was made with it, and ends that on request. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { act, open, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

let count = 0;

/** An organization, and an admin of it who made a key there, and another admin with that key. */
async function newAdmin() {
  const organizationId: string = (
    await ok('POST', '/organizations', { name: `made-${++count}`, domain: 'made.example' })
  ).id;
  const user = await newUser(server, { emailVerified: true });
  const member = `/organizations/${organizationId}/members/${user.id}`;
  await ok('PUT', member, { role: 'ADMIN' });
  const factor = await enroll(server, user);
  server.advance(MINUTE);
  const { browser, page } = await atSecondStep(server, user);
  await typeCode(browser, page, totpCode(factor, server.now()));
  const operator: TestOperator = { ...user, browser, factor };
  const fields = { name: 'mine', role: 'admin' };
  const made = await act(server, operator, '/console/keys/new', { organization: organizationId }, fields);
  const key = /tak_[\w-]{43}/.exec(made.text)?.[0] ?? '';
  const other = await newUser(server);
  const second = `/organizations/${organizationId}/members/${other.id}`;
  await ok('PUT', second, { role: null });
  await ok('PUT', second, { role: 'ADMIN' }, key);
  const works = async () =>
    (await admin(server, 'GET', `/organizations/${organizationId}`, undefined, key)).status === 200;
  const rolesOfOther = async () => (await ok('GET', `/users/${other.id}/roles`)).items.length;
  assert.ok(await works());
  return { organizationId, user, member, key, works, rolesOfOther, operator };
}

test('what was made is no part of the version of a membership: the answer that lists it has that of the record', async () => {
  const { member } = await newAdmin();
  const lowered = await admin(server, 'PUT', member, { role: 'MEMBER' });
  assert.equal(lowered.body.made.adminKeys.length, 1);
  const read = await admin(server, 'GET', member);
  assert.match(read.headers.get('etag') ?? '', /^"[\w-]{43}"$/);
  assert.equal(lowered.headers.get('etag'), read.headers.get('etag'));
});

const TAKEN = [
  ['removed', 'DELETE', undefined],
  ['lowered', 'PUT', { role: 'MEMBER' }],
] as const;

for (const [how, method, body] of TAKEN) {
  describe(`an admin of an organization who is ${how}`, () => {
    test('is told of with the keys that go on', async () => {
      const { member, works } = await newAdmin();
      const answer = await ok(method, member, body);
      assert.deepEqual(
        answer.made.adminKeys.map(({ name }: { name: string }) => name),
        ['mine'],
      );
      assert.equal(answer.ended, false);
      assert.ok(await works());
    });

    test('loses on request what they made, and what that made', async () => {
      const { member, works, rolesOfOther } = await newAdmin();
      assert.equal(await rolesOfOther(), 1);
      const answer = await ok(method, `${member}?endMade=true`, body);
      assert.equal(answer.ended, true);
      assert.equal(answer.made.adminKeys.length, 1);
      assert.equal(answer.made.roles.length, 1);
      assert.equal(await works(), false);
      assert.equal(await rolesOfOther(), 0);
    });

    test('keeps what a role of the installation covers', async () => {
      const { user, member, works } = await newAdmin();
      await ok('PUT', `/users/${user.id}/roles/admin`, {});
      const answer = await admin(server, method, `${member}?endMade=true`, body);
      assert.equal(answer.status, method === 'DELETE' ? 204 : 200, JSON.stringify(answer.body));
      assert.equal(answer.body?.made, undefined);
      assert.ok(await works());
    });

    test('is no matter of what they made elsewhere', async () => {
      const { user, member, works, operator } = await newAdmin();
      await ok('PUT', `/users/${user.id}/roles/admin`, {});
      const page = await act(server, operator, '/console/keys/new', {}, { name: 'everywhere', role: 'admin' });
      const everywhere = /tak_[\w-]{43}/.exec(page.text)?.[0] ?? '';
      await ok('DELETE', `/users/${user.id}/roles/admin`);
      const { made } = await ok(method, `${member}?endMade=true`, body);
      assert.equal(made.adminKeys.length, 1);
      assert.equal(await works(), false);
      assert.equal((await admin(server, 'GET', '/users', undefined, everywhere)).status, 200);
    });
  });
}

test('who made nothing leaves without an answer, and a plain member as well', async () => {
  const { id } = await ok('POST', '/organizations', { name: 'nothing', domain: 'made.example' });
  for (const role of ['ADMIN', 'MEMBER']) {
    const user = await newUser(server);
    await ok('PUT', `/organizations/${id}/members/${user.id}`, { role });
    assert.equal((await admin(server, 'DELETE', `/organizations/${id}/members/${user.id}`)).status, 204);
  }
});

test('the console shows on both pages what goes on, and ends it', async () => {
  const owner = await newAdmin();
  await ok('PUT', `/users/${owner.user.id}/roles/owner`, {});
  for (const [address, typed] of [
    ['/console/organizations/remove-member', {}],
    ['/console/organizations/member', { role: 'MEMBER' }],
  ] as const) {
    const { organizationId, user, works } = await newAdmin();
    const about = new URLSearchParams({ id: organizationId, user: user.id });
    const page = await open(server, owner.operator, `${address}?${about}`);
    assert.match(page.text, /Made with it, and valid: .*mine/s);
    const done = await owner.operator.browser.submit(page, { ...typed, made: 'end' }, address);
    assert.equal(done.status, 200, done.text);
    assert.match(done.text, /mine/);
    assert.equal(await works(), false);
  }
});

test('an invitation goes on where a role that is left covers it, and ends where none does', async () => {
  const { organizationId, user, operator } = await newAdmin();
  await ok('PUT', `/users/${user.id}/roles/admin`, {});
  await ok('PUT', `/users/${user.id}/roles/auditor`, {});
  const invite = async (address: string) => {
    const done = await act(
      server,
      operator,
      '/console/invitations/new',
      { organization: organizationId },
      { email: address, role: 'MEMBER' },
    );
    assert.equal(done.status, 200, done.text.slice(done.text.indexOf('<main')));
  };
  const openOnes = async () =>
    (await ok('GET', '/invitations?limit=100')).items.filter(
      (one: { organizationId: string | null }) => one.organizationId === organizationId,
    ).length;
  await invite('first@example.com');
  assert.equal(await openOnes(), 1);
  await ok('DELETE', `/users/${user.id}/roles/auditor`);
  assert.equal(await openOnes(), 1, 'an auditor invites nobody');
  await ok('DELETE', `/users/${user.id}/roles/admin`);
  assert.equal(await openOnes(), 1, 'an admin of the organization may invite, too');
  await ok('PUT', `/organizations/${organizationId}/members/${user.id}`, { role: 'MEMBER' });
  assert.equal(await openOnes(), 0);
});
