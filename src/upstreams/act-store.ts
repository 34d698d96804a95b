import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import { changeOf, type KeptChange, keepChange } from '../platform/kept-changes.ts';
import type { Upstream } from './store.ts';

/** What an operator did to an upstream through which somebody who held the operator's account or key may still get in. */
export type UpstreamActKind = 'registered' | 'enabled' | 'rights' | 'client';

/** Who acts: an operator, or undefined for the command line on the server. */
export interface UpstreamActor {
  readonly operator?: { readonly id: string } | undefined;
}

/** What says whom an upstream lets in, and as what. */
const RIGHTS = ['domains', 'signUp', 'signUpDomains', 'claimsMap'] as const satisfies readonly (keyof Upstream)[];
/** As whom we are known there. */
const CLIENT = ['clientId', 'sealedSecret', 'teamId', 'keyId'] as const satisfies readonly (keyof Upstream)[];

/** The fields that are put back where the change of them ends. */
export type UpstreamRights = Pick<Upstream, (typeof RIGHTS)[number]>;

interface ActKey {
  readonly upstreamId: string;
  readonly operatorId: string;
  readonly kind: UpstreamActKind;
}

const toChanges = ({ changes }: { readonly changes: string }): readonly KeptChange[] => JSON.parse(changes);

const findChanges = one(
  (db, p: ActKey) =>
    db
      .selectFrom('upstream_act')
      .select('changes')
      .where('operator_id', '=', p.operatorId)
      .where('upstream_id', '=', p.upstreamId)
      .where('kind', '=', p.kind),
  toChanges,
);

const upsert = command((db, p: ActKey & { changes: string; now: number }) =>
  db
    .insertInto('upstream_act')
    .values({
      upstream_id: p.upstreamId,
      operator_id: p.operatorId,
      kind: p.kind,
      changes: p.changes,
      acted_at: p.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['operator_id', 'upstream_id', 'kind']).doUpdateSet((eb) => ({
        changes: eb.ref('excluded.changes'),
        acted_at: eb.ref('excluded.acted_at'),
      })),
    ),
);

/**
 * Records what an operator does to an upstream, in the unit of work that does it and holds the upstream's lock. The latest counts; of
 * changed rights it keeps what they were.
 */
export function* recordUpstreamAct(
  { operator }: UpstreamActor,
  kind: UpstreamActKind,
  before: Upstream | undefined,
  after: Upstream,
): Work<void> {
  if (operator === undefined) return;
  const key = { upstreamId: after.id, operatorId: operator.id, kind };
  const now = after.updatedAt;
  const kept = kind === 'rights' ? ((yield* findChanges(key)) ?? []) : [];
  const changes = kind === 'rights' ? keepChange(kept, changeOf(before ?? after, after, RIGHTS, now)) : [];
  yield* upsert({ ...key, changes: JSON.stringify(changes), now });
}

/** The same of a change of fields: only what lets people in is recorded. */
export function* recordUpstreamChange(actor: UpstreamActor, before: Upstream, after: Upstream): Work<void> {
  const isChanged = (names: readonly (keyof Upstream)[]): boolean =>
    Object.keys(changeOf(before, after, names, after.updatedAt).fields).length > 0;
  if (isChanged(RIGHTS)) yield* recordUpstreamAct(actor, 'rights', before, after);
  if (isChanged(CLIENT)) yield* recordUpstreamAct(actor, 'client', before, after);
}

export interface UpstreamAct {
  readonly upstreamId: string;
  readonly kind: UpstreamActKind;
  readonly changes: readonly KeptChange[];
}

/** What an operator did to upstreams at an instant or later. */
export const upstreamActsSince = many(
  (db, p: { operatorId: string; since: number }) =>
    db
      .selectFrom('upstream_act')
      .select(['upstream_id', 'kind', 'changes'])
      .where('operator_id', '=', p.operatorId)
      .where('acted_at', '>=', p.since)
      .orderBy('id'),
  (row): UpstreamAct => ({
    upstreamId: row.upstream_id,
    kind: row.kind as UpstreamActKind,
    changes: toChanges(row),
  }),
);
