import type { BreachedPasswords } from '../../accounts/breached-passwords.ts';
import {
  type BrowserMark,
  forgetBrowsers,
  isKnownBrowser,
  otherKnownBrowsers,
} from '../../accounts/known-browser-store.ts';
import { type PasswordProblem, passwordProblem } from '../../accounts/password-problem.ts';
import { listPreviousAddresses } from '../../accounts/previous-address-store.ts';
import { changeProfile } from '../../accounts/rules/profile.ts';
import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import { type Account, findAccount, lockAccount, saveAccount, takeAccountLock } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import {
  acceptedApps,
  acceptedCodes,
  endPasskeys,
  forgetEarlierFactors,
  settleAfterRecovery,
} from '../../authenticators/earlier-factors.ts';
import { removeFactorsSince } from '../../authenticators/factor-removal-store.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import type { VerifiedRegistration } from '../../authenticators/relying-party.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import { parseTotpCode } from '../../authenticators/rules/codes.ts';
import type { Factor, FactorUse } from '../../authenticators/rules/factors.ts';
import { foreignSince, type Span, untilNow } from '../../authenticators/rules/taking-back.ts';
import { enqueueAccountNotices } from '../../credentials/logout-notices.ts';
import { findJoinedSince } from '../../invitations/store.ts';
import {
  type Challenge,
  createChallenge,
  endChallenges,
  findChallenge,
  findChallengeOfBrowser,
  prepareChallenge,
  tryCode,
  useChallenge,
} from '../../mail/challenges.ts';
import { mailTexts } from '../../mail/messages.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import { DAY } from '../../platform/clock.ts';
import { digest, randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import type { NewSession } from '../../sessions/sessions.ts';
import { removeIdentitiesSince } from '../../upstreams/identity-store.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { recordRecovery } from '../accounts/openings.ts';
import { replaceUsername, usernameAt } from '../accounts/usernames.ts';
import {
  type AttemptsLimited,
  type AuthenticationRefusal,
  authenticators,
  type CheckedAttempt,
} from '../authentication/authenticators.ts';
import type { PasskeyServices } from '../authentication/passkey.ts';
import { issueMissingRecoveryCodes, prepareRecoveryCodes } from '../authentication/recovery-code.ts';
import { revokeAccessSince, revokeAllAccess } from '../connections/connections.ts';
import { type EndedMakers, finishEnding, onlyMakers } from '../makers/made.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices, UNTOLD, unansweredSince } from '../notices/notices.ts';
import { operatorOf } from '../operators/gained-rights.ts';
import { endMembershipSince } from '../organizations/organizations.ts';
import { type SignInBrowser, startSession } from '../sign-in/sign-in.ts';
import { callOffDeletion, keptFromDeletion, leftDetails, settleMadeSince, unansweredSpan } from './added-since.ts';
import type { RecoveryData } from './begin.ts';
import { endYoungerRights } from './older-right.ts';
import { claimRecoveryPasskey, storeRecoveryPasskey, verifyRecoveryPasskey } from './passkey.ts';

export interface RecoveryServices extends SecurityNoticeServices, PasskeyServices {
  readonly breaches: BreachedPasswords;
  readonly secondFactor: SecondFactorSetting;
}

/** A recovery that can be completed. */
export interface FoundRecovery {
  readonly challenge: Challenge;
  readonly account: Account;
  /** Who made the link. */
  readonly by: 'mail' | 'operator';
  readonly data: RecoveryData;
  /** The methods of which one is asked for beside the link; empty where it is enough. */
  readonly asks: readonly Method[];
  /** Whether the person has none of them, so that only an operator can help. */
  readonly isImpossible: boolean;
  /** Whether a new passkey can take the place of those that the person had, instead of a password. */
  readonly offersPasskey: boolean;
}

/**
 * Finds the recovery of a link, inside a unit of work; undefined where the link is unknown, used, replaced or expired, or the account was
 * changed since. Changes nothing.
 * @param readAccount `lockAccount` where what the unit writes depends on the account
 */
export function* findRecovery(
  { sealer, secondFactor }: Pick<RecoveryServices, 'sealer' | 'secondFactor'>,
  token: string,
  now: number,
  readAccount = findAccount,
): Work<FoundRecovery | undefined> {
  const challenge =
    (yield* findChallenge(sealer, token, 'recover', now)) ??
    (yield* findChallenge(sealer, token, 'recover by operator', now));
  // One without an account is a decoy, whose link was sent to no one.
  if (challenge === undefined || challenge.accountId === null) return undefined;
  const account = yield* readAccount({ id: challenge.accountId });
  if (account === undefined || account.generation !== challenge.generation) return undefined;
  const by = challenge.purpose === 'recover' ? 'mail' : 'operator';
  // A link of an earlier version, whose operator did not decide on the address: see `decideAddress`.
  if (by === 'operator' && (yield* listPreviousAddresses({ accountId: account.id, now })).length > 0) return undefined;
  const data = (challenge.data ?? {}) as RecoveryData;
  const factors = yield* listFactors(account);
  const asked = yield* methodsAsked(secondFactor, account, factors, by, data);
  const hasNone =
    asked.length > 0 && !asked.includes('totp') && (yield* acceptedCodes(account.id, acceptedAt(now))).length === 0;
  const isImpossible = hasNone && !(yield* isBarredByNewMembership({ sealer, secondFactor }, account, now));
  // A passkey is set up only with a verified address, which a link by mail proves.
  const offersPasskey =
    by === 'mail' && account.passwordHash === null && factors.some(({ kind }) => kind === 'passkey');
  const asks = hasNone && !isImpossible ? [] : asked;
  return { challenge, account, by, data, asks, isImpossible, offersPasskey };
}

/** Of the factors that were renewed in these days, the earlier ones are accepted, too: for as long as a renewal can be reported, and a recovery lasts. */
const acceptedAt = (now: number): Span => untilNow(now - 8 * DAY);

/**
 * The second factor is kept, unless an operator resets it: mail alone never replaces it. Nor is mail enough where a second factor is
 * required of the person, or where the person chose so.
 */
function* methodsAsked(
  setting: SecondFactorSetting,
  account: Account,
  factors: readonly Factor[],
  by: FoundRecovery['by'],
  { resetFactors = false }: RecoveryData,
): Work<readonly Method[]> {
  if (resetFactors) return [];
  if (factors.some(({ kind }) => kind === 'totp')) return ['totp', 'recovery code'];
  if (by === 'operator') return [];
  return (yield* isSecondFactorRequired(setting, account)) || (yield* requiresRecoveryCode(account.id))
    ? ['recovery code']
    : [];
}

/**
 * Whether a person is kept from a recovery by mail only by an organization that requires a second factor, and was joined since the account
 * may have been in foreign hands: the recovery ends that membership. A thief must not lock the owner out with an invitation.
 */
function* isBarredByNewMembership(
  { sealer, secondFactor }: Pick<RecoveryServices, 'sealer' | 'secondFactor'>,
  account: Account,
  now: number,
): Work<boolean> {
  if (secondFactor === 'required' || (yield* requiresRecoveryCode(account.id))) return false;
  const since = yield* unansweredSince(sealer, account.id, yield* accountTime(account, now));
  return (yield* findJoinedSince({ accountId: account.id, since })) !== undefined;
}

/** No account has this id. */
const NO_ACCOUNT = '0';

/**
 * Checks a code that was typed into the browser that asked for it. Where it is right, the recovery goes on with a new link, which this
 * browser is given.
 * @returns the secret of the link; undefined for a wrong code, for too many tries, and where there is no such account, which are not told
 *   apart
 */
export async function continueWithCode(
  services: Pick<RecoveryServices, 'database' | 'clock' | 'sealer' | 'limits'>,
  { browser, ...typed }: { readonly browser: BrowserMark; readonly code: string; readonly origin: Origin },
): Promise<string | undefined> {
  const { database, clock, sealer } = services;
  const now = clock();
  const sent = prepareChallenge();
  return database.commit(function* check(): Work<string | undefined> {
    const asked = yield* findChallengeOfBrowser(sealer, browser.hash, 'recover', now);
    // The account before the challenge, in the order in which a new code is made. It is read only after a right code: a wrong one costs
    // the same where there is no account.
    const id = asked?.accountId ?? NO_ACCOUNT;
    yield* takeAccountLock({ id });
    const isKnown = yield* isKnownBrowser(id, browser);
    const attempt = { ...typed, browserHash: browser.hash, purpose: 'recover', isKnown } as const;
    const result = yield* tryCode(services, attempt, now);
    if (result.kind !== 'right') return undefined;
    const { accountId, generation, address, browserHash, data, expiresAt } = result.challenge;
    const account = accountId === null ? undefined : yield* findAccount({ id: accountId });
    // The account may have been changed since the code was sent.
    if (account === undefined || account.generation !== generation) return undefined;
    const next = { purpose: 'recover', account, address, browserHash, data, lifetime: expiresAt - now } as const;
    const spared = yield* otherKnownBrowsers(account.id, browserHash);
    yield* createChallenge(sealer, sent, { ...next, spared }, now);
    return sent.link;
  });
}

/** What the person signs in with from now on: a password, exactly as typed, or what the browser sent of a new passkey. */
type Replacement = { readonly password: string } | { readonly passkey: string };

export interface RecoveryAttempt {
  readonly token: string;
  readonly replacement: Replacement;
  /** Of an authenticator app, or a recovery code, where one is asked for; as typed. */
  readonly code: string;
  readonly browser: SignInBrowser;
}

export type RecoveryResult =
  /** With a session in the browser that asked for the link, and in no other. */
  | {
      readonly kind: 'recovered';
      readonly account: Account;
      readonly created: NewSession | undefined;
      readonly request: string | undefined;
      /** New recovery codes, which come with a passkey, and by an operator's link where mail alone is not enough. */
      readonly codes: readonly string[] | undefined;
    }
  | { readonly kind: 'gone' }
  | { readonly kind: 'weak'; readonly problem: PasswordProblem }
  | AuthenticationRefusal;

/**
 * Completes a recovery: sets the new password, or adds the new passkey, and ends everything from before, in one commit.
 */
export async function completeRecovery(
  services: RecoveryServices,
  { token, replacement, code, browser }: RecoveryAttempt,
): Promise<RecoveryResult> {
  const { database, clock, sealer } = services;
  const now = clock();
  const found = await database.read(() => findRecovery(services, token, now));
  if (found === undefined) return { kind: 'gone' };
  const verified = await verifyReplacement(services, found, token, replacement, browser, now);
  if (verified?.kind === 'weak' || verified?.kind === 'wrong passkey') return verified;
  const checked = await checkFactor(services, found, code, browser, now);
  if (checked?.kind === 'limited') return checked;
  const { origin, userAgent } = browser;
  const flows = [...addressFlows(origin), `account ${found.account.id}`];
  const hash = 'password' in replacement ? await services.passwords.hash(replacement.password, flows) : null;
  const prepared = prepareRecoveryCodes(sealer, found.account.id);

  let makers = onlyMakers();
  const result = await makingDatabase(database).commit(function* recover(): Work<RecoveryResult> {
    const current = yield* findRecovery(services, token, now, lockAccount);
    // Since the check the account may have been changed, and a factor may have been set up.
    if (current === undefined || current.asks.join() !== found.asks.join()) return { kind: 'gone' };
    if (verified !== undefined && !current.offersPasskey) return { kind: 'gone' };
    const { account, challenge, data } = current;
    const status = accountStatus(account, now);
    if (status !== 'active') return { kind: status, account };
    const used: FactorUse[] = [{ method: 'mail code', factorSince: null }];
    if (checked !== undefined) {
      const authentication = yield* checked.complete();
      if (authentication.kind !== 'authenticated') return authentication;
      used.push(authentication);
    }
    if (verified !== undefined && !(yield* claimRecoveryPasskey(verified.created, now))) {
      return { kind: 'wrong passkey', problem: 'expired' };
    }
    if ((yield* useChallenge(sealer, token, challenge.purpose, now)) === undefined) return { kind: 'gone' };
    const own: Origin = { ...origin, actor: { type: 'user', id: account.id } };
    const { changed, makers: ended } = yield* secure(services, current, { passwordHash: hash, used }, own, now);
    makers = ended;
    const owner = { accountId: account.id, userAgent, origin: own };
    if (verified !== undefined) yield* storeRecoveryPasskey(verified.created, owner, now, changed.updatedAt);
    // An operator’s link asks for no code, and leaves the choice that mail alone is not enough.
    const needsCodes =
      verified !== undefined || (current.by === 'operator' && (yield* requiresRecoveryCode(account.id)));
    const isIssued = needsCodes && (yield* issueMissingRecoveryCodes(prepared, account.id, changed.updatedAt));
    const codes = isIssued ? prepared.codes : undefined;
    const isOwnBrowser = challenge.browserHash === browser.mark.hash;
    const { request } = data;
    if (!isOwnBrowser) return { kind: 'recovered', account: changed, created: undefined, request: undefined, codes };
    const waiting = { ...browser, interactionHash: request === undefined ? null : digest(request) };
    const { created } = yield* startSession(services, changed, used, waiting, now);
    return { kind: 'recovered', account: changed, created, request, codes };
  });
  await finishEnding({ database, clock }, makers);
  return result;
}

/** Checks what the person is to sign in with; undefined for a password that is good. */
async function verifyReplacement(
  services: RecoveryServices,
  { account, offersPasskey }: FoundRecovery,
  token: string,
  replacement: Replacement,
  { mark }: SignInBrowser,
  now: number,
): Promise<
  | Extract<RecoveryResult, { kind: 'weak' | 'wrong passkey' }>
  | { readonly kind: 'passkey'; readonly created: VerifiedRegistration }
  | undefined
> {
  if ('password' in replacement) {
    const problem = await passwordProblem(services, replacement.password, account.profile);
    return problem === undefined ? undefined : { kind: 'weak', problem };
  }
  if (!offersPasskey) return { kind: 'wrong passkey', problem: 'invalid' };
  const created = await verifyRecoveryPasskey(services, token, account, mark.hash, replacement.passkey, now);
  return typeof created === 'string' ? { kind: 'wrong passkey', problem: created } : { kind: 'passkey', created };
}

/** Gives an account its new password, or none where a passkey takes its place, and removes everything that another person may hold. */
function* secure(
  services: RecoveryServices,
  { account, challenge, by, data, asks }: FoundRecovery,
  { passwordHash, used }: { readonly passwordHash: string | null; readonly used: readonly FactorUse[] },
  origin: Origin,
  now: number,
): Work<{ readonly changed: Account; readonly makers: EndedMakers }> {
  const { id, id: accountId, profile } = account;
  const isAddressProved = by === 'mail' && challenge.address === profile.email.toLowerCase();
  const at = yield* accountTime(account, now);
  // Where mail is off, nobody could report anything.
  const isUntold = by === 'operator' && !services.mail.available;
  const [reported, untold] = isUntold ? [at - UNTOLD, 0] : yield* unansweredSpan(services.sealer, id, at);
  const span = acceptedAt(now);
  const [apps, codes] = [yield* acceptedApps(id, span), yield* acceptedCodes(id, span)];
  const shown = used.find(({ method }) => method === 'totp' || method === 'recovery code');
  const right = isAddressProved ? yield* endYoungerRights(account, shown, now) : undefined;
  const renewedSince = shown === undefined ? at : foreignSince([...apps, ...codes], shown);
  const since = Math.min(reported, right?.factorsSince ?? reported, renewedSince);
  // A recovery with what was set up since the reports, or in place of an earlier factor, does not answer them: it may be the thief's.
  const [openedSince, shownAt] = [since - (right ? UNTOLD : untold), shown?.factorSince ?? 0];
  const isYounger = (shown?.method === 'totp' ? apps : codes).some(({ setUpAt }) => setUpAt < shownAt);
  const isAnswered = shownAt < reported && !isYounger;
  const username = since < at && !isUntold ? yield* usernameAt(account, since, now) : profile.username;
  const [isRenamed, kept] = [username !== profile.username, { ...profile, username }];
  const changed: Account = {
    ...account,
    ...keptFromDeletion(account),
    passwordHash,
    passwordSetAt: at,
    generation: randomIdentifier(),
    profile: isAddressProved ? changeProfile(kept, { emailVerified: true }, now) : kept,
    updatedAt: at,
  };
  yield* enqueueAccountNotices(id, now);
  yield* saveAccount(changed);
  if (isRenamed) yield* replaceUsername(profile.username, username, id, at);
  // Passkeys were not used here. Until the address was proved, another person may have used the account.
  yield* endPasskeys(accountId, at);
  // Nor were the identities at other providers, of which one may be another person's.
  const providers = yield* removeIdentitiesSince({ accountId, since: 0 });
  // Nor were recovery codes, unless one was shown: another person may keep them, as the second factor of later sign-ins.
  const losesCodes = shown?.method !== 'recovery code' && codes.length > 0;
  const settled = yield* settleAfterRecovery(accountId, { span, shown }, at);
  yield* removeFactorsSince(accountId, { span: untilNow(data.resetFactors ? 0 : at + 1) }, at);
  yield* leaveUnconnectedGroups(accountId, origin, now);
  if (data.resetFactors) yield* forgetEarlierFactors(accountId);
  if (isAddressProved && !profile.emailVerified) yield* revokeAllAccess(id, origin, now);
  else if (since < at) yield* revokeAccessSince({ accountId, since: openedSince }, origin, now);
  const left = since < at ? yield* endMembershipSince({ accountId, since }, origin, now) : undefined;
  // Who shows a factor from before all that, which nobody renewed since, had the account all the time: what was made with it is theirs.
  const isOwners = shown !== undefined && isAnswered && right === undefined && renewedSince >= at;
  const makerId = by === 'operator' ? challenge.adminKeyId : null;
  const operator = makerId === null ? undefined : yield* operatorOf(makerId, now);
  const made = yield* settleMadeSince(accountId, { since, openedSince, at, isOwners, operator }, origin, now);
  yield* forgetBrowsers({ accountId });
  yield* endChallenges(id);
  // Who showed the code of an app still needs recovery codes.
  const { recovered: texts } = mailTexts.noticeTexts;
  const told = [
    ...(providers.length > 0 ? [texts.providers] : []),
    ...(losesCodes && asks.length > 0 ? [texts.lostCodes] : []),
    ...(settled.restored.app ? [texts.earlierApp] : settled.removed.app && shown !== undefined ? [texts.lostApp] : []),
    ...(left === undefined ? [] : [texts.left(left)]),
    ...(isRenamed ? [texts.username(username)] : []),
    ...made.told,
  ];
  const open = isAnswered ? at : Math.min(reported, isYounger ? shownAt : reported);
  yield* enqueueSecurityNotice(services, changed, 'recovered', { what: told.join(' ') || undefined }, now, at, open);
  yield* callOffDeletion(services, account, changed.profile, 'recovered', origin, now);
  const recovered = { accountId, shownSince: shown && shownAt, isAddressProved, at };
  yield* recordRecovery(by === 'operator' ? { operator } : undefined, recovered);
  yield* record({ at: now, type: 'account.recovered', origin, accountId, details: { by, ...leftDetails(made) } });
  return { changed, makers: made.makers };
}

/** Counts and checks the code that is asked for beside the link; undefined where none is. */
async function checkFactor(
  services: RecoveryServices,
  { account, challenge, asks, by }: FoundRecovery,
  code: string,
  { mark: browser, origin }: SignInBrowser,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited | undefined> {
  if (asks.length === 0) return undefined;
  const isOfApp = asks.includes('totp') && parseTotpCode(code) !== undefined;
  // A thief of a later address cannot use up the tries of the owner's recovery at an earlier one.
  const link = `recovery by ${by} at ${digest(challenge.address)}`;
  const attempt = { account, code, browser, origin, link, span: acceptedAt(now) };
  return authenticators[isOfApp ? 'totp' : 'recovery code'](services, attempt, now);
}
