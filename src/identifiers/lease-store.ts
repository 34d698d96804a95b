import { StoreUnavailable, type Work } from '../database/database.ts';
import { first, run, statement } from '../database/statement.ts';

const NODES = 1024;

const freeNode = statement((db, p: { now: number }) =>
  db.selectFrom('node_lease').select(['node']).where('expires_at', '<=', p.now).orderBy('node').limit(1).forUpdate(),
);

const lastNode = statement((db, _p: object) =>
  db.selectFrom('node_lease').select((eb) => eb.fn.max('node').as('node')),
);

const takeOver = statement((db, p: { node: number; holder: string; endsAt: number; now: number }) =>
  db
    .updateTable('node_lease')
    .set({ holder: p.holder, expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('expires_at', '<=', p.now)
    .returning('node'),
);

const addNode = statement((db, p: { node: number; holder: string; endsAt: number }) =>
  db
    .insertInto('node_lease')
    .values({ node: p.node, holder: p.holder, expires_at: p.endsAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('node'),
);

const extend = statement((db, p: { node: number; holder: string; endsAt: number }) =>
  db
    .updateTable('node_lease')
    .set({ expires_at: p.endsAt })
    .where('node', '=', p.node)
    .where('holder', '=', p.holder)
    .returning('node'),
);

/**
 * Takes a node number whose lease has run out, or a new one.
 * @throws {StoreUnavailable} when all 1024 are held
 */
export function* claimNode(holder: string, now: number, endsAt: number): Work<number> {
  const free = yield* first(freeNode, { now });
  if (free !== undefined) {
    const taken = yield* first(takeOver, { node: free.node, holder, endsAt, now });
    if (taken !== undefined) return taken.node;
  }
  for (let attempt = 0; attempt < NODES; attempt++) {
    const last = yield* first(lastNode, {});
    const node = last?.node == null ? 0 : last.node + 1;
    if (node >= NODES) break;
    const added = yield* first(addNode, { node, holder, endsAt });
    if (added !== undefined) return added.node;
  }
  throw new StoreUnavailable(`all ${NODES} node numbers of this database are held; stop a process, or wait an hour`);
}

/** Prolongs a lease that is still held; answers whether it was. */
export function* extendLease(node: number, holder: string, endsAt: number): Work<boolean> {
  return (yield* first(extend, { node, holder, endsAt })) !== undefined;
}

/** Ends a lease at a moment after its last id. */
export function* releaseLease(node: number, holder: string, endsAt: number): Work<void> {
  yield* run(extend, { node, holder, endsAt });
}
