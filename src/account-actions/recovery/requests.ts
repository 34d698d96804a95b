import { isAddressDoubted } from '../../accounts/act-store.ts';
import { isKnownBrowser } from '../../accounts/known-browser-store.ts';
import { identifierKey } from '../../accounts/rules/profile.ts';
import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import { type Account, findByIdentifier, lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Limits } from '../../limits/settings.ts';
import { listBrowsersWaiting, prepareChallenge, type SentChallenge } from '../../mail/challenges.ts';
import { countRecipient, countSender, type MailKind } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import { REQUEST_RETRIES, retryDelay } from '../../platform/backoff.ts';
import { type Clock, MINUTE, SECOND } from '../../platform/clock.ts';
import { digest, randomName } from '../../platform/crypto/secrets.ts';
import { type Database, StoreUnavailable, type Work } from '../../platform/database/database.ts';
import type { Meter } from '../../platform/http/meter.ts';
import { type Poller, startPoller } from '../../platform/poller.ts';
import { type Device, type Origin, SYSTEM_ORIGIN } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { acceptsMailCode } from '../authentication/mail-code.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { beginRecovery, createDecoy, RECOVERY_LIFETIME, subjectOf } from './begin.ts';
import { insertRequest, listRequests, postponeRequest, type StoredMailRequest, takeRequest } from './request-store.ts';
import { SIGN_IN_CODE_LIFETIME, sendSignInCode } from './sign-in-code.ts';

/*
 * A browser asks for a link or a code by a name. The answer is given before the name is looked up, and the message is made later, at a
 * time that does not depend on the request: so neither the answer nor its time tells whether there is such an account.
 */

export interface MailRequest {
  /** A link and code that recover the account, or a code that signs in. */
  readonly purpose: 'recover' | 'sign in';
  /** A username or an email address, as typed. */
  readonly identifier: string;
  readonly browserHash: string;
  /** See `BrowserMark`; undefined in a request that version 0.2 stored. */
  readonly knownHashes?: readonly string[];
  /** The handle of the pending request, if there is one. */
  readonly request: string | undefined;
  readonly origin: Origin;
  /** The browser, as the message names it; undefined in a request that version 0.2 stored. */
  readonly device?: Device;
}

interface RequestServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly secondFactor: SecondFactorSetting;
}

const contextOf = (id: string): string => `mail request ${id}`;

/** No username or address is longer. */
const LONGEST_NAME = 320;

/** Stores a request, unless too many were made from this address. The account is not looked up. */
export async function requestMail(
  services: Omit<RequestServices, 'secondFactor'>,
  request: MailRequest,
): Promise<void> {
  const { database, clock, limits, sealer } = services;
  const now = clock();
  const id = randomName();
  const identifier = request.identifier.slice(0, LONGEST_NAME);
  const sealed = sealer.seal(JSON.stringify({ ...request, identifier }), contextOf(id));
  await database.commit(function* store(): Work<void> {
    if (!(yield* countSender(limits, request.origin, now))) return;
    yield* insertRequest({ id, purpose: request.purpose, sealed, now });
  });
}

const mailKindOf = (purpose: string): MailKind => (purpose === 'sign in' ? 'sign-in code' : 'recovery');

/** A request that waited longer is dropped: nobody waits for its message any more. */
const LONGEST_WAIT = 30 * MINUTE;
const BATCH = 50;
const INTERVAL = SECOND;

interface DispatcherServices extends RequestServices {
  readonly meter: Pick<Meter, 'mailed'>;
  /** Is given what kept a message from being made, and failures of the database. */
  failed(error: unknown): void;
}

/** Makes the messages that were asked for, of whichever node. A stopped one finishes the message that it is making. */
export function startRequestDispatcher(services: DispatcherServices, interval = INTERVAL): Poller {
  const { database, clock, failed } = services;
  let isStopping = false;

  async function sendAll(): Promise<void> {
    for (;;) {
      const requests = await database.read(() => listRequests({ now: clock(), limit: BATCH }));
      for (const request of requests) {
        if (isStopping) return;
        try {
          await answer(services, request);
        } catch (error) {
          if (error instanceof StoreUnavailable) throw error;
          // The others must not wait for one that always fails.
          failed(error);
          await postpone(services, request);
        }
      }
      if (requests.length < BATCH || isStopping) return;
    }
  }
  const poller = startPoller(sendAll, interval, failed);
  return {
    ...poller,
    stop() {
      isStopping = true;
      return poller.stop();
    },
  };
}

