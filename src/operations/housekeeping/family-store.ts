import { recordLastUse } from '../../consent/store.ts';
import { postponeReview } from '../../credentials/family-review-store.ts';
import type { Work } from '../../platform/database/database.ts';
import { columnsOf, command, decoder, many, one, plain, storedField } from '../../platform/database/statement.ts';
import { neededUntil, type ReviewedFamily } from './rules/retention.ts';

interface FamilyUnderReview extends ReviewedFamily {
  readonly id: string;
  readonly grantId: string;
}

const UNDER_REVIEW = {
  id: storedField('id', plain<string>()),
  grantId: storedField('grant_id', plain<string>()),
  refreshExpiresAt: storedField('leaf_expires_at', plain<number>()),
  rotatedAt: storedField('rotated_at', plain<number | null>()),
  deadReason: storedField('dead_reason', plain<string | null>()),
} as const;
const toFamily = decoder(UNDER_REVIEW);

const familiesUnderReview = many(
  (db, p: { before: number; limit: number }) =>
    db
      .selectFrom('token_family as f')
      .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
      .leftJoin('browser_session as s', 's.sid', 'f.sid')
      .where('f.review_at', '<=', p.before)
      .orderBy('f.review_at')
      .limit(p.limit)
      .select(columnsOf(UNDER_REVIEW).map((column) => `f.${column}` as const))
      .select(['f.created_at', 'g.revoked_at', 's.expires_at', 's.last_seen_at']),
  ({ created_at, revoked_at, expires_at, last_seen_at, ...row }): FamilyUnderReview => {
    const { rotatedAt, ...family } = toFamily(row);
    return {
      ...family,
      lastIssuedAt: rotatedAt ?? created_at,
      grantRevokedAt: revoked_at,
      session:
        expires_at === null || last_seen_at === null ? null : { expiresAt: expires_at, lastSeenAt: last_seen_at },
    };
  },
);

/** How many families one statement removes. Each statement on a database server has its cost. */
const BATCH_SIZE = 25;
const POSITIONS = Array.from({ length: BATCH_SIZE }, (_, index) => `id${index}`);
type Ids = Readonly<Record<string, string>>;
const NO_ROW = '0';

const removeCodesOf = command((db, p: Ids) => db.deleteFrom('authorization_code').where('family_id', 'in', idsIn(p)));
const removeFamilies = command((db, p: Ids) => db.deleteFrom('token_family').where('id', 'in', idsIn(p)));

const idsIn = (p: Ids): string[] => POSITIONS.map((position) => p[position] ?? NO_ROW);

/** The ids as the parameters of as many statements as it takes. No row has the id that fills the last one. */
function chunksOf(families: readonly { readonly id: string }[]): readonly Ids[] {
  const chunks: Ids[] = [];
  for (let from = 0; from < families.length; from += BATCH_SIZE) {
    chunks.push(Object.fromEntries(POSITIONS.map((name, index) => [name, families[from + index]?.id ?? NO_ROW])));
  }
  return chunks;
}

/**
 * Removes the token families that nothing depends on any more, with their redeemed codes, and leaves the others to a later review.
 * @returns how many it looked at, and how many of them it removed
 */
export function* reviewFamilies(p: {
  readonly now: number;
  readonly before: number;
  readonly limit: number;
}): Work<{ readonly handled: number; readonly removed: number }> {
  const families = yield* familiesUnderReview(p);
  const old: FamilyUnderReview[] = [];
  for (const family of families) {
    const until = neededUntil(family);
    if (until <= p.now) old.push(family);
    else yield* postponeReview({ familyId: family.id, until });
  }
  // Grants, codes and families are locked in this order wherever they are changed together.
  for (const [grantId, at] of lastUses(old)) yield* recordLastUse({ grantId, at });
  const chunks = chunksOf(old);
  for (const ids of chunks) yield* removeCodesOf(ids);
  for (const ids of chunks) yield* removeFamilies(ids);
  return { handled: families.length, removed: old.length };
}

/** When each grant was last used, by those of its families that are removed; in the order of their ids. */
function lastUses(families: readonly FamilyUnderReview[]): readonly (readonly [grantId: string, at: number])[] {
  const uses = new Map<string, number>();
  for (const { grantId, lastIssuedAt, grantRevokedAt } of families) {
    if (grantRevokedAt === null) uses.set(grantId, Math.max(lastIssuedAt, uses.get(grantId) ?? 0));
  }
  return [...uses].sort(([one], [other]) => (BigInt(one) < BigInt(other) ? -1 : 1));
}

/** The review that is due for the longest time. Families of a version without reviews have the time 0, and have not been due since. */
export const oldestReviewAt = one(
  (db, p: { before: number }) =>
    db
      .selectFrom('token_family')
      .select('review_at')
      .where('review_at', '>', 0)
      .where('review_at', '<=', p.before)
      .orderBy('review_at')
      .limit(1),
  (row) => row.review_at,
);
