import { DAY } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import type { AccountActKind, AccountActor } from './act-store.ts';

/*
 * Openings: what operators did to accounts with which they may sign in to them, and for how long. An act of `account_act` is replaced by the
 * next one of its kind; an opening stays, also when the account is deleted, because what was made through the account meanwhile rests on the
 * operator, and ends with them.
 */

/**
 * What opens an account: its creation with an address or a password, another address or password, the end of an authenticator app, or a
 * recovery by a link of the operator.
 */
type DirectOpening = Extract<AccountActKind, 'created' | 'address' | 'password' | 'factor removed' | 'recovered'>;

/**
 * Or that its person created it with a provider, or connected it with one, which the operator had registered or enabled: who runs the
 * provider signs in as that person.
 */
export type ProviderOpening = 'joined' | 'connected';

/** Or that the operator lifted what barred it, or made that end sooner. By this nobody else gets in than the person. */
export const LET_IN = 'let in again' satisfies AccountActKind;

export type OpeningKind = DirectOpening | ProviderOpening | typeof LET_IN;

/** After how long it is looked again whether anything rests on an opening. */
export const OPENING_REVIEWED_AFTER = 30 * DAY;

interface NewOpening {
  readonly accountId: string;
  readonly kind: OpeningKind;
  /** When the operator acted. */
  readonly actedAt: number;
  /** Since when that opens the account, where that is later. */
  readonly opensAt?: number;
  /** When that ends by itself; undefined for never. */
  readonly endsAt?: number | undefined;
  /** Of an address, since when the account has another one than before; by default since the act. */
  readonly movedAt?: number | undefined;
  /** Whether an authenticator app from before is asked for at every sign-in and recovery. A passkey is not, beside a password. */
  readonly isGuarded: boolean;
}

interface StoredOpening extends Omit<NewOpening, 'isGuarded' | 'opensAt' | 'endsAt' | 'movedAt'> {
  readonly operatorId: string;
  readonly usableAt: number | null;
  readonly movedAt: number | null;
  readonly endedAt: number | null;
  readonly reviewAt: number;
}

const insert = command((db, p: StoredOpening) =>
  db.insertInto('account_opening').values({
    operator_id: p.operatorId,
    account_id: p.accountId,
    kind: p.kind,
    acted_at: p.actedAt,
    usable_at: p.usableAt,
    moved_at: p.movedAt,
    ended_at: p.endedAt,
    review_at: p.reviewAt,
  }),
);

