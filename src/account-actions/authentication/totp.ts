import { acceptedApps, spendEarlierTotpStep } from '../../authenticators/earlier-factors.ts';
import { acceptedSteps, parseTotpCode } from '../../authenticators/rules/codes.ts';
import { findTotpSeed, spendTotpStep, type TotpSeed } from '../../authenticators/totp-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { equalSecrets, randomCharacters } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { AttemptsLimited, CheckedAttempt } from './authenticators.ts';
import { attemptCode, type CodeAttempt, type CodeServices } from './code-attempt.ts';

/** The alphabet of RFC 4648 §6, in which authenticator apps take a seed. */
const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 160 bits, as RFC 4226 §4 recommends. */
const SEED_LENGTH = 32;

/** A new seed for an authenticator app, as base 32. */
export const randomSeed = (): string => randomCharacters(BASE_32, SEED_LENGTH);

const sealContext = (accountId: string): string => `totp ${accountId}`;

/** Encrypts the seed of an account for the database. */
export const sealSeed = (sealer: Sealer, accountId: string, seed: string): string =>
  sealer.seal(seed, sealContext(accountId));

/**
 * The time step to which a code belongs, of those that are offered; undefined for a wrong code. All codes are compared, so that the
 * time says nothing.
 */
export async function matchCode(seed: string, typed: string, steps: readonly number[]): Promise<number | undefined> {
  const code = parseTotpCode(typed);
  if (code === undefined) return undefined;
  const { HOTP, Secret } = await import('otpauth');
  const secret = Secret.fromBase32(seed);
  return steps.filter((counter) => equalSecrets(HOTP.generate({ secret, counter, digits: 6 }), code)).at(-1);
}

/** The host of the base URL, and its port if that is not the default, without a colon: see {@link seedUri}. */
function seedIssuer(baseUrl: string): string {
  const { hostname, port } = new URL(baseUrl);
  return `${hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '-')} ${port}`.trimEnd();
}

/**
 * The address in the QR code of a seed (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). The app names the account
 * by issuer and user name, with a colon between them, so neither may contain one.
 */
export async function seedUri(seed: string, baseUrl: string, username: string): Promise<string> {
  const { Secret, TOTP } = await import('otpauth');
  return new TOTP({ issuer: seedIssuer(baseUrl), label: username, secret: Secret.fromBase32(seed) }).toString();
}

/** The apps of which a code is accepted: the present one, or those of a span. */
function* listSeeds(
  accountId: string,
  span: CodeAttempt['span'],
): Work<readonly Pick<TotpSeed, 'sealed' | 'lastStep'>[]> {
  if (span !== undefined) return yield* acceptedApps(accountId, span);
  const present = yield* findTotpSeed({ accountId });
  return present === undefined ? [] : [present];
}

/** Authenticates a person by the code of their authenticator app, after the first factor. Each code is accepted once. */
export function authenticateByTotp(
  services: CodeServices,
  attempt: CodeAttempt,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  const { database, sealer } = services;
  const { account, code, span } = attempt;
  return attemptCode(services, 'totp', attempt, now, async () => {
    const accountId = account.id;
    for (const { sealed, lastStep } of await database.read(() => listSeeds(accountId, span))) {
      const seed = sealer.open(sealed, sealContext(accountId));
      const step = seed === undefined ? undefined : await matchCode(seed, code, acceptedSteps(now, lastStep));
      if (step === undefined) continue;
      const used = { accountId, sealed, step };
      return function* spend() {
        const since = yield* spendTotpStep(used);
        return since ?? (span === undefined ? undefined : yield* spendEarlierTotpStep(used));
      };
    }
    return undefined;
  });
}
