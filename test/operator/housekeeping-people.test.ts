// store: SQLite, PostgreSQL with --all
/** Everything that is stored for how people sign in and get back in has an end, at which housekeeping removes it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { insertGrant, removeGrant } from '../../src/access/operator-grant-store.ts';
import { newAccount } from '../../src/account-actions/accounts/create-account.ts';
import { usePasskeyChallenge } from '../../src/account-actions/authentication/passkey.ts';
import { BULK_ACT_KEPT, maintainBulkActs } from '../../src/account-actions/bulk/lists.ts';
import { type BulkState, insertBulkAct, insertBulkPerson } from '../../src/account-actions/bulk/store.ts';
import { maintainExports } from '../../src/account-actions/personal-data/export.ts';
import { insertPiece, replaceExport } from '../../src/account-actions/personal-data/export-store.ts';
import { insertRequest } from '../../src/account-actions/recovery/request-store.ts';
import { OPENING_REVIEWED_AFTER, recordOpening, settleRecoveredOpenings } from '../../src/accounts/opening-store.ts';
import { insertPreviousAddress } from '../../src/accounts/previous-address-store.ts';
import { rememberReplaced } from '../../src/accounts/replaced-store.ts';
import { newProfile } from '../../src/accounts/rules/profile.ts';
import { keepStatusChange } from '../../src/accounts/status-change-store.ts';
import { findAccount, insertAccount } from '../../src/accounts/store.ts';
import { reserveUsername } from '../../src/accounts/username-store.ts';
import { insertPendingSignIn } from '../../src/authenticators/pending-sign-in-store.ts';
import { PASSKEY_CHALLENGE_LIFETIME } from '../../src/authenticators/rules/passkey-challenge.ts';
import { insertTrustedBrowser } from '../../src/authenticators/trusted-browser-store.ts';
import { insertInvitation, removeInvitation } from '../../src/invitations/store.ts';
import { openSealer } from '../../src/keys/sealer.ts';
import { type ChallengePurpose, createChallenge, prepareChallenge } from '../../src/mail/challenges.ts';
import { maintainMail } from '../../src/mail/mail.ts';
import { settleSent } from '../../src/mail/queue-store.ts';
import { insertMail, listMail } from '../../src/mail/store.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { KEPT } from '../../src/operations/housekeeping/rules/retention.ts';
import { RIGHT_REVIEWED_AFTER, recordGivenRight } from '../../src/operators/given-right-store.ts';
import { keepRightChange } from '../../src/operators/right-change-store.ts';
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

const NO_BAR = { bannedAt: null, bannedUntil: null, banReason: null, suspendedAt: null, suspensionReason: null };
const OPENING = { accountId, kind: 'password', actedAt: now, isGuarded: false } as const;
const RECOVERED_NOW = { shownSince: undefined, isAddressProved: true, at: now } as const;
const ROLE = {
  kind: 'role',
  accountId,
  role: 'support',
  ...{ organizationId: null, expiresAt: null, madeBy: '4', givenAt: now },
} as const;

const RIGHT = {
  ...({ kind: 'role', madeBy: '5', holderId: '6', givenAt: now } as const),
  ...({ role: 'owner', organizationId: null, expiresAt: null } as const),
} as const;

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
        provedBy: null,
        passkeys: [],
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
  ['a right that is nobody’s any more', 'given_right', () => recordGivenRight(RIGHT), now + RIGHT_REVIEWED_AFTER],
  [
    'a role that was taken away',
    'right_change',
    () => keepRightChange({ operatorId: '5', at: now }, ROLE, ROLE),
    now + KEPT.rightChange,
  ],
  [
    'a suspension that was lifted',
    'status_change',
    () => keepStatusChange(accountId, { operatorId: '5', former: NO_BAR, at: now }),
    now + KEPT.statusChange,
  ],
  [
    'the opening of an account that is gone',
    'account_opening',
    () => recordOpening({ operator: { id: '5' } }, { ...OPENING, accountId: '6' }),
    now + OPENING_REVIEWED_AFTER,
  ],
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
  account_act: 'one for each account and kind of act; they go with the account',
  upstream_act: 'four for each operator and provider, with ten changes each; they go with the provider',
  upstream_effect: 'two for each account and operator, and one for each membership of a group; they go with these',
  setting_change: 'one for each operator and record, with ten changes each; they go with the record',
  unblocked_client_domain: 'one for each domain that an operator had blocked',
  scope_request: 'fifty for each app; they go with the app and the account that asked',
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

/** A right stays while its holder has it, and while something is there that they made, or that somebody made whom they gave a right. */
const RESTING: readonly [what: string, store: () => Work<unknown>, end: () => Work<unknown>][] = [
  [
    'is held',
    () => insertGrant({ ...RIGHT, accountId, madeBy: '5', now }),
    () => removeGrant({ ...RIGHT, accountId }, { operatorId: null, at: 0 }),
  ],
  [
    'was passed on',
    function* passOn(): Work<void> {
      yield* recordGivenRight({ ...RIGHT, holderId: '6' });
      yield* insertGrant({ ...RIGHT, accountId, madeBy: '6', now });
    },
    () => removeGrant({ ...RIGHT, accountId }, { operatorId: null, at: 0 }),
  ],
  [
    'was used to invite somebody',
    function* invite(): Work<void> {
      yield* recordGivenRight(RIGHT);
      yield* insertInvitation({ ...invitation, adminKeyId: '6', expiresAt: now + 90 * DAY });
    },
    () => removeInvitation({ id: invitation.id }),
  ],
];

