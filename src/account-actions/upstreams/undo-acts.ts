import { record } from '../../audit/audit.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import {
  changesSince,
  fieldsLeft,
  type KeptChange,
  openedSince,
  putBack,
  valueBefore,
} from '../../platform/kept-changes.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import {
  forgetRights,
  UPSTREAM_RIGHTS,
  UPSTREAM_SETTINGS,
  type UpstreamActKind,
  type UpstreamRights,
  upstreamActsSince,
} from '../../upstreams/act-store.ts';
import { claimDomains } from '../../upstreams/domain-store.ts';
import {
  disabled as disabledNow,
  findUpstream,
  lockUpstream,
  lockUpstreams,
  saveUpstream,
  type Upstream,
} from '../../upstreams/store.ts';
import type { Eased } from '../sign-in/end-issued.ts';

/** An operator of whose acts on upstreams is asked, and which acts: those from one instant on, and before another one. */
export interface MakerOfUpstreams {
  readonly id: string;
  readonly since: number;
  readonly until: number;
}

/** An upstream, and what operators did to it that still counts. */
export interface TouchedUpstream {
  readonly upstreamId: string;
  readonly name: string;
  readonly acts: readonly UpstreamActKind[];
}

interface ActsOnUpstream {
  readonly kinds: ReadonlySet<UpstreamActKind>;
  readonly makers: ReadonlySet<MakerOfUpstreams>;
  readonly changes: readonly KeptChange[];
}

/** Whether an upstream was active before: those who enabled it then gave it nothing. */
const wasActive = (status: readonly KeptChange[]): boolean => valueBefore(status, 'status') === 'active';

/** What operators did, by upstream, in the order in which they first did something to each. */
function* actsOf(makers: readonly MakerOfUpstreams[]): Work<ReadonlyMap<string, ActsOnUpstream>> {
  const found = new Map<
    string,
    {
      kinds: Set<UpstreamActKind>;
      makers: Set<MakerOfUpstreams>;
      changes: KeptChange[];
      status: KeptChange[];
    }
  >();
  for (const maker of makers) {
    const { id: operatorId, since, until } = maker;
    for (const { upstreamId, kind, changes, actedAt } of yield* upstreamActsSince({ operatorId, since })) {
      // Of changed fields, each is kept with its time.
      if (kind !== 'rights' && kind !== 'status' && actedAt >= until) continue;
      const acts = found.get(upstreamId) ?? { kinds: new Set(), makers: new Set(), changes: [], status: [] };
      const ending = changesSince(changes, since, until);
      acts.makers.add(maker);
      if (kind === 'status') acts.status.push(...ending);
      else {
        acts.kinds.add(kind);
        acts.changes.push(...ending);
      }
      found.set(upstreamId, acts);
    }
  }
  for (const { kinds, status } of found.values()) if (wasActive(status)) kinds.delete('enabled');
  return found;
}

/** The rights that differ where what was opened of them ends. */
const rightsBefore = (upstream: Upstream, { changes }: ActsOnUpstream): Partial<UpstreamRights> =>
  putBack<UpstreamRights>(upstream, changes, UPSTREAM_SETTINGS);

/** What operators did to upstreams, as far as it still counts. */
export function* upstreamsTouchedBy(makers: readonly MakerOfUpstreams[]): Work<readonly TouchedUpstream[]> {
  const touched: TouchedUpstream[] = [];
  for (const [upstreamId, acts] of yield* actsOf(makers)) {
    const upstream = yield* findUpstream({ id: upstreamId });
    if (upstream === undefined) continue;
    const counts = (kind: UpstreamActKind): boolean =>
      kind === 'rights' ? Object.keys(rightsBefore(upstream, acts)).length > 0 : upstream.status === 'active';
    const kinds = [...acts.kinds].filter(counts);
    if (kinds.length > 0) touched.push({ upstreamId, name: upstream.name, acts: kinds });
  }
  return touched;
}

/**
 * Rights of an upstream that operators changed and that stay: they were closed, somebody else changed them since, or nobody can say what they
 * were. Also those that were opened, and are closed again.
 */
export interface LeftRights {
  readonly upstreamId: string;
  readonly name: string;
  readonly left: readonly (keyof UpstreamRights)[];
}

