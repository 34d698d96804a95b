import { record } from '../../audit/audit.ts';
import type { Work } from '../../platform/database/database.ts';
import { type KeptChange, putBack } from '../../platform/kept-changes.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { type UpstreamActKind, type UpstreamRights, upstreamActsSince } from '../../upstreams/act-store.ts';
import { claimDomains } from '../../upstreams/domain-store.ts';
import { findUpstream, lockUpstream, saveUpstream, type Upstream } from '../../upstreams/store.ts';

/** An operator of whose acts on upstreams is asked, and which acts: those from an instant on. */
export interface MakerOfUpstreams {
  readonly id: string;
  readonly since: number;
}

/** An upstream, and what operators did to it that still counts. */
export interface TouchedUpstream {
  readonly upstreamId: string;
  readonly name: string;
  readonly acts: readonly UpstreamActKind[];
}

interface ActsOnUpstream {
  readonly kinds: ReadonlySet<UpstreamActKind>;
  readonly changes: readonly KeptChange[];
}

/** What operators did, by upstream, in the order in which they first did something to each. */
function* actsOf(makers: readonly MakerOfUpstreams[]): Work<ReadonlyMap<string, ActsOnUpstream>> {
  const found = new Map<string, { kinds: Set<UpstreamActKind>; changes: KeptChange[] }>();
  for (const { id: operatorId, since } of makers) {
    for (const { upstreamId, kind, changes } of yield* upstreamActsSince({ operatorId, since })) {
      const acts = found.get(upstreamId) ?? { kinds: new Set(), changes: [] };
      acts.kinds.add(kind);
      acts.changes.push(...changes.filter(({ at }) => at >= since));
      found.set(upstreamId, acts);
    }
  }
  return found;
}

/** Which of the rights that were changed are still as they were left. */
const rightsBefore = (upstream: Upstream, { changes }: ActsOnUpstream): Partial<UpstreamRights> =>
  putBack<UpstreamRights>(upstream, changes);

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
 * Ends what operators did to upstreams, inside a unit of work: those that they registered or enabled are disabled, and are authoritative for no
 * domain where they were registered; whom the others let in, and as what, is put back to what it was. As whom we are known there stays.
 * @returns the upstreams that are disabled, through which sessions go on until they are ended
 */
export function* endUpstreamActs(
  makers: readonly MakerOfUpstreams[],
  origin: Origin,
  now: number,
): Work<readonly Upstream[]> {
  const disabled: Upstream[] = [];
  const acts = yield* actsOf(makers);
  // Domains that a new upstream took are free before others get them back. Always in this order, so that no two wait for each other.
  const order = [...acts].sort(
    ([one, of], [other, to]) => rank(of) - rank(to) || (BigInt(one) < BigInt(other) ? -1 : 1),
  );
  for (const [id, done] of order) {
    const upstream = yield* lockUpstream({ id });
    if (upstream === undefined) continue;
    const rights = yield* putRightsBack(upstream, done, origin, now);
    if (!done.kinds.has('registered') && !done.kinds.has('enabled')) continue;
    const ended: Upstream = { ...rights, status: 'disabled', updatedAt: now };
    disabled.push(ended);
    if (rights.status === 'disabled') continue;
    yield* saveUpstream(ended);
    const details = { upstreamId: id, name: upstream.name, endSessions: true };
    yield* record({ at: now, type: 'upstream.disabled', origin, details });
  }
  return disabled;
}

const rank = ({ kinds }: ActsOnUpstream): number => (kinds.has('registered') ? 0 : 1);

/** Puts back whom an upstream lets in; one that was registered was authoritative for nothing. */
function* putRightsBack(upstream: Upstream, acts: ActsOnUpstream, origin: Origin, now: number): Work<Upstream> {
  const earlier = acts.kinds.has('registered')
    ? upstream.domains.length > 0 && { domains: [] }
    : rightsBefore(upstream, acts);
  const fields = earlier === false ? [] : Object.keys(earlier);
  if (earlier === false || fields.length === 0) return upstream;
  const wanted: Upstream = { ...upstream, ...earlier, updatedAt: now };
  const domains = yield* claimFree(wanted);
  const isAnybodys = wanted.signUp === 'domains' && domains.length === 0 && wanted.signUpDomains.length === 0;
  const changed: Upstream = { ...wanted, domains, signUp: isAnybodys ? 'nobody' : wanted.signUp };
  yield* saveUpstream(changed);
  const details = { upstreamId: upstream.id, name: upstream.name, fields, putBack: true };
  yield* record({ at: now, type: 'upstream.updated', origin, details });
  return changed;
}

/** Gives an upstream those of its domains that no other has. @returns them */
function* claimFree({ id, domains }: Pick<Upstream, 'id' | 'domains'>): Work<readonly string[]> {
  const taken = yield* claimDomains({ id, domains });
  return taken === undefined ? domains : yield* claimFree({ id, domains: domains.filter((one) => one !== taken) });
}
