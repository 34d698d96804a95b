import { record } from '../../audit/audit.ts';
import { rememberRecoveryCodes, rememberTotp } from '../../authenticators/earlier-factors.ts';
import { listFactors, removeTotp } from '../../authenticators/factor-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import { withMethod } from '../../authenticators/rules/authentication-context.ts';
import { acceptedSteps, nearbySteps } from '../../authenticators/rules/codes.ts';
import { saveTotpSeed } from '../../authenticators/totp-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { mailTexts } from '../../mail/messages.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Session } from '../../sessions/store.ts';
import { recordLostApp } from '../accounts/openings.ts';
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
import { type ActingOwner, type Renewal, renewSession, secureInSession } from '../sign-in/renew-session.ts';
import { canSpare, type WayInServices } from './last-way-in.ts';

/*
 * Setting up and removing what is asked for after the first factor. Every change secures the account: all other sessions end, and so
 * does everything that was issued to apps.
 */

/** How long a person has to set up an authenticator app. */
const ENROLLMENT_LIFETIME = 15 * MINUTE;

/** An authenticator app that has not shown a code yet. Nothing is stored of it. */
export interface Enrollment {
  readonly seed: string;
  /** For the form: the seed, encrypted for this session, so that it ends with the session and with the account's generation. */
  readonly sealed: string;
}

const noticeFacts = (session: Session): SecurityFacts => ({
  ...deviceFacts(session),
  what: mailTexts.noticeTexts.things.newApp,
});

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
 * @param person has proved who they are for this. Where a pending request asks for the app, the code raises the session
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function addTotp(
  services: CodeServices,
  person: ActingOwner,
  { seed }: Enrollment,
  code: string,
): Promise<EnrollmentResult> {
  const { account, session, origin, interactionHash = null } = person;
  const shownAt = services.clock();
  const step = await matchCode(seed, code, acceptedSteps(shownAt, 0));
  if (step === undefined) {
    const elsewhere = await matchCode(seed, code, nearbySteps(shownAt));
    return { kind: elsewhere === undefined ? 'wrong' : 'clock off' };
  }
  const accountId = account.id;
  const sealed = sealSeed(services.sealer, accountId, seed);
  const prepared = prepareRecoveryCodes(services.sealer, accountId);
  // The person has just shown both the password, or what else the session began with, and a code.
  const raised = interactionHash === null ? {} : { start: withMethod(session, 'totp') };
  return secureInSession(services, person, function* add(securing): Work<EnrollmentResult> {
    const { now } = securing;
    const renewal = yield* renewSession(services, person, securing, raised);
    const { generation, updatedAt: at } = renewal.account;
    yield* rememberTotp(accountId, at);
    yield* saveTotpSeed({ accountId, sealed, generation, now: at, lastStep: step });
    const isIssued = yield* issueMissingRecoveryCodes(prepared, accountId, at);
    yield* enqueueSecurityNotice(services, renewal.account, 'factor added', noticeFacts(session), now, at);
    yield* record({ at: now, type: 'account.factor_added', origin, accountId, details: { factor: 'totp' } });
    return { kind: 'added', codes: isIssued ? prepared.codes : undefined, ...renewal };
  });
}

/**
 * Removes the authenticator app of a person.
 * @returns why it was not removed: it is the last way in, as it recovers the account together with a link by mail, or there is none
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function removeAuthenticatorApp(
  services: CodeServices & WayInServices,
  person: ActingOwner,
): Promise<Renewal | 'last way' | 'unknown'> {
  const { session, origin } = person;
  return secureInSession(services, person, function* remove(securing): Work<Renewal | 'last way' | 'unknown'> {
    const { account, now } = securing;
    const factors = yield* listFactors(account);
    if (!factors.some(({ kind }) => kind === 'totp')) return 'unknown';
    if (!(yield* canSpare(services, account, factors, { kind: 'totp' }))) return 'last way';
    const renewal = yield* renewSession(services, person, securing);
    const { account: changed } = renewal;
    yield* removeTotp(services.secondFactor, changed);
    yield* recordLostApp(changed);
    yield* enqueueSecurityNotice(services, changed, 'factor removed', noticeFacts(session), now, changed.updatedAt);
    const details = { factor: 'totp' };
    yield* record({ at: now, type: 'account.factor_removed', origin, accountId: account.id, details });
    return renewal;
  });
}

/**
 * Gives a person new recovery codes, which replace all earlier ones.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where the person has nothing that they would stand in for
 */
export async function replaceRecoveryCodes(
  services: CodeServices,
  person: ActingOwner,
): Promise<Renewal & Pick<NewRecoveryCodes, 'codes'>> {
  const { session, origin } = person;
  const accountId = person.account.id;
  const prepared = prepareRecoveryCodes(services.sealer, accountId);
  const renewal = await secureInSession(services, person, function* replace(securing): Work<Renewal> {
    const { account, now } = securing;
    const isUseful = (yield* listFactors(account)).some(({ kind }) => kind !== 'password');
    if (!isUseful && !(yield* requiresRecoveryCode(accountId))) {
      throw conflict('Set up an authenticator app or a passkey first.');
    }
    const renewed = yield* renewSession(services, person, securing);
    const { updatedAt: at } = renewed.account;
    yield* rememberRecoveryCodes(accountId, at);
    yield* issueRecoveryCodes(prepared, accountId, at);
    yield* enqueueSecurityNotice(services, renewed.account, 'recovery codes', deviceFacts(session), now, at);
    yield* record({ at: now, type: 'account.recovery_codes_created', origin, accountId });
    return renewed;
  });
  return { ...renewal, codes: prepared.codes };
}