/** Which rights of upstreams stay as they are where operators' acts end; of those that they registered, none counts any more. */
export function* rightsLeft(makers: readonly MakerOfUpstreams[]): Work<readonly LeftRights[]> {
  const found: LeftRights[] = [];
  for (const [upstreamId, acts] of yield* actsOf(makers)) {
    const { kinds, changes } = acts;
    const upstream = kinds.has('registered') ? undefined : yield* findUpstream({ id: upstreamId });
    if (upstream === undefined) continue;
    const staying = new Set<string>(fieldsLeft<UpstreamRights>(upstream, changes, UPSTREAM_SETTINGS));
    const opened = openedSince(changes, UPSTREAM_SETTINGS);
    const before = rightsBefore(upstream, acts);
    const left = UPSTREAM_RIGHTS.filter((name) => staying.has(name) || (opened.has(name) && !(name in before)));
    if (left.length > 0) found.push({ upstreamId, name: upstream.name, left });
  }
  return found;
}

/**
 * Ends what operators did to upstreams, inside a unit of work: those that they registered, or enabled where they were not active before, are disabled, and are authoritative for no
 * domain where they were registered; whom the others let in, and as what, is put back to what it was. As whom we are known there stays.
 * @returns the upstreams that are disabled, through which sessions go on until they are ended, and which were open to others since when
 */
export function* endUpstreamActs(
  makers: readonly MakerOfUpstreams[],
  origin: Origin,
  now: number,
): Work<{ readonly disabled: readonly Upstream[]; readonly eased: readonly Eased[] }> {
  const disabled: Upstream[] = [];
  const eased: Eased[] = [];
  const acts = yield* actsOf(makers);
  if (acts.size > 0) yield* lockUpstreams({});
  // Always in this order, so that no two wait for each other.
  const order = [...acts].sort(([one], [other]) => (BigInt(one) < BigInt(other) ? -1 : 1));
  for (const [id, done] of order) {
    const upstream = yield* lockUpstream({ id });
    if (upstream === undefined) continue;
    const rights = yield* putRightsBack(upstream, done, origin, now);
    const opened = openedSince(done.changes, UPSTREAM_SETTINGS);
    if (opened.size > 0) {
      eased.push({ upstreamId: id, since: Math.min(...opened.values()) });
      yield* forget(id, done, [...opened.keys()]);
    }
    if (!done.kinds.has('registered') && !done.kinds.has('enabled')) continue;
    const ended = disabledNow(rights, now);
    disabled.push(ended);
    if (rights.status === 'disabled') continue;
    yield* saveUpstream(ended);
    const details = { upstreamId: id, name: upstream.name, endSessions: true };
    yield* record({ at: now, type: 'upstream.disabled', origin, details });
  }
  return { disabled, eased };
}

/** What was undone, or ended, is forgotten: who decides the same afterwards decides it for themselves. */
function* forget(upstreamId: string, { makers }: ActsOnUpstream, fields: readonly string[]): Work<void> {
  for (const { id: operatorId, since, until } of makers) {
    yield* forgetRights({ upstreamId, operatorId, since, until, fields });
  }
}

/** Ends whom an upstream lets in since; one that was registered was authoritative for nothing. */
function* putRightsBack(upstream: Upstream, acts: ActsOnUpstream, origin: Origin, now: number): Work<Upstream> {
  const earlier = acts.kinds.has('registered')
    ? upstream.domains.length > 0 && { domains: [] }
    : rightsBefore(upstream, acts);
  const fields = earlier === false ? [] : Object.keys(earlier);
  if (earlier === false || fields.length === 0) return upstream;
  const wanted: Upstream = { ...upstream, ...earlier, updatedAt: now };
  const isAnybodys = wanted.signUp === 'domains' && wanted.domains.length === 0 && wanted.signUpDomains.length === 0;
  const signUp = isAnybodys ? 'nobody' : wanted.signUp;
  // What was read by the claims map of before, and waits for a second factor or a form, is not completed.
  const changed: Upstream = { ...wanted, signUp, generation: randomIdentifier() };
  yield* claimDomains(changed);
  yield* saveUpstream(changed);
  const { id: upstreamId, name } = upstream;
  yield* forget(upstreamId, acts, fields);
  const changedFields = isAnybodys ? [...new Set([...fields, 'signUp'])] : fields;
  const details = { upstreamId, name, fields: changedFields, putBack: true };
  yield* record({ at: now, type: 'upstream.updated', origin, details });
  return changed;
}
