import { DAY } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import {
  columnsOf,
  command,
  decoder,
  encode,
  many,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { ReplacedValueTable } from './tables.ts';

/** What is remembered of an account. */
export type ReplacedKind = 'username' | 'totp' | 'totp aside' | 'recovery codes' | 'recovery codes aside' | 'passkey';

const REPLACED = {
  hash: storedField('hash', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  kind: storedField('kind', plain<ReplacedKind>()),
  value: storedField('value', plain<string>()),
  /** From when to when the account had it, by its own time. */
  setUpAt: storedField('set_up_at', plain<number>()),
  replacedAt: storedField('replaced_at', plain<number>()),
  /** When a recovery ended it for good, by the same time; null where none did. */
  endedAt: storedField('ended_at', plain<number | null>()),
  /** When the second factor was set up that was shown to remove it; null where none was, or where that is not known. */
  removedBy: storedField('removed_by', plain<number | null>()),
  expiresAt: storedField('expires_at', plain<number>()),
} as const;

/** What an account had until it was replaced or removed. The owner who takes the account back has it again. */
export type Replaced = Values<typeof REPLACED>;

/** For how long it is remembered: a right to undo a change of address may be older than seven days. */
const REMEMBERED = 28 * DAY;
/** What was set aside is the owner's only way in where they renewed it: it waits for the recovery. */
const SET_ASIDE = 366 * DAY;
/** How much is remembered of each kind: the earliest, which no later change pushes out. */
const MOST = 8;

const COLUMNS = columnsOf(REPLACED);
const toReplaced: (row: object) => Replaced = decoder(REPLACED);

const insert = command((db, p: ReplacedValueTable) => db.insertInto('replaced_value').values(pick(p, COLUMNS)));

/** What is remembered of a kind, the earliest first. */
export const listReplaced = many(
  (db, p: { accountId: string; kind: ReplacedKind }) =>
    db
      .selectFrom('replaced_value')
      .select(COLUMNS)
      .where('account_id', '=', p.accountId)
      .where('kind', '=', p.kind)
      .orderBy('replaced_at'),
  toReplaced,
);

const prolong = command((db, p: { hash: string; replacedAt: number }) =>
  db.updateTable('replaced_value').set({ replaced_at: p.replacedAt }).where('hash', '=', p.hash),
);

/** What is to be remembered. */
type Remembered = Omit<Replaced, 'hash' | 'expiresAt' | 'endedAt' | 'removedBy'> &
  Partial<Pick<Replaced, 'endedAt' | 'removedBy'>>;

/** Remembers what an account had, in the unit of work that replaces or removes it and holds the account's lock. */
export function* rememberReplaced(replaced: Remembered): Work<void> {
  const earlier = yield* listReplaced(replaced);
  const last = earlier.at(-1);
  if (last !== undefined && earlier.length >= MOST) {
    // The last of them stands for those after it, so that what replaced one another stays without a gap.
    const { replacedAt } = replaced;
    if (last.replacedAt === replaced.setUpAt) yield* prolong({ hash: last.hash, replacedAt });
    return;
  }
  yield* insertReplaced(replaced);
}

/** Stores what is remembered, however much that is. */
export function insertReplaced(replaced: Remembered): Work<void> {
  const lifetime = replaced.kind.endsWith(' aside') ? SET_ASIDE : REMEMBERED;
  const expiresAt = replaced.replacedAt + lifetime;
  return insert(encode(REPLACED, { endedAt: null, removedBy: null, ...replaced, hash: randomIdentifier(), expiresAt }));
}

/** Ends for good what is remembered of a kind. */
export const endReplaced = command((db, p: { accountId: string; kind: ReplacedKind; endedAt: number }) =>
  db
    .updateTable('replaced_value')
    .set({ ended_at: p.endedAt })
    .where('account_id', '=', p.accountId)
    .where('kind', '=', p.kind)
    .where('ended_at', 'is', null),
);

export const removeReplaced = command((db, p: { hash: string }) =>
  db.deleteFrom('replaced_value').where('hash', '=', p.hash),
);

/** What an account had at an instant, before which it was set up, and has no longer. */
export function* findReplaced(of: Pick<Replaced, 'accountId' | 'kind'>, instant: number): Work<Replaced | undefined> {
  const found = (yield* listReplaced(of)).find(({ replacedAt }) => replacedAt >= instant);
  return found !== undefined && found.setUpAt < instant ? found : undefined;
}

/** Changes what is remembered, such as a code that was used. */
export const updateReplaced = command((db, p: { hash: string; value: string }) =>
  db.updateTable('replaced_value').set({ value: p.value }).where('hash', '=', p.hash),
);

/** Forgets what an account had of a kind from an instant on: it has it again, or an operator decided. */
export const forgetReplaced = command((db, p: { accountId: string; kind: ReplacedKind; since: number }) =>
  db
    .deleteFrom('replaced_value')
    .where('account_id', '=', p.accountId)
    .where('kind', '=', p.kind)
    .where('replaced_at', '>=', p.since),
);
