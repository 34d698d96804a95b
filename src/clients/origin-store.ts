import type { Work } from '../platform/database/database.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';
import { originsOf } from './rules/redirect-uri.ts';
import type { Client } from './store.ts';

const insert = statement((db, p: { origin: string; clientId: string }) =>
  db
    .insertInto('client_origin')
    .values({ origin: p.origin, client_id: p.clientId })
    .onConflict((conflict) => conflict.doNothing()),
);
const clear = statement((db, p: { clientId: string }) =>
  db.deleteFrom('client_origin').where('client_id', '=', p.clientId),
);
const active = statement((db, p: { origin: string }) =>
  db
    .selectFrom('client_origin as o')
    .innerJoin('client as c', 'c.id', 'o.client_id')
    .select('o.origin')
    .where('o.origin', '=', p.origin)
    .where('c.status', '=', 'active')
    .limit(1),
);
const without = statement((db, _p: object) =>
  db
    .selectFrom('client as c')
    .leftJoin('client_origin as o', 'o.client_id', 'c.id')
    .select(['c.id', 'c.redirect_uris'])
    .where('c.type', '=', 'public')
    .where('o.origin', 'is', null),
);

type Registered = Pick<Client, 'id' | 'type' | 'redirectUris'>;

function* add({ id, type, redirectUris }: Registered): Work<void> {
  for (const origin of originsOf(redirectUris, type)) yield* run(insert, { origin, clientId: id });
}

/** Writes down the origins of a client, in the unit of work that saves it. */
export function* saveOrigins(client: Registered): Work<void> {
  yield* run(clear, { clientId: client.id });
  yield* add(client);
}

/** Whether an active client that runs in a browser is registered at this origin. */
export function* isClientOrigin(origin: string): Work<boolean> {
  return (yield* first(active, { origin })) !== undefined;
}

/** The public clients without origins: registered before those were written down, or apps that have none. */
export function* clientsWithoutOrigins(): Work<Registered[]> {
  return (yield* all(without, {})).map((row) => ({
    id: row.id,
    type: 'public',
    redirectUris: JSON.parse(row.redirect_uris) as string[],
  }));
}
