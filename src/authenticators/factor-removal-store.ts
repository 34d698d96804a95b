import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import { type RestoredFactors, restoreFactors } from './earlier-factors.ts';

interface Since {
  readonly accountId: string;
  readonly since: number;
}

const removeTotp = many(
  (db, p: Since) =>
    db
      .deleteFrom('totp_secret')
      .where('account_id', '=', p.accountId)
      .where((eb) => eb.or([eb('confirmed_at', 'is', null), eb('confirmed_at', '>=', p.since)]))
      .returning('account_id'),
  (row) => row.account_id,
);
const removePasskeys = many(
  (db, p: Since) =>
    db.deleteFrom('passkey').where('account_id', '=', p.accountId).where('created_at', '>=', p.since).returning('name'),
  ({ name }) => name,
);
const removeCodes = many(
  (db, p: Since) =>
    db
      .deleteFrom('recovery_code')
      .where('account_id', '=', p.accountId)
      .where('created_at', '>=', p.since)
      .returning('hash'),
  ({ hash }) => hash,
);
// What was chosen with codes that are all removed now would leave no way to recover the account by mail.
const removeSetting = command((db, p: Since) =>
  db
    .deleteFrom('recovery_setting')
    .where('account_id', '=', p.accountId)
    .where(({ or, eb, not, exists }) =>
      or([
        eb('code_required_at', '>=', p.since),
        not(exists(db.selectFrom('recovery_code').select('hash').where('account_id', '=', p.accountId))),
      ]),
    ),
);
const removeTrusted = command((db, p: { accountId: string }) =>
  db.deleteFrom('trusted_browser').where('account_id', '=', p.accountId),
);
const removePending = command((db, p: { accountId: string }) =>
  db.deleteFrom('pending_sign_in').where('account_id', '=', p.accountId),
);

/** What was removed of a person's factors, and what is there again. */
export interface FactorsUndone {
  /** Passkeys by their names. */
  readonly removed: { readonly app: boolean; readonly passkeys: readonly string[]; readonly codes: boolean };
  readonly restored: RestoredFactors;
}

/**
 * Removes the factors beside the password that were added at an instant or later, with half-finished enrollments, trusted browsers and
 * sign-ins that wait for a second factor. The app and the recovery codes that were replaced since are there again. The caller holds the
 * account's lock.
 */
export function* removeFactorsSince(accountId: string, since: number): Work<FactorsUndone> {
  const apps = yield* removeTotp({ accountId, since });
  const passkeys = yield* removePasskeys({ accountId, since });
  const codes = yield* removeCodes({ accountId, since });
  const restored = yield* restoreFactors(accountId, since);
  yield* removeSetting({ accountId, since });
  yield* removeTrusted({ accountId });
  yield* removePending({ accountId });
  return { removed: { app: apps.length > 0, passkeys, codes: codes.length > 0 }, restored };
}

/** Removes the passkeys of an account that may not all be its owner's. */
export const removeAllPasskeys = (accountId: string): Work<readonly string[]> =>
  removePasskeys({ accountId, since: 0 });
