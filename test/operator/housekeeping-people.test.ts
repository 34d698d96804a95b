// store: SQLite, PostgreSQL
/** Everything that is stored for how people sign in and get back in has an end, at which housekeeping removes it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { newAccount } from '../../src/account-actions/accounts/create-account.ts';
import { usePasskeyChallenge } from '../../src/account-actions/authentication/passkey.ts';
import { BULK_ACT_KEPT, maintainBulkActs } from '../../src/account-actions/bulk/lists.ts';
import { type BulkState, insertBulkAct, insertBulkPerson } from '../../src/account-actions/bulk/store.ts';
import { maintainExports } from '../../src/account-actions/personal-data/export.ts';
import { insertPiece, replaceExport } from '../../src/account-actions/personal-data/export-store.ts';
import { insertRequest } from '../../src/account-actions/recovery/request-store.ts';
import { insertPreviousAddress } from '../../src/accounts/previous-address-store.ts';
import { rememberReplaced } from '../../src/accounts/replaced-store.ts';
import { newProfile } from '../../src/accounts/rules/profile.ts';
import { findAccount, insertAccount } from '../../src/accounts/store.ts';
import { reserveUsername } from '../../src/accounts/username-store.ts';
import { insertPendingSignIn } from '../../src/authenticators/pending-sign-in-store.ts';
import { PASSKEY_CHALLENGE_LIFETIME } from '../../src/authenticators/rules/passkey-challenge.ts';
import { insertTrustedBrowser } from '../../src/authenticators/trusted-browser-store.ts';
import { insertInvitation } from '../../src/invitations/store.ts';
import { openSealer } from '../../src/keys/sealer.ts';
import { type ChallengePurpose, createChallenge, prepareChallenge } from '../../src/mail/challenges.ts';
import { maintainMail } from '../../src/mail/mail.ts';
import { settleSent } from '../../src/mail/queue-store.ts';
import { insertMail, listMail } from '../../src/mail/store.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { CLOCK_SKEW, DAY, HOUR } from '../../src/platform/clock.ts';
import type { Work } from '../../src/platform/database/database.ts';
import type { Tables } from '../../src/platform/database/schema.ts';
import { many } from '../../src/platform/database/statement.ts';
import { openOwnStore } from '../support/own-store.ts';

const { database, dispose } = await openOwnStore();
after(dispose);
const now = Date.parse('2026-03-01T12:00:00Z');
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, () => now);

const accountId = '1';
const profile = newProfile({ username: 'ada', displayName: 'Ada', email: 'ada@example.com' }, accountId, now);
await database.commit(() => insertAccount(newAccount(accountId, profile, null, now)));

const expiresAt = now + HOUR;
const common = { hash: 'hash', accountId, generation: 'any', createdAt: now, expiresAt };
const device = { browser: null, system: null, network: null };
const message = {
  ...{ messageId: 'message', kind: 'recovery' as const, accountId, recipient: 'ada@example.com', challengeHash: null },
  ...{ sealed: 'sealed', createdAt: now, expiresAt, problem: null },
} as const;
const invitation = {
  ...{
    id: '1',
    hash: 'hash',
    email: null,
    mailed: false,
    organizationId: null,
    role: null,
    inviterId: null,
    operatorId: null,
  },
  ...{ adminKeyId: null, createdAt: now, expiresAt, usedAt: null, usedBy: null },
};

const challenge = (purpose: ChallengePurpose, account: { id: string; generation: string } | null) => () =>
  createChallenge(
    sealer,
    prepareChallenge(),
    { purpose, account, address: 'ada@example.com', browserHash: 'browser', lifetime: HOUR },
    now,
  );

function* sendMail(): Work<void> {
  yield* insertMail({ ...message, status: 'waiting' });
  const [inserted] = yield* listMail({ before: String(Number.MAX_SAFE_INTEGER), limit: 1 });
  yield* settleSent({ id: inserted?.id ?? '', now });
}

function* storeExport(): Work<void> {
  const { generation } = (yield* findAccount({ id: accountId })) ?? assert.fail();
  yield* replaceExport({ accountId, id: 'export', generation, now });
  yield* insertPiece({ accountId, number: 0, sealed: 'sealed' });
}

const storeBulkAct = (state: BulkState) =>
  function* store(): Work<void> {
    yield* insertBulkAct({
      ...{ id: '7', accountId, sid: 'sid', act: 'suspend', parameters: {}, state, unknown: 0, total: 1 },
      origin: { actor: { type: 'user', id: accountId }, address: null, requestId: null },
      ...{ dueAt: now, createdAt: now, endedAt: null },
    });
    yield* insertBulkPerson({ id: '7', number: 1, accountId, outcome: 'waiting', reason: null });
  };

/** What is stored, in which table, and from when on it is gone. */
const STORED: readonly [name: string, table: keyof Tables, insert: () => Work<unknown>, end: number][] = [
  ['a sign-up that waits', 'challenge', challenge('sign up', null), expiresAt],
  ['a link of an account', 'challenge', challenge('recover', { id: accountId, generation: 'any' }), expiresAt],
  [
    'a sign-in that waits for its second factor',
    'pending_sign_in',
    () =>
      insertPendingSignIn({
        ...common,
        browserHash: 'browser',
        methods: ['password'],
        factorsSince: [0],
        interactionHash: null,
        upstream: null,
      }),
    expiresAt,
  ],
  ['a trusted browser', 'trusted_browser', () => insertTrustedBrowser({ ...common, ...device }), expiresAt],
  [
    'an earlier address',
    'address_change',
    () =>
      insertPreviousAddress({
        ...common,
        email: 'old@example.com',
        changedAt: now,
        factorsSince: now,
        standing: 'right',
      }),
    expiresAt,
  ],
  [
    'what an account had before',
    'replaced_value',
    () => rememberReplaced({ accountId, kind: 'username', value: 'earlier', setUpAt: 0, replacedAt: now }),
    now + 28 * DAY,
  ],
  [
    'a username that is held',
    'username_reservation',
    () => reserveUsername({ username: 'earlier', accountId, heldUntil: expiresAt }),
    expiresAt,
  ],
  [
    'a recovery that nobody made',
    'mail_request',
    () => insertRequest({ id: 'x', purpose: 'recover', sealed: 'x', now }),
    now + DAY,
  ],
  ['an open invitation', 'invitation', () => insertInvitation(invitation), expiresAt + 30 * DAY],
  [
    'a used invitation',
    'invitation',
    () => insertInvitation({ ...invitation, usedAt: now, usedBy: accountId }),
    expiresAt + 30 * DAY,
  ],
  [
    'a challenge of a passkey that was used',
    'rate_count',
    () => usePasskeyChallenge('challenge', now),
    now + PASSKEY_CHALLENGE_LIFETIME + 2 * CLOCK_SKEW,
  ],
  ['a copy of one’s data', 'data_export', storeExport, now + DAY],
  ['what was made of it', 'data_export_piece', storeExport, now + DAY],
  ['a list that nobody used', 'bulk_act', storeBulkAct('frozen'), now + HOUR],
  ['an act on many people', 'bulk_act', storeBulkAct('finished'), now + BULK_ACT_KEPT],
  ['who was on its list', 'bulk_act_person', storeBulkAct('finished'), now + BULK_ACT_KEPT],
  ['a message in the mailbox', 'mail', () => insertMail({ ...message, status: 'kept' }), now + DAY],
  ['a message that was sent', 'mail', sendMail, now + DAY],
  ['a message that was given up', 'mail', () => insertMail({ ...message, status: 'dead' }), now + 14 * DAY],
];