for (const [what, store, end] of RESTING) {
  test(`a right that ${what} stays until that has ended`, async () => {
    await database.commit(function* begin(): Work<void> {
      yield* store();
    });
    const before = (await rowsOf('given_right')).length;
    await keepHouse(now + RIGHT_REVIEWED_AFTER);
    assert.equal((await rowsOf('given_right')).length, before);
    await database.commit(end);
    await keepHouse(now + 2 * RIGHT_REVIEWED_AFTER - 1);
    assert.equal((await rowsOf('given_right')).length, before, 'it is looked at every thirty days');
    // What was passed on last goes first.
    for (let later = 2; later < 4; later++) await keepHouse(now + later * RIGHT_REVIEWED_AFTER);
    assert.deepEqual(await rowsOf('given_right'), []);
  });
}

/** An opening stays while it may be used, and while something is there that was made through the account. */
const OPENED: readonly [what: string, store: () => Work<unknown>, end: () => Work<unknown>][] = [
  ['may still be used', function* nothing() {}, () => settleRecoveredOpenings({ accountId, ...RECOVERED_NOW })],
  [
    'was used',
    function* use(): Work<void> {
      yield* settleRecoveredOpenings({ accountId, ...RECOVERED_NOW });
      yield* insertInvitation({ ...invitation, operatorId: accountId, expiresAt: now + 90 * DAY });
    },
    () => removeInvitation({ id: invitation.id }),
  ],
];

for (const [what, use, end] of OPENED) {
  test(`the opening of an account that ${what} stays until that has ended`, async () => {
    await database.commit(function* begin(): Work<void> {
      yield* recordOpening({ operator: { id: '5' } }, OPENING);
      yield* use();
    });
    await keepHouse(now + OPENING_REVIEWED_AFTER);
    assert.equal((await rowsOf('account_opening')).length, 1);
    await database.commit(end);
    await keepHouse(now + 2 * OPENING_REVIEWED_AFTER);
    assert.deepEqual(await rowsOf('account_opening'), []);
  });
}

test('a right of before stays as long as any column names its holder as the one who made something', () => {
  const folder = new URL('../../src/', import.meta.url);
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?:^|\/)tables\.ts$/.test(name))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const tables = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^ {4}(\w+): (\w+Table);/gm)].map(([, table = '', type = '']) => [type, table] as const),
    ),
  );
  const named: string[] = [];
  for (const text of texts) {
    for (const [, type = '', body = ''] of text.matchAll(/interface (\w+Table) \{([^}]*)\}/g)) {
      for (const [, column = ''] of body.matchAll(/^ {2}((?:\w+_)?maker_id|operator_id|admin_key_id):/gm)) {
        named.push(`${tables.get(type)}.${column}`);
      }
    }
  }
  const source = (path: string): string => readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8');
  const made = source('account-actions/makers/made-row-store.ts');
  // Links that work for half an hour at most, and what is gone.
  const left = ['challenge.admin_key_id', 'given_right.maker_id', 'right_change.former_maker_id'];
  // Of what lets somebody in there is an opening as well.
  left.push('status_change.operator_id');
  assert.ok(named.length > 10);
  for (const path of [
    'operations/housekeeping/given-right-store.ts',
    'operations/housekeeping/account-opening-store.ts',
  ]) {
    const removal = made + source(path).replaceAll("'later.", "'account_opening.");
    assert.deepEqual(
      named.filter((column) => !removal.includes(`'${column}'`) && !left.includes(column)),
      [],
    );
  }
});
