import { type ClientSetting, clientBefore, putClientBack, SETTINGS_OF_APP } from '../../clients/put-back.ts';
import { findClient } from '../../clients/store.ts';
import { GROUP_SETTINGS } from '../../groups/settings.ts';
import { findGroup } from '../../groups/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { INSTALLATION, type Place } from '../../operators/rights.ts';
import {
  forgetSettings,
  type SettingKind,
  type SettingOwner,
  settingChangesSince,
} from '../../operators/setting-store.ts';
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from '../../organizations/settings.ts';
import { findOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { changesSince, type KeptChange, openedSince } from '../../platform/kept-changes.ts';
import type { KeptSetting } from '../../platform/settings.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { UpstreamRights } from '../../upstreams/act-store.ts';
import { groupNamesBefore, type NameBefore, putGroupNamesBack } from '../access/group-names.ts';
import type { Eased } from '../sign-in/end-issued.ts';
import { organizationBefore, putOrganizationBack } from '../upstreams/organization-settings.ts';
import { rightsLeft } from '../upstreams/undo-acts.ts';
import { endsUpstreams, endsWithin, type Suspect } from './suspects.ts';

/** A setting that is put back. */
export type SettingName =
  | ClientSetting
  | keyof OrganizationSettings
  | KeptSetting<typeof GROUP_SETTINGS>
  | keyof UpstreamRights;

/** What operators changed of an app, an organization or a group that may let somebody in; of another provider, what stays of it. */
export interface ChangedSettings {
  readonly kind: SettingKind | 'upstream';
  readonly id: string;
  readonly name: string;
  /** What still differs from what it was before. */
  readonly fields: readonly SettingName[];
  /**
   * What stays of it: what was closed is not given again, it is not known what it was, somebody else changed it since, or it is at odds with what
   * somebody else changed. Also what was opened, and is closed again: what was issued meanwhile ends.
   */
  readonly left: readonly SettingName[];
  /** Whether an app is disabled with it, because what is left of it is no registration. */
  readonly disables: boolean;
}

/** How a change of each setting is undone. */
const TABLES = { app: SETTINGS_OF_APP, organization: ORGANIZATION_SETTINGS, group: GROUP_SETTINGS };

/** What a person needs to change a setting. */
function permissionFor(kind: SettingKind, name: string): Permission {
  if (kind === 'group') return 'groups.manage';
  if (kind === 'organization') return name === 'onlyUpstreamId' ? 'upstreams.manage' : 'organizations.update';
  return name === 'access' || name === 'requireSecondFactor' ? 'apps.assign' : 'apps.manage';
}

/** Where something with settings is; undefined where it is gone. */
function* placeOf({ kind, id }: SettingOwner): Work<Place | undefined> {
  if (kind === 'app') return yield* findClient({ id });
  if (kind === 'group') {
    const group = yield* findGroup({ id });
    return group && { ...INSTALLATION, organizationId: group.organizationId };
  }
  const organization = yield* findOrganization({ id });
  return organization && { ...INSTALLATION, organizationId: organization.id };
}

/** The part of a change that does not go on. */
function endingPart(ends: (name: string) => boolean, change: KeptChange): KeptChange {
  return {
    at: change.at,
    fields: Object.fromEntries(Object.entries(change.fields).filter(([name]) => ends(name))),
    unclear: (change.unclear ?? []).filter(ends),
  };
}

interface OwnerChanges extends SettingOwner {
  readonly changes: readonly KeptChange[];
  /** Those whose changes they are. */
  readonly by: readonly Changer[];
}

interface Changer extends Pick<Suspect, 'id' | 'since' | 'until'> {
  /** Whether what they changed of a field does not go on. */
  readonly ends: (name: string) => boolean;
}

/** What operators changed, by what has the settings, always in this order, so that no two units of work wait for each other. */
function* changesOf(suspects: readonly Suspect[]): Work<Readonly<Record<SettingKind, readonly OwnerChanges[]>>> {
  const found = new Map<string, SettingOwner & { readonly changes: KeptChange[]; readonly by: Changer[] }>();
  for (const suspect of suspects) {
    const { id: operatorId, since, until, within, keeps } = suspect;
    for (const { owner, changes } of yield* settingChangesSince({ operatorId, since })) {
      const place = yield* placeOf(owner);
      if (place === undefined || !endsWithin(within, place)) continue;
      const key = `${owner.kind} ${owner.id}`;
      const known = found.get(key) ?? { ...owner, changes: [], by: [] };
      found.set(key, known);
      const ends = (name: string): boolean => !keeps(permissionFor(owner.kind, name), place);
      known.by.push({ id: operatorId, since, until, ends });
      const ending = changesSince(changes, since, until);
      known.changes.push(...ending.map((change) => endingPart(ends, change)));
    }
  }
  const sorted = [...found.values()].sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  const of = (kind: SettingKind) => sorted.filter((one) => one.kind === kind);
  return { app: of('app'), organization: of('organization'), group: of('group') };
}

const isAny = ({ fields, left }: ChangedSettings): boolean => fields.length + left.length > 0;

const ofGroups = (names: readonly NameBefore[]): readonly ChangedSettings[] =>
  names.map(({ group: { id, name }, isPutBack, isLeft }) => ({
    ...{ kind: 'group', id, name },
    fields: isPutBack ? ['name'] : [],
    left: isLeft ? ['name'] : [],
    disables: false,
  }));

/** What stays of what operators changed of other providers. The rest is told, and put back, with what else they did to these. */
export function* leftOfUpstreams(suspects: readonly Suspect[]): Work<readonly ChangedSettings[]> {
  return (yield* rightsLeft(suspects.filter(endsUpstreams))).map(({ upstreamId: id, name, left }) => ({
    ...{ kind: 'upstream', id, name },
    ...{ fields: [], left, disables: false },
  }));
}

/** What operators changed that may let somebody in, as far as it still counts. */
export function* settingsChangedBy(suspects: readonly Suspect[]): Work<readonly ChangedSettings[]> {
  const changed = yield* changesOf(suspects);
  const found: ChangedSettings[] = [];
  for (const { kind, id, changes } of changed.app) {
    const client = yield* findClient({ id });
    if (client === undefined) continue;
    const { fields, left, disables } = yield* clientBefore(client, changes);
    found.push({ kind, id, name: client.name, fields, left, disables });
  }
  for (const { kind, id, changes } of changed.organization) {
    const before = yield* organizationBefore(id, changes);
    if (before === undefined) continue;
    const { name, fields, left } = before;
    found.push({ kind, id, name, fields, left, disables: false });
  }
  const groups = ofGroups(yield* groupNamesBefore(changed.group));
  return [...found, ...groups, ...(yield* leftOfUpstreams(suspects))].filter(isAny);
}

/**
 * Puts back what operators changed, inside a unit of work. Of an app of which they had opened anything, everything ends that was issued. The
 * caller has ended what they did to other providers, and then ends what was issued to the members of organizations (`endIssuedSince`).
 */
export function* putSettingsBack(
  suspects: readonly Suspect[],
  origin: Origin,
  now: number,
): Work<{ readonly settings: readonly ChangedSettings[]; readonly eased: readonly Eased[] }> {
  const changed = yield* changesOf(suspects);
  const settings: ChangedSettings[] = [];
  const eased: Eased[] = [];
  for (const { kind, id, changes } of changed.organization) {
    const before = yield* putOrganizationBack(id, changes, origin, now);
    if (before === undefined) continue;
    const { name, fields, left, openedSince: since } = before;
    settings.push({ kind, id, name, fields, left, disables: false });
    if (since !== undefined) eased.push({ organizationId: id, since });
  }
  for (const { kind, id, changes } of changed.app) {
    const before = yield* putClientBack(id, changes, origin, now);
    if (before === undefined) continue;
    const { client, fields, left, disables } = before;
    settings.push({ kind, id, name: client.name, fields, left, disables });
  }
  const groups = ofGroups(yield* putGroupNamesBack(changed.group, origin, now));
  yield* forgetEnded(changed, [...settings, ...groups]);
  return { settings: [...settings, ...groups].filter(isAny), eased };
}

/** Forgets what was put back, and what was opened: the same end once more undoes nothing that was decided since. */
function* forgetEnded(
  changed: Readonly<Record<SettingKind, readonly OwnerChanges[]>>,
  settings: readonly ChangedSettings[],
): Work<void> {
  for (const { kind, id, changes, by } of Object.values(changed).flat()) {
    const putBack = settings.find((one) => one.kind === kind && one.id === id)?.fields ?? [];
    const names = [...new Set([...putBack, ...openedSince(changes, TABLES[kind]).keys()])];
    for (const { id: operatorId, since, until, ends } of by) {
      yield* forgetSettings({ operatorId, since, until }, { kind, id }, names.filter(ends), TABLES[kind]);
    }
  }
}
