import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import { type KeptChange, keepChange, withoutOpenings } from '../platform/kept-changes.ts';
import type { Settings } from '../platform/settings.ts';

/** What has settings. Those of other providers are kept by `upstreams/act-store.ts`. */
export type SettingKind = 'app' | 'organization' | 'group';

export interface SettingOwner {
  readonly kind: SettingKind;
  readonly id: string;
}

/** Who changes a setting: an operator, or undefined for the command line on the server. */
export interface SettingActor {
  readonly operator?: { readonly id: string } | undefined;
}

interface Key {
  readonly operatorId: string;
  readonly clientId: string | null;
  readonly organizationId: string | null;
  readonly groupId: string | null;
}

const keyOf = (operatorId: string, { kind, id }: SettingOwner): Key => ({
  operatorId,
  clientId: kind === 'app' ? id : null,
  organizationId: kind === 'organization' ? id : null,
  groupId: kind === 'group' ? id : null,
});

const toChanges = ({ changes }: { readonly changes: string }): readonly KeptChange[] => JSON.parse(changes);

/** One of the three ids is given: nothing equals null. */
const find = one(
  (db, p: Key) =>
    db
      .selectFrom('setting_change')
      .select(['id', 'changes'])
      .where('operator_id', '=', p.operatorId)
      .where((eb) =>
        eb.or([
          eb('client_id', '=', p.clientId),
          eb('organization_id', '=', p.organizationId),
          eb('group_id', '=', p.groupId),
        ]),
      ),
  (row) => ({ id: row.id, changes: toChanges(row) }),
);

const insert = command((db, p: Key & { changes: string; now: number }) =>
  db.insertInto('setting_change').values({
    operator_id: p.operatorId,
    client_id: p.clientId,
    organization_id: p.organizationId,
    group_id: p.groupId,
    changes: p.changes,
    acted_at: p.now,
  }),
);

const update = command((db, p: { id: string; changes: string; now: number }) =>
  db.updateTable('setting_change').set({ changes: p.changes, acted_at: p.now }).where('id', '=', p.id),
);

/**
 * Keeps what settings had before an operator changed them, in the unit of work that does it and holds the lock of what has them. A change of
 * nothing is not kept.
 * @param table how a change of each of them is undone
 */
export function* keepSettingChange(
  { operator }: SettingActor,
  owner: SettingOwner,
  change: KeptChange,
  table: Settings,
): Work<void> {
  if (operator === undefined || Object.keys(change.fields).length === 0) return;
  const key = keyOf(operator.id, owner);
  const found = yield* find(key);
  const changes = JSON.stringify(keepChange(found?.changes ?? [], change, table));
  if (found === undefined) yield* insert({ ...key, changes, now: change.at });
  else yield* update({ id: found.id, changes, now: change.at });
}

const remove = command((db, p: { id: string }) => db.deleteFrom('setting_change').where('id', '=', p.id));

/**
 * Forgets what an operator opened of some settings from one instant on, and before another one: it was undone, and who sets them again has
 * decided. What the operator closed stays on record.
 */
export function* forgetSettings(
  { operatorId, since, until }: { readonly operatorId: string; readonly since: number; readonly until: number },
  owner: SettingOwner,
  names: readonly string[],
  table: Settings,
): Work<void> {
  const found = names.length === 0 ? undefined : yield* find(keyOf(operatorId, owner));
  if (found === undefined) return;
  const changes = withoutOpenings(found.changes, { since, until }, names, table);
  if (changes.length === 0) yield* remove({ id: found.id });
  else yield* update({ id: found.id, changes: JSON.stringify(changes), now: changes.at(-1)?.at ?? since });
}

/** What an operator changed of one app, organization or group. */
export function* settingChangesOf(operatorId: string, owner: SettingOwner): Work<readonly KeptChange[]> {
  return (yield* find(keyOf(operatorId, owner)))?.changes ?? [];
}

export interface SettingChanges {
  readonly owner: SettingOwner;
  readonly changes: readonly KeptChange[];
}

/** What an operator changed at an instant or later. */
export const settingChangesSince = many(
  (db, p: { operatorId: string; since: number }) =>
    db
      .selectFrom('setting_change')
      .select(['client_id', 'organization_id', 'group_id', 'changes'])
      .where('operator_id', '=', p.operatorId)
      .where('acted_at', '>=', p.since)
      .orderBy('id'),
  (row): SettingChanges => ({ owner: ownerOf(row), changes: toChanges(row) }),
);

/** What each operator changed of an organization. */
export const settingChangesOfOrganization = many(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('setting_change')
      .select(['operator_id', 'changes'])
      .where('organization_id', '=', p.organizationId)
      .orderBy('id'),
  (row) => ({ operatorId: row.operator_id, changes: toChanges(row) }),
);

function ownerOf(row: {
  readonly client_id: string | null;
  readonly organization_id: string | null;
  readonly group_id: string | null;
}): SettingOwner {
  if (row.client_id !== null) return { kind: 'app', id: row.client_id };
  if (row.organization_id !== null) return { kind: 'organization', id: row.organization_id };
  return { kind: 'group', id: row.group_id ?? '0' };
}
