import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import { command, many } from '../platform/database/statement.ts';
import type { OperatorBehind } from './operators-behind.ts';

/** What happened to an account through an upstream by what an operator had done to that. */
export type UpstreamEffectKind =
  /** Its person created it. */
  | 'joined'
  /** Its name, language or picture was written. */
  | 'written';
/** Its person joined a group: it ends with its membership. */
const GROUP = 'group';
type StoredKind = UpstreamEffectKind | typeof GROUP;

interface Effect {
  readonly operatorId: string;
  readonly accountId: string;
  readonly kind: StoredKind;
  readonly groupMemberId: string | null;
  /** When the operator did it. */
  readonly actedAt: number;
}

const removeSame = command((db, p: Effect) =>
  db
    .deleteFrom('upstream_effect')
    .where('account_id', '=', p.accountId)
    .where('operator_id', '=', p.operatorId)
    .where('kind', '=', p.kind)
    .where('group_member_id', 'is', null),
);

const insert = command((db, p: Effect) =>
  db.insertInto('upstream_effect').values({
    operator_id: p.operatorId,
    account_id: p.accountId,
    kind: p.kind,
    group_member_id: p.groupMemberId,
    acted_at: p.actedAt,
  }),
);

/** Records it of each of some operators, inside a unit of work that holds the account's lock or creates it: of each kind the last time. */
export function* recordEffect(
  behind: readonly OperatorBehind[],
  accountId: string,
  kind: UpstreamEffectKind,
): Work<void> {
  for (const operator of behind) {
    const effect = { ...operator, accountId, kind, groupMemberId: null };
    yield* removeSame(effect);
    yield* insert(effect);
  }
}

/** Records that a person joined a group so. */
export function* recordGroupEffect(
  behind: readonly OperatorBehind[],
  accountId: string,
  groupMemberId: string,
): Work<void> {
  for (const operator of behind) yield* insert({ ...operator, accountId, kind: GROUP, groupMemberId });
}

/** What happened to an account. */
export interface AccountEffect {
  readonly id: string;
  readonly accountId: string;
  readonly kind: UpstreamEffectKind;
  readonly actedAt: number;
}

/** What happened to accounts that are not suspended by what was done from one instant on, and before another one: the newest. */
export const accountEffectsOf = many(
  (db, p: { operatorId: string; since: number; until: number; limit: number }) =>
    db
      .selectFrom('upstream_effect as effect')
      .innerJoin('account', 'account.id', 'effect.account_id')
      .select(['effect.id', 'effect.account_id as accountId', 'effect.kind', 'effect.acted_at as actedAt'])
      .where('effect.operator_id', '=', p.operatorId)
      .where('effect.acted_at', '>=', p.since)
      .where('effect.acted_at', '<', p.until)
      .where('effect.group_member_id', 'is', null)
      .where('account.suspended_at', 'is', null)
      .orderBy('effect.id', 'desc')
      .limit(p.limit),
  (row): AccountEffect => ({ ...row, kind: row.kind as UpstreamEffectKind }),
);

/** Those who joined groups by what was done from one instant on, and before another one, and are in them, in the order in which they joined. */
export const groupMembersByEffect = many(
  (db, p: { madeBy: string; since: number; until: number; after: string; limit: number }) =>
    db
      .selectFrom('upstream_effect as effect')
      .innerJoin('group_member as m', 'm.id', 'effect.group_member_id')
      .select(['m.id', 'm.group_id', 'm.account_id', 'm.organization_id'])
      .where('effect.operator_id', '=', p.madeBy)
      .where('effect.acted_at', '>=', p.since)
      .where('effect.acted_at', '<', p.until)
      .where('m.id', '>', p.after)
      .orderBy('m.id')
      .limit(p.limit),
  (row) => ({ id: row.id, groupId: row.group_id, accountId: row.account_id, organizationId: row.organization_id }),
);

const ids = positionsOf(50, '0');

const among = many(
  (db, p: Readonly<Record<string, string>>) =>
    db.selectFrom('upstream_effect').select('operator_id').distinct().where('operator_id', 'in', ids.list(p)),
  (row) => row.operator_id,
);

/** Those of some operators by whose acts anything happened to accounts. */
export function* havingEffectsAmong(operatorIds: readonly string[]): Work<readonly string[]> {
  const found: string[] = [];
  for (const chunk of ids.chunks(operatorIds)) found.push(...(yield* among(chunk)));
  return found;
}
