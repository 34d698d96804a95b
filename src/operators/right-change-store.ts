import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import { type Positioned, positionsOf } from '../platform/database/positions.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, many } from '../platform/database/statement.ts';
import { spareChange } from '../platform/spare-change.ts';
import type { OperatorGrant } from './rights.ts';

/** A role of an operator that an account has or had. */
export interface FormerRole extends OperatorGrant {
  readonly kind: 'role';
  readonly accountId: string;
  /** Null for the command line. */
  readonly madeBy: string | null;
  readonly givenAt: number;
}

/** A membership of an organization. */
export interface FormerMember {
  readonly kind: 'member';
  readonly accountId: string;
  readonly organizationId: string;
  readonly role: 'OWNER' | 'ADMIN' | 'MEMBER' | null;
  readonly roleMadeBy: string | null;
  readonly roleGivenAt: number | null;
  readonly madeBy: string | null;
  readonly madeAt: number | null;
}

/** An assignment to an app: of a person, a group or an organization, of which one is named. */
export interface FormerAssignment {
  readonly kind: 'assignment';
  readonly id: string;
  readonly clientId: string;
  readonly accountId: string | null;
  readonly groupId: string | null;
  readonly organizationId: string | null;
  /** A role of the app; null for none. */
  readonly role: string | null;
  readonly madeBy: string | null;
  readonly givenAt: number;
}

export type FormerRight = FormerRole | FormerMember | FormerAssignment;

/** Whose right it is, and where. */
export type RightPlace =
  | Pick<FormerRole, 'kind' | 'accountId' | 'organizationId'>
  | Pick<FormerMember, 'kind' | 'accountId' | 'organizationId'>
  | Pick<FormerAssignment, 'kind' | 'clientId' | 'accountId' | 'groupId' | 'organizationId'>;

/** A right as it is now, which says whose it is and where. */
export type NamedRight =
  | (Extract<RightPlace, { kind: 'role' }> & Pick<FormerRole, 'role'>)
  | Extract<RightPlace, { kind: 'member' }>
  | (Extract<RightPlace, { kind: 'assignment' }> & Pick<FormerAssignment, 'id'>);

/** Who changes a right, and when: null for the command line, and for the person who gives it up. */
export interface RightActor {
  readonly operatorId: string | null;
  readonly at: number;
}

/** A change of a right. */
export interface RightChange {
  readonly id: string;
  readonly operatorId: string | null;
  readonly place: RightPlace;
  /** Which of the rights of the holder at the place. */
  readonly item: string;
  /** What it was before; null where there was none. */
  readonly former: FormerRight | null;
  readonly at: number;
}

/** How many changes of one operator are kept of the rights of one holder at one place: nobody makes their own end take long by very many. */
const MOST_KEPT = 50;

const itemOf = (right: NamedRight): string => {
  switch (right.kind) {
    case 'role':
      return right.role;
    case 'member':
      return '';
    case 'assignment':
      return right.id;
  }
};

/** Who gave a right, and when. The role of an owner or admin of an organization is more than the membership. */
export function giverOf(right: FormerRight): { readonly madeBy: string | null; readonly givenAt: number } {
  if (right.kind !== 'member') return right;
  const { role, roleMadeBy, roleGivenAt, madeBy, madeAt } = right;
  return role === 'OWNER' || role === 'ADMIN'
    ? { madeBy: roleMadeBy, givenAt: roleGivenAt ?? 0 }
    : { madeBy, givenAt: madeAt ?? 0 };
}

interface Row {
  readonly id: string;
  readonly operator_id: string | null;
  readonly kind: string;
  readonly client_id: string | null;
  readonly account_id: string | null;
  readonly group_id: string | null;
  readonly organization_id: string | null;
  readonly item: string;
  readonly former: string | null;
  readonly acted_at: number;
}

const COLUMNS = [
  ...(['id', 'operator_id', 'kind', 'client_id', 'account_id', 'group_id', 'organization_id'] as const),
  ...(['item', 'former', 'acted_at'] as const),
] as const;

function placeIn(row: Row): RightPlace {
  const accountId = row.account_id ?? '0';
  const organizationId = row.organization_id;
  if (row.kind === 'role') return { kind: 'role', accountId, organizationId };
  if (row.kind === 'member') return { kind: 'member', accountId, organizationId: organizationId ?? '0' };
  return {
    ...{ kind: 'assignment', clientId: row.client_id ?? '0', accountId: row.account_id, groupId: row.group_id },
    organizationId,
  };
}

const toChange = (row: Row): RightChange => ({
  id: row.id,
  operatorId: row.operator_id,
  place: placeIn(row),
  item: row.item,
  former: row.former === null ? null : JSON.parse(row.former),
  at: row.acted_at,
});

const insert = command(
  (db, p: Omit<Row, 'id'> & { readonly former_maker_id: string | null; readonly former_given_at: number }) =>
    db.insertInto('right_change').values({
      operator_id: p.operator_id,
      kind: p.kind,
      client_id: p.client_id,
      account_id: p.account_id,
      group_id: p.group_id,
      organization_id: p.organization_id,
      item: p.item,
      former: p.former,
      former_maker_id: p.former_maker_id,
      former_given_at: p.former_given_at,
      acted_at: p.acted_at,
    }),
);

const stored = (db: Kysely<Tables>) => db.selectFrom('right_change').select(COLUMNS).orderBy('id');

const ofAccount = many(
  (db, p: { kind: string; accountId: string }) =>
    stored(db).where('account_id', '=', p.accountId).where('kind', '=', p.kind),
  toChange,
);