const rowsOf = (table: keyof Tables): Promise<readonly object[]> => {
  const all = many((db, _p: object) => db.selectFrom(table).selectAll());
  return database.read(() => all({}));
};

async function keepHouse(at: number): Promise<void> {
  await sweep(database, at);
  await maintainMail(database, at);
  await maintainExports(database, at);
  await maintainBulkActs(database, at);
}

for (const [name, table, insert, end] of STORED) {
  test(`${name} goes at its end, and not before`, async () => {
    await database.commit(function* store(): Work<void> {
      yield* insert();
    });
    await keepHouse(end - 1);
    assert.equal((await rowsOf(table)).length, 1);
    await keepHouse(end);
    assert.deepEqual(await rowsOf(table), []);
  });
}

test('a message that nothing sends expires, loses its content at once, and goes a day later', async () => {
  await database.commit(() => insertMail({ ...message, status: 'waiting' }));
  await keepHouse(expiresAt);
  const [row] = (await rowsOf('mail')) as { status: string; sealed: string | null }[];
  assert.deepEqual([row?.status, row?.sealed], ['expired', null]);
  await keepHouse(expiresAt + DAY);
  assert.deepEqual(await rowsOf('mail'), []);
});

/** What has no end, and why it cannot grow without bounds. What belongs to an account goes with it. */
const BOUNDED: Readonly<Record<string, string>> = {
  data_key: 'one in all',
  totp_secret: 'one for each account',
  recovery_code: 'ten for each account',
  passkey: 'twenty for each account',
  recovery_setting: 'one for each account',
  schema_migration: 'one for each migration',
  migration_progress: 'one for each migration',
  configured_admin_key: 'one in all',
  known_server: 'one in all',
  user_group: 'operators create them',
  group_member: 'operators add them; they go with the account and the group',
  app_assignment: 'operators add them; they go with what they name',
  counted_event: 'one in all',
  event_count: 'kept for 35 days: src/audit/counts.ts',
  upstream_act: 'four for each operator and provider, with ten changes each; they go with the provider',
  client_api_scope: 'operators add them; they go with the app and the API',
  // Renamed to membership at once.
  membership_with_id: 'one for each account',
};

test('every table that came with this has an end or a bound', () => {
  const folder = new URL('../../src/platform/database/migrations/', import.meta.url);
  const created = readdirSync(folder)
    .filter((name) => /^\d/.test(name) && name >= '0025')
    .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/CREATE TABLE (\w+)/g)])
    .map(([, table = '']) => table);
  const known = new Set<string>([...Object.keys(BOUNDED), ...STORED.map(([, table]) => table)]);
  assert.deepEqual(
    created.filter((table) => !known.has(table)),
    [],
  );
});
