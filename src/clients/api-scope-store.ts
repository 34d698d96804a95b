import { changes, command, many } from '../platform/database/statement.ts';

/** The scopes of one API that a client is registered for, also while the API is disabled. */
export const listScopesAt = many((db, p: { clientId: string; apiId: string }) =>
  db
    .selectFrom('client_api_scope')
    .select(['id', 'name'])
    .where('client_id', '=', p.clientId)
    .where('api_id', '=', p.apiId)
    .orderBy('name'),
);

/** The clients after an id that an API lets request scopes. */
export const listClientsOfApi = many(
  (db, p: { apiId: string; after: string; limit: number }) =>
    db
      .selectFrom('client_api_scope')
      .select('client_id')
      .distinct()
      .where('api_id', '=', p.apiId)
      .where('client_id', '>', p.after)
      .orderBy('client_id')
      .limit(p.limit),
  (row) => row.client_id,
);

export const insertApiScope = command(
  (db, p: { id: string; clientId: string; apiId: string; name: string; now: number }) =>
    db
      .insertInto('client_api_scope')
      .values({ id: p.id, client_id: p.clientId, api_id: p.apiId, name: p.name, created_at: p.now }),
);

export const removeApiScope = command((db, p: { id: string }) =>
  db.deleteFrom('client_api_scope').where('id', '=', p.id),
);

/** Ends a scope of an API for every client; gives whether any was registered for it. */
export const removeScopeOfApi = changes((db, p: { apiId: string; name: string }) =>
  db.deleteFrom('client_api_scope').where('api_id', '=', p.apiId).where('name', '=', p.name).returning('id'),
);
