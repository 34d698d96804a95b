// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  banAccount,
  deleteAccount,
  reinstateAccount,
  setPicture,
  signOutEverywhere,
  suspendAccount,
  unbanAccount,
} from '../../src/account-actions/accounts/accounts.ts';
import { createAccount } from '../../src/account-actions/accounts/create-account.ts';
import { updateAccount } from '../../src/account-actions/addresses/update-account.ts';
import { revokeAccess } from '../../src/account-actions/connections/connections.ts';
import { createAdminKey, revokeAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { removeMember, setMember } from '../../src/account-actions/makers/memberships.ts';
import { createOrganization } from '../../src/account-actions/organizations/organizations.ts';
import {
  createClient,
  deleteClient,
  endSecret,
  rotateSecret,
  setClientPicture,
  updateClient,
} from '../../src/clients/clients.ts';
import { openKeys } from '../../src/keys/keys.ts';
import { dropSigningKey, rotateSigningKey } from '../../src/keys/signing-keys.ts';
import { HASH_COST, passwords } from '../../src/platform/crypto/passwords.ts';
import type { Database, Row, Work } from '../../src/platform/database/database.ts';
import { sqliteBuilder } from '../../src/platform/database/sqlite/dialect.ts';
import { compile } from '../../src/platform/database/statement.ts';
import { leasedIds } from '../../src/platform/ids/ids.ts';
import type { Origin } from '../../src/platform/validation/origin.ts';
import { NO_MAIL } from '../support/no-mail.ts';
import { type OwnStore, openOwnStore } from '../support/own-store.ts';
import { dump, grant, NOW } from './rows.ts';

class AuditFailed extends Error {}

/** The same database, on which no audit record can be written. */
function withoutAudit(database: Database): Database {
  function* failing<T>(work: Work<T>): Work<T> {
    let rows: readonly Row[] = [];
    for (;;) {
      const step = work.next(rows);
      if (step.done) return step.value;
      if (compile(step.value.statement, sqliteBuilder).sql.startsWith('insert into "audit_event"'))
        throw new AuditFailed();
      rows = yield step.value;
    }
  }
  return { ...database, commit: (work) => database.commit(() => failing(work())) };
}

const origin: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };
const root = Buffer.alloc(32, 7);
const clock = () => NOW;
let store: OwnStore;
let database: Database;
let known: { account: string; client: string; secret: string; key: string; kid: string; organization: string };

const partsOn = (target: Database) => ({
  database: target,
  clock,
  ids: leasedIds(database, clock),
  passwords: passwords(1, HASH_COST),
  breaches: { includes: async () => false },
  ...NO_MAIL,
});
type Parts = ReturnType<typeof partsOn>;

before(async () => {
  store = await openOwnStore();
  database = store.database;
  const parts = partsOn(database);
  const person = { username: 'ada', displayName: 'Ada', email: 'ada@example.com' };
  const account = await createAccount(parts, person, { kind: 'operator', operator: undefined }, origin);
  const made = await createClient(
    { ...parts, operator: undefined },
    { name: 'App', redirectUris: ['https://app.example.com'] },
    origin,
  );
  await rotateSecret({ ...parts, operator: undefined }, made.client.id, {}, origin);
  const { key } = await createAdminKey({ ...parts, operator: undefined }, { name: 'key' }, origin);
  const keys = await openKeys(database, { current: root, previous: undefined }, clock);
  const organization = await createOrganization(parts, { name: 'acme', domain: 'acme.example' }, origin);
  await setMember(
    { ...parts, operator: undefined },
    { organizationId: organization.id, accountId: account.id, role: null },
    origin,
  );
  await banAccount({ ...parts, operator: undefined }, account.id, {}, origin);
  await suspendAccount({ ...parts, operator: undefined }, account.id, {}, origin);
  await database.commit(() => grant('5', account.id, made.client.id));
  known = {
    account: account.id,
    client: made.client.id,
    secret: made.secrets[0]?.id ?? '',
    key: key.id,
    kid: keys.keySet().current('access').kid,
    organization: organization.id,
  };
});
after(() => store.dispose());

