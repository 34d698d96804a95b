import { isReservedAddress } from '../../accounts/previous-address-store.ts';
import { newProfile } from '../../accounts/rules/profile.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import { findByIdentifier } from '../../accounts/store.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Limits } from '../../limits/settings.ts';
import {
  type Challenge,
  createChallenge,
  findChallenge,
  findChallengeOfBrowser,
  prepareChallenge,
  tryCode,
  useChallenge,
} from '../../mail/challenges.ts';
import { countMail, type Mailer } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import { type Clock, MINUTE } from '../../platform/clock.ts';
import type { Passwords } from '../../platform/crypto/passwords.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { canonicalEmail } from '../../platform/domain-name.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { addAccount, JoiningRefused, newAccount } from '../accounts/create-account.ts';
import { FieldTaken, isUsernameTaken } from '../accounts/usernames.ts';
import { type SignedIn, type SignInBrowser, startSession } from '../sign-in/sign-in.ts';
import { type JoiningPerson, NotVouched } from '../upstreams/join.ts';
import { InvitationRefused, joinInvited } from './invitations.ts';
import { joinThroughUpstream } from './join-through-upstream.ts';

const SIGN_UP_LIFETIME = 15 * MINUTE;

/** No account has this id. */
const NO_ACCOUNT = '0';

interface SignUpServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly signUp: SignUpSettings;
  readonly sealer: Sealer;
  readonly mail: Mailer;
  readonly issuer: string;
}

/** What a person typed to create an account. */
export interface SignUpFields {
  readonly displayName: string;
  readonly username: string;
  readonly email: string;
}

/** A sign-up that waits for the proof of its address, as it is stored encrypted. */
export interface PendingSignUp extends SignUpFields {
  /** Null for a person who comes from another provider. */
  readonly passwordHash: string | null;
  readonly upstream?: JoiningPerson;
  /** The handle of the authorization request that needs it. */
  readonly handle: string | null;
  /** The secret of the invitation that it accepts. */
  readonly invitation: string | null;
}

/** The sign-up that a challenge confirms. */
export const pendingSignUp = ({ data }: Challenge): PendingSignUp => data as PendingSignUp;

/** Where a sign-up begins. */
interface SignUpStart {
  readonly browserHash: string;
  readonly handle: string | null;
  readonly invitation: string | null;
  readonly origin: Origin;
}

/**
 * Begins a sign-up: no account exists until the address is proved in the same browser. The answer, and what is stored, do not depend
 * on whether another account has the address; its owner gets another message.
 * @param password a password that may be chosen
 */
export async function beginSignUp(
  services: SignUpServices,
  fields: SignUpFields & { readonly password: string },
  { browserHash, handle, invitation, origin }: SignUpStart,
): Promise<'begun' | 'username taken'> {
  const { password, ...typed } = fields;
  const passwordHash = await services.passwords.hash(password, addressFlows(origin));
  const data = { ...typed, email: canonicalEmail(typed.email), passwordHash, handle, invitation };
  return sendCode(services, data, browserHash, origin);
}

/**
 * Begins the sign-up of a person whom another provider vouches for. The address is proved here all the same: what the provider says of
 * it was only a proposal (decisions §14).
 */
export const beginUpstreamSignUp = (
  services: SignUpServices,
  fields: SignUpFields,
  upstream: JoiningPerson,
  { browserHash, handle, invitation, origin }: SignUpStart,
): Promise<'begun' | 'username taken'> => {
  const typed = { ...fields, email: canonicalEmail(fields.email) };
  return sendCode(services, { ...typed, passwordHash: null, upstream, handle, invitation }, browserHash, origin);
};

/** Sends another code for the sign-up that waits in a browser. @returns whether there is one */
export async function resendSignUp(services: SignUpServices, browserHash: string, origin: Origin): Promise<boolean> {
  const { database, sealer, clock } = services;
  const now = clock();
  const waiting = await database.read(() => findChallengeOfBrowser(sealer, browserHash, 'sign up', now));
  if (waiting === undefined) return false;
  return (await sendCode(services, pendingSignUp(waiting), browserHash, origin)) === 'begun';
}

/** Stores a sign-up, in place of one that waits in the browser, and sends the code that completes it. */
function sendCode(
  services: SignUpServices,
  data: PendingSignUp,
  browserHash: string,
  origin: Origin,
): Promise<'begun' | 'username taken'> {
  const { database, clock, limits, sealer, mail, issuer } = services;
  const now = clock();
  const sent = prepareChallenge();
  const address = data.email.toLowerCase();
  const expiresAt = now + SIGN_UP_LIFETIME;
  return database.commit(function* begin() {
    if (yield* isUsernameTaken(data.username, now)) return 'username taken';
    const isWithin = yield* countMail(limits, { to: address, purpose: 'sign up', origin }, now);
    const holder = yield* findByIdentifier(address);
    const isReserved = yield* isReservedAddress(address, NO_ACCOUNT, now);
    const isDecoy = !isWithin || isReserved || holder?.profile.emailVerified === true;
    const challenge = { purpose: 'sign up', account: null, address, browserHash, data, isDecoy } as const;
    yield* createChallenge(sealer, sent, { ...challenge, lifetime: SIGN_UP_LIFETIME }, now);
    if (!isWithin) return 'begun';
    if (holder?.profile.emailVerified) {
      const content = mailTexts.invitations.exists({
        username: holder.profile.username,
        url: `${issuer}/login`,
      });
      const to = holder.profile.email;
      yield* mail.enqueue({ to, accountId: holder.id, kind: 'account exists', content, expiresAt }, now);
    } else if (!isReserved) {
      const link = `${issuer}/signup/verify?link=${sent.link}`;
      const content = mailTexts.invitations.signUp({ code: sent.code, url: link, host: new URL(issuer).host });
      const message = { to: data.email, accountId: null, kind: 'verify address', content, expiresAt } as const;
      yield* mail.enqueue({ ...message, challenge: sent.hash }, now);
    }
    return 'begun';
  });
}