/** The changes that are kept of the roles of operators and the memberships of an account, in their order. */
export const rightChangesOf = many(
  (db, p: { accountId: string }) =>
    stored(db).where('account_id', '=', p.accountId).where('kind', 'in', ['role', 'member']),
  toChange,
);

const ofAssigned = many(
  (db, p: { clientId: string; accountId: string; groupId: string; organizationId: string }) =>
    stored(db)
      .where('client_id', '=', p.clientId)
      .where((eb) =>
        eb.or([
          eb('account_id', '=', p.accountId),
          eb('group_id', '=', p.groupId),
          eb('organization_id', '=', p.organizationId),
        ]),
      ),
  toChange,
);

/** The changes that are kept of the rights of a holder at a place, in their order. A person is in one organization at most. */
export function* rightChangesAt(place: RightPlace): Work<readonly RightChange[]> {
  if (place.kind === 'assignment') {
    const { clientId, accountId, groupId, organizationId } = place;
    return yield* ofAssigned({
      ...{ clientId, accountId: accountId ?? '0', groupId: groupId ?? '0' },
      organizationId: organizationId ?? '0',
    });
  }
  const { kind, accountId, organizationId } = place;
  const found = yield* ofAccount({ kind, accountId });
  return kind === 'member' ? found : found.filter((one) => one.place.organizationId === organizationId);
}

/** What there was before the first change of an item counts, but not of one that was given meanwhile. */
function isToldBy({ item, former, operatorId }: RightChange, earlier: readonly RightChange[]): boolean {
  if (former === null || earlier.some((one) => one.item === item)) return true;
  const { madeBy, givenAt } = giverOf(former);
  return madeBy === operatorId && earlier.some(({ at }) => at <= givenAt);
}

const forgetRightChange = command((db, p: { id: string }) => db.deleteFrom('right_change').where('id', '=', p.id));

/**
 * Keeps what a right was before it is changed, taken away or given, in the unit of work that does it: each store of rights calls it. That
 * there was none is kept only where an earlier change of the same place is: what was given there is found by its maker.
 * @param former null where there was none
 */
export function* keepRightChange(
  { operatorId, at }: RightActor,
  right: NamedRight,
  former: FormerRight | null,
): Work<void> {
  const kept = yield* rightChangesAt(right);
  if (former === null && kept.length === 0) return;
  if (kept.filter((change) => change.operatorId === operatorId).length >= MOST_KEPT) {
    const spare = spareChange(kept, operatorId, isToldBy);
    if (spare !== undefined) yield* forgetRightChange({ id: spare.id });
  }
  const given = former === null ? { madeBy: null, givenAt: 0 } : giverOf(former);
  yield* insert({
    operator_id: operatorId,
    kind: right.kind,
    client_id: right.kind === 'assignment' ? right.clientId : null,
    account_id: right.accountId,
    group_id: right.kind === 'assignment' ? right.groupId : null,
    organization_id: right.organizationId,
    item: itemOf(right),
    former: former === null ? null : JSON.stringify(former),
    former_maker_id: given.madeBy,
    former_given_at: given.givenAt,
    acted_at: at,
  });
}

/**
 * Keeps that a membership goes with its organization, in the unit of work that removes it: the change is not kept at the organization, with which
 * it would go as well.
 */
export const keepMembershipLost = ({ operatorId, at }: RightActor, former: FormerMember): Work<void> =>
  insert({
    ...{ operator_id: operatorId, kind: 'member', account_id: former.accountId, item: '', acted_at: at },
    ...{ client_id: null, group_id: null, organization_id: null, former: JSON.stringify(former) },
    ...{ former_maker_id: giverOf(former).madeBy, former_given_at: giverOf(former).givenAt },
  });

/** A part of the changes that an operator made from one instant on, and before another one. */
export const rightChangesBy = many(
  (db, p: { operatorId: string; since: number; until: number; after: string; limit: number }) =>
    stored(db)
      .where('operator_id', '=', p.operatorId)
      .where('id', '>', p.after)
      .where('acted_at', '>=', p.since)
      .where('acted_at', '<', p.until)
      .limit(p.limit),
  toChange,
);

const operators = positionsOf(50, '0');
const changersIn = many(
  (db, p: Positioned) =>
    db.selectFrom('right_change').select('operator_id').distinct().where('operator_id', 'in', operators.list(p)),
  (row) => row.operator_id ?? '0',
);

/** Which of some operators changed rights. */
export function* changersAmong(ids: readonly string[]): Work<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const chunk of operators.chunks(ids)) for (const id of yield* changersIn(chunk)) found.add(id);
  return found;
}

/** Leaves out of what was there before what an operator gave from one instant on, and before another one: it would have ended by now. */
export const forgetRightsGivenBy = command((db, p: { madeBy: string; since: number; until: number }) =>
  db
    .updateTable('right_change')
    .set({ former: null, former_maker_id: null })
    .where('former_maker_id', '=', p.madeBy)
    .where('former_given_at', '>=', p.since)
    .where('former_given_at', '<', p.until),
);

/** The changes of what an operator gave from one instant on, and before another one. */
export const rightChangesGivenBy = many(
  (db, p: { madeBy: string; since: number; until: number }) =>
    stored(db)
      .where('former_maker_id', '=', p.madeBy)
      .where('former_given_at', '>=', p.since)
      .where('former_given_at', '<', p.until),
  toChange,
);

/** {@link forgetRightsGivenBy} for one of them. */
export const forgetFormer = command((db, p: { id: string }) =>
  db.updateTable('right_change').set({ former: null, former_maker_id: null }).where('id', '=', p.id),
);