type Changes = Readonly<Record<string, (parts: Parts) => Promise<unknown>>>;
const changes: Changes = {
  'account.created': (parts) =>
    createAccount(
      parts,
      { username: 'grace', displayName: 'Grace', email: 'grace@example.com' },
      { kind: 'operator', operator: undefined },
      origin,
    ),
  'account.updated': (parts) => updateAccount({ ...parts, operator: undefined }, known.account, { about: 'x' }, origin),
  'account.password_changed': (parts) =>
    updateAccount({ ...parts, operator: undefined }, known.account, { password: 'quite a new one' }, origin),
  'account.banned': (parts) => banAccount({ ...parts, operator: undefined }, known.account, {}, origin),
  'account.unbanned': (parts) => unbanAccount({ ...parts, operator: undefined }, known.account, origin),
  'account.suspended': (parts) => suspendAccount({ ...parts, operator: undefined }, known.account, {}, origin),
  'account.reinstated': (parts) => reinstateAccount({ ...parts, operator: undefined }, known.account, origin),
  'account.signed_out_everywhere': (parts) => signOutEverywhere(parts, known.account, origin),
  'consent.revoked': (parts) => revokeAccess(parts, known.account, known.client, origin),
  'client.created': (parts) =>
    createClient({ ...parts, operator: undefined }, { name: 'B', redirectUris: ['https://b.example'] }, origin),
  'client.updated': (parts) => updateClient({ ...parts, operator: undefined }, known.client, { name: 'Other' }, origin),
  'client.disabled': (parts) =>
    updateClient({ ...parts, operator: undefined }, known.client, { status: 'disabled' }, origin),
  'client.secret_ended': (parts) => endSecret(parts, known.client, known.secret, origin),
  'client.secret_added': (parts) => rotateSecret({ ...parts, operator: undefined }, known.client, {}, origin),
  'organization.created': (parts) => createOrganization(parts, { name: 'two', domain: 'two.example' }, origin),
  'organization.member_set': (parts) =>
    setMember(
      { ...parts, operator: undefined },
      { organizationId: known.organization, accountId: known.account, role: 'OWNER' },
      origin,
    ),
  'organization.member_removed': (parts) =>
    removeMember({ ...parts, operator: undefined }, known.organization, known.account, origin),
  'admin_key.created': (parts) => createAdminKey({ ...parts, operator: undefined }, { name: 'two' }, origin),
  'admin_key.revoked': (parts) => revokeAdminKey({ ...parts, operator: undefined }, known.key, origin),
  'keys.rotated': (parts) => rotateSigningKey(parts.database, root, origin, NOW),
  'keys.dropped': (parts) => dropSigningKey(parts.database, root, known.kid, origin, NOW),
  'client.deleted': (parts) => deleteClient(parts, known.client, origin),
  'account.deleted': (parts) => deleteAccount(parts, known.account, origin),
};

const picture = (name: string) => ({ name, bytes: Buffer.from('a picture') });
const pictures: Changes = {
  'account.updated': (parts) => setPicture(parts, known.account, picture('hers.jpg'), origin),
  'client.updated': (parts) =>
    setClientPicture({ ...parts, operator: undefined }, known.client, picture('its.jpg'), origin),
};

for (const [type, change] of [...Object.entries(pictures), ...Object.entries(changes)]) {
  test(`LG-04: ${type} commits with its record, or not at all`, async () => {
    const { node_lease: _leases, ...before } = await dump(database);
    await assert.rejects(change(partsOn(withoutAudit(database))), AuditFailed);
    const { node_lease: _later, ...unchanged } = await dump(database);
    assert.deepEqual(unchanged, before);
    const recorded = before['audit_event']?.length ?? 0;
    await change(partsOn(database));
    const { audit_event: events = [] } = await dump(database);
    assert.deepEqual(
      events.slice(recorded).map((event) => (event as { type: string }).type),
      [type],
    );
  });
}
