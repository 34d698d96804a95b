import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { removePasskeys } from '../../authenticators/earlier-factors.ts';
import { listFactors, removeUselessCodes } from '../../authenticators/factor-store.ts';
import { insertPasskey, listPasskeys, type Passkey, updatePasskeyName } from '../../authenticators/passkey-store.ts';
import {
  type PasskeyProblem,
  parseCredential,
  type RelyingParty,
  type VerifiedRegistration,
  verifyRegistration,
} from '../../authenticators/relying-party.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { suggestPasskeyName } from '../../authenticators/rules/passkey-name.ts';
import { secondFactorOf } from '../../authenticators/rules/taking-back.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import {
  type PasskeyRequest,
  type PasskeyServices,
  requestPasskey,
  usePasskeyChallenge,
  userHandleOf,
} from '../authentication/passkey.ts';
import { issueMissingRecoveryCodes, prepareRecoveryCodes } from '../authentication/recovery-code.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import {
  type ActingOwner,
  type Renewal,
  renewSession,
  type Securing,
  secureInSession,
} from '../sign-in/renew-session.ts';
import { canSpare, type WayInServices } from './last-way-in.ts';

/** The most passkeys of one account. */
const MAX_PASSKEYS = 20;

/** A challenge to create a passkey belongs to the session and the account's generation, and ends with them. */
const enrollmentIn = ({ session, account, browser }: Omit<ActingOwner, 'origin'>): ChallengeUse => ({
  purpose: 'enrollment',
  browserHash: browser.hash,
  subject: `${session.hash} ${account.generation}`,
});

/** What a browser needs to create a passkey: the members of `PublicKeyCredentialCreationOptionsJSON`. */
export interface PasskeyCreation {
  readonly challenge: string;
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: PasskeyRequest['allowCredentials'];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
}

/** EdDSA, ES256 and RS256: between them, every authenticator has one. */
const ALGORITHMS = [-8, -7, -257] as const;

/**
 * Asks for a new passkey.
 * @param product the name of this service
 * @returns undefined where browsers have no passkeys for the base URL
 */
export async function requestNewPasskey(
  { database, clock, relyingParty }: PasskeyServices,
  owner: Omit<ActingOwner, 'origin'>,
  product: string,
): Promise<PasskeyCreation | undefined> {
  if (relyingParty === undefined) return undefined;
  const { account } = owner;
  const existing = await database.read(() => listPasskeys({ accountId: account.id }));
  return creationOptions(relyingParty, enrollmentIn(owner), account, existing, product, clock());
}

/** What a browser needs to create a passkey for an account, beside those that it has. */
export function creationOptions(
  party: RelyingParty,
  use: ChallengeUse,
  { id, profile }: Account,
  existing: readonly Passkey[],
  product: string,
  now: number,
): PasskeyCreation {
  const asked = requestPasskey(party, use, existing, now);
  return {
    challenge: asked.challenge,
    rp: { id: party.id, name: product },
    user: { id: userHandleOf(id), name: profile.username, displayName: profile.displayName },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: asked.timeout,
    excludeCredentials: asked.allowCredentials,
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  };
}

export type AddPasskeyResult =
  | {
      readonly kind: 'added';
      readonly passkey: Passkey;
      /** The session in which the browser continues, where it is another one. */
      readonly renewal: Renewal | undefined;
      /** New recovery codes, where they were asked for. */
      readonly codes: readonly string[] | undefined;
    }
  | { readonly kind: 'refused'; readonly problem: PasskeyProblem | 'too many' | 'exists' };

/** Whether passkeys can be added: only with a verified address, where addresses can be verified (decisions §11). */
export const mayAddPasskeys = (
  { mail, relyingParty, secondFactor }: PasskeyServices & { readonly secondFactor: SecondFactorSetting },
  { profile }: Account,
): boolean => relyingParty !== undefined && secondFactor !== 'off' && (profile.emailVerified || !mail.available);

