import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, many } from '../platform/database/statement.ts';

/** What an operator did to an account with which somebody who held the operator's account or key may still get in. */
export type AccountActKind = (typeof ACCOUNT_ACTS)[number];
export const ACCOUNT_ACTS = [
  'created',
  /** Joined by an invitation of the operator. */
  'invited',
  /** Got another address, or had it declared verified or not. */
  'address',
  'password',
  'username',
  'factor removed',
  /** Recovered by a link of the operator. */
  'recovered',
  /** A ban, a suspension or a deletion was lifted. */
  'let in again',
] as const;

/** Who acts: an operator, or undefined for the command line on the server. */
export interface AccountActor {
  readonly operator: { readonly id: string } | undefined;
}

export interface AccountAct {
  readonly id: string;
  readonly accountId: string;
  readonly kind: AccountActKind;
  readonly actedAt: number;
}

/** Stored to know on what an operator set a password rests that the person chose in its place. Nothing is listed by it, and nothing ends. */
const REPLACED = 'password replaced';
/** Stored where nobody else gave the present address: its person proved it, or the command line on the server set it. */
const OWN_ADDRESS = 'address proved';
/** Stored where an account was closed to whom its address is from: until it is proved, nothing is recovered by it. */
const DOUBTED = 'address doubted';
type StoredKind = AccountActKind | typeof REPLACED | typeof OWN_ADDRESS | typeof DOUBTED;

const remove = command((db, p: { accountId: string; kind: StoredKind }) =>
  db.deleteFrom('account_act').where('account_id', '=', p.accountId).where('kind', '=', p.kind),
);

const insert = command((db, p: { operatorId: string; accountId: string; kind: StoredKind; actedAt: number }) =>
  db.insertInto('account_act').values({
    operator_id: p.operatorId,
    account_id: p.accountId,
    kind: p.kind,
    acted_at: p.actedAt,
  }),
);

/**
 * Records what an operator does to an account, in the unit of work that does it and holds the account's lock, or inserts it. The last
 * operator who did the same counts; after the command line on the server, nobody.
 * @param actedAt of an act that the account has a time of, that time
 */
export function* recordAccountAct(
  { operator }: AccountActor,
  accountId: string,
  kind: AccountActKind,
  actedAt: number,
): Work<void> {
  yield* remove({ accountId, kind });
  if (operator !== undefined) yield* insert({ operatorId: operator.id, accountId, kind, actedAt });
  if (kind !== 'address') return;
  yield* remove({ accountId, kind: DOUBTED });
  if (operator === undefined) yield* recordOwnAddress(accountId, actedAt);
}

/** Records that no operator gave the present address of an account, in the unit of work that holds the account's lock. */
export function* recordOwnAddress(accountId: string, actedAt: number): Work<void> {
  yield* remove({ accountId, kind: OWN_ADDRESS });
  yield* insert({ operatorId: accountId, accountId, kind: OWN_ADDRESS, actedAt });
}

/** Records that nothing is to be recovered by the present address of an account until it is proved, in the unit of work that holds its lock. */
export function* recordDoubtedAddress({ id }: { readonly id: string }, by: string, actedAt: number): Work<void> {
  yield* remove({ accountId: id, kind: DOUBTED });
  yield* insert({ operatorId: by, accountId: id, kind: DOUBTED, actedAt });
}

const actsOnAddress = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('account_act')
      .select(['operator_id', 'kind', 'acted_at'])
      .where('account_id', '=', p.accountId)
      .where('kind', 'in', ['created', 'address', OWN_ADDRESS, DOUBTED])
      .orderBy('id'),
  (row) => ({ operatorId: row.operator_id, kind: row.kind as StoredKind, givenAt: row.acted_at }),
);

/** Who gave an account an address, and when. */
interface GivenAddress {
  readonly operatorId: string;
  readonly givenAt: number;
  /** Whether the account still has it, as far as is known. */
  readonly isPresent: boolean;
}

/** The operators who gave an account addresses: the one who created it, and the last one who changed its address or declared it verified. */
export function* givenAddresses(accountId: string): Work<readonly GivenAddress[]> {
  const acts = (yield* actsOnAddress({ accountId })).filter(({ kind }) => kind !== DOUBTED);
  const last = acts.at(-1);
  return acts
    .filter(({ kind }) => kind !== OWN_ADDRESS)
    .map((act) => ({ operatorId: act.operatorId, givenAt: act.givenAt, isPresent: act === last }));
}

/** Whether nothing is to be recovered by the address of an account: it was closed to somebody who gave it, and nobody proved it since. */
export function* isAddressDoubted({
  id,
  profile,
}: {
  readonly id: string;
  readonly profile: { readonly emailVerified: boolean };
}): Work<boolean> {
  if (profile.emailVerified) return false;
  return (yield* actsOnAddress({ accountId: id })).some(({ kind }) => kind === DOUBTED);
}

const actsOnPassword = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('account_act')
      .select(['operator_id', 'kind', 'acted_at'])
      .where('account_id', '=', p.accountId)
      .where('kind', 'in', ['created', 'password', 'recovered', REPLACED])
      .orderBy('id'),
  (row) => ({ operatorId: row.operator_id, kind: row.kind as StoredKind, actedAt: row.acted_at }),
);

/** Who gave a password to an account, and when. */
interface GivenPassword {
  readonly operatorId: string;
  readonly givenAt: number;
}

