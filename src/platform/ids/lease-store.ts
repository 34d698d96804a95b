import type { Kysely } from 'kysely';
import { StoreUnavailable, type Work } from '../database/database.ts';
import { forUpdate } from '../database/row-locks.ts';
import type { Tables } from '../database/schema.ts';
import { changes, command, many, one } from '../database/statement.ts';
import { NODES } from './lease.ts';

/** A lease that ends within this many milliseconds can be claimed: the ids of the next holder start at its end. */
const CLAIMABLE_BEFORE_END = 1000;

/** All node numbers are leased: this node cannot generate ids. Requests that need none are still answered. */
export class NodeNumbersExhausted extends StoreUnavailable {
  constructor() {
    super(
      `All ${NODES} node numbers of this database are leased, and a node needs one to generate ids. Stop nodes that are not needed, ` +
        'and look for processes that crash and restart: their numbers become free after two minutes. ' +
        '`tessera doctor` shows how many are leased.',
    );
  }
}

/** A lease on a node number. The holder distinguishes it from later leases of the same number. */
export interface NodeLease {
  readonly node: number;
  readonly holder: string;
  readonly endsAt: number;
}

/** The stored terms of a lease whose ids begin at an instant. */
type Terms = (from: number) => Pick<NodeLease, 'holder' | 'endsAt'>;

const findClaimable = one((db, p: { before: number }) =>
  db
    .selectFrom('node_lease')
    .select(['node', 'expires_at as endsAt'])
    .where('expires_at', '<=', p.before)
    .orderBy('node')
    .limit(1)
    .$call(forUpdate),
);

const highestNode = one((db, _p: object) => db.selectFrom('node_lease').select((eb) => eb.fn.max('node').as('node')));

const takeOver = changes((db, p: NodeLease & { before: number }) =>
  db
    .updateTable('node_lease')
    .set({ holder: p.holder, expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('expires_at', '<=', p.before)
    .returning('node'),
);

const addNode = changes((db, p: NodeLease) =>
  db
    .insertInto('node_lease')
    .values({ node: p.node, holder: p.holder, expires_at: p.endsAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('node'),
);

/**
 * Claims a node number whose lease has expired, or a new one. `from` is the first instant for its ids: not before `now`, nor before
 * the end of any earlier lease of that number.
 * @throws {NodeNumbersExhausted} when all are leased
 */
export function* claimNode(now: number, terms: Terms): Work<{ readonly node: number; readonly from: number }> {
  const before = now + CLAIMABLE_BEFORE_END;
  const free = yield* findClaimable({ before });
  if (free !== undefined) {
    const from = Math.max(now, free.endsAt);
    if (yield* takeOver({ node: free.node, before, ...terms(from) })) return { node: free.node, from };
  }
  // Another process may add the same number first.
  for (let attempt = 0; attempt < NODES; attempt++) {
    const highest = yield* highestNode({});
    const node = highest?.node == null ? 0 : highest.node + 1;
    if (node >= NODES) break;
    if (yield* addNode({ node, ...terms(now) })) return { node, from: now };
  }
  throw new NodeNumbersExhausted();
}

/** Extends a lease under a new holder text; false if the lease is no longer `holder`'s. */
export const extendLease = changes((db, p: NodeLease & { next: string }) =>
  db
    .updateTable('node_lease')
    .set({ holder: p.next, expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('holder', '=', p.holder)
    .returning('node'),
);

const endLease = command((db, p: NodeLease) =>
  db
    .updateTable('node_lease')
    .set({ holder: 'none', expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('holder', '=', p.holder),
);

/** Ends leases, each at an instant after all of its ids. */
export function* endLeases(leases: readonly NodeLease[]): Work<void> {
  for (const { node, holder, endsAt } of leases) yield* endLease({ node, holder, endsAt });
}

/** The leases that have not expired. */
export const listLeases = many((db, p: { now: number }) =>
  db.selectFrom('node_lease').select(['node', 'holder', 'expires_at as endsAt']).where('expires_at', '>', p.now),
);

/** How many node numbers are leased, as a part of a statement. */
export const currentLeases = (db: Kysely<Tables>, p: { now: number }) =>
  db
    .selectFrom('node_lease')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('expires_at', '>', p.now);

const countCurrent = one(currentLeases, ({ count }) => Number(count));

/** How many node numbers are leased. */
export function* countLeases(now: number): Work<number> {
  return (yield* countCurrent({ now })) ?? 0;
}
