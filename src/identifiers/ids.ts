import { type Clock, HOUR } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { randomIdentifier } from '../secrets.ts';
import { claimNode, extendLease, releaseLease } from './lease-store.ts';
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
  /** Gives the node number back. */
  release(): Promise<void>;
}

const LEASE = HOUR;

/**
 * Ids under a node number that is leased from the database. A number passes to another process only after its lease has
 * run out, and no id is made with a time past the lease, so no two processes can make the same one.
 */
export function leasedIds(database: Database, clock: Clock): Ids {
  const holder = randomIdentifier();
  let lease: { node: number; endsAt: number } | undefined;
  let last: Tick = { instant: 0, sequence: 0 };
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const now = Math.max(clock(), last.instant);
    const endsAt = now + LEASE;
    const held = lease;
    if (held !== undefined && (await database.commit(() => extendLease(held.node, holder, endsAt)))) {
      lease = { node: held.node, endsAt };
      return;
    }
    lease = { node: await database.commit(() => claimNode(holder, now, endsAt)), endsAt };
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
        if (lease !== undefined && tick.instant < lease.endsAt - LEASE / 2) {
          last = tick;
          return snowflake(tick.instant, lease.node, tick.sequence);
        }
        await renewOnce();
      }
    },
    renew: renewOnce,
    async release() {
      const held = lease;
      if (held === undefined) return;
      lease = undefined;
      await database.commit(() => releaseLease(held.node, holder, Math.max(clock(), last.instant + 1)));
    },
  };
}
