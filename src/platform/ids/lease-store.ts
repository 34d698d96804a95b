import { StoreUnavailable, type Work } from '../database/database.ts';
import { all, first, run, statement } from '../database/statement.ts';
import { NODES } from './snowflake.ts';

/** A lease that ends so soon, in milliseconds, is as good as ended: whoever takes it makes ids from its end on. */
const SOON = 1000;

/** No node number is free: no id can be made, and most of the service goes on without. */
export class NoNodeNumber extends StoreUnavailable {
  constructor() {
    super(
      `All ${NODES} node numbers of this database are held, and a node needs one to make ids. Stop nodes that are not needed, ` +
        'and look for processes that end without giving theirs back: a number comes free two minutes after. ' +
        '`tessera doctor` tells how many are held.',
    );
  }
}

const freeNode = statement((db, p: { before: number }) =>
  db
    .selectFrom('node_lease')
    .select(['node', 'expires_at as endsAt'])
    .where('expires_at', '<=', p.before)
    .orderBy('node')
    .limit(1)
    .forUpdate(),
);

const lastNode = statement((db, _p: object) =>
  db.selectFrom('node_lease').select((eb) => eb.fn.max('node').as('node')),
);

const takeOver = statement((db, p: { node: number; holder: string; endsAt: number; before: number }) =>
  db
    .updateTable('node_lease')
    .set({ holder: p.holder, expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('expires_at', '<=', p.before)
    .returning('node'),
);

const addNode = statement((db, p: { node: number; holder: string; endsAt: number }) =>
  db
    .insertInto('node_lease')
    .values({ node: p.node, holder: p.holder, expires_at: p.endsAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('node'),
);

const change = statement((db, p: { node: number; holder: string; next: string; endsAt: number }) =>
  db
    .updateTable('node_lease')
    .set({ holder: p.next, expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('holder', '=', p.holder)
    .returning('node'),
);

const held = statement((db, p: { now: number }) =>
  db.selectFrom('node_lease').select(['node', 'holder', 'expires_at as endsAt']).where('expires_at', '>', p.now),
);

const count = statement((db, p: { now: number }) =>
  db
    .selectFrom('node_lease')
    .select((eb) => eb.fn.countAll().as('held'))
    .where('expires_at', '>', p.now),
);

/** A lease on a node number. Its holder is what tells it from a later one on the same number. */
export interface NodeLease {
  readonly node: number;
  readonly holder: string;
  readonly endsAt: number;
}

/** What is written down of a lease for ids from an instant on. */
type Terms = (from: number) => { readonly holder: string; readonly endsAt: number };

/**
 * Takes a node number whose lease has run out, or a new one, for ids from the answered instant on: at or past the end of every
 * lease that there was on it.
 * @throws {NoNodeNumber} when all are held
 */
export function* claimNode(now: number, terms: Terms): Work<{ readonly node: number; readonly from: number }> {
  const before = now + SOON;
  const free = yield* first(freeNode, { before });
  if (free !== undefined) {
    const from = Math.max(now, free.endsAt);
    const taken = yield* first(takeOver, { node: free.node, before, ...terms(from) });
    if (taken !== undefined) return { node: free.node, from };
  }
  for (let attempt = 0; attempt < NODES; attempt++) {
    const last = yield* first(lastNode, {});
    const node = last?.node == null ? 0 : last.node + 1;
    if (node >= NODES) break;
    const added = yield* first(addNode, { node, ...terms(now) });
    if (added !== undefined) return { node, from: now };
  }
  throw new NoNodeNumber();
}

/** Prolongs a lease that is still held; answers whether it was. */
export function* extendLease(lease: NodeLease, next: string): Work<boolean> {
  return (yield* first(change, { ...lease, next })) !== undefined;
}

/** Lets leases end at instants that none of their ids has reached. */
export function* endLeases(leases: readonly NodeLease[]): Work<void> {
  for (const lease of leases) yield* run(change, { ...lease, next: 'none' });
}

/** The leases that have not run out. */
export const listHeld = (now: number): Work<NodeLease[]> => all(held, { now });

/** How many node numbers are held. */
export function* countHeld(now: number): Work<number> {
  return Number((yield* first(count, { now }))?.held ?? 0);
}
