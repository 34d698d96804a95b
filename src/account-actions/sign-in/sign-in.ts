import {
  type BrowserMark,
  forgetBrowsers,
  isKnownBrowser,
  rememberBrowser,
} from '../../accounts/known-browser-store.ts';
import { type Account, findAccount, lockAccount, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import {
  findPendingSignIn,
  insertPendingSignIn,
  type PendingSignIn,
  removePendingSignIn,
  removePendingSignInsOfBrowser,
} from '../../authenticators/pending-sign-in-store.ts';
import { authenticationContext, type Method, upstreamAmr } from '../../authenticators/rules/authentication-context.ts';
import { beginningOf, type FactorUse, secondFactors, strongest } from '../../authenticators/rules/factors.ts';
import { take } from '../../limits/limits.ts';
import { MINUTE } from '../../platform/clock.ts';
import { digest, isSecretForm, randomIdentifier, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { addressBucket, deviceOf } from '../../platform/validation/origin.ts';
import { carryRequest, noteSignedIn } from '../../sessions/interaction-store.ts';
import { type NewSession, newSession, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { type MappedClaims, NOTHING_MAPPED } from '../../upstreams/rules/claims-map.ts';
import { recordUpstreamSession, type UpstreamOrigin } from '../../upstreams/session-store.ts';
import { findUpstream, holdUpstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { applyClaims } from '../access/apply-claims.ts';
import type {
  AttemptsLimited,
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from '../authentication/authenticators.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { reportNewDevice } from './new-device.ts';
import { continueProved } from './renew-session.ts';
import { replaceSession } from './replace-session.ts';
import { type BrowserTrust, isTrustedBrowser, trustBrowser } from './trusted-browsers.ts';

/** How long a sign-in waits for its second factor. */
export const PENDING_SIGN_IN_LIFETIME = 10 * MINUTE;

/** The browser in which a person signs in. */
export interface SignInBrowser {
  readonly mark: BrowserMark;
  /** Its header. */
  readonly userAgent: string | undefined;
  /** The session that it had before, which ends with a new sign-in. */
  readonly previousSecret: string | undefined;
  /** The secret of its trust, where the installation offers that. */
  readonly trustedSecret: string | undefined;
  /** The digest of the pending request that needs the sign-in, if there is one: it remembers the session that is started for it. */
  readonly interactionHash: string | null;
  readonly origin: Origin;
}

export type SignInServices = Pick<AuthenticationServices, 'database' | 'clock' | 'limits'> & SecurityNoticeServices;

export interface SignedIn {
  readonly kind: 'signed in';
  readonly created: NewSession;
  readonly account: Account;
  /** What another provider says of the person, where they came from one: all but the picture is written. */
  readonly said?: SaidByUpstream;
}

/** What another provider says of a person who signed in through it. */
export interface SaidByUpstream {
  readonly upstream: UpstreamOrigin;
  readonly mapped: MappedClaims;
}

/** The person proved who they are, but the account waits for its deletion: the only thing they can do is come back. */
interface DeletionPending {
  readonly kind: 'deletion pending';
  /** For the cookie of the browser. */
  readonly secret: string;
}

export type SignInResult =
  | SignedIn
  | DeletionPending
  /** The first factor was right; nothing is signed in until one of these methods is used. */
  | {
      readonly kind: 'second factor';
      /** For the cookie of the browser. */
      readonly secret: string;
      readonly methods: readonly Method[];
    }
  | AuthenticationRefusal;

/**
 * Signs a person in: completes the check of the first factor, then starts a session, or a pending sign-in where a second factor is
 * asked, in one commit.
 */
export async function signIn(
  services: SignInServices,
  checked: CheckedAttempt | AttemptsLimited,
  browser: SignInBrowser,
): Promise<SignInResult> {
  if (checked.kind === 'limited') return checked;
  const now = services.clock();
  return services.database.commit(function* start(): Work<SignInResult> {
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, method } = authentication;
    const seconds = yield* countSignIn(services, account, browser, now);
    if (seconds > 0) return { kind: 'limited', seconds };
    const methods = secondFactors([method], yield* listFactors(account));
    // A code by mail is never spared the second factor: a person who reads the mail would need nothing else.
    const isSpared = method === 'password' && (yield* isTrustedBrowser(browser.trustedSecret, account, now));
    if (methods.length === 0 || isSpared) return yield* finishSignIn(services, account, [authentication], browser, now);
    const secret = yield* storePendingSignIn(account, [authentication], browser, now);
    return { kind: 'second factor', secret, methods };
  });
}

/**
 * Counts a first factor that was right: each leaves an event and a session or a pending sign-in, and tells the person of a new device, so
 * nobody may have any number of them. A thief of the factor cannot use up the sign-ins of a browser that signed in before.
 * @returns 0 when it is within the limit, else the seconds until the window ends
 */
function* countSignIn(
  { limits }: Pick<SignInServices, 'limits'>,
  { id: accountId }: Account,
  { mark, origin }: SignInBrowser,
  now: number,
): Work<number> {
  const isKnown = yield* isKnownBrowser(accountId, mark);
  const bucket = `session of ${accountId}${isKnown ? ` ${mark.hash}` : ''}`;
  return yield* take(bucket, limits.sessionAccount, now, { name: 'sessionAccount', origin, accountId });
}

/** Remembers what was proved in a browser, until the sign-in is complete. @returns the secret for its cookie */
function* storePendingSignIn(
  account: Account,
  used: readonly FactorUse[],
  { mark: { hash: browserHash }, interactionHash }: SignInBrowser,
  now: number,
): Work<string> {
  const secret = randomSecret();
  yield* removePendingSignInsOfBrowser({ accountId: account.id, browserHash });
  yield* insertPendingSignIn({
    hash: digest(secret),
    accountId: account.id,
    generation: account.generation,
    browserHash,
    methods: used.map(({ method }) => method),
    factorsSince: used.map(({ factorSince }) => factorSince),
    interactionHash,
    upstream: pendingOriginOf(used),
    createdAt: now,
    expiresAt: now + PENDING_SIGN_IN_LIFETIME,
  });
  return secret;
}

/** After the last factor: a session, unless the account waits for its deletion. */
function* finishSignIn(
  services: SecurityNoticeServices,
  account: Account,
  used: readonly FactorUse[],
  browser: SignInBrowser,
  now: number,
): Work<SignedIn | DeletionPending> {
  if (account.deletionDueAt === null) return yield* startSession(services, account, used, browser, now);
  return { kind: 'deletion pending', secret: yield* storePendingSignIn(account, used, browser, now) };
}

/**
 * Calls off the deletion of an account, as its owner who has proved who they are in this browser, and starts a session, in one commit.
 * Nothing that the request for the deletion ended is valid again.
 * @returns `changed` where there is nothing to come back to: the person begins again
 */
export async function comeBack(
  services: Pick<AuthenticationServices, 'database' | 'clock'> & SecurityNoticeServices,
  secret: string | undefined,
  browser: SignInBrowser,
): Promise<SignedIn | { readonly kind: 'changed' }> {
  const now = services.clock();
  return services.database.commit(function* revive(): Work<SignedIn | { readonly kind: 'changed' }> {
    const waiting = yield* readPendingSignIn(secret, browser, now, true);
    if (waiting === undefined || !canComeBack(waiting)) return { kind: 'changed' };
    const { pending, account } = waiting;
    if (!(yield* removePendingSignIn({ hash: pending.hash }))) return { kind: 'changed' };
    const at = yield* accountTime(account, now);
    const revived: Account = {
      ...account,
      deletionRequestedAt: null,
      deletionDueAt: null,
      generation: randomIdentifier(),
      updatedAt: at,
    };
    yield* saveAccount(revived);
    yield* forgetBrowsers({ accountId: revived.id });
    const origin: Origin = { ...browser.origin, actor: { type: 'user', id: account.id } };
    yield* record({ at: now, type: 'account.deletion_cancelled', origin, accountId: account.id });
    // It ends the links of earlier reports, so it brings another one.
    yield* enqueueSecurityNotice(services, revived, 'deletion cancelled', deviceFacts(deviceAt(browser)), now, at);
    return yield* startSession(services, revived, usesOf(pending), browser, now);
  });
}

/** What was used so far. */
const usesOf = ({ methods, factorsSince, upstream }: PendingSignIn): readonly FactorUse[] =>
  methods.map((method, index) => ({
    method,
    factorSince: factorsSince[index] ?? null,
    ...(method === 'upstream' && upstream !== null && saidBefore(upstream)),
  }));

/** What another provider says of the person, if they came from one. */
function saidIn(used: readonly FactorUse[]): SaidByUpstream | undefined {
  for (const { upstream, mapped = NOTHING_MAPPED } of used) if (upstream !== undefined) return { upstream, mapped };
  return undefined;
}

function saidBefore({ mapped = NOTHING_MAPPED, ...upstream }: NonNullable<PendingSignIn['upstream']>): SaidByUpstream {
  return { upstream, mapped };
}

function pendingOriginOf(used: readonly FactorUse[]): PendingSignIn['upstream'] {
  const said = saidIn(used);
  return said === undefined ? null : { ...said.upstream, mapped: said.mapped };
}

/** Whether a sign-in is complete, and its account waits for its deletion. */
export const canComeBack = ({ account, methods }: WaitingSignIn): boolean =>
  account.deletionDueAt !== null && methods.length === 0;

/** A sign-in that waits for a second factor, as this browser began it. */
export interface WaitingSignIn {
  readonly pending: PendingSignIn;
  readonly account: Account;
  /** The methods of which one is asked. */
  readonly methods: readonly Method[];
}

/**
 * Reads the pending sign-in of a browser, inside a unit of work; undefined where it is unknown, is another browser's, has expired, or
 * the account changed meanwhile. What was proved for another request, or before this one was made, is no sign-in for this one (OpenID
 * Connect Core 1.0 §3.1.2.1): the person begins again.
 * @param isWriting whether what the unit writes depends on the account and the provider, which are locked then
 */
export function* readPendingSignIn(
  secret: string | undefined,
  { mark, interactionHash }: Pick<SignInBrowser, 'mark' | 'interactionHash'>,
  now: number,
  isWriting = false,
): Work<WaitingSignIn | undefined> {
  if (secret === undefined || !isSecretForm(secret)) return undefined;
  const pending = yield* findPendingSignIn({ hash: digest(secret) });
  if (pending === undefined || pending.browserHash !== mark.hash || pending.expiresAt <= now) return undefined;
  if (interactionHash !== null && pending.interactionHash !== interactionHash) return undefined;
  const account = yield* (isWriting ? lockAccount : findAccount)({ id: pending.accountId });
  if (account === undefined || account.generation !== pending.generation) return undefined;
  if (accountStatus(account, now) !== 'active') return undefined;
  const { upstream } = pending;
  const readUpstream = isWriting ? holdUpstream : findUpstream;
  if (upstream !== null && (yield* whyNotVouched(upstream, now, readUpstream)) !== undefined) return undefined;
  const methods = secondFactors(pending.methods, yield* listFactors(account));
  return { pending, account, methods };
}

/**
 * Completes a pending sign-in with a second factor, and starts the session, in one commit.
 * @param checked the check of one of the methods that were asked
 * @param trust where the person does not want to be asked in this browser again
 * @returns `changed` where the pending sign-in is no longer valid: the person begins again
 */
export async function completeSignIn(
  services: SignInServices,
  secret: string | undefined,
  checked: CheckedAttempt | AttemptsLimited,
  browser: SignInBrowser,
  trust: BrowserTrust | undefined,
): Promise<Exclude<SignInResult, { kind: 'second factor' }>> {
  if (checked.kind === 'limited') return checked;
  const now = services.clock();
  return services.database.commit(function* complete() {
    const waiting = yield* readPendingSignIn(secret, browser, now, true);
    if (waiting === undefined) return { kind: 'changed' } as const;
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, method } = authentication;
    const { pending, methods } = waiting;
    if (account.id !== pending.accountId || !methods.includes(method)) return { kind: 'changed' } as const;
    if (!(yield* removePendingSignIn({ hash: pending.hash }))) return { kind: 'changed' } as const;
    const used = [...usesOf(pending), authentication];
    const result = yield* finishSignIn(services, account, used, browser, now);
    if (result.kind === 'signed in' && trust !== undefined) {
      yield* trustBrowser(result.created.session, trust, browser.origin, now);
    }
    return result;
  });
}

/**
 * Raises the session of a signed-in person by one more factor, in one commit, which checks again that the session is still valid.
 * @param session as it was when the factor was asked for
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function completeStepUp(
  services: Pick<AuthenticationServices, 'database' | 'clock'>,
  session: Session,
  checked: CheckedAttempt | AttemptsLimited,
  browser: SignInBrowser,
): Promise<SignedIn | AuthenticationRefusal> {
  if (checked.kind === 'limited') return checked;
  const now = services.clock();
  return sessionDatabase(services, session).commit(function* raise() {
    const authentication = yield* checked.complete();
    if (authentication.kind !== 'authenticated') return authentication;
    const { account, method } = authentication;
    if (account.id !== session.accountId) return { kind: 'changed' } as const;
    const created = yield* continueProved(session, authentication, account, browser.mark, now);
    yield* carryRequest(browser.interactionHash, { from: session.hash, to: created.session.hash });
    const origin: Origin = { ...browser.origin, actor: { type: 'user', id: account.id } };
    const details = { sid: session.sid, method };
    yield* record({ at: now, type: 'sign_in.confirmed', origin, accountId: account.id, details });
    return { kind: 'signed in', created, account } as const;
  });
}

/**
 * Starts the session of a person who proved who they are, inside a unit of work that holds the account's lock. What another provider says of
 * them is written with it, and nothing of it before.
 * @param used all that the person proved themselves with
 * @throws {Failure} `conflict` where the account waits for its deletion
 */
export function* startSession(
  services: SecurityNoticeServices,
  proved: Account,
  used: readonly FactorUse[],
  browser: SignInBrowser,
  now: number,
): Work<SignedIn> {
  if (proved.deletionDueAt !== null) throw conflict('This account waits for its deletion. Sign in to come back.');
  const said = saidIn(used);
  const account =
    said === undefined
      ? proved
      : yield* applyClaims(proved, said.upstream.upstreamId, said.mapped, browser.origin, now);
  const origin: Origin = { ...browser.origin, actor: { type: 'user', id: account.id } };
  const methods = used.map(({ method }) => method);
  const provedBy = strongest(methods);
  const startedAt = beginningOf(used, now);
  const { amr, acr } = authenticationContext(methods);
  const { secret, session } = newSession(account, now, {
    ...deviceAt(browser),
    amr: [...amr, ...upstreamAmr(said?.upstream.amr ?? [])],
    acr,
    authTime: startedAt,
    provedAt: startedAt,
    provedBy,
    provedFactorSince: used.find(({ method }) => method === provedBy)?.factorSince ?? null,
    provedAfter: account.updatedAt,
  });
  const created = { secret, session: yield* replaceSession(session, browser.previousSecret, now, origin) };
  if (said !== undefined) yield* recordUpstreamSession(created.session, said.upstream, now);
  yield* reportNewDevice(services, account, browser.mark, session, now);
  yield* rememberBrowser(account.id, browser.mark, secret, now);
  yield* noteSignedIn(browser.interactionHash, created.session.hash);
  const details = { sid: created.session.sid, ...(methods.some((method) => method !== 'password') && { methods }) };
  yield* record({ at: now, type: 'sign_in.succeeded', origin, accountId: account.id, details });
  return { kind: 'signed in', created, account, ...(said !== undefined && { said }) };
}

const deviceAt = ({ userAgent, origin }: SignInBrowser) =>
  deviceOf(userAgent, origin.address === null ? null : addressBucket(origin.address));
