import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import { originsOf } from './rules/redirect-uri.ts';
import type { Client } from './store.ts';

/** A client of which the origins are stored. */
export type OriginOwner = Pick<Client, 'id' | 'type' | 'redirectUris'>;

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
export function* saveOrigins({ id, type, redirectUris }: OriginOwner): Work<void> {
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

/** The public clients without stored origins: those that a version registered which did not store them, and native apps. */
export const clientsWithoutOrigins = many(
  (db, _p: object) =>
    db
      .selectFrom('client as c')
      .leftJoin('client_origin as o', 'o.client_id', 'c.id')
      .select(['c.id', 'c.redirect_uris'])
      .where('c.type', '=', 'public')
      .where('o.origin', 'is', null),
  (row): OriginOwner => ({ id: row.id, type: 'public', redirectUris: JSON.parse(row.redirect_uris) as string[] }),
);
