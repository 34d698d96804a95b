import { liveGrantsOf } from '../access/operator-grant-store.ts';
import { lockActing } from '../accounts/store.ts';
import { adminResource, COMMAND_LINE_ID } from '../clients/rules/command-line.ts';
import { holdFamily, readTokenHolder } from '../credentials/token-family-store.ts';
import { type Keys, requireVersion, withCurrentKeys } from '../keys/keys.ts';
import { verifyToken } from '../keys/tokens.ts';
import type { OperatorGrant } from '../operators/rights.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { readAnyClaims } from '../protocol/token/rules/claims.ts';
import { judge } from '../verdict/rules.ts';

interface PersonServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  /** Whether operators can sign in with the command line. */
  readonly commandLineSignIn: boolean;
}

/** A person who acts by an access token of the command line. */
export interface ActingPerson {
  readonly accountId: string;
  readonly familyId: string;
  readonly clientId: string;
}

/** Whether a credential may be an access token: admin keys have no dots, and tokens have two. */
export const looksLikeToken = (credential: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);

/**
 * Finds the person of an access token, and the roles that the person holds now: decisions §15. Only a token that was issued to the command
 * line for the admin API is accepted.
 * @returns undefined where the token is not valid
 */
export function findPerson(
  { database, clock, keys, issuer, commandLineSignIn }: PersonServices,
  presented: string,
): Promise<(ActingPerson & { readonly grants: readonly OperatorGrant[] }) | undefined> {
  return withCurrentKeys(keys, async () => {
    const now = clock();
    const signed = commandLineSignIn ? await verifyToken(keys, 'access', presented) : undefined;
    const token = signed && readAnyClaims(signed.claims, 'access', issuer, now);
    if (signed === undefined || token === undefined || token.accountId === null) return undefined;
    if (token.clientId !== COMMAND_LINE_ID || signed.claims['aud'] !== adminResource(issuer)) return undefined;
    const { accountId, familyId, clientId } = token;
    const found = await database.read(() => readTokenHolder({ accountId, familyId, clientId }));
    if (found === undefined) return undefined;
    requireVersion(signed.keySet, found.keyVersion);
    const grants = await database.read(() => grantsOfPerson({ accountId, familyId, clientId }, now));
    return grants && { accountId, familyId, clientId, grants };
  });
}

/**
 * The roles that a person holds, at the beginning of a unit of work; undefined where the token is not valid any more: revoked, or the
 * session, the consent or the account has ended.
 */
export function* grantsOfPerson(person: ActingPerson, now: number): Work<readonly OperatorGrant[] | undefined> {
  const holder = yield* readTokenHolder(person);
  if (holder === undefined || judge(holder.state, holder.inherited, now).kind !== 'live') return undefined;
  return yield* liveGrantsOf(person.accountId, now);
}

/** {@link grantsOfPerson}, for a unit of work that writes: what ends the token or a role comes before it or after it. */
export function* holdGrantsOfPerson(
  person: ActingPerson,
  now: number,
  actedOn = person.accountId,
): Work<readonly OperatorGrant[] | undefined> {
  const { accountId } = person;
  yield* lockActing({ accountId, actedOn });
  yield* holdFamily(person);
  return yield* grantsOfPerson(person, now);
}
