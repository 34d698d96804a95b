import type { OpeningKind } from '../../accounts/opening-store.ts';
import { CLOCK_SKEW } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { type Positioned, positionsOf } from '../../platform/database/positions.ts';
import { many } from '../../platform/database/statement.ts';
import { madeByHolder } from './made-row-store.ts';
import { NO_END, type TimeSpan } from './rules/spans.ts';

/** What an operator did to an account with which they, or for `let in again` its person, could sign in to it. */
export interface Opening {
  readonly id: string;
  readonly operatorId: string;
  readonly accountId: string;
  readonly kind: OpeningKind;
  readonly actedAt: number;
  /** Whether the account has had another address since. */
  readonly isMoved: boolean;
  /** Whether that still lets somebody in. */
  readonly isOpen: boolean;
  /** When it does. */
  readonly span: TimeSpan;
}

const ids = positionsOf(50, '0');

/**
 * Of the accounts, those count that hold or held a role, or of which something is left that was made through them: of very many, few do. Of
 * those that were created or joined through a provider, which may be everybody's, it is not asked for all of that where they never held one. A
 * role is known as long as anything is left that its holder made; one that was given on the server, for a while after it was taken away.
 */
const usable = many(
  (db, p: Positioned & { since: number }) =>
    db
      .selectFrom('account_opening as opening')
      .select(['opening.id', 'opening.operator_id as operatorId', 'opening.account_id as accountId', 'opening.kind'])
      .select('opening.acted_at as actedAt')
      .select(['opening.usable_at', 'opening.moved_at', 'opening.ended_at'])
      .where('opening.operator_id', 'in', ids.list(p))
      .where('opening.acted_at', '>=', p.since)
      .where('opening.usable_at', 'is not', null)
      .where((eb) => {
        const account = eb.ref('opening.account_id');
        const first = [
          eb.selectFrom('operator_grant').select('operator_grant.id').where('operator_grant.account_id', '=', account),
          eb
            .selectFrom('membership')
            .select('membership.id')
            .where('membership.account_id', '=', account)
            .where('membership.role', 'in', ['OWNER', 'ADMIN']),
          eb.selectFrom('given_right as held').select('held.id').where('held.holder_id', '=', account),
          eb
            .selectFrom('right_change as taken')
            .select('taken.id')
            .where('taken.account_id', '=', account)
            .where('taken.kind', '=', 'role'),
          eb.selectFrom('given_right').select('given_right.id').where('given_right.maker_id', '=', account),
          eb.selectFrom('account_opening as next').select('next.id').where('next.operator_id', '=', account),
          eb.selectFrom('client_act').select('client_act.id').where('client_act.operator_id', '=', account),
        ];
        const made = eb.or(madeByHolder(account).map((rows) => eb.exists(rows)));
        return eb.or([
          ...first.map((rows) => eb.exists(rows)),
          eb.and([eb('opening.kind', 'not in', ['created', 'joined']), made]),
        ]);
      })
      .orderBy('opening.id'),
  ({ usable_at: usableAt, moved_at: movedAt, ended_at: endedAt, ...row }) => ({
    ...row,
    kind: row.kind as OpeningKind,
    isMoved: movedAt !== null,
    endedAt,
    // What was made at the last moment may bear the time of a node whose clock is ahead.
    span: { since: usableAt ?? NO_END, until: endedAt === null ? NO_END : endedAt + CLOCK_SKEW },
  }),
);

/** What operators did to accounts at an instant or later with which somebody could sign in to them. */
export function* openingsBy(
  operatorIds: readonly string[],
  { since, now }: { readonly since: number; readonly now: number },
): Work<readonly Opening[]> {
  const found: Opening[] = [];
  for (const chunk of ids.chunks(operatorIds)) {
    const page = yield* usable({ ...chunk, since });
    found.push(...page.map(({ endedAt, ...opening }) => ({ ...opening, isOpen: endedAt === null || endedAt > now })));
  }
  return found;
}
