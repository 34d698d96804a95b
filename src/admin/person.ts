import { heldBy } from '../account-actions/admission/held.ts';
import { lockActing } from '../accounts/store.ts';
import type { DeveloperPolicy, DeveloperSettings } from '../clients/developer-settings.ts';
import { adminResource, COMMAND_LINE_ID } from '../clients/rules/command-line.ts';
import { holdFamily, readTokenHolder } from '../credentials/token-family-store.ts';
import { type Keys, requireVersion, withCurrentKeys } from '../keys/keys.ts';
import { verifyToken } from '../keys/tokens.ts';
import type { OperatorRights } from '../operators/rights.ts';
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
  readonly developers: DeveloperSettings;
}

/** A person who acts by an access token of the command line. */
export interface ActingPerson {
  readonly accountId: string;
  readonly familyId: string;
  readonly clientId: string;
}

/** What the rights of a person rest on: see `heldBy`. */
interface Holding {
  readonly policy: DeveloperPolicy;
  readonly now: number;
  readonly locks: boolean;
}

/** Whether a credential may be an access token: admin keys have no dots, and tokens have two. */
export const looksLikeToken = (credential: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);

/**
 * Finds the person of an access token, and what the person holds now: decisions §15. Only a token that was issued to the command
 * line for the admin API is accepted.
 * @returns undefined where the token is not valid
 */
export function findPerson(
  { database, clock, keys, issuer, commandLineSignIn, developers }: PersonServices,
  presented: string,
): Promise<{ readonly person: ActingPerson; readonly held: OperatorRights } | undefined> {
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
    const person = { accountId, familyId, clientId };
    const held = await database.read(() => heldByPerson(person, { policy: developers.policy, now, locks: false }));
    return held && { person, held };
  });
}

/**
 * What a person holds, at the beginning of a unit of work; undefined where the token is not valid any more: revoked, or the
 * session, the consent or the account has ended.
 */
export function* heldByPerson(person: ActingPerson, holding: Holding): Work<OperatorRights | undefined> {
  const holder = yield* readTokenHolder(person);
  if (holder === undefined || judge(holder.state, holder.inherited, holding.now).kind !== 'live') return undefined;
  return yield* heldBy(person.accountId, holding);
}

/** {@link heldByPerson}, for a unit of work that writes: what ends the token or a role comes before it or after it. */
export function* lockHeldByPerson(
  person: ActingPerson,
  holding: Omit<Holding, 'locks'>,
  actedOn = person.accountId,
): Work<OperatorRights | undefined> {
  const { accountId } = person;
  yield* lockActing({ accountId, actedOn });
  yield* holdFamily(person);
  return yield* heldByPerson(person, { ...holding, locks: true });
}
