import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { findPasskey, insertPasskey, listPasskeys, type Passkey } from '../../authenticators/passkey-store.ts';
import {
  type PasskeyProblem,
  parseCredential,
  type VerifiedRegistration,
  verifyRegistration,
} from '../../authenticators/relying-party.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { suggestPasskeyName } from '../../authenticators/rules/passkey-name.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { deviceOf, type Origin } from '../../platform/validation/origin.ts';
import { type PasskeyServices, usePasskeyChallenge } from '../authentication/passkey.ts';
import { creationOptions, type PasskeyCreation } from '../factors/passkeys.ts';

/*
 * A person who signed in with passkeys alone ends a recovery with a new passkey, and need not have a password.
 */

/** A challenge belongs to the link and the account's generation, and ends with them. */
const recoveryUse = (token: string, { generation }: Account, browserHash: string): ChallengeUse => ({
  purpose: 'recovery',
  browserHash,
  subject: `${digest(token)} ${generation}`,
});

/**
 * Asks for the new passkey of a recovery.
 * @param product the name of this service
 * @returns undefined where browsers have no passkeys for the base URL
 */
export async function requestRecoveryPasskey(
  { database, clock, relyingParty }: PasskeyServices,
  token: string,
  account: Account,
  browserHash: string,
  product: string,
): Promise<PasskeyCreation | undefined> {
  if (relyingParty === undefined) return undefined;
  const existing = await database.read(() => listPasskeys({ accountId: account.id }));
  return creationOptions(relyingParty, recoveryUse(token, account, browserHash), account, existing, product, clock());
}

/** Verifies what the browser sent as the new passkey. */
export async function verifyRecoveryPasskey(
  { relyingParty }: Pick<PasskeyServices, 'relyingParty'>,
  token: string,
  account: Account,
  browserHash: string,
  response: string,
  now: number,
): Promise<VerifiedRegistration | PasskeyProblem> {
  const credential = parseCredential(response);
  if (credential === undefined || relyingParty === undefined) return 'invalid';
  return verifyRegistration(relyingParty, recoveryUse(token, account, browserHash), credential, now);
}

/** Uses the challenge of a new passkey up, inside a unit of work; false where that, or the passkey, was used before. */
export function* claimRecoveryPasskey({ id, challenge }: VerifiedRegistration, now: number): Work<boolean> {
  return (yield* findPasskey({ id })) === undefined && (yield* usePasskeyChallenge(challenge, now));
}

/**
 * Stores the passkey of a recovery, inside a unit of work that has secured the account.
 * @param at the time of the account at which it was secured
 */
export function* storeRecoveryPasskey(
  { challenge: _used, ...created }: VerifiedRegistration,
  { accountId, userAgent, origin }: { accountId: string; userAgent: string | undefined; origin: Origin },
  now: number,
  at: number,
): Work<void> {
  const name = suggestPasskeyName({ ...created, ...deviceOf(userAgent, null) });
  const passkey: Passkey = { ...created, accountId, name, createdAt: at, lastUsedAt: null };
  if (!(yield* insertPasskey(passkey))) throw new Error('the passkey of a recovery was stored meanwhile');
  const details = { factor: 'passkey', name };
  yield* record({ at: now, type: 'account.factor_added', origin, accountId, details });
}