/**
 * The operators whose password an account has, or whose password was proved for choosing the present one: the operator may have chosen that
 * as well.
 */
export function* givenPasswords({
  id,
  createdAt,
  passwordSetAt,
}: {
  readonly id: string;
  readonly createdAt: number;
  readonly passwordSetAt: number | null;
}): Work<readonly GivenPassword[]> {
  const acts = yield* actsOnPassword({ accountId: id });
  const isOfPresent = ({ kind, actedAt }: (typeof acts)[number]): boolean =>
    kind === 'created' ? passwordSetAt === null : actedAt === passwordSetAt;
  return acts.filter(isOfPresent).map(({ operatorId, kind, actedAt }) => {
    if (kind !== REPLACED) return { operatorId, givenAt: passwordSetAt ?? createdAt };
    const earlier = acts.filter((act) => act.operatorId === operatorId && act.actedAt < actedAt);
    return { operatorId, givenAt: Math.max(createdAt, ...earlier.map((act) => act.actedAt)) };
  });
}

/** Records that a person chose a password by proving one, or an address, that an operator gave, in the unit of work that holds the account's lock. */
export function* recordReplacedPassword(
  accountId: string,
  { operatorId }: Pick<GivenPassword, 'operatorId'>,
  actedAt: number,
): Work<void> {
  yield* remove({ accountId, kind: REPLACED });
  yield* insert({ operatorId, accountId, kind: REPLACED, actedAt });
}

/**
 * Records that a person recovered the account by mail, where an operator gave the address: it may be that of the operator.
 * @param shownSince when the second factor was set up that was shown as well: one from before the address is not the operator's
 */
export function* recordPasswordByAddress(
  accountId: string,
  shownSince: number | undefined,
  actedAt: number,
): Work<void> {
  const address = (yield* givenAddresses(accountId)).find(({ isPresent }) => isPresent);
  if (address === undefined || (shownSince !== undefined && shownSince < address.givenAt)) return;
  yield* recordReplacedPassword(accountId, address, actedAt);
}

const toAct = (row: Omit<AccountAct, 'kind'> & { readonly kind: string }): AccountAct => ({
  ...row,
  kind: row.kind as AccountActKind,
});

/** Which acts of an operator are read: the newest of those from one instant on, and before another one. */
interface ActsPage {
  readonly operatorId: string;
  readonly since: number;
  readonly until: number;
  /** The id of the last one before. */
  readonly before: string;
  readonly limit: number;
}

const actsOf = (db: Kysely<Tables>, p: ActsPage) =>
  db
    .selectFrom('account_act as act')
    .innerJoin('account', 'account.id', 'act.account_id')
    .select(['act.id', 'act.account_id as accountId', 'act.kind', 'act.acted_at as actedAt'])
    .where('act.operator_id', '=', p.operatorId)
    .where('act.acted_at', '>=', p.since)
    .where('act.acted_at', '<', p.until)
    .where('act.id', '<', p.before)
    .where('account.suspended_at', 'is', null)
    .orderBy('act.id', 'desc')
    .limit(p.limit);

/** What an operator did to accounts that are not suspended. */
export const accountActsOf = many(
  (db, p: ActsPage) => actsOf(db, p).where('act.kind', 'not in', [REPLACED, OWN_ADDRESS, DOUBTED]),
  toAct,
);

/**
 * Whether nobody has shown by a password of their own, or by verifying the address, that an account is theirs: what operators gave to it says
 * nothing of who has it.
 */
const isUnclaimed = (eb: ExpressionBuilder<Tables, 'account'>) => {
  const given = (...kinds: AccountActKind[]) =>
    eb
      .selectFrom('account_act as given')
      .select('given.id')
      .whereRef('given.account_id', '=', 'account.id')
      .where('given.kind', 'in', kinds);
  const ofPassword = given('password', 'recovered').whereRef('given.acted_at', '=', 'account.password_set_at');
  return eb.and([
    eb.or([eb('account.password_set_at', 'is', null), eb.exists(ofPassword)]),
    eb.or([eb('account.email_verified', '=', 0), eb.exists(given('address'))]),
  ]);
};

/** Accounts that an operator created, and that nobody claimed by a password or the address. */
export const unclaimedCreations = many(
  (db, p: ActsPage) => actsOf(db, p).where('act.kind', '=', 'created').where(isUnclaimed),
  toAct,
);

const ids = positionsOf(50, '0');

const acting = many(
  (db, p: Readonly<Record<string, string>>) =>
    db.selectFrom('account_act').select('operator_id').distinct().where('operator_id', 'in', ids.list(p)),
  (row) => row.operator_id,
);

/** Those of some operators who did anything to accounts. */
export function* actingOnAccountsAmong(operatorIds: readonly string[]): Work<ReadonlySet<string>> {
  const found: string[] = [];
  for (const chunk of ids.chunks(operatorIds)) found.push(...(yield* acting(chunk)));
  return new Set(found);
}

const unclaimed = many(
  (db, p: Readonly<Record<string, string>>) =>
    db.selectFrom('account').select('id').where('id', 'in', ids.list(p)).where(isUnclaimed),
  ({ id }) => id,
);

/** Those of some accounts that nobody claimed by a password or the address. */
export function* unclaimedAmong(accountIds: readonly string[]): Work<readonly string[]> {
  const found: string[] = [];
  for (const chunk of ids.chunks(accountIds)) found.push(...(yield* unclaimed(chunk)));
  return found;
}
