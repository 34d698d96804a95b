import type { BrowserMark } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { rememberRecoveryCodes, rememberTotp } from '../../authenticators/earlier-factors.ts';
import { listFactors, removeTotp } from '../../authenticators/factor-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import { withMethod } from '../../authenticators/rules/authentication-context.ts';
import { acceptedSteps, nearbySteps } from '../../authenticators/rules/codes.ts';
import { saveTotpSeed } from '../../authenticators/totp-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';
import type { CodeServices } from '../authentication/code-attempt.ts';
import {
  issueMissingRecoveryCodes,
  issueRecoveryCodes,
  type NewRecoveryCodes,
  prepareRecoveryCodes,
} from '../authentication/recovery-code.ts';
import { matchCode, randomSeed, sealSeed } from '../authentication/totp.ts';
import { enqueueSecurityNotice } from '../notices/notices.ts';
import { deviceFacts, type SecurityFacts } from '../notices/rules/notice-text.ts';
import { type Renewal, renewSession } from '../sign-in/renew-session.ts';
import { canSpare, type WayInServices } from './last-way-in.ts';

/*
 * Setting up and removing what is asked for after the first factor. Every change secures the account: all other sessions end, and so
 * does everything that was issued to apps.
 */

/** How long a person has to set up an authenticator app. */
const ENROLLMENT_LIFETIME = 15 * MINUTE;

/** A person in a session, who has proved who they are for this change. */
interface Actor {
  readonly account: Account;
  readonly session: Session;
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

/** An authenticator app that has not shown a code yet. Nothing is stored of it. */
export interface Enrollment {
  readonly seed: string;
  /** For the form: the seed, encrypted for this session, so that it ends with the session and with the account's generation. */
  readonly sealed: string;
}

const noticeFacts = (session: Session): SecurityFacts => ({ ...deviceFacts(session), what: 'an authenticator app' });

const enrollmentContext = ({ hash }: Session): string => `totp enrollment ${hash}`;

export function startEnrollment(sealer: Sealer, session: Session, now: number): Enrollment {
  const seed = randomSeed();
  const content = JSON.stringify({ seed, expiresAt: now + ENROLLMENT_LIFETIME });
  return { seed, sealed: sealer.seal(content, enrollmentContext(session)) };
}

/** Reads the enrollment of a form; undefined where it belongs to another session or has expired. */
export function openEnrollment(sealer: Sealer, session: Session, sealed: string, now: number): Enrollment | undefined {
  const content = sealer.open(sealed, enrollmentContext(session));
  if (content === undefined) return undefined;
  const { seed, expiresAt } = JSON.parse(content) as { readonly seed: string; readonly expiresAt: number };
  return expiresAt > now ? { seed, sealed } : undefined;
}

export type EnrollmentResult =
  | ({ readonly kind: 'added'; readonly codes: readonly string[] | undefined } & Renewal)
  | { readonly kind: 'wrong' }
  /** The code is right for another time. The person has the seed before them, so that tells nothing. */
  | { readonly kind: 'clock off' };

/**
 * Adds an authenticator app, or replaces the one before, given a code that it shows. That code is used up. The person gets recovery codes
 * with it, unless some of theirs can still be used.
 * @param inFlow where an authorization request asks for it: more work of the same commit, given the session in which the browser
 *   continues. The code then raises that session.
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function addTotp(
  services: CodeServices,
  { account, session, browser, origin }: Actor,
  { seed }: Enrollment,
  code: string,
  inFlow?: (session: Pick<Session, 'hash'>) => Work<void>,
): Promise<EnrollmentResult> {
  const now = services.clock();
  const step = await matchCode(seed, code, acceptedSteps(now, 0));
  if (step === undefined) {
    const elsewhere = await matchCode(seed, code, nearbySteps(now));
    return { kind: elsewhere === undefined ? 'wrong' : 'clock off' };
  }
  const accountId = account.id;
  const sealed = sealSeed(services.sealer, accountId, seed);
  const prepared = prepareRecoveryCodes(services.sealer, accountId);
  let issued = false;
  const renewal = await renewSession(services, {
    account,
    session,
    browser,
    event: { type: 'account.factor_added', origin, details: { factor: 'totp' } },
    // The person has just shown both the password, or what else the session began with, and a code.
    ...(inFlow !== undefined && { start: withMethod(session, 'totp') }),
    *afterSave(saved, renewed): Work<void> {
      const { generation, updatedAt: at } = saved;
      yield* rememberTotp(accountId, at);
      yield* saveTotpSeed({ accountId, sealed, generation, now: at, lastStep: step });
      issued = yield* issueMissingRecoveryCodes(prepared, accountId, at);
      yield* enqueueSecurityNotice(services, saved, 'factor added', noticeFacts(session), now, at);
      if (inFlow !== undefined) yield* inFlow(renewed);
    },
  });
  return { kind: 'added', codes: issued ? prepared.codes : undefined, ...renewal };
}

/**
 * Removes the authenticator app of a person.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where there is none, or where it is the last way in: together with a link by mail, it recovers the account
 */
export function removeAuthenticatorApp(
  services: CodeServices & WayInServices,
  { account, session, browser, origin }: Actor,
): Promise<Renewal> {
  const now = services.clock();
  return renewSession(services, {
    account,
    session,
    browser,
    event: { type: 'account.factor_removed', origin, details: { factor: 'totp' } },
    *afterSave(saved): Work<void> {
      const factors = yield* listFactors(saved);
      if (!(yield* removeTotp(services.secondFactor, saved)))
        throw conflict('There is no authenticator app to remove.');
      if (!(yield* canSpare(services, saved, factors, { kind: 'totp' }))) {
        throw conflict('Without this app there would be no way into your account. Add a passkey first.');
      }
      yield* enqueueSecurityNotice(services, saved, 'factor removed', noticeFacts(session), now, saved.updatedAt);
    },
  });
}

/**
 * Gives a person new recovery codes, which replace all earlier ones.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where the person has nothing that they would stand in for
 */
export async function replaceRecoveryCodes(
  services: CodeServices,
  { account, session, browser, origin }: Actor,
): Promise<Renewal & Pick<NewRecoveryCodes, 'codes'>> {
  const now = services.clock();
  const prepared = prepareRecoveryCodes(services.sealer, account.id);
  const renewal = await renewSession(services, {
    account,
    session,
    browser,
    event: { type: 'account.recovery_codes_created', origin },
    *afterSave(saved): Work<void> {
      const isUseful = (yield* listFactors(saved)).some(({ kind }) => kind !== 'password');
      if (!isUseful && !(yield* requiresRecoveryCode(account.id))) {
        throw conflict('Set up an authenticator app or a passkey first.');
      }
      yield* rememberRecoveryCodes(account.id, saved.updatedAt);
      yield* issueRecoveryCodes(prepared, account.id, saved.updatedAt);
      yield* enqueueSecurityNotice(services, saved, 'recovery codes', deviceFacts(session), now, saved.updatedAt);
    },
  });
  return { ...renewal, codes: prepared.codes };
}
