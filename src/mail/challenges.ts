import { holdAdminKey, isAdminKeyLive } from '../admin-keys/live.ts';
import type { Sealer } from '../keys/sealer.ts';
import { giveBack, take } from '../limits/limits.ts';
import type { Limits } from '../limits/settings.ts';
import { digest, equalSecrets, isSecretForm, randomCode, randomSecret } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { compactCode } from '../platform/validation/typed-text.ts';
import type { StoredChallenge } from './challenge-store.ts';
import * as store from './challenge-store.ts';

/** What a link or code that was sent by mail is for. */
export type ChallengePurpose =
  | 'sign up'
  | 'verify address'
  | 'change address'
  | 'recover'
  /** Its link was made by an operator. */
  | 'recover by operator'
  | 'secure account'
  | 'sign in';

/** What a challenge is created from. */
export interface NewChallenge {
  readonly purpose: ChallengePurpose;
  /** Null where there is no account yet. */
  readonly account: { readonly id: string; readonly generation: string } | null;
  /** The address that it is sent to, in lower case. */
  readonly address: string;
  /** The browser that asked for it; null where an operator did, or nobody asked. */
  readonly browserHash: string | null;
  /** The admin key that hands it out, with which it ends; null for the command line. By default nobody does. */
  readonly adminKeyId?: string | null;
  /** Browsers that keep what they asked for themselves: others are replaced. */
  readonly spared?: readonly string[];
  /** What it confirms, such as a new address or a pending sign-up. Stored encrypted. */
  readonly data?: unknown;
  /** In milliseconds. */
  readonly lifetime: number;
  /** Whether no message is sent, so that no code answers it. Tries cost the same. */
  readonly isDecoy?: boolean;
}

/** The secrets of a new challenge, for the message that carries them. */
export interface SentChallenge {
  /** The secret of the link: 43 characters of base64url. */
  readonly link: string;
  /** Six digits. */
  readonly code: string;
  /** Names the challenge in the database. */
  readonly hash: string;
}

