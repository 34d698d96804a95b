import { type AccountRestrictions, isBanned, isSuspended } from '../accounts/rules/status.ts';

/** What is on record about that which a credential stands on, read in one moment; null is not on record. */
export interface Standing {
  readonly account: (AccountRestrictions & { readonly generation: string }) | null;
  readonly client: { readonly status: string; readonly generation: string } | null;
  readonly grant: { readonly revokedAt: number | null } | null;
  /** Absent for a credential that has no family yet. */
  readonly family?: { readonly endsAt: number; readonly deadAt: number | null } | null;
}

/** What a credential inherited when its person signed in. */
export interface Inherited {
  readonly accountGeneration: string;
  readonly clientGeneration: string;
}

export type Verdict =
  | { readonly kind: 'live' }
  /** Not, or no longer, a credential of this service: 401, or `invalid_grant` at the token endpoint. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'banned' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'revoked' };

const invalid = (reason: string): Verdict => ({ kind: 'invalid', reason });

/**
 * The verdict on a credential whose own form and signature have been proved, for every route and in one order.
 * It compares generations, never times: two events in one millisecond are always told apart.
 * @param now milliseconds since the epoch; only the ends of bans and families go by it
 */
export function judge(standing: Standing, inherited: Inherited, now: number): Verdict {
  const { account, client, grant, family } = standing;
  // 1. On record, and the client may act.
  if (account === null) return invalid('the account no longer exists');
  if (client === null) return invalid('the client no longer exists');
  if (grant === null) return invalid('the grant is not on record');
  if (family === null) return invalid('the token family is not on record');
  if (family !== undefined && family.endsAt <= now) return invalid('the authorization has reached its end');
  if (client.status !== 'active') return invalid('the client is disabled');
  // 2. The account may be used.
  if (isBanned(account, now)) return { kind: 'banned' };
  if (isSuspended(account)) return { kind: 'suspended' };
  // 3. The person still consents. A new consent makes a new grant, so this holds for ever.
  if (grant.revokedAt !== null) return { kind: 'revoked' };
  // 4. Nothing happened to account or client that ended what came before.
  if (account.generation !== inherited.accountGeneration) return invalid('the account was secured after the sign-in');
  if (client.generation !== inherited.clientGeneration) return invalid('the client was disabled after the sign-in');
  // 5. The chain of tokens is unbroken.
  if (family !== undefined && family.deadAt !== null) return invalid('the token family was ended');
  return { kind: 'live' };
}

/** A token family as it was found, with the name of its app. */
export interface FamilyStanding {
  readonly app: string;
  readonly standing: Standing;
  readonly inherited: Inherited;
}

/** What an act has stopped. */
export interface Stopped {
  /** How many families lived until then: each is one sign-in to an app. */
  readonly families: number;
  /** Whose they were. */
  readonly apps: readonly string[];
  /** How many of all that were found live on: none, unless something is wrong. */
  readonly live: number;
}

/**
 * Judges anew, after an act, all that it was to stop.
 * @param before a standing as it was before the act
 */
export function whatStopped(
  found: readonly FamilyStanding[],
  before: (standing: Standing) => Standing,
  now: number,
): Stopped {
  const lives = (standing: Standing, inherited: Inherited) => judge(standing, inherited, now).kind === 'live';
  const held = found.filter(({ standing, inherited }) => lives(before(standing), inherited));
  return {
    families: held.length,
    apps: [...new Set(held.map(({ app }) => app))].sort((a, b) => a.localeCompare(b)),
    live: found.filter(({ standing, inherited }) => lives(standing, inherited)).length,
  };
}

const NOBODY = { bannedAt: null, bannedUntil: null, suspendedAt: null, generation: '' } as const;

/** The verdict on a token that a client got for itself: the same rules, where no person is involved. */
export function judgeClientToken(
  client: Standing['client'],
  token: { readonly endsAt: number; readonly deadAt: number | null },
  clientGeneration: string,
  now: number,
): Verdict {
  const standing = { account: NOBODY, client, grant: { revokedAt: null }, family: token };
  return judge(standing, { accountGeneration: '', clientGeneration }, now);
}

/** The verdict on a browser's session: the same rules, where no client is involved. */
export function judgeSession(
  account: (AccountRestrictions & { readonly generation: string }) | null,
  generation: string,
  now: number,
): Verdict {
  return judge(
    { account, client: { status: 'active', generation: '' }, grant: { revokedAt: null } },
    { accountGeneration: generation, clientGeneration: '' },
    now,
  );
}