const moveOwn = command((db, p: { accountId: string; operatorId: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ moved_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('operator_id', '=', p.operatorId)
    .where('moved_at', 'is', null)
    .where('ended_at', 'is', null),
);

const settleOthers = command((db, p: { accountId: string; operatorId: string }) =>
  db
    .updateTable('account_opening')
    .set({ moved_at: null })
    .where('account_id', '=', p.accountId)
    .where('operator_id', '!=', p.operatorId)
    .where('ended_at', 'is', null),
);

/** No operator has this id: the command line on the server. */
export const NO_OPERATOR = '0';

/** Records what an operator does to an account, in the unit of work that does it and holds the account's lock. */
export function* recordOpening({ operator }: AccountActor, opening: NewOpening): Work<void> {
  if (operator === undefined) return;
  const { isGuarded, opensAt = opening.actedAt, endsAt = null, movedAt: moved = opening.actedAt, ...acted } = opening;
  const { kind } = acted;
  const usableAt = isGuarded ? null : opensAt;
  const movedAt = kind === 'address' || kind === 'created' ? moved : null;
  const reviewAt = (endsAt ?? opensAt) + OPENING_REVIEWED_AFTER;
  yield* insert({ ...acted, operatorId: operator.id, usableAt, movedAt, endedAt: endsAt, reviewAt });
}

const sameOpenings = many(
  (db, p: { accountId: string; operatorId: string; kind: OpeningKind; actedAt: number }) =>
    db
      .selectFrom('account_opening')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('operator_id', '=', p.operatorId)
      .where('kind', '=', p.kind)
      .where('acted_at', '=', p.actedAt)
      .where('ended_at', 'is', null),
  ({ id }) => id,
);

/** The same of an act that may open an account again and again: one that still does is not repeated. */
export function* recordOpeningOnce(operatorId: string, opening: NewOpening): Work<void> {
  const { accountId, kind, actedAt } = opening;
  if ((yield* sameOpenings({ accountId, operatorId, kind, actedAt })).length > 0) return;
  yield* recordOpening({ operator: { id: operatorId } }, opening);
}

/** An operator by whose act somebody may still sign in to an account. */
interface Opener {
  readonly operatorId: string;
  /** Whether the account has another address since, which may be theirs. */
  readonly isMoved: boolean;
}

/** The operators who opened an account by themselves, and from whom nobody has taken it back. Who runs a provider is none of these. */
export const openersOf = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('account_opening')
      .select(['operator_id', 'moved_at'])
      .where('account_id', '=', p.accountId)
      .where('kind', 'not in', ['joined', 'connected', LET_IN] satisfies OpeningKind[])
      .where('usable_at', 'is not', null)
      .where('ended_at', 'is', null),
  ({ operator_id: operatorId, moved_at: movedAt }): Opener => ({ operatorId, isMoved: movedAt !== null }),
);

const openByOthers = many(
  (db, p: { accountId: string; operatorId: string }) =>
    db
      .selectFrom('account_opening')
      .select(['usable_at', 'moved_at'])
      .where('account_id', '=', p.accountId)
      .where('operator_id', '!=', p.operatorId)
      .where('kind', '!=', LET_IN)
      .where('ended_at', 'is', null),
  ({ usable_at: usableAt, moved_at: movedAt }) => ({ isUsable: usableAt !== null, movedAt }),
);

/** What an operator who decides which address an account has takes over from others: these no longer answer for it. */
interface TakenOver {
  /** Since when the account has another address by what they did; undefined where it has none. */
  readonly movedAt: number | undefined;
  /** Whether they could sign in: what the account has of factors since then may be theirs. */
  readonly isUsable: boolean;
}

/**
 * Records that an operator decided which address an account has: for others than the operator it is as good as that of before.
 * @param decided.isMoved whether it is another one than until now
 */
export function* recordAddressDecision(
  { operator }: AccountActor,
  { accountId, isMoved, at }: { readonly accountId: string; readonly isMoved: boolean; readonly at: number },
): Work<TakenOver> {
  const operatorId = operator?.id ?? NO_OPERATOR;
  const others = yield* openByOthers({ accountId, operatorId });
  yield* settleOthers({ accountId, operatorId });
  if (operator !== undefined) yield* moveOwn({ accountId, operatorId, at });
  const moves = others.flatMap(({ movedAt }) => movedAt ?? []);
  return {
    movedAt: moves.length === 0 ? undefined : Math.min(...moves),
    isUsable: others.some(({ isUsable, movedAt }) => isUsable && (isMoved || movedAt !== null)),
  };
}

/** Records that somebody changed the address of an account in a session of it, who may be an operator that opened it. */
export const recordMovedAddress = command((db, p: { accountId: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ moved_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('moved_at', 'is', null)
    .where('ended_at', 'is', null),
);

/** Records that an account has the address again that it had until an instant. */
export const recordReturnedAddress = command((db, p: { accountId: string; changedAt: number }) =>
  db
    .updateTable('account_opening')
    .set({ moved_at: null })
    .where('account_id', '=', p.accountId)
    .where('moved_at', '>=', p.changedAt)
    .where('ended_at', 'is', null),
);

/** Records that an account has no authenticator app any more: what was kept out by one may get in from now on. */
export const recordLostGuard = command((db, p: { accountId: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ usable_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('usable_at', 'is', null)
    .where('ended_at', 'is', null),
);

const usableSince = many(
  (db, p: { accountId: string; until: number }) =>
    db
      .selectFrom('account_opening')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('usable_at', '<=', p.until)
      .where('moved_at', 'is', null)
      .where('kind', '!=', LET_IN)
      .where('ended_at', 'is', null),
  ({ id }) => id,
);

const endRecovered = command((db, p: { accountId: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ ended_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('moved_at', 'is', null)
    .where('kind', '!=', LET_IN)
    .where('ended_at', 'is', null),
);

const endShownOlder = command((db, p: { accountId: string; shownSince: number; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ ended_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('acted_at', '>', p.shownSince)
    .where('kind', '!=', LET_IN)
    .where('ended_at', 'is', null),
);

/** How an account was recovered. */
export interface Recovered {
  readonly accountId: string;
  /** When the second factor was set up that was shown; undefined where none was. */
  readonly shownSince: number | undefined;
  /** Whether its address was proved, and not handed a link by an operator. */
  readonly isAddressProved: boolean;
  readonly at: number;
}

/**
 * Ends the openings of an account that is recovered, after which its address is all that is left of the ways in: those that came after the
 * address, or after the second factor that was shown. A younger factor beside the link of an operator may be that of the one who opened the
 * account. So may a factor be that was set up while somebody else could sign in: it ends no opening of the one who answers for the address. What
 * goes on may have been used for the recovery, so that nothing from before has kept its operator out.
 */
export function* settleRecoveredOpenings({ accountId, shownSince, isAddressProved, at }: Recovered): Work<void> {
  const isPlantable =
    isAddressProved && shownSince !== undefined && (yield* usableSince({ accountId, until: shownSince })).length > 0;
  if (isAddressProved || shownSince === undefined) yield* endRecovered({ accountId, at });
  if (shownSince !== undefined && !isPlantable) yield* endShownOlder({ accountId, shownSince, at });
  yield* recordLostGuard({ accountId, at });
}

/**
 * Ends the openings of an account that has another password, by which nothing is left of theirs: the address is that of before, and so are the
 * other ways in.
 * @param p.since when the youngest of the other ways in was set up, or what proved the change
 * @param p.except whose openings stay: who set the password
 */
export const endReplacedOpenings = command((db, p: { accountId: string; since: number; except: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ ended_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('operator_id', '!=', p.except)
    .where('acted_at', '>', p.since)
    .where('moved_at', 'is', null)
    .where('kind', '!=', LET_IN)
    .where('ended_at', 'is', null),
);

const forgetLettingIn = command((db, p: { accountId: string; at: number }) =>
  db
    .deleteFrom('account_opening')
    .where('account_id', '=', p.accountId)
    .where('kind', '=', LET_IN)
    .where('usable_at', '>=', p.at),
);

const endLettingIn = command((db, p: { accountId: string; at: number }) =>
  db
    .updateTable('account_opening')
    .set({ ended_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('kind', '=', LET_IN)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>', p.at)])),
);

const lettingInEnds = many(
  (db, p: { accountId: string; at: number }) =>
    db
      .selectFrom('account_opening')
      .select('ended_at')
      .where('account_id', '=', p.accountId)
      .where('kind', '=', LET_IN)
      .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>', p.at)])),
  (row) => row.ended_at ?? Number.POSITIVE_INFINITY,
);

/**
 * Records that somebody decided on whether an account is barred: it no longer rests on who had let it in before.
 * @returns until when it would have been barred otherwise; 0 where nobody had let it in
 */
export function* endLetIn(decided: { readonly accountId: string; readonly at: number }): Work<number> {
  const ends = yield* lettingInEnds(decided);
  yield* forgetLettingIn(decided);
  yield* endLettingIn(decided);
  return Math.max(0, ...ends);
}

/** Ends one opening, in the unit of work that ends what it opened. */
export const endOpening = command((db, p: { id: string; at: number }) =>
  db.updateTable('account_opening').set({ ended_at: p.at }).where('id', '=', p.id),
);

/** Leaves an opening to a later review. */
export const postponeOpeningReview = command((db, p: { id: string; until: number }) =>
  db.updateTable('account_opening').set({ review_at: p.until }).where('id', '=', p.id),
);
