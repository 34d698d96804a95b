import type { Work } from '../platform/database/database.ts';
import { command, one } from '../platform/database/statement.ts';
import { originsOf } from './rules/redirect-uri.ts';
import type { Client } from './store.ts';

const insertOrigin = command((db, p: { origin: string; clientId: string }) =>
  db
    .insertInto('client_origin')
    .values({ origin: p.origin, client_id: p.clientId })
    .onConflict((conflict) => conflict.doNothing()),
);

const deleteOrigins = command((db, p: { clientId: string }) =>
  db.deleteFrom('client_origin').where('client_id', '=', p.clientId),
);

/** Replaces the origins of a client, in the unit of work that saves it. */
export function* saveOrigins({ id, type, redirectUris }: Pick<Client, 'id' | 'type' | 'redirectUris'>): Work<void> {
  yield* deleteOrigins({ clientId: id });
  for (const origin of originsOf(redirectUris, type)) yield* insertOrigin({ origin, clientId: id });
}

/** The origin, if an active client that runs in a browser is registered at it. */
export const findClientOrigin = one((db, p: { origin: string }) =>
  db
    .selectFrom('client_origin as o')
    .innerJoin('client as c', 'c.id', 'o.client_id')
    .select('o.origin')
    .where('o.origin', '=', p.origin)
    .where('c.status', '<>', 'disabled')
    .limit(1),
);
