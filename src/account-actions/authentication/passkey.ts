import { listPreviousAddresses } from '../../accounts/previous-address-store.ts';
import { findAccount, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { acceptedPasskeys } from '../../authenticators/earlier-factors.ts';
import { findPasskey, type Passkey, recordPasskeyUse } from '../../authenticators/passkey-store.ts';
import {
  type PasskeyProblem,
  parseCredential,
  type RelyingParty,
  type VerifiedAssertion,
  verifyAssertion,
} from '../../authenticators/relying-party.ts';
import {
  type ChallengeUse,
  counterWentBack,
  createPasskeyChallenge,
  PASSKEY_CHALLENGE_LIFETIME,
} from '../../authenticators/rules/passkey-challenge.ts';
import { SIGN_IN_FROM } from '../../authenticators/rules/sign-in-bucket.ts';
import type { Span } from '../../authenticators/rules/taking-back.ts';
import { claim, giveBackFrom, takeFrom } from '../../limits/limits.ts';
import { CLOCK_SKEW } from '../../platform/clock.ts';
import { digest, randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { type Failure, notFound } from '../../platform/failure.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type {
  AttemptsLimited,
  Authenticated,
  AuthenticationRefusal,
  AuthenticationServices,
  CheckedAttempt,
} from './authenticators.ts';

export interface PasskeyServices extends AuthenticationServices {
  /** Undefined where browsers have no passkeys for the base URL. */
  readonly relyingParty: RelyingParty | undefined;
}

/** A response of an authenticator that a browser sent. */
export interface PasskeyAttempt {
  /** The JSON of the credential. */
  readonly response: string;
  readonly use: ChallengeUse;
  /** The account whose passkey is asked for; undefined where the passkey says whose it is. */
  readonly accountId?: string;
  /** Where the account is taken back: the passkey is one that it had in this span. */
  readonly span?: Span;
  readonly origin: Origin;
  /** Whether a banned or suspended account may be acted on. */
  readonly isBarredToo?: boolean;
}

/** What a browser needs to ask for a passkey: the members of `PublicKeyCredentialRequestOptionsJSON`. */
export interface PasskeyRequest {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  readonly allowCredentials: readonly {
    readonly type: 'public-key';
    readonly id: string;
    transports: readonly string[];
  }[];
}

/**
 * Asks for a passkey.
 * @param allowed those of which one is asked for; empty for any that the person has here
 */
export const requestPasskey = (
  { id, challengeKey }: RelyingParty,
  use: ChallengeUse,
  allowed: readonly Pick<Passkey, 'id' | 'transports'>[],
  now: number,
): PasskeyRequest => ({
  challenge: createPasskeyChallenge(challengeKey, use, randomIdentifier(), now),
  rpId: id,
  timeout: PASSKEY_CHALLENGE_LIFETIME,
  userVerification: 'required',
  allowCredentials: allowed.map(({ id, transports }) => ({ type: 'public-key', id, transports })),
});

/**
 * Uses a challenge up, inside a unit of work; false where it was used before. Only a right response is remembered, so showing pages and
 * sending nonsense store nothing.
 */
export const usePasskeyChallenge = (challenge: string, now: number): Work<boolean> =>
  claim(`passkey challenge ${digest(challenge)}`, PASSKEY_CHALLENGE_LIFETIME + 2 * CLOCK_SKEW, now);

interface CheckedPasskey extends VerifiedAssertion {
  readonly kind: 'verified';
  readonly passkey: Passkey;
  /** That of the account when the signature was checked. */
  readonly generation: string;
}

type PasskeyRefusal =
  | Extract<AuthenticationRefusal, { kind: 'unknown passkey' }>
  | { readonly kind: 'wrong passkey'; readonly problem: PasskeyProblem };

/**
 * Authenticates a person by a passkey that verified them: by its biometrics or PIN. Nothing can be guessed here; attempts are counted
 * for the address alone, so that a stranger cannot lock anybody out.
 */
export async function authenticateByPasskey(
  services: PasskeyServices,
  attempt: PasskeyAttempt,
  now: number,
): Promise<CheckedAttempt | AttemptsLimited> {
  const { database, limits } = services;
  const { origin } = attempt;
  const about = { name: 'signInAddress', origin, accountId: attempt.accountId ?? null } as const;
  const seconds = await database.commit(() => takeFrom(SIGN_IN_FROM, limits.signInAddress, now, about));
  if (seconds > 0) return { kind: 'limited', seconds };
  const checked = await check(services, attempt, now);

  function* refuse(
    refusal: AuthenticationRefusal,
    reason: string,
    accountId: string | null,
  ): Work<AuthenticationRefusal> {
    const details = { reason, method: 'passkey' };
    yield* record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, accountId, details });
    return refusal;
  }

  function* complete(): Work<Authenticated | AuthenticationRefusal> {
    const asked = attempt.accountId ?? null;
    if (checked.kind === 'unknown passkey') return yield* refuse(checked, 'unknown passkey', asked);
    if (checked.kind === 'wrong passkey') return yield* refuse(checked, `passkey: ${checked.problem}`, asked);
    const { passkey, challenge, counter, backedUp, generation } = checked;
    const { id, accountId } = passkey;
    const account = yield* lockAccount({ id: accountId });
    // Since the check the passkey may have been removed, and the account deleted, banned, suspended or secured.
    const current = yield* findUsable(attempt, id);
    if (account === undefined || current?.accountId !== accountId) {
      const isOfUse = (yield* passkeysOfRights(accountId, now)).includes(id);
      return yield* refuse({ kind: 'unknown passkey', credentialId: id, isOfUse }, 'unknown passkey', accountId);
    }
    const status = accountStatus(account, now);
    if (status !== 'active' && attempt.isBarredToo !== true) {
      return yield* refuse({ kind: status, account }, status, accountId);
    }
    if (account.generation !== generation) {
      return yield* refuse({ kind: 'changed' }, 'the account has changed', accountId);
    }
    if (!(yield* usePasskeyChallenge(challenge, now))) {
      return yield* refuse({ kind: 'wrong passkey', problem: 'expired' }, 'passkey: used challenge', accountId);
    }
    yield* giveBackFrom(SIGN_IN_FROM, limits.signInAddress, origin);
    yield* recordPasskeyUse({ id, counter, backedUp: Number(backedUp), now });
    if (counterWentBack(current.counter, counter)) {
      const details = { passkey: current.name, stored: current.counter, received: counter };
      yield* record({ at: now, type: 'passkey.counter_went_back', outcome: 'failure', origin, accountId, details });
    }
    return { kind: 'authenticated', account, method: 'passkey', factorSince: current.createdAt };
  }
  return { kind: 'checked', complete };
}