/** How a person proves the address of a sign-up. */
export type SignUpProof = { readonly code: string } | { readonly link: string };

export type CompletedSignUp =
  | SignedIn
  /** An unknown, used or expired code or link, or one that another browser began. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number }
  /** Another account got the username meanwhile, or it is held for its former owner: the person is asked for another one. */
  | { readonly kind: 'username taken'; readonly fields: SignUpFields; readonly invitation: string | null }
  /** Another account proved the address meanwhile. */
  | { readonly kind: 'address taken' }
  | { readonly kind: 'invitation refused' }
  /** What another provider said, or what was typed with it, no longer holds. */
  | { readonly kind: 'begin again' };

/** The password of a new account, which is as old as that. */
const FIRST_PASSWORD: FactorUse = { method: 'password', factorSince: 0 };

/**
 * Creates the account of a sign-up whose address is proved, and signs in to it, in one commit. An account that holds the address
 * without having verified it loses it.
 */
export async function completeSignUp(
  services: SignUpServices,
  proof: SignUpProof,
  browser: SignInBrowser,
): Promise<CompletedSignUp> {
  const { database, clock, ids, signUp } = services;
  const now = clock();
  const id = await ids.next();
  const { origin } = browser;
  let begun: { readonly fields: SignUpFields; readonly invitation: string | null } | undefined;
  try {
    return await database.commit(function* complete(): Work<CompletedSignUp> {
      const result = yield* prove(services, proof, browser, now);
      if (result.kind !== 'right') return result;
      const { passwordHash, upstream, handle, invitation, ...fields } = pendingSignUp(result.challenge);
      // What began before a request, or for another one, is no sign-in for it.
      const isForRequest = handle !== null && digest(handle) === browser.interactionHash;
      const continuing = isForRequest ? browser : { ...browser, interactionHash: null };
      if (upstream !== undefined) {
        return yield* joinThroughUpstream(
          services,
          upstream,
          fields,
          { id, now, isAddressProved: true, invitation },
          continuing,
        );
      }
      begun = { fields, invitation };
      const profile = newProfile({ ...fields, emailVerified: true }, id, now);
      const account = newAccount(id, profile, passwordHash, now);
      const isInvited = invitation !== null;
      // What it throws keeps the challenge for another attempt.
      yield* addAccount(account, { kind: 'person', signUp, isInvited, isAddressProved: true }, origin);
      if (invitation !== null) yield* joinInvited(invitation, account, now, origin);
      return yield* startSession(services, account, [FIRST_PASSWORD], continuing, now);
    });
  } catch (error) {
    if (error instanceof FieldTaken && begun !== undefined) return takenAs(error, begun);
    if (error instanceof FieldTaken || error instanceof NotVouched) return { kind: 'begin again' };
    if (error instanceof JoiningRefused) return { kind: 'wrong' };
    if (error instanceof InvitationRefused) return { kind: 'invitation refused' };
    throw error;
  }
}

/**
 * Creates the account of an invited person, joins, and signs in, in one commit. The address is verified where the invitation was mailed
 * to it; without mail it stays unverified.
 * @param password a password that may be chosen
 */
export async function signUpInvited(
  services: SignUpServices,
  { password, ...values }: SignUpFields & { readonly password: string },
  { link, mailed }: { readonly link: string; readonly mailed: boolean },
  browser: SignInBrowser,
): Promise<Exclude<CompletedSignUp, { kind: 'wrong' | 'limited' | 'begin again' }>> {
  const { database, clock, ids, passwords, signUp } = services;
  const { origin } = browser;
  const passwordHash = await passwords.hash(password, addressFlows(origin));
  const now = clock();
  const id = await ids.next();
  try {
    return await database.commit(function* create() {
      const profile = newProfile({ ...values, emailVerified: mailed }, id, now);
      const account = newAccount(id, profile, passwordHash, now);
      yield* addAccount(account, { kind: 'person', signUp, isInvited: true, isAddressProved: mailed }, origin);
      yield* joinInvited(link, account, now, origin);
      return yield* startSession(services, account, [FIRST_PASSWORD], browser, now);
    });
  } catch (error) {
    if (error instanceof FieldTaken) return takenAs(error, { fields: values, invitation: link });
    if (error instanceof JoiningRefused || error instanceof InvitationRefused) return { kind: 'invitation refused' };
    throw error;
  }
}

const takenAs = (
  { field }: FieldTaken,
  begun: { readonly fields: SignUpFields; readonly invitation: string | null },
): Extract<CompletedSignUp, { kind: 'username taken' | 'address taken' }> =>
  field === 'username' ? { kind: 'username taken', ...begun } : { kind: 'address taken' };

function* prove(
  services: SignUpServices,
  proof: SignUpProof,
  { mark: { hash: browserHash }, origin }: SignInBrowser,
  now: number,
): Work<{ kind: 'right'; challenge: Challenge } | { kind: 'wrong' } | { kind: 'limited'; seconds: number }> {
  const purpose = 'sign up';
  if ('code' in proof) return yield* tryCode(services, { purpose, browserHash, code: proof.code, origin }, now);
  // A link that another browser began is not used up.
  const found = yield* findChallenge(services.sealer, proof.link, purpose, now);
  if (found === undefined || found.browserHash !== browserHash) return { kind: 'wrong' };
  const challenge = yield* useChallenge(services.sealer, proof.link, purpose, now);
  return challenge === undefined ? { kind: 'wrong' } : { kind: 'right', challenge };
}
