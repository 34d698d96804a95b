import type { Work } from '../platform/database/database.ts';
import { first, run, statement } from '../platform/database/statement.ts';
import type { Picture } from './pictures.ts';

/** Whose picture it is. */
export type Owner = { readonly accountId: string } | { readonly clientId: string };

const insert = statement(
  (db, p: { name: string; accountId: string | null; clientId: string | null; bytes: Uint8Array }) =>
    db.insertInto('picture').values({ name: p.name, account_id: p.accountId, client_id: p.clientId, bytes: p.bytes }),
);
const removeOfAccount = statement((db, p: { accountId: string }) =>
  db.deleteFrom('picture').where('account_id', '=', p.accountId),
);
const removeOfClient = statement((db, p: { clientId: string }) =>
  db.deleteFrom('picture').where('client_id', '=', p.clientId),
);
const byName = statement((db, p: { name: string }) =>
  db.selectFrom('picture').select('bytes').where('name', '=', p.name),
);

/** Puts a picture, or none, in the place of the one before. Its owner's record must name it in the same commit. */
export function* replacePicture(owner: Owner, picture: Picture | null): Work<void> {
  if ('accountId' in owner) yield* run(removeOfAccount, owner);
  else yield* run(removeOfClient, owner);
  if (picture !== null) yield* run(insert, { accountId: null, clientId: null, ...owner, ...picture });
}

export function* readPicture(name: string): Work<Uint8Array | undefined> {
  return (yield* first(byName, { name }))?.bytes;
}
