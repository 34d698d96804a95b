import type { Kysely } from 'kysely';
import { ACR_MFA, ACR_PHISHING_RESISTANT } from '../authenticators/rules/authentication-context.ts';
import type { Tables } from '../platform/database/schema.ts';
import { many, one } from '../platform/database/statement.ts';

// Codes and token families of people who used no second factor: those of an account, or only those of one of its apps.

const STRONG = [ACR_MFA, ACR_PHISHING_RESISTANT];

type OfApp = { readonly accountId: string; readonly clientId: string };

const grantsOf = (db: Kysely<Tables>, accountId: string) =>
  db.selectFrom('consent_grant').select('id').where('account_id', '=', accountId);
const grantsOfApp = (db: Kysely<Tables>, { accountId, clientId }: OfApp) =>
  grantsOf(db, accountId).where('client_id', '=', clientId);

const weakerFamilies = (db: Kysely<Tables>, grants: ReturnType<typeof grantsOf>) =>
  db
    .selectFrom('token_family')
    .select('id')
    .where('grant_id', 'in', grants)
    .where('dead_at', 'is', null)
    .where((eb) => eb.or([eb('acr', 'is', null), eb('acr', 'not in', STRONG)]));
const weakerCodes = (db: Kysely<Tables>, grants: ReturnType<typeof grantsOf>) =>
  db
    .selectFrom('authorization_code')
    .select('hash')
    .where('grant_id', 'in', grants)
    .where('redeemed_at', 'is', null)
    .where((eb) => eb.or([eb('acr', 'is', null), eb('acr', 'not in', STRONG)]));

const toId = ({ id }: { readonly id: string }): string => id;
const toHash = ({ hash }: { readonly hash: string }): string => hash;

/** A token family of an account, if it has any such. */
export const findWeakerFamily = one(
  (db, p: { accountId: string }) => weakerFamilies(db, grantsOf(db, p.accountId)).limit(1),
  toId,
);
export const findWeakerFamilyOfApp = one((db, p: OfApp) => weakerFamilies(db, grantsOfApp(db, p)).limit(1), toId);

/** A code of an account, if it has any such. */
export const findWeakerCode = one(
  (db, p: { accountId: string }) => weakerCodes(db, grantsOf(db, p.accountId)).limit(1),
  toHash,
);
export const findWeakerCodeOfApp = one((db, p: OfApp) => weakerCodes(db, grantsOfApp(db, p)).limit(1), toHash);

/** Deletes codes that were not redeemed; waits for a redemption that is under way. */
export const dropWeakerCodes = many(
  (db, p: { accountId: string }) =>
    db
      .deleteFrom('authorization_code')
      .where('hash', 'in', weakerCodes(db, grantsOf(db, p.accountId)))
      .where('redeemed_at', 'is', null)
      .returning('hash'),
  toHash,
);
export const dropWeakerCodesOfApp = many(
  (db, p: OfApp) =>
    db
      .deleteFrom('authorization_code')
      .where('hash', 'in', weakerCodes(db, grantsOfApp(db, p)))
      .where('redeemed_at', 'is', null)
      .returning('hash'),
  toHash,
);

const REASON = 'no second factor';

/** Revokes families, and gives those that it revoked. */
export const revokeWeakerFamilies = many(
  (db, p: { accountId: string; now: number }) =>
    db
      .updateTable('token_family')
      .set({ dead_at: p.now, dead_reason: REASON })
      .where('id', 'in', weakerFamilies(db, grantsOf(db, p.accountId)))
      .where('dead_at', 'is', null)
      .returning('id'),
  toId,
);
export const revokeWeakerFamiliesOfApp = many(
  (db, p: OfApp & { readonly now: number }) =>
    db
      .updateTable('token_family')
      .set({ dead_at: p.now, dead_reason: REASON })
      .where('id', 'in', weakerFamilies(db, grantsOfApp(db, p)))
      .where('dead_at', 'is', null)
      .returning('id'),
  toId,
);

/** The people who gave an app access, a part at a time. */
export const listGrantHolders = many(
  (db, p: { clientId: string; after: string; limit: number }) =>
    db
      .selectFrom('consent_grant')
      .select(['id', 'account_id'])
      .where('client_id', '=', p.clientId)
      .where('id', '>', p.after)
      .orderBy('id')
      .limit(p.limit),
  (row) => ({ id: row.id, accountId: row.account_id }),
);
