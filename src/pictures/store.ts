import type { Work } from '../platform/database/database.ts';
import { command, one } from '../platform/database/statement.ts';
import type { Picture } from './pictures.ts';

export type PictureOwner = { readonly accountId: string } | { readonly clientId: string };

const insertPicture = command(
  (db, p: { name: string; accountId: string | null; clientId: string | null; bytes: Uint8Array }) =>
    db.insertInto('picture').values({ name: p.name, account_id: p.accountId, client_id: p.clientId, bytes: p.bytes }),
);
const deletePictureOfAccount = command((db, p: { accountId: string }) =>
  db.deleteFrom('picture').where('account_id', '=', p.accountId),
);
const deletePictureOfClient = command((db, p: { clientId: string }) =>
  db.deleteFrom('picture').where('client_id', '=', p.clientId),
);

/** Replaces or removes the picture of an owner. The owner's record must be given the new name in the same commit. */
export function* replacePicture(owner: PictureOwner, picture: Picture | null): Work<void> {
  if ('accountId' in owner) yield* deletePictureOfAccount(owner);
  else yield* deletePictureOfClient(owner);
  if (picture !== null) yield* insertPicture({ accountId: null, clientId: null, ...owner, ...picture });
}

export const readPicture = one(
  (db, p: { name: string }) => db.selectFrom('picture').select('bytes').where('name', '=', p.name),
  (row) => row.bytes,
);