/** After an error: the message is tried again later, and given up after the last attempt. */
async function postpone(
  { database, clock, meter }: DispatcherServices,
  { id, purpose, attempts }: StoredMailRequest,
): Promise<void> {
  const now = clock();
  const kind = mailKindOf(purpose);
  const made = attempts + 1;
  const delay = retryDelay(REQUEST_RETRIES, made, 0);
  const counted = await database.commit(function* count(): Work<boolean> {
    if (delay !== undefined) return yield* postponeRequest({ id, attempts, dueAt: now + delay });
    if (!(yield* takeRequest({ id }))) return false;
    // Not the error: it may quote what was typed. The log has it.
    const details = { kind, attempts: made, problem: 'the message could not be made: see the log' };
    yield* record({ at: now, type: 'mail.given_up', outcome: 'failure', origin: SYSTEM_ORIGIN, details });
    return true;
  });
  if (counted) meter.mailed(kind, delay === undefined ? 'dead' : 'retried');
}

/** Takes a request and makes its message, in one commit: it is made once, or waits for another node. */
async function answer(services: RequestServices, { id, sealed, createdAt }: StoredMailRequest): Promise<void> {
  const { database, clock, sealer } = services;
  const now = clock();
  const text = sealer.open(sealed, contextOf(id));
  const request = text === undefined ? undefined : (JSON.parse(text) as MailRequest);
  const sent = prepareChallenge();
  await database.commit(function* make(): Work<void> {
    if (!(yield* takeRequest({ id })) || request === undefined || now - createdAt > LONGEST_WAIT) return;
    const { identifier, browserHash, purpose } = request;
    // No name or address contains a NUL, and PostgreSQL rejects one in a parameter.
    const found = identifier.includes('\0') ? undefined : yield* findByIdentifier(identifier);
    // A change of the account under way would end the challenge.
    const account = found && (yield* lockAccount({ id: found.id }));
    if (account !== undefined && (yield* makeFor(services, account, { ...request, sent }, now))) return;
    const lifetime = purpose === 'recover' ? RECOVERY_LIFETIME : SIGN_IN_CODE_LIFETIME;
    const name = digest(identifierKey(identifier));
    yield* createDecoy(services, { sent, purpose, browserHash, lifetime }, name, now);
  });
}

/**
 * Makes the message for an account, unless too many were made.
 *
 * Strangers must not use up what the owner may get. So browsers that signed in to the account before have a count of their own, and beyond
 * the limit a recovery is still sent where none can be used: the owner of the mailbox gets a link that works.
 * @returns whether the browser has a challenge to answer
 */
function* makeFor(
  services: RequestServices,
  account: Account,
  asked: MailRequest & { readonly sent: SentChallenge },
  now: number,
): Work<boolean> {
  const { purpose, browserHash, knownHashes = [], origin } = asked;
  const isKnown = yield* isKnownBrowser(account.id, { hash: browserHash, knownHashes });
  const counted = { to: account.profile.email, purpose: isKnown ? `${purpose} known` : purpose, origin };
  const isWithin = yield* countRecipient(services.limits, counted, now);
  if (accountStatus(account, now) !== 'active') {
    if (isWithin) yield* tellBarred(services, account, purpose, now);
    return false;
  }
  if (!isWithin) {
    const waiting = yield* listBrowsersWaiting(account, purpose, now);
    if (purpose !== 'recover' || waiting.length > 0) return waiting.includes(browserHash);
  }
  if (yield* isAddressDoubted(account)) return false;
  if (purpose === 'recover') {
    const cause = { by: 'browser', device: asked.device } as const;
    yield* beginRecovery(services, account, { ...asked, isKnown, cause }, now);
  } else if (yield* acceptsMailCode(services.secondFactor, account))
    yield* sendSignInCode(services, account, asked, now);
  else return false;
  return true;
}

/** Tells a banned or suspended person, at an address that is known to be theirs, why no link comes. */
function* tellBarred(
  { mail, issuer }: RequestServices,
  account: Account,
  purpose: MailRequest['purpose'],
  now: number,
): Work<void> {
  const { id: accountId, profile, bannedUntil } = account;
  const status = accountStatus(account, now);
  if (status === 'active' || !profile.emailVerified) return;
  const content = mailTexts.recovery.barred[purpose][status]({
    ...subjectOf(issuer, account),
    bannedUntil: status === 'banned' ? bannedUntil : null,
  });
  const expiresAt = now + RECOVERY_LIFETIME;
  yield* mail.enqueue({ to: profile.email, accountId, kind: mailKindOf(purpose), content, expiresAt }, now);
}