/** Whether a factor beside the password is the first of a person with these, so that it secures the account: earlier sessions and tokens end. */
export const isFirstFactor = (factors: readonly Pick<Factor, 'kind'>[]): boolean =>
  factors.every(({ kind }) => kind === 'password');

/**
 * Adds a passkey that the browser has just created. The first factor beside the password secures the account: earlier sessions and tokens
 * end, and the browser continues in a new session.
 * @param options.withCodes gives the person recovery codes, unless some of theirs can still be used
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function addPasskey(
  services: PasskeyServices,
  owner: ActingOwner,
  response: string,
  { withCodes = false }: { readonly withCodes?: boolean } = {},
): Promise<AddPasskeyResult> {
  const { account, session } = owner;
  const { relyingParty, database, clock } = services;
  const credential = parseCredential(response);
  if (credential === undefined || relyingParty === undefined) return { kind: 'refused', problem: 'invalid' };
  const verified = await verifyRegistration(relyingParty, enrollmentIn(owner), credential, clock());
  if (typeof verified === 'string') return { kind: 'refused', problem: verified };
  const factors = await database.read(() => listFactors(account));
  if (isFirstFactor(factors)) {
    return secureInSession(services, owner, (securing) => addFirst(services, owner, securing, verified, withCodes));
  }
  const now = clock();
  return sessionDatabase(services, session).commit(function* add(): Work<AddPasskeyResult> {
    const at = yield* accountTime(account, now);
    const passkey = yield* storePasskey(owner, verified, now, at);
    if (typeof passkey === 'string') return { kind: 'refused', problem: passkey };
    const codes = yield* completeAdding(services, owner, account, passkey, withCodes, now);
    return { kind: 'added', passkey, renewal: undefined, codes };
  });
}

/** Adds the first factor beside the password, inside the unit of work that secures the account. */
function* addFirst(
  services: PasskeyServices,
  owner: ActingOwner,
  securing: Securing,
  verified: VerifiedRegistration,
  withCodes: boolean,
): Work<AddPasskeyResult> {
  const { at, now } = securing;
  const passkey = yield* storePasskey(owner, verified, now, at);
  if (typeof passkey === 'string') return { kind: 'refused', problem: passkey };
  const renewal = yield* renewSession(services, owner, securing);
  const codes = yield* completeAdding(services, owner, renewal.account, passkey, withCodes, now);
  return { kind: 'added', passkey, renewal, codes };
}

/** Uses up the challenge of a new passkey, and stores it. @returns why it was not stored */
function* storePasskey(
  { account: { id: accountId }, session }: ActingOwner,
  { challenge, ...created }: VerifiedRegistration,
  now: number,
  createdAt: number,
): Work<Passkey | 'expired' | 'too many' | 'exists'> {
  if (!(yield* usePasskeyChallenge(challenge, now))) return 'expired';
  if ((yield* listPasskeys({ accountId })).length >= MAX_PASSKEYS) return 'too many';
  const name = suggestPasskeyName({ ...created, ...session });
  const passkey: Passkey = { ...created, accountId, name, createdAt, lastUsedAt: null };
  return (yield* insertPasskey(passkey)) ? passkey : 'exists';
}

/** Tells the person of a new passkey, and issues recovery codes where they are asked for. */
function* completeAdding(
  services: PasskeyServices,
  { session, origin }: ActingOwner,
  account: Account,
  { name, createdAt }: Passkey,
  withCodes: boolean,
  now: number,
): Work<readonly string[] | undefined> {
  const { id: accountId } = account;
  const facts = { ...deviceFacts(session), what: mailTexts.noticeTexts.things.passkey(name) };
  yield* enqueueSecurityNotice(services, account, 'factor added', facts, now, createdAt);
  const prepared = withCodes ? prepareRecoveryCodes(services.sealer, accountId) : undefined;
  const isIssued = prepared !== undefined && (yield* issueMissingRecoveryCodes(prepared, accountId, createdAt));
  const details = { factor: 'passkey', name };
  yield* record({ at: now, type: 'account.factor_added', origin, accountId, details });
  return isIssued ? prepared.codes : undefined;
}

