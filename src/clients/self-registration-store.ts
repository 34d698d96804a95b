import type { AsymmetricAlg, IdTokenAlg } from '../keys/algorithms.ts';
import { constant } from '../platform/database/columns.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import { changes, columnsOf, command, decoder, many, one, plain, storedField } from '../platform/database/statement.ts';

/** The client whose registration a token manages. */
export const findRegistrationOf = one((db, p: { id: string; hash: string }) =>
  db.selectFrom('client').select('id').where('id', '=', p.id).where('registration_hash', '=', p.hash),
);

/** The clients that registered themselves and that nobody has allowed yet, those that end first. */
export const listUnused = many(
  (db, p: { limit: number }) =>
    db
      .selectFrom('client')
      .select(['id', 'created_at'])
      .where('unused_until', 'is not', null)
      .orderBy('unused_until')
      .limit(p.limit),
  (row) => ({ id: row.id, createdAt: row.created_at }),
);

export const countUnused = one(
  (db, _p: object) =>
    db
      .selectFrom('client')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('unused_until', 'is not', null),
  ({ count }) => Number(count),
);

const UNUSED = {
  unusedUntil: storedField('unused_until', plain<number | null>()),
  idTokenSignedResponseAlg: storedField('id_token_signed_response_alg', plain<IdTokenAlg | null>()),
  userinfoSignedResponseAlg: storedField('userinfo_signed_response_alg', plain<AsymmetricAlg | null>()),
} as const;

/** Locks a client that nobody has allowed yet: a person who allows it at this moment has done so before, or finds nothing. */
export const lockUnused = one(
  (db, p: { id: string }) => db.selectFrom('client').select(columnsOf(UNUSED)).where('id', '=', p.id).$call(forUpdate),
  decoder(UNUSED),
);

/** Marks a client as used: a person has allowed it. */
export const markUsed = command((db, p: { id: string }) =>
  db.updateTable('client').set({ unused_until: null }).where('id', '=', p.id).where('unused_until', 'is not', null),
);

const listRegisteredBy = (by: 'open' | 'developer' | 'metadata') =>
  many(
    (db, p: { after: string; limit: number }) =>
      db
        .selectFrom('client')
        .select(['id', 'redirect_uris', 'post_logout_redirect_uris'])
        // As in the condition of the index.
        .where('registered_by', '=', constant(by))
        .where('accepted_at', 'is', null)
        .where('id', '>', p.after)
        .orderBy('id')
        .limit(p.limit),
    (row) => ({
      id: row.id,
      redirectUris: JSON.parse(row.redirect_uris) as readonly string[],
      postLogoutRedirectUris: JSON.parse(row.post_logout_redirect_uris) as readonly string[],
    }),
  );

/** Clients that strangers registered and that no operator has accepted, after an id, by how they registered them. */
export const LISTS_OF_STRANGERS = {
  open: listRegisteredBy('open'),
  developer: listRegisteredBy('developer'),
  metadata: listRegisteredBy('metadata'),
} as const;

/** The clients that registered with an initial access token. */
export const listRegisteredWith = many(
  (db, p: { tokenId: string }) =>
    db.selectFrom('client').select('id').where('initial_token_id', '=', p.tokenId).orderBy('id'),
  ({ id }) => id,
);

/** Ends the right of a client to change its own registration; false where it has none. */
export const removeRegistrationToken = changes((db, p: { id: string }) =>
  db
    .updateTable('client')
    .set({ registration_hash: null })
    .where('id', '=', p.id)
    .where('registration_hash', 'is not', null)
    .returning('id'),
);

/** The same for all clients. */
export const removeRegistrationTokens = command((db, _p: object) =>
  db.updateTable('client').set({ registration_hash: null }).where('registration_hash', 'is not', null),
);

/** The clients whose time to be used was over at an instant. */
export const listUnusedAt = many(
  (db, p: { before: number; limit: number }) =>
    db.selectFrom('client').select('id').where('unused_until', '<=', p.before).orderBy('unused_until').limit(p.limit),
  ({ id }) => id,
);

export const oldestUnusedAt = one(
  (db, p: { before: number }) =>
    db
      .selectFrom('client')
      .select('unused_until as at')
      .where('unused_until', '<=', p.before)
      .orderBy('unused_until')
      .limit(1),
  ({ at }) => at ?? 0,
);

export const saveUnusedUntil = command((db, p: { id: string; until: number }) =>
  // An operator may have accepted it meanwhile.
  db.updateTable('client').set({ unused_until: p.until }).where('id', '=', p.id).where('accepted_at', 'is', null),
);
