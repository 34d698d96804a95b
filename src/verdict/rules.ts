/** The ban and the suspension of an account, in milliseconds since the epoch. */
export interface AccountRestrictions {
  readonly bannedAt: number | null;
  /** When the ban ends; null means never. */
  readonly bannedUntil: number | null;
  readonly suspendedAt: number | null;
}

export type AccountStatus = 'active' | 'banned' | 'suspended';

/** Whether a ban is in force at `now`. It ends with the clock; at the instant `bannedUntil` it is over. */
export function isBanned(account: AccountRestrictions, now: number): boolean {
  return account.bannedAt !== null && (account.bannedUntil === null || now < account.bannedUntil);
}

export function isSuspended(account: AccountRestrictions): boolean {
  return account.suspendedAt !== null;
}

/** A ban takes precedence over a suspension. */
export function accountStatus(account: AccountRestrictions, now: number): AccountStatus {
  if (isBanned(account, now)) return 'banned';
  return isSuspended(account) ? 'suspended' : 'active';
}

/** The state of everything that a credential depends on, read at one moment; null where it does not exist. */
export interface CredentialState {
  readonly account: (AccountRestrictions & { readonly generation: string }) | null;
  readonly client: { readonly status: string; readonly generation: string } | null;
  readonly grant: { readonly revokedAt: number | null } | null;
  /** Absent for a credential without a family: a code or a session. */
  readonly family?: { readonly endsAt: number; readonly deadAt: number | null } | null;
  /**
   * False where the app is open to assigned people only, and the assignment that the credential was issued under, or the membership that it
   * reached the person by, does not exist any more. Absent for a session.
   */
  readonly hasAccess?: boolean;
}

/**
 * The status of a client from its column. An active app that is open to assigned people only is stored as `assigned`: whether the person
 * may use it is a matter of the path (`hasAccess`).
 */
export const clientStatusOf = (stored: unknown): 'active' | 'disabled' =>
  stored === 'active' || stored === 'assigned' ? 'active' : 'disabled';

/** The generations of account and client that a credential got when the user signed in. */
export interface InheritedGenerations {
  readonly accountGeneration: string;
  readonly clientGeneration: string;
}

export type Verdict =
  | { readonly kind: 'live' }
  /** Unknown, expired or revoked: 401, or `invalid_grant` at the token endpoint. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'banned' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'revoked' };

const invalid = (reason: string): Verdict => ({ kind: 'invalid', reason });

/**
 * The verdict on a credential whose form and signature have been verified: the same checks for every route, in one order.
 * It compares generations, not times, so that two events within a millisecond stay distinct.
 * @param now milliseconds since the epoch, for the ends of bans and families only
 */
export function judge(state: CredentialState, inherited: InheritedGenerations, now: number): Verdict {
  const { account, client, grant, family, hasAccess } = state;
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
  if (hasAccess === false) return invalid('the person lost access to the app after the sign-in');
  // 5. The chain of tokens is unbroken.
  if (family !== undefined && family.deadAt !== null) return invalid('the sign-in of this token has ended');
  return { kind: 'live' };
}

/** The state of a token family, with the name of its app. */
export interface FamilyState {
  readonly app: string;
  readonly state: CredentialState;
  readonly inherited: InheritedGenerations;
}

/** What a revocation ended, for the person who asked for it. */
export interface RevocationSummary {
  /** How many families were live until then: each is one sign-in to an app. */
  readonly families: number;
  /** The names of their apps. */
  readonly apps: readonly string[];
  /** How many are still live: more than none is a fault. */
  readonly live: number;
}

/**
 * Judges the families that a revocation was meant to end, as they were and as they are now.
 * @param before gives the state before the revocation
 */
export function summarizeRevocation(
  found: readonly FamilyState[],
  before: (state: CredentialState) => CredentialState,
  now: number,
): RevocationSummary {
  const isLive = (state: CredentialState, inherited: InheritedGenerations) =>
    judge(state, inherited, now).kind === 'live';
  const wereLive = found.filter(({ state, inherited }) => isLive(before(state), inherited));
  return {
    families: wereLive.length,
    apps: [...new Set(wereLive.map(({ app }) => app))].sort((a, b) => a.localeCompare(b)),
    live: found.filter(({ state, inherited }) => isLive(state, inherited)).length,
  };
}

const NO_ACCOUNT = { bannedAt: null, bannedUntil: null, suspendedAt: null, generation: '' } as const;

/** The verdict on a token that a client got for itself: the same checks without an account. */
export function judgeClientToken(
  client: CredentialState['client'],
  token: { readonly endsAt: number; readonly deadAt: number | null },
  clientGeneration: string,
  now: number,
): Verdict {
  const state = { account: NO_ACCOUNT, client, grant: { revokedAt: null }, family: token };
  return judge(state, { accountGeneration: '', clientGeneration }, now);
}

/** The verdict on a session: the same checks without a client. */
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

/** The messages of the contract, to the letter. */
export const MESSAGES = {
  banned: 'Account banned',
  suspended: 'Account is suspended',
  revoked: 'Access revoked by user',
} as const;
