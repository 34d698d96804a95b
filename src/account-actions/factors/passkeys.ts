import type { BrowserMark } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { removePasskeys } from '../../authenticators/earlier-factors.ts';
import { listFactors, removeUselessCodes } from '../../authenticators/factor-store.ts';
import { insertPasskey, listPasskeys, type Passkey, updatePasskeyName } from '../../authenticators/passkey-store.ts';
import {
  type PasskeyProblem,
  parseCredential,
  type RelyingParty,
  verifyRegistration,
} from '../../authenticators/relying-party.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { suggestPasskeyName } from '../../authenticators/rules/passkey-name.ts';
import type { SecondFactorSetting } from '../../platform/config/second-factor.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
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
import { type Renewal, renewSession } from '../sign-in/renew-session.ts';
import { canSpare, type WayInServices } from './last-way-in.ts';

/** The most passkeys of one account. */
const MAX_PASSKEYS = 20;

/** A signed-in person who changes their passkeys. */
interface PasskeyOwner {
  readonly account: Account;
  readonly session: Session;
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

/** A challenge to create a passkey belongs to the session and the account's generation, and ends with them. */
const enrollmentIn = ({ session, account, browser }: Omit<PasskeyOwner, 'origin'>): ChallengeUse => ({
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
  owner: Omit<PasskeyOwner, 'origin'>,
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
  | { readonly kind: 'added'; readonly passkey: Passkey; readonly renewal: Renewal | undefined }
  | { readonly kind: 'refused'; readonly problem: PasskeyProblem | 'too many' | 'exists' };

/** Ends the unit of work: nothing of it is kept. */
class NotAdded extends Error {
  readonly problem: Extract<AddPasskeyResult, { kind: 'refused' }>['problem'];
  constructor(problem: NotAdded['problem']) {
    super(problem);
    this.problem = problem;
  }
}

/** Whether passkeys can be added: only with a verified address, where addresses can be verified (decisions §11). */
export const mayAddPasskeys = (
  { mail, relyingParty, secondFactor }: PasskeyServices & { readonly secondFactor: SecondFactorSetting },
  { profile }: Account,
): boolean => relyingParty !== undefined && secondFactor !== 'off' && (profile.emailVerified || !mail.available);

/**
 * Adds a passkey that the browser has just created. The first factor beside the password secures the account: earlier sessions and tokens
 * end, and the browser continues in a new session.
 * @param afterSave more work of the same commit, given the session in which the browser continues, and the time of the passkey
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function addPasskey(
  services: PasskeyServices,
  owner: PasskeyOwner,
  response: string,
  afterSave?: (session: Pick<Session, 'hash'>, at: number) => Work<void>,
): Promise<AddPasskeyResult> {
  const { account, session, browser, origin } = owner;
  const { relyingParty, database, clock } = services;
  const now = clock();
  const credential = parseCredential(response);
  if (credential === undefined || relyingParty === undefined) return { kind: 'refused', problem: 'invalid' };
  const verified = await verifyRegistration(relyingParty, enrollmentIn(owner), credential, now);
  if (typeof verified === 'string') return { kind: 'refused', problem: verified };
  const { challenge, ...created } = verified;
  const name = suggestPasskeyName({ ...created, ...session });
  const accountId = account.id;
  let passkey: Passkey = { ...created, accountId, name, createdAt: now, lastUsedAt: null };

  function* insert(changed: Account, current: Pick<Session, 'hash'>, at: number): Work<void> {
    passkey = { ...passkey, createdAt: at };
    if (!(yield* usePasskeyChallenge(challenge, now))) throw new NotAdded('expired');
    if ((yield* listPasskeys({ accountId })).length >= MAX_PASSKEYS) throw new NotAdded('too many');
    if (!(yield* insertPasskey(passkey))) throw new NotAdded('exists');
    const facts = { ...deviceFacts(session), what: `the passkey “${name}”` };
    yield* enqueueSecurityNotice(services, changed, 'factor added', facts, now, at);
    if (afterSave !== undefined) yield* afterSave(current, at);
  }

  const event = { type: 'account.factor_added', origin, details: { factor: 'passkey', name } } as const;
  const factors = await database.read(() => listFactors(account));
  try {
    if (factors.every(({ kind }) => kind === 'password')) {
      const renewal = await renewSession(services, {
        account,
        session,
        browser,
        event,
        *afterSave(changed, renewed): Work<void> {
          yield* insert(changed, renewed, changed.updatedAt);
        },
      });
      return { kind: 'added', passkey, renewal };
    }
    await sessionDatabase(services, session).commit(function* add(): Work<void> {
      yield* insert(account, session, yield* accountTime(account, now));
      yield* record({ at: now, accountId, ...event });
    });
    return { kind: 'added', passkey, renewal: undefined };
  } catch (error) {
    if (error instanceof NotAdded) return { kind: 'refused', problem: error.problem };
    throw error;
  }
}

/**
 * Gives a passkey another name; false where the account has no such passkey.
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function renamePasskey(
  services: PasskeyServices,
  { account: { id: accountId }, session, origin }: PasskeyOwner,
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
export function* canSpareAPasskey(
  services: WayInServices,
  account: Account,
  factors: readonly Factor[],
): Work<boolean> {
  const passkeys = factors.filter(({ kind }) => kind === 'passkey').length;
  return passkeys > 1 || (yield* canSpare(services, account, factors, { kind: 'passkey' }));
}

/** Ends the unit of work in which a passkey was to be removed. */
class NotRemoved extends Error {
  readonly reason: 'last way' | 'unknown';
  constructor(reason: NotRemoved['reason']) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Removes a passkey: every session, code and token from before ends, and this browser continues in a new session.
 * @returns why it was not removed: it is the last way to sign in, or there is no such passkey
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function takeAwayPasskey(
  services: PasskeyServices & WayInServices,
  { account, session, browser, origin }: PasskeyOwner,
  id: string,
): Promise<Renewal | NotRemoved['reason']> {
  const accountId = account.id;
  const found = (await services.database.read(() => listPasskeys({ accountId }))).find((passkey) => passkey.id === id);
  if (found === undefined) return 'unknown';
  const { name } = found;
  const now = services.clock();
  try {
    return await renewSession(services, {
      account,
      session,
      browser,
      event: { type: 'account.factor_removed', origin, details: { factor: 'passkey', name } },
      *afterSave(saved): Work<void> {
        if (!(yield* canSpareAPasskey(services, saved, yield* listFactors(saved)))) throw new NotRemoved('last way');
        if ((yield* removePasskeys(accountId, saved.updatedAt, (one) => one.id === id)) === 0) {
          throw new NotRemoved('unknown');
        }
        yield* removeUselessCodes(services.secondFactor, saved);
        const facts = { ...deviceFacts(session), what: `the passkey “${name}”` };
        yield* enqueueSecurityNotice(services, saved, 'factor removed', facts, now, saved.updatedAt);
      },
    });
  } catch (error) {
    if (error instanceof NotRemoved) return error.reason;
    throw error;
  }
}

/**
 * Removes the password of a person who has passkeys: earlier sessions and tokens end. The person gets recovery codes, unless some of
 * theirs can still be used.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where there is no password, or no passkey to sign in with
 */
export async function removePassword(
  services: PasskeyServices,
  { account, session, browser, origin }: PasskeyOwner,
): Promise<Renewal & { readonly codes: readonly string[] | undefined }> {
  const now = services.clock();
  const accountId = account.id;
  const prepared = prepareRecoveryCodes(services.sealer, accountId);
  let issued = false;
  const renewal = await renewSession(services, {
    account,
    session,
    browser,
    event: { type: 'account.password_removed', origin },
    decide({ passwordHash }) {
      if (passwordHash === null) throw conflict('This account has no password. Nothing was changed.');
      return { passwordHash: null };
    },
    *afterSave(saved): Work<void> {
      if ((yield* listPasskeys({ accountId })).length === 0)
        throw conflict('Add a passkey first. Nothing was changed.');
      issued = yield* issueMissingRecoveryCodes(prepared, accountId, saved.updatedAt);
      const facts = { ...deviceFacts(session), what: 'your password' };
      yield* enqueueSecurityNotice(services, saved, 'factor removed', facts, now, saved.updatedAt);
    },
  });
  return { ...renewal, codes: issued ? prepared.codes : undefined };
}
