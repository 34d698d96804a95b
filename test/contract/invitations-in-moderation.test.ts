// store: SQLite, PostgreSQL
// Decisions §12: a role of one organization reaches its invitations, and writes to strangers in moderation.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_ADMIN_KEY: 'off' });
after(() => server.close());

async function newOrganization(name: string) {
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  const organizationId: string = body.id;
  const key = async () =>
    (await admin(server, 'POST', '/admin-keys', { name, role: 'admin', organizationId })).body.adminKey;
  return { organizationId, key };
}

test('one address is invited five times a day by an organization, whoever of it invites and whatever is revoked', async () => {
  const { organizationId, key } = await newOrganization('few-mails');
  const [one, other] = [await key(), await key()];
  const asked = { organizationId, email: 'stranger@elsewhere.example' };
  for (const by of [one, other, one, other, one]) {
    const { status, body } = await admin(server, 'POST', '/invitations', asked, by);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal((await admin(server, 'DELETE', `/invitations/${body.id}`, undefined, by)).status, 204);
  }
  for (const by of [one, other]) {
    const refused = await admin(server, 'POST', '/invitations', { ...asked, email: 'Stranger@elsewhere.example' }, by);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit_exceeded']);
    assert.match(refused.body.error_description, /5 times within a day.*invite them again in a day/);
    assert.equal(refused.headers.get('retry-after'), '86400');
  }
  const another = { ...asked, email: 'another@elsewhere.example' };
  assert.equal((await admin(server, 'POST', '/invitations', another, one)).status, 201);
  // Who may invite everywhere is not bound by it.
  assert.equal((await admin(server, 'POST', '/invitations', asked)).status, 201);
  server.advance(24 * 3600_000);
  assert.equal((await admin(server, 'POST', '/invitations', asked, one)).status, 201);
});

test('an organization invites five hundred people by mail a day, with all its keys together and whatever is revoked', async () => {
  const { organizationId, key } = await newOrganization('many-mails');
  const keys = [await key(), await key()];
  const invite = (by: string | undefined, number: number) =>
    admin(server, 'POST', '/invitations', { organizationId, email: `victim+${number}@elsewhere.example` }, by);
  for (let number = 0; number < 500; number++) {
    const by = keys[number % 2];
    const { status, body } = await invite(by, number);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal((await admin(server, 'DELETE', `/invitations/${body.id}`, undefined, by)).status, 204);
  }
  for (const by of [...keys, await key()]) {
    const refused = await invite(by, 500);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit_exceeded']);
    assert.match(refused.body.error_description, /500 people by mail within a day/);
    assert.equal(refused.headers.get('retry-after'), '86400');
  }
  const other = await newOrganization('few-others');
  const asked = { organizationId: other.organizationId, email: 'victim@elsewhere.example' };
  assert.equal((await admin(server, 'POST', '/invitations', asked, await other.key())).status, 201);
  // Who may invite everywhere is not bound by it, and a link without a message is counted apart.
  assert.equal((await invite(undefined, 501)).status, 201);
  assert.equal((await admin(server, 'POST', '/invitations', { organizationId }, keys[0])).status, 201);
  server.advance(24 * 3600_000);
  assert.equal((await invite(keys[0], 502)).status, 201);
});

test('an organization makes a thousand invitations a day, with all its keys together', async () => {
  const { organizationId, key } = await newOrganization('many-keys');
  for (const by of [await key(), await key()]) {
    for (let number = 0; number < 500; number++) {
      assert.equal((await admin(server, 'POST', '/invitations', { organizationId }, by)).status, 201);
    }
  }
  const refused = await admin(server, 'POST', '/invitations', { organizationId }, await key());
  assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit_exceeded']);
  assert.match(refused.body.error_description, /1000 invitations within a day/);
  assert.equal((await admin(server, 'POST', '/invitations', { organizationId })).status, 201);
});

test('an operator of an organization has five hundred open invitations to it, and revokes one to make another', async () => {
  const { organizationId, key } = await newOrganization('many-open');
  const [one, other] = [await key(), await key()];
  const made: string[] = [];
  for (let number = 0; number < 500; number++) {
    const { status, body } = await admin(server, 'POST', '/invitations', { organizationId }, one);
    assert.equal(status, 201, JSON.stringify(body));
    made.push(body.id);
  }
  const refused = await admin(server, 'POST', '/invitations', { organizationId }, one);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.error_description, /500 of your invitations.*Revoke those that nobody needs/);
  const [row] = await query(server, 'SELECT count(*) AS n FROM invitation WHERE organization_id = ?', organizationId);
  assert.equal(Number(row?.['n']), 500);
  assert.equal((await admin(server, 'POST', '/invitations', { organizationId }, other)).status, 201);
  assert.equal((await admin(server, 'DELETE', `/invitations/${made[0]}`, undefined, one)).status, 204);
  assert.equal((await admin(server, 'POST', '/invitations', { organizationId }, one)).status, 201);
});
