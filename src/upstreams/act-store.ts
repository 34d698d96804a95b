import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import { changeOf, type KeptChange, keepChange, withoutOpenings } from '../platform/kept-changes.ts';
import { keptSettings, type Settings, type SettingTable } from '../platform/settings.ts';
import { added, ordered, shown } from '../platform/undo.ts';
import type { UpdateUpstreamRequest } from './schema.ts';
import { SIGN_UP_MODES, type Upstream } from './store.ts';

/** What an operator did to an upstream through which somebody who held the operator's account or key may still get in. */
export type UpstreamActKind = 'registered' | 'enabled' | 'rights' | 'client';

/** Who acts: an operator, or undefined for the command line on the server. */
export interface UpstreamActor {
  readonly operator: { readonly id: string } | undefined;
}

/** What a change of each field of an upstream is. */
export const UPSTREAM_SETTINGS = {
  displayName: 'free',
  position: 'free',
  // More of what the provider knows anyway. Which of it is written here, `claimsMap` says.
  scopes: 'free',
  // Of the secret; a reminder depends on it alone.
  secretExpiresAt: 'free',
  // Whom it lets in, and as what.
  signUp: ordered(...SIGN_UP_MODES),
  signUpDomains: added,
  domains: added,
  claimsMap: added,
  // As whom we are known there: acts of the kind `client`.
  clientId: 'act',
  clientSecret: 'act',
  privateKey: 'act',
  teamId: 'act',
  keyId: 'act',
} as const satisfies SettingTable<UpdateUpstreamRequest>;

/** The names of {@link UpstreamRights}. */
export const UPSTREAM_RIGHTS = keptSettings(UPSTREAM_SETTINGS);
/** As whom we are known there. */
const CLIENT = ['clientId', 'sealedSecret', 'teamId', 'keyId'] as const satisfies readonly (keyof Upstream)[];

/** The fields that are put back where the change of them ends. */
export type UpstreamRights = Pick<Upstream, (typeof UPSTREAM_RIGHTS)[number]>;

interface ActKey {
  readonly upstreamId: string;
  readonly operatorId: string;
  readonly kind: StoredKind;
}

/** Whether an upstream was active is kept as well. By itself it lets nobody in. */
type StoredKind = UpstreamActKind | 'status';

/** Of which fields it is kept what they were. */
const KEPT: Partial<Readonly<Record<StoredKind, Settings>>> = {
  rights: UPSTREAM_SETTINGS,
  status: { status: shown },
};

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
  kind: StoredKind,
  before: Upstream | undefined,
  after: Upstream,
): Work<void> {
  if (operator === undefined) return;
  const key = { upstreamId: after.id, operatorId: operator.id, kind };
  const now = after.updatedAt;
  const table = KEPT[kind];
  let changes: readonly KeptChange[] = [];
  if (table !== undefined) {
    const change = changeOf<Upstream>(before ?? after, after, keptSettings(table) as readonly (keyof Upstream)[], now);
    changes = keepChange((yield* findChanges(key)) ?? [], change, table);
  }
  yield* upsert({ ...key, changes: JSON.stringify(changes), now });
}

/** The same of a change of the status. */
export function* recordUpstreamStatus(actor: UpstreamActor, before: Upstream, after: Upstream): Work<void> {
  yield* recordUpstreamAct(actor, 'status', before, after);
  if (after.status === 'active') yield* recordUpstreamAct(actor, 'enabled', before, after);
}

const updateChanges = command((db, p: ActKey & { changes: string }) =>
  db
    .updateTable('upstream_act')
    .set({ changes: p.changes })
    .where('operator_id', '=', p.operatorId)
    .where('upstream_id', '=', p.upstreamId)
    .where('kind', '=', p.kind),
);

/**
 * Forgets what an operator opened of some rights from one instant on, and before another one, in the unit of work that undoes it and holds the
 * upstream's lock: who decides the same afterwards decides it for themselves.
 */
export function* forgetRights({
  since,
  until,
  fields,
  ...of
}: Omit<ActKey, 'kind'> & {
  readonly since: number;
  readonly until: number;
  readonly fields: readonly string[];
}): Work<void> {
  const key: ActKey = { ...of, kind: 'rights' };
  const found = yield* findChanges(key);
  if (found === undefined) return;
  const rest = withoutOpenings(found, { since, until }, fields, UPSTREAM_SETTINGS);
  yield* updateChanges({ ...key, changes: JSON.stringify(rest) });
}

/** Records a change of fields, as {@link recordUpstreamAct} does: only what lets people in. */
export function* recordUpstreamChange(actor: UpstreamActor, before: Upstream, after: Upstream): Work<void> {
  const isChanged = (names: readonly (keyof Upstream)[]): boolean =>
    Object.keys(changeOf(before, after, names, after.updatedAt).fields).length > 0;
  if (isChanged(UPSTREAM_RIGHTS)) yield* recordUpstreamAct(actor, 'rights', before, after);
  if (isChanged(CLIENT)) yield* recordUpstreamAct(actor, 'client', before, after);
}

export interface UpstreamAct {
  readonly upstreamId: string;
  readonly kind: StoredKind;
  readonly changes: readonly KeptChange[];
  /** When it was done last. */
  readonly actedAt: number;
}

/** What an operator did to upstreams at an instant or later. */
export const upstreamActsSince = many(
  (db, p: { operatorId: string; since: number }) =>
    db
      .selectFrom('upstream_act')
      .select(['upstream_id as upstreamId', 'kind', 'changes', 'acted_at as actedAt'])
      .where('operator_id', '=', p.operatorId)
      .where('acted_at', '>=', p.since)
      .orderBy('id'),
  (row): UpstreamAct => ({ ...row, kind: row.kind as StoredKind, changes: toChanges(row) }),
);

/** Who did what to an upstream by which it may let people in. */
export const actsOnUpstream = many(
  (db, p: { upstreamId: string }) =>
    db
      .selectFrom('upstream_act')
      .select(['operator_id', 'kind', 'changes', 'acted_at'])
      .where('upstream_id', '=', p.upstreamId)
      .where('kind', 'in', ['registered', 'enabled', 'rights'])
      .orderBy('id'),
  (row) => ({
    ...{ operatorId: row.operator_id, kind: row.kind as UpstreamActKind },
    ...{ changes: toChanges(row), actedAt: row.acted_at },
  }),
);