/** A challenge that can still be answered. */
export interface Challenge {
  readonly hash: string;
  readonly purpose: ChallengePurpose;
  readonly accountId: string | null;
  /** The account's generation when it was created: a challenge ends with it. */
  readonly generation: string | null;
  readonly address: string;
  readonly browserHash: string | null;
  readonly adminKeyId: string | null;
  readonly data: unknown;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What is prepared outside of the unit of work, which may run again. */
export function prepareChallenge(): SentChallenge {
  const link = randomSecret();
  return { link, code: randomCode(), hash: digest(link) };
}

/** Each report of a change is about that change, so a later one leaves it valid. */
const LASTING: ReadonlySet<ChallengePurpose> = new Set(['secure account']);

/**
 * Stores a challenge, inside a unit of work. It replaces the earlier ones of the same purpose and account, or, without an account, of
 * the same browser: only the newest works. Only what a spared browser asked for stays. Links that secure an account replace only those of earlier generations.
 * @param sent from {@link prepareChallenge}
 */
export function* createChallenge(
  sealer: Sealer,
  sent: SentChallenge,
  challenge: NewChallenge,
  now: number,
): Work<void> {
  const {
    purpose,
    account,
    address,
    browserHash,
    adminKeyId = null,
    spared = [],
    data,
    lifetime,
    isDecoy = false,
  } = challenge;
  const codeHash = sealer.digest(sent.code, `code ${sent.hash}`);
  if (account !== null && LASTING.has(purpose)) {
    yield* store.removeEarlierChallenges({ accountId: account.id, purpose, generation: account.generation });
  } else if (account !== null) yield* removeReplaced(account.id, purpose, spared);
  else if (browserHash !== null) yield* store.removeChallengesOfBrowser({ browserHash, purpose });
  yield* store.insertChallenge({
    hash: sent.hash,
    purpose,
    accountId: account?.id ?? null,
    generation: account?.generation ?? null,
    address,
    browserHash,
    codeHash: isDecoy ? null : codeHash,
    sealed: data === undefined ? null : sealer.seal(JSON.stringify(data), `challenge ${sent.hash}`),
    adminKeyId,
    createdAt: now,
    expiresAt: now + lifetime,
    usedAt: null,
  });
}

function* removeReplaced(accountId: string, purpose: ChallengePurpose, spared: readonly string[]): Work<void> {
  if (spared.length === 0) return yield* store.removeChallengesOfAccount({ accountId, purpose });
  for (const { hash, browserHash } of yield* store.listChallengesOfAccount({ accountId, purpose })) {
    if (browserHash === null || !spared.includes(browserHash)) yield* store.removeChallenge({ hash });
  }
}

const isOpen = ({ usedAt, expiresAt }: StoredChallenge, now: number): boolean => usedAt === null && expiresAt > now;

function opened(sealer: Sealer, stored: StoredChallenge): Challenge {
  const { sealed, codeHash: _code, usedAt: _used, ...challenge } = stored;
  const text = sealed === null ? undefined : sealer.open(sealed, `challenge ${stored.hash}`);
  return { ...challenge, data: text === undefined ? undefined : JSON.parse(text) };
}

/** Finds the challenge of a link; undefined where it is unknown, used, replaced, expired or of a revoked admin key. Changes nothing. */
export function* findChallenge(
  sealer: Sealer,
  link: string,
  purpose: ChallengePurpose,
  now: number,
): Work<Challenge | undefined> {
  if (!isSecretForm(link)) return undefined;
  const stored = yield* store.findChallengeByHash({ hash: digest(link) });
  if (stored?.purpose !== purpose || !isOpen(stored, now)) return undefined;
  if (stored.adminKeyId !== null && !(yield* isAdminKeyLive(stored.adminKeyId, now))) return undefined;
  return opened(sealer, stored);
}

/** Why the link of a challenge does not work: `ended` also where it never existed. */
export type DeadCause = 'used' | 'expired' | 'ended';

/** Why a link that cannot be answered does not work. The holder of the link may know. */
export function* deadCause(link: string, now: number): Work<DeadCause> {
  const stored = isSecretForm(link) ? yield* store.findChallengeByHash({ hash: digest(link) }) : undefined;
  if (stored === undefined) return 'ended';
  if (stored.usedAt !== null) return 'used';
  return stored.expiresAt <= now ? 'expired' : 'ended';
}

/**
 * The oldest challenge of a purpose and account that is stored, is not used and has not expired, even if a later generation has ended
 * it.
 */
export function* findOldestChallenge(
  sealer: Sealer,
  accountId: string,
  purpose: ChallengePurpose,
  now: number,
): Work<Challenge | undefined> {
  const stored = yield* store.findOldestOpen({ accountId, purpose, now });
  return stored && opened(sealer, stored);
}

/** The challenges of a purpose and account that {@link findOldestChallenge} finds the oldest of, the oldest first. */
export function* listOpenChallenges(
  sealer: Sealer,
  accountId: string,
  purpose: ChallengePurpose,
  now: number,
): Work<readonly Challenge[]> {
  const stored = yield* store.listChallengesOfAccount({ accountId, purpose });
  const open = stored.filter((challenge) => isOpen(challenge, now)).map((challenge) => opened(sealer, challenge));
  return open.toSorted((one, other) => one.createdAt - other.createdAt);
}

/** When the newest challenge of a purpose and account that is stored was made; undefined where there is none. */
export const newestChallengeAt = (accountId: string, purpose: ChallengePurpose): Work<number | undefined> =>
  store.findNewest({ accountId, purpose });

/**
 * The browsers that asked for challenges of a purpose which can still be answered; null for one that no browser asked for.
 * @param addresses those that the challenges were sent to, in lower case; any by default
 */
export function* listBrowsersWaiting(
  { id: accountId, generation }: NonNullable<NewChallenge['account']>,
  purpose: ChallengePurpose,
  now: number,
  addresses?: readonly string[],
): Work<readonly (string | null)[]> {
  const stored = yield* store.listChallengesOfAccount({ accountId, purpose });
  return stored
    .filter((challenge) => isOpen(challenge, now) && challenge.generation === generation)
    .filter(({ address }) => addresses === undefined || addresses.includes(address))
    .map(({ browserHash }) => browserHash);
}

/** Whether what a challenge confirms may still happen: it can be answered, or was answered and the account is as it was. */
export function* isUnderWay(
  { id: accountId, generation }: NonNullable<NewChallenge['account']>,
  purpose: ChallengePurpose,
  now: number,
): Work<boolean> {
  const stored = yield* store.listChallengesOfAccount({ accountId, purpose });
  return stored.some((challenge) => challenge.generation === generation && challenge.expiresAt > now);
}

/** Finds the newest challenge of a purpose that a browser asked for, if it can still be answered. */
export function* findChallengeOfBrowser(
  sealer: Sealer,
  browserHash: string,
  purpose: ChallengePurpose,
  now: number,
): Work<Challenge | undefined> {
  const [stored] = yield* store.findChallengesOfBrowser({ browserHash, purpose });
  return stored !== undefined && isOpen(stored, now) ? opened(sealer, stored) : undefined;
}

/**
 * Uses a challenge up, once, in the unit of work that does what it confirms.
 * @returns undefined where it is unknown, replaced, expired, of a revoked admin key, or was used before
 */
export function* useChallenge(
  sealer: Sealer,
  link: string,
  purpose: ChallengePurpose,
  now: number,
): Work<Challenge | undefined> {
  const challenge = yield* findChallenge(sealer, link, purpose, now);
  if (challenge === undefined) return undefined;
  if (challenge.adminKeyId !== null && !(yield* holdAdminKey(challenge.adminKeyId, now))) return undefined;
  return (yield* store.spendChallenge({ hash: challenge.hash, now })) ? challenge : undefined;
}

/** Ends a link that was not sent. */
export const endChallenge = (hash: string): Work<void> => store.removeChallenge({ hash });

/** Ends every link and code of an account, such as those that were sent to an address that it no longer has. */
export const endChallenges = (accountId: string): Work<void> => store.removeAllChallenges({ accountId });

/**
 * Ends every link and code of an account that gets another generation, but for the reports that nobody answered: with these its owner still
 * takes back what somebody else did, and they let nobody in.
 */
export function* endChallengesButReports(
  { id: accountId, generation }: NonNullable<NewChallenge['account']>,
  next: string,
): Work<void> {
  const purpose: ChallengePurpose = 'secure account';
  yield* store.removeOtherChallenges({ accountId, purpose });
  yield* store.moveChallenges({ accountId, purpose, generation, next });
}

/**
 * Ends the recovery links that operators made of an account, in the unit of work that gives it a role: who made one may lack what the account
 * may do from now on, and nobody takes over somebody who may do more.
 */
export const endOperatorLinks = (accountId: string): Work<void> =>
  store.removeChallengesOfAccount({ accountId, purpose: 'recover by operator' });

/** The result of typing a code. */
export type CodeResult =
  | { readonly kind: 'right'; readonly challenge: Challenge }
  /** Also where there is no challenge: the two are not told apart. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number };

/** The address of these is typed by a person, and may be anybody's: their tries share a count. */
const TYPED: ReadonlySet<ChallengePurpose> = new Set(['sign up', 'change address']);

/** The buckets of the tries at a challenge, which last over reissued codes. */
interface TryBuckets {
  /** Of what the person knows to be theirs, or typed: that there were too many is told. */
  readonly disclosed: readonly string[];
  /** Of the address, for every purpose. It is not disclosed: it would tell that a name and an address belong together. */
  readonly undisclosed: string;
}

/** The rule is in the README. */
function triesOf(
  { purpose, browserHash, isKnown = false, isReturn = false }: TypedCode,
  { accountId, address, codeHash }: StoredChallenge,
): TryBuckets {
  const at = digest(address);
  const own = isKnown ? ` ${browserHash}` : '';
  const isTyped = TYPED.has(purpose);
  // Where no message was sent, no code opens anything: such tries are counted apart, so that they lock nobody out. What is told counts them
  // together: where it changed its count, it would tell who has an account.
  const decoy = codeHash === null ? 'decoy ' : '';
  const holder = purpose === 'verify address' ? ` ${accountId}` : own;
  return {
    disclosed: [
      ...(accountId === null && isTyped ? [] : [`code ${purpose} ${accountId ?? at}${own}`]),
      ...(isTyped && !isReturn ? [`code at ${at}`] : []),
    ],
    undisclosed: `code to ${decoy}${at}${holder}`,
  };
}

/** A code that a person typed. */
interface TypedCode {
  readonly purpose: ChallengePurpose;
  readonly browserHash: string;
  /** Whether the browser signed in before to the account that has the address: a stranger cannot use up its tries. */
  readonly isKnown?: boolean;
  /** Whether the account goes back to an address that it had: strangers who name that address cannot use up its tries. */
  readonly isReturn?: boolean;
  readonly code: string;
  readonly origin: Origin;
}

/**
 * Checks a code that was typed into the browser that asked for it, and uses the challenge up where it is right. Tries are counted for
 * the account and for the address, over reissued codes. A unit of work of its own: a wrong try is counted even though
 * nothing else happens, so the caller does what the code confirms in `onRight`, which may still refuse by throwing.
 */
export function* tryCode(
  { sealer, limits }: { readonly sealer: Sealer; readonly limits: Limits },
  attempt: TypedCode,
  now: number,
): Work<CodeResult> {
  const { purpose, browserHash, code, origin } = attempt;
  const [stored] = yield* store.findChallengesOfBrowser({ browserHash, purpose });
  if (stored === undefined || !isOpen(stored, now)) return { kind: 'wrong' };
  const { disclosed, undisclosed } = triesOf(attempt, stored);
  const about = { name: 'codeAccount', origin, accountId: stored.accountId } as const;
  for (const bucket of disclosed) {
    const seconds = yield* take(bucket, limits.codeAccount, now, about);
    if (seconds > 0) return { kind: 'limited', seconds };
  }
  const isOver = (yield* take(undisclosed, limits.codeAccount, now, about)) > 0;
  const given = sealer.digest(compactCode(code), `code ${stored.hash}`);
  if (isOver || stored.codeHash === null || !equalSecrets(stored.codeHash, given)) return { kind: 'wrong' };
  // Read before it is used up, which erases its data.
  const challenge = opened(sealer, stored);
  if (!(yield* store.spendChallenge({ hash: stored.hash, now }))) return { kind: 'wrong' };
  for (const bucket of [...disclosed, undisclosed]) yield* giveBack(bucket, limits.codeAccount);
  return { kind: 'right', challenge };
}
