import { DAY } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import { operatorRole } from './permissions.ts';
import type { OperatorGrant } from './rights.ts';

type RightKind = 'admin key' | 'role';

/** A right that an operator gave at some time, whatever became of it since. */
export interface GivenRight extends OperatorGrant {
  readonly kind: RightKind;
  readonly madeBy: string;
  /** The account, or the admin key. */
  readonly holderId: string;
  readonly givenAt: number;
}

/** After how long it is looked again whether anything rests on a right. */
export const RIGHT_REVIEWED_AFTER = 30 * DAY;

const insert = command((db, p: GivenRight & { reviewAt: number }) =>
  db
    .insertInto('given_right')
    .values({
      kind: p.kind,
      maker_id: p.madeBy,
      holder_id: p.holderId,
      role: p.role,
      organization_id: p.organizationId,
      expires_at: p.expiresAt,
      given_at: p.givenAt,
      review_at: p.reviewAt,
    })
    // Somebody gave it again: it is the same.
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Records that an operator gave a right, in the unit of work that stores the right: each store of rights calls it, so that none is given without.
 * The record stays when the right is taken away, or its account, key or organization is deleted: else a thief would make what they gave
 * look like somebody else's.
 */
export function* recordGivenRight({
  kind,
  madeBy,
  holderId,
  givenAt,
  ...grant
}: Omit<GivenRight, 'madeBy'> & {
  /** Null for the command line, with which nothing ends. */
  readonly madeBy: string | null;
}): Work<void> {
  if (madeBy === null) return;
  const { role, organizationId, expiresAt } = grant;
  const right = { kind, madeBy, holderId, role, organizationId, expiresAt, givenAt };
  yield* insert({ ...right, reviewAt: givenAt + RIGHT_REVIEWED_AFTER });
}

/** The rights that an operator gave at an instant or later, also those that ended. */
export const rightsGivenBy = many(
  (db, p: { madeBy: string; since: number }) =>
    db
      .selectFrom('given_right')
      .select(['kind', 'maker_id as makerId', 'holder_id as holderId', 'role', 'organization_id as organizationId'])
      .select(['expires_at as expiresAt', 'given_at as givenAt'])
      .where('maker_id', '=', p.madeBy)
      .where('given_at', '>=', p.since)
      .orderBy('id'),
  ({ makerId, ...row }): GivenRight => ({
    ...row,
    kind: row.kind === 'role' ? 'role' : 'admin key',
    madeBy: makerId,
    role: operatorRole.decode(row.role),
  }),
);

/** Leaves a right to a later review. */
export const postponeRightReview = command((db, p: { id: string; until: number }) =>
  db.updateTable('given_right').set({ review_at: p.until }).where('id', '=', p.id),
);
