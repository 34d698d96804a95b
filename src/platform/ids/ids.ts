import { type Clock, MINUTE, SECOND } from '../clock.ts';
import { randomIdentifier } from '../crypto/secrets.ts';
import type { Database } from '../database/database.ts';
import { formatHolder, instantAfter, leadOf } from './holder.ts';
import { type Host, thisHost } from './host.ts';
import { claimNode, countHeld, endLeases, extendLease, listHeld } from './lease-store.ts';
import { nextTick, snowflake, type Tick } from './snowflake.ts';

/** Makes ids that no other process on the same database makes. */
export interface Ids {
  /** @throws {StoreUnavailable} when the lease on the node number has run out and cannot be renewed */
  next(): Promise<string>;
  /**
   * Prolongs the lease on the node number, or takes one: a durable write.
   * @throws {StoreUnavailable} where the database takes no writes, or has no number left
   */
  renew(): Promise<void>;
  /**
   * Takes a node number where there is none, and renews its lease in good time, so that no request waits for either.
   * @throws {StoreUnavailable} where that cannot be done now
   */
  keep(): Promise<void>;
  /** How many node numbers are held, by all processes. */
  held(): Promise<number>;
  /** Gives the node number back, for good. */
  release(): Promise<void>;
}

/** A lease outlives three renewals that fail, and not for long a process that dies. */
const LEASE = 2 * MINUTE;
const RENEWAL = 30 * SECOND;

interface Lease {
  readonly node: number;
  /** As the database has it. */
  readonly holder: string;
  /** No id is made at or past this instant. */
  readonly endsAt: number;
  /** No id is made at an instant that is further than this past the stopwatch. */
  readonly lead: number;
}

/**
 * Ids under a node number that is leased from the database. Each has its instant in it, and the leases of a number cover instants
 * that do not overlap: an id is made at an instant before the end of its lease, and a number passes on for instants from that end
 * on. So no two processes make the same id, whatever their clocks say.
 *
 * Where a process has ended for certain, the next one on its machine ends its leases: see {@link instantAfter}.
 */
export function leasedIds(database: Database, clock: Clock, host: Host = thisHost()): Ids {
  const id = randomIdentifier();
  let lease: Lease | undefined;
  let last: Tick = { instant: 0, sequence: 0 };
  let renewing: Promise<void> | undefined;
  let looked = false;
  let released = false;

  const now = (): number => Math.max(clock(), last.instant);

  /** What a lease says that is made in this moment. */
  function newTerms(): (from: number) => Omit<Lease, 'node'> {
    const uptime = host.uptime();
    const began = host.stopwatch();
    return (from) => ({
      holder: formatHolder({ id, process: host.self, uptime, from }),
      endsAt: from + LEASE,
      lead: leadOf(host, from, began),
    });
  }

  async function renew(): Promise<void> {
    if (lease !== undefined && (await extend(lease))) return;
    lease = undefined;
    await claim();
  }

  async function extend(held: Lease): Promise<boolean> {
    const made = newTerms()(now());
    const terms = { ...made, endsAt: Math.max(held.endsAt, made.endsAt) };
    // Until it is known which of them the database has, both hold.
    lease = { ...held, lead: Math.min(held.lead, terms.lead) };
    const change = { node: held.node, holder: held.holder, endsAt: terms.endsAt };
    if (!(await database.commit(() => extendLease(change, terms.holder)))) return false;
    lease = { node: held.node, ...terms };
    return true;
  }

  async function claim(): Promise<void> {
    const ended = looked ? [] : await leasesOfTheDead();
    const terms = newTerms();
    const start = now();
    const { node, from } = await database.commit(function* () {
      yield* endLeases(ended);
      return yield* claimNode(start, terms);
    });
    looked = true;
    lease = { node, ...terms(from) };
    if (last.instant < from) last = { instant: from - 1, sequence: 4095 };
  }

  /** Leases of processes of this machine that have ended, each with an instant that no id of it has reached. */
  async function leasesOfTheDead() {
    const held = await database.read(() => listHeld(clock()));
    return held.flatMap((one) => {
      const endsAt = instantAfter(one.holder, one.endsAt, host);
      return endsAt === undefined ? [] : [{ ...one, endsAt }];
    });
  }

  function renewed(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    async next() {
      for (;;) {
        const tick = nextTick(last, clock());
        if (lease !== undefined && tick.instant < lease.endsAt && tick.instant <= host.stopwatch() + lease.lead) {
          last = tick;
          return snowflake(tick.instant, lease.node, tick.sequence);
        }
        await renewed();
      }
    },
    async renew() {
      if (!released) await renewed();
    },
    async keep() {
      if (!released && (lease === undefined || now() >= lease.endsAt - LEASE + RENEWAL)) await renewed();
    },
    held: () => database.read(() => countHeld(clock())),
    async release() {
      released = true;
      await renewing?.catch(() => {});
      const held = lease;
      if (held === undefined) return;
      lease = undefined;
      await database.commit(() => endLeases([{ ...held, endsAt: Math.max(clock(), last.instant + 1) }]));
    },
  };
}
