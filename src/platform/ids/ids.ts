import { type Clock, MINUTE, SECOND } from '../clock.ts';
import { randomIdentifier } from '../crypto/secrets.ts';
import type { Database, Work } from '../database/database.ts';
import { type Host, thisHost } from './host.ts';
import { endOfLease, formatHolder, maxLead } from './lease.ts';
import { claimNode, countLeases, endLeases, extendLease, listLeases } from './lease-store.ts';

/** The epoch of the ids: 2024-01-01T00:00:00Z. */
export const SNOWFLAKE_EPOCH = 1_704_067_200_000;

const MAX_SEQUENCE = 4095;

/** Formats an id: 41 bits of milliseconds since the epoch, 10 bits of node, 12 bits of sequence, as a decimal string. */
export function snowflake(instant: number, node: number, sequence: number): string {
  return ((BigInt(instant - SNOWFLAKE_EPOCH) << 22n) | (BigInt(node) << 12n) | BigInt(sequence)).toString();
}

/** Whether a text has the form of an id: a positive decimal number of at most 63 bits, without leading zeros. */
export function isSnowflake(text: string): boolean {
  // Decimal strings of equal length compare as their numbers do.
  return /^[1-9]\d{0,18}$/.test(text) && (text.length < 19 || text <= '9223372036854775807');
}

/** What distinguishes the ids of one node: the millisecond, and the count within it. */
export interface Tick {
  readonly instant: number;
  readonly sequence: number;
}

/** The tick after `last` at time `now`. It is always greater, even if the clock went back or the millisecond is full. */
export function nextTick(last: Tick, now: number): Tick {
  if (now > last.instant) return { instant: now, sequence: 0 };
  if (last.sequence < MAX_SEQUENCE) return { instant: last.instant, sequence: last.sequence + 1 };
  return { instant: last.instant + 1, sequence: 0 };
}

/** Generates ids that are unique among all processes on the same database. */
export interface Ids {
  /** @throws {StoreUnavailable} when the lease on the node number has expired and cannot be renewed */
  next(): Promise<string>;
  /**
   * Renews the lease on the node number, or acquires one, by a durable write.
   * @throws {StoreUnavailable} when the database takes no writes, or all node numbers are leased
   */
  renew(): Promise<void>;
  /**
   * Acquires a lease if there is none, and renews it when it is due, so that no request has to wait for that.
   * @throws {StoreUnavailable} as {@link Ids.renew}
   */
  ensureLease(): Promise<void>;
  /** How many node numbers are leased, by all processes. */
  countLeases(): Promise<number>;
  /** Counts the leases of other processes that may be running: all but those that have certainly ended. */
  countOthers(): Work<number>;
  /** Returns the node number. No id can be generated afterwards. */
  release(): Promise<void>;
}

/** A lease survives three failed renewals, and soon expires after a crash. */
const LEASE = 2 * MINUTE;
const RENEWAL = 30 * SECOND;
const RENEWAL_CHECK = 10 * SECOND;

interface Lease {
  readonly node: number;
  /** As stored in the database. */
  readonly holder: string;
  /** Ids are generated only for instants before this one. */
  readonly endsAt: number;
  /** How far the instant of an id may be ahead of the stopwatch. */
  readonly lead: number;
}

/** The leases of processes of this machine that have ended, each with an end after all of its ids. */
async function leasesOfEndedProcesses(database: Database, now: number, host: Host) {
  const leases = await database.read(() => listLeases({ now }));
  return leases.flatMap((one) => {
    const endsAt = endOfLease(one.holder, one.endsAt, host);
    return endsAt === undefined ? [] : [{ ...one, endsAt }];
  });
}

/**
 * Generates ids under a node number that is leased from the database. An id contains its instant, and the leases of a node number
 * cover disjoint ranges of instants. So no two processes generate the same id, whatever their clocks say.
 *
 * The leases of processes on this machine that have ended are ended early: see {@link endOfLease}.
 */
export function leasedIds(database: Database, clock: Clock, host: Host = thisHost()): Ids {
  const id = randomIdentifier();
  let lease: Lease | undefined;
  let last: Tick = { instant: 0, sequence: 0 };
  let renewing: Promise<void> | undefined;
  let deadLeasesEnded = false;
  let released = false;

  const now = (): number => Math.max(clock(), last.instant);

  /** Reads the host's clocks now; the result gives the terms of a lease whose ids begin at `from`. */
  function newTerms(): (from: number) => Omit<Lease, 'node'> {
    const uptime = host.uptime();
    const stopwatch = host.stopwatch();
    return (from) => ({
      holder: formatHolder({ id, process: host.self, uptime, from }),
      endsAt: from + LEASE,
      lead: maxLead(host, from, stopwatch),
    });
  }

  async function renew(): Promise<void> {
    if (lease !== undefined && (await extend(lease))) return;
    lease = undefined;
    await claim();
  }

  async function extend(current: Lease): Promise<boolean> {
    const renewed = newTerms()(now());
    const terms = { ...renewed, endsAt: Math.max(current.endsAt, renewed.endsAt) };
    // Until the answer arrives, the database may hold either, so the stricter lead applies.
    lease = { ...current, lead: Math.min(current.lead, terms.lead) };
    const change = { node: current.node, holder: current.holder, endsAt: terms.endsAt, next: terms.holder };
    if (!(await database.commit(() => extendLease(change)))) return false;
    lease = { node: current.node, ...terms };
    return true;
  }

  async function claim(): Promise<void> {
    const dead = deadLeasesEnded ? [] : await leasesOfEndedProcesses(database, clock(), host);
    const terms = newTerms();
    const start = now();
    const { node, from } = await database.commit(function* () {
      yield* endLeases(dead);
      return yield* claimNode(start, terms);
    });
    deadLeasesEnded = true;
    lease = { node, ...terms(from) };
    if (last.instant < from) last = { instant: from - 1, sequence: MAX_SEQUENCE };
  }

  function renewOnce(): Promise<void> {
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
        await renewOnce();
      }
    },
    async renew() {
      if (!released) await renewOnce();
    },
    async ensureLease() {
      if (!released && (lease === undefined || now() >= lease.endsAt - LEASE + RENEWAL)) await renewOnce();
    },
    countLeases: () => database.read(() => countLeases(clock())),
    *countOthers() {
      const leases = yield* listLeases({ now: clock() });
      return leases.filter(
        (one) => one.holder !== lease?.holder && endOfLease(one.holder, one.endsAt, host) === undefined,
      ).length;
    },
    async release() {
      released = true;
      await renewing?.catch(() => {});
      const current = lease;
      if (current === undefined) return;
      lease = undefined;
      await database.commit(() => endLeases([{ ...current, endsAt: Math.max(clock(), last.instant + 1) }]));
    },
  };
}

/**
 * Keeps a node number leased until stopped.
 * @param failed called when the lease cannot be acquired or renewed; it is tried again every ten seconds
 * @returns stops the renewal, and waits for one that is running
 */
export function startLeaseRenewal(ids: Pick<Ids, 'ensureLease'>, failed: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  const check = () => {
    running ??= ids
      .ensureLease()
      .catch(failed)
      .finally(() => {
        running = undefined;
      });
  };
  check();
  const timer = setInterval(check, RENEWAL_CHECK);
  timer.unref();
  return async function stop(): Promise<void> {
    clearInterval(timer);
    await running;
  };
}