/**
 * Gives a passkey another name; false where the account has no such passkey.
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function renamePasskey(
  services: PasskeyServices,
  { account: { id: accountId }, session, origin }: ActingOwner,
  id: string,
  name: string,
): Promise<boolean> {
  const now = services.clock();
  return sessionDatabase(services, session).commit(function* rename(): Work<boolean> {
    if (!(yield* updatePasskeyName({ id, accountId, name }))) return false;
    const details = { factor: 'passkey', name };
    yield* record({ at: now, type: 'account.factor_renamed', origin, accountId, details });
    return true;
  });
}

/** Whether a person with these factors could still get into their account without one of their passkeys. */
export function* canSparePasskey(services: WayInServices, account: Account, factors: readonly Factor[]): Work<boolean> {
  const passkeys = factors.filter(({ kind }) => kind === 'passkey').length;
  return passkeys > 1 || (yield* canSpare(services, account, factors, { kind: 'passkey' }));
}

/**
 * Removes a passkey: every session, code and token from before ends, and this browser continues in a new session.
 * @returns why it was not removed: it is the last way to sign in, or there is no such passkey
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function removeOwnPasskey(
  services: PasskeyServices & WayInServices,
  owner: ActingOwner,
  id: string,
): Promise<Renewal | 'last way' | 'unknown'> {
  const { session, origin } = owner;
  const accountId = owner.account.id;
  return secureInSession(services, owner, function* remove(securing): Work<Renewal | 'last way' | 'unknown'> {
    const { account, now } = securing;
    const found = (yield* listPasskeys({ accountId })).find((passkey) => passkey.id === id);
    if (found === undefined) return 'unknown';
    if (!(yield* canSparePasskey(services, account, yield* listFactors(account)))) return 'last way';
    const renewal = yield* renewSession(services, owner, securing);
    const { account: changed } = renewal;
    const removal = { removedBy: secondFactorOf(session) };
    yield* removePasskeys(accountId, changed.updatedAt, (one) => one.id === id, removal);
    yield* removeUselessCodes(services.secondFactor, changed);
    const { name } = found;
    const facts = { ...deviceFacts(session), what: mailTexts.noticeTexts.things.passkey(name) };
    yield* enqueueSecurityNotice(services, changed, 'factor removed', facts, now, changed.updatedAt);
    const details = { factor: 'passkey', name };
    yield* record({ at: now, type: 'account.factor_removed', origin, accountId, details });
    return renewal;
  });
}

/**
 * Removes the password of a person who has passkeys: earlier sessions and tokens end. The person gets recovery codes, unless some of
 * theirs can still be used.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where there is no password, or no passkey to sign in with
 */
export async function removePassword(
  services: PasskeyServices,
  owner: ActingOwner,
): Promise<Renewal & { readonly codes: readonly string[] | undefined }> {
  const { session, origin } = owner;
  const accountId = owner.account.id;
  const prepared = prepareRecoveryCodes(services.sealer, accountId);
  return secureInSession(services, owner, function* remove(securing) {
    const { account, now } = securing;
    if (account.passwordHash === null) throw conflict('This account has no password. Nothing was changed.');
    if ((yield* listPasskeys({ accountId })).length === 0) throw conflict('Add a passkey first. Nothing was changed.');
    const renewal = yield* renewSession(services, owner, securing, { values: { passwordHash: null } });
    const { account: changed } = renewal;
    const isIssued = yield* issueMissingRecoveryCodes(prepared, accountId, changed.updatedAt);
    const facts = { ...deviceFacts(session), what: mailTexts.noticeTexts.things.password };
    yield* enqueueSecurityNotice(services, changed, 'factor removed', facts, now, changed.updatedAt);
    yield* record({ at: now, type: 'account.password_removed', origin, accountId });
    return { ...renewal, codes: isIssued ? prepared.codes : undefined };
  });
}
