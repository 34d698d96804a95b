import { formatScopes, storedScopes } from '../claims/scopes.ts';
import { storedResources } from '../clients/rules/resources.ts';
import type { Work } from '../platform/database/database.ts';
import { all, run, statement } from '../platform/database/statement.ts';
import { grantIdsOf } from './code-store.ts';
import type { Leaf } from './standing-store.ts';

export interface NewFamily {
  readonly id: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly accountGeneration: string;
  readonly clientGeneration: string;
  readonly scopes: string;
  /** See `formatResources`. */
  readonly resources?: string | null;
  readonly sid: string;
  readonly authTime: number;
  /** A JSON text. */
  readonly amr: string;
  readonly acr: string | null;
  readonly claims: string | null;
  readonly leaf: Leaf;
  readonly createdAt: number;
  readonly endsAt: number;
}

const insert = statement((db, p: Required<Omit<NewFamily, 'leaf'>> & Leaf) =>
  db.insertInto('token_family').values({
    id: p.id,
    grant_id: p.grantId,
    account_id: p.accountId,
    client_id: p.clientId,
    account_generation: p.accountGeneration,
    client_generation: p.clientGeneration,
    scopes: p.scopes,
    resources: p.resources,
    sid: p.sid,
    auth_time: p.authTime,
    amr: p.amr,
    acr: p.acr,
    sequence: 1,
    leaf_jti: p.jti,
    leaf_kid: p.kid,
    leaf_issued_at: p.issuedAt,
    leaf_expires_at: p.expiresAt,
    predecessor_jti: null,
    rotated_at: null,
    created_at: p.createdAt,
    ends_at: p.endsAt,
    dead_at: null,
    dead_reason: null,
    claims: p.claims,
  }),
);

const rotate = statement((db, p: Leaf & { familyId: string; predecessorJti: string; now: number }) =>
  db
    .updateTable('token_family')
    .set((eb) => ({
      sequence: eb('sequence', '+', 1),
      leaf_jti: p.jti,
      leaf_kid: p.kid,
      leaf_issued_at: p.issuedAt,
      leaf_expires_at: p.expiresAt,
      predecessor_jti: p.predecessorJti,
      rotated_at: p.now,
    }))
    .where('id', '=', p.familyId),
);

const kill = statement((db, p: { familyId: string; reason: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: p.reason })
    .where('id', '=', p.familyId)
    .where('dead_at', 'is', null),
);

const killOne = statement((db, p: { accountId: string; sid: string; reason: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: p.reason })
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('dead_at', 'is', null),
);
const killOthers = statement((db, p: { accountId: string; sid: string; reason: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: p.reason })
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '<>', p.sid)
    .where('dead_at', 'is', null),
);

const withdrawn = statement((db, p: { grantId: string }) =>
  db
    .selectFrom('token_family')
    .select('withdrawn_scopes')
    .distinct()
    .where('grant_id', '=', p.grantId)
    .where('dead_at', 'is', null),
);
const withdraw = statement((db, p: { grantId: string; before: string; after: string }) =>
  db
    .updateTable('token_family')
    .set({ withdrawn_scopes: p.after })
    .where('grant_id', '=', p.grantId)
    .where('withdrawn_scopes', '=', p.before)
    .where('dead_at', 'is', null),
);
const withResources = statement((db, p: { grantId: string }) =>
  db
    .selectFrom('token_family')
    .select(['id', 'resources'])
    .where('grant_id', '=', p.grantId)
    .where('resources', 'is not', null)
    .where('dead_at', 'is', null),
);

export function* insertFamily({ leaf, ...family }: NewFamily): Work<void> {
  yield* run(insert, { resources: null, ...family, ...leaf });
}

/** Puts a successor in the place of the live refresh token. The caller holds the family's lock. */
export function* rotateFamily(familyId: string, predecessorJti: string, leaf: Leaf, now: number): Work<void> {
  yield* run(rotate, { familyId, predecessorJti, now, ...leaf });
}

/** Ends a family: none of its tokens works from now on. */
export function* killFamily(
  familyId: string,
  reason: 'code replayed' | 'refresh token reused' | 'token revoked' | 'resource withdrawn',
  now: number,
): Work<void> {
  yield* run(kill, { familyId, reason, now });
}

/** Ends every family of one session, or of all but one. */
export function* killFamiliesOf(
  accountId: string,
  which: { readonly sid: string } | { readonly except: string },
  now: number,
): Work<void> {
  const reason = 'session ended';
  if ('sid' in which) yield* run(killOne, { accountId, sid: which.sid, reason, now });
  else yield* run(killOthers, { accountId, sid: which.except, reason, now });
}

/** Takes scopes from every family of a grant, for good. */
export function* withdrawFromFamilies(grantId: string, scopes: readonly string[]): Work<void> {
  for (const { withdrawn_scopes: before } of yield* all(withdrawn, { grantId })) {
    yield* run(withdraw, { grantId, before, after: formatScopes([...storedScopes(before), ...scopes]) });
  }
}

/** Ends the families of a grant that are for one of these resources. */
export function* killFamiliesFor(grantId: string, resources: ReadonlySet<string>, now: number): Work<void> {
  for (const family of yield* all(withResources, { grantId })) {
    const concerned = storedResources(family.resources)?.some((resource) => resources.has(resource));
    if (concerned) yield* killFamily(family.id, 'resource withdrawn', now);
  }
}
