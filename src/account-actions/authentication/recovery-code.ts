import { acceptedCodes, spendEarlierRecoveryCode } from '../../authenticators/earlier-factors.ts';
import {
  countRecoveryCodes,
  insertRecoveryCode,
  listRecoveryCodes,
  removeRecoveryCodes,
  spendRecoveryCode,
} from '../../authenticators/recovery-code-store.ts';
import {
  inGroups,
  parseRecoveryCode,
  RECOVERY_CODE_ALPHABET,
  RECOVERY_CODE_LENGTH,
} from '../../authenticators/rules/codes.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { randomCharacters } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { AttemptsLimited, CheckedAttempt } from './authenticators.ts';
import { attemptCode, type CodeAttempt, type CodeServices } from './code-attempt.ts';

/** How many recovery codes a person gets at once. */
const RECOVERY_CODES = 10;

/** Recovery codes that are not stored yet. */
export interface NewRecoveryCodes {
  /** As the person sees them, once. */
  readonly codes: readonly string[];
  readonly hashes: readonly string[];
}

/** A digest with a key that is not in the database: it cannot be searched for codes. */
const hashOf = (sealer: Sealer, accountId: string, code: string): string =>
  sealer.digest(code, `recovery code ${accountId}`);

/** Makes recovery codes, outside of the unit of work that stores them, which may run again. */
export function prepareRecoveryCodes(sealer: Sealer, accountId: string): NewRecoveryCodes {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    randomCharacters(RECOVERY_CODE_ALPHABET, RECOVERY_CODE_LENGTH),
  );
  return {
    codes: codes.map((code) => inGroups(code, '-')),
    hashes: codes.map((code) => hashOf(sealer, accountId, code)),
  };
}

/** Stores new recovery codes, inside a unit of work that holds the account's lock. They replace all earlier ones. */
export function* issueRecoveryCodes({ hashes }: NewRecoveryCodes, accountId: string, now: number): Work<void> {
  yield* removeRecoveryCodes({ accountId });
  for (const hash of hashes) yield* insertRecoveryCode({ accountId, hash, now });
}

/** {@link issueRecoveryCodes}, unless the person has some that can still be used. @returns whether they were issued */
export function* issueMissingRecoveryCodes(prepared: NewRecoveryCodes, accountId: string, now: number): Work<boolean> {
  if (((yield* countRecoveryCodes({ accountId }))?.left ?? 0) > 0) return false;
  yield* issueRecoveryCodes(prepared, accountId, now);
  return true;
}

/** Those of the codes that still work, as a person typed or kept them. */
export function* usableCodes(sealer: Sealer, accountId: string, codes: readonly string[]): Work<readonly string[]> {
  const unused = new Set(
    (yield* listRecoveryCodes({ accountId })).flatMap(({ hash, isUsed }) => (isUsed ? [] : [hash])),
  );
  return codes.filter((code) => unused.has(hashOf(sealer, accountId, parseRecoveryCode(code) ?? '')));
}

/** Authenticates a person by a recovery code, after the first factor. Each is accepted once. */
export function authenticateByRecoveryCode(
  services: CodeServices,
  attempt: CodeAttempt,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  return attemptCode(services, 'recovery code', attempt, now, async () => {
    const { account, span } = attempt;
    const accountId = account.id;
    const code = parseRecoveryCode(attempt.code);
    if (code === undefined) return undefined;
    const hash = hashOf(services.sealer, accountId, code);
    return function* spend() {
      if (span === undefined) return yield* spendRecoveryCode({ accountId, hash, now });
      const isOfSpan = (yield* acceptedCodes(accountId, span)).some(({ hashes }) => hashes.includes(hash));
      if (!isOfSpan) return undefined;
      return (yield* spendRecoveryCode({ accountId, hash, now })) ?? (yield* spendEarlierRecoveryCode(accountId, hash));
    };
  });
}