/** The passkey of an id, if it is one of those that are accepted. */
function* findUsable(
  { accountId, span }: { readonly accountId?: string | undefined; readonly span?: Span | undefined },
  id: string,
): Work<Passkey | undefined> {
  if (accountId === undefined || span === undefined) return yield* findPasskey({ id });
  return (yield* acceptedPasskeys(accountId, span)).find((passkey) => passkey.id === id);
}

async function check(
  { database, relyingParty }: PasskeyServices,
  { response, use, accountId, span }: PasskeyAttempt,
  now: number,
): Promise<CheckedPasskey | PasskeyRefusal> {
  const credential = parseCredential(response);
  if (credential === undefined || relyingParty === undefined) return { kind: 'wrong passkey', problem: 'invalid' };
  const { userHandle } = credential.response;
  const found = await database.read(function* read() {
    const passkey = yield* findUsable({ accountId, span }, credential.id);
    const account = passkey && (yield* findAccount({ id: passkey.accountId }));
    return passkey && account && { passkey, generation: account.generation };
  });
  if (found === undefined) {
    const named = accountId ?? accountOfHandle(userHandle);
    const ids = named === undefined ? [] : await database.read(() => passkeysOfRights(named, now));
    return { kind: 'unknown passkey', credentialId: credential.id, isOfUse: ids.includes(credential.id) };
  }
  const { passkey } = found;
  const isOwner = typeof userHandle !== 'string' || userHandle === userHandleOf(passkey.accountId);
  if (!isOwner || (accountId !== undefined && accountId !== passkey.accountId)) {
    return { kind: 'wrong passkey', problem: 'invalid' };
  }
  const verified = await verifyAssertion(relyingParty, use, credential, passkey, now);
  return typeof verified === 'string'
    ? { kind: 'wrong passkey', problem: verified }
    : { kind: 'verified', ...verified, ...found };
}

/** The name of an account for authenticators, as base64url: its id, which says nothing about the person. */
export const userHandleOf = (accountId: string): string => Buffer.from(accountId).toString('base64url');

/** The account that a user handle names, if it is one of this service. */
function accountOfHandle(userHandle: unknown): string | undefined {
  const id = typeof userHandle === 'string' ? Buffer.from(userHandle, 'base64url').toString('latin1') : '';
  return isSnowflake(id) ? id : undefined;
}

/**
 * The passkeys, removed ones included, of which one undoes a change of address of an account. As long as it can be undone, no device may
 * forget them: a thief may have removed them.
 */
export function* passkeysOfRights(accountId: string, now: number): Work<readonly string[]> {
  const ids: string[] = [];
  for (const right of yield* listPreviousAddresses({ accountId, now })) {
    const { factorsSince: since, changedAt: until, provedBy } = right;
    ids.push(...(yield* acceptedPasskeys(accountId, { since, until, provedBy })).map(({ id }) => id));
  }
  return ids;
}

export const noPasskeysHere = (): Failure =>
  notFound('Browsers have no passkeys here, because the base URL has an IP address for a host. Use a name.');
