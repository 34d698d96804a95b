import { record } from '../../audit/audit.ts';
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from '../../organizations/settings.ts';
import { findOrganization, lockOrganization, saveRequirement } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { fieldsLeft, isGiven, type KeptChange, openedSince, putBack } from '../../platform/kept-changes.ts';
import { keptSettings } from '../../platform/settings.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { findUpstreamOfOrganization } from '../../upstreams/only-store.ts';
import { findUpstream, holdUpstream } from '../../upstreams/store.ts';
import { setOnlyUpstream } from './only-upstream.ts';

const NAMES = keptSettings(ORGANIZATION_SETTINGS);

/** How an organization is without what operators changed. */
export interface OrganizationBefore {
  readonly name: string;
  /** What differs now, as it was. */
  readonly wanted: Partial<OrganizationSettings>;
  readonly fields: readonly (keyof OrganizationSettings)[];
  /** What stays closed, what somebody else changed since, what cannot be as it was, or what was opened, and is closed again. */
  readonly left: readonly (keyof OrganizationSettings)[];
  /** Since when anything was open, whatever became of that; undefined where nothing was opened. */
  readonly openedSince: number | undefined;
}

/**
 * How an organization is without some changes: what is put back where they end; undefined where there is no such organization.
 * @param readUpstream `holdUpstream` where it is put back
 */
export function* organizationBefore(
  id: string,
  changes: readonly KeptChange[],
  readUpstream = findUpstream,
): Work<OrganizationBefore | undefined> {
  const organization = yield* findOrganization({ id });
  if (organization === undefined) return undefined;
  const { name, requireSecondFactor } = organization;
  const onlyUpstreamId = (yield* findUpstreamOfOrganization({ organizationId: id })) ?? null;
  const settings = { requireSecondFactor, onlyUpstreamId };
  const { onlyUpstreamId: upstreamId, ...others } = putBack<OrganizationSettings>(
    settings,
    changes,
    ORGANIZATION_SETTINGS,
  );
  const isThere = upstreamId == null || (yield* readUpstream({ id: upstreamId })) !== undefined;
  const isTheirs = upstreamId != null && isGiven(changes, 'onlyUpstreamId', upstreamId);
  const isWanted = upstreamId !== undefined && isThere && !isTheirs;
  const wanted = isWanted ? { ...others, onlyUpstreamId: upstreamId } : others;
  const staying = fieldsLeft(settings, changes, ORGANIZATION_SETTINGS);
  const fields = NAMES.filter((field) => field in wanted);
  const opened = openedSince(changes, ORGANIZATION_SETTINGS);
  const left = NAMES.filter((field) => staying.includes(field) || (opened.has(field) && !(field in wanted)));
  return { name, wanted, fields, left, openedSince: opened.size === 0 ? undefined : Math.min(...opened.values()) };
}

/** Puts back what operators changed of an organization, inside a unit of work. */
export function* putOrganizationBack(
  id: string,
  changes: readonly KeptChange[],
  origin: Origin,
  now: number,
): Work<OrganizationBefore | undefined> {
  yield* lockOrganization({ id });
  const before = yield* organizationBefore(id, changes, holdUpstream);
  if (before === undefined || before.fields.length === 0) return before;
  const { requireSecondFactor, onlyUpstreamId } = before.wanted;
  if (requireSecondFactor !== undefined) yield* saveRequirement(id, requireSecondFactor);
  if (onlyUpstreamId !== undefined) yield* setOnlyUpstream(id, onlyUpstreamId);
  const details = { organizationId: id, ...before.wanted, putBack: true };
  yield* record({ at: now, type: 'organization.updated', origin, details });
  return before;
}
