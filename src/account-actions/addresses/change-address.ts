import { recordOwnAddress } from '../../accounts/act-store.ts';
import type { BrowserMark } from '../../accounts/known-browser-store.ts';
import {
  isReservedAddress,
  listAddressesToReturnTo,
  type PreviousAddress,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import { type Account, findByIdentifier } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import type { Limits } from '../../limits/settings.ts';
import {
  type Challenge,
  type CodeResult,
  createChallenge,
  findChallenge,
  findChallengeOfBrowser,
  listBrowsersWaiting,
  prepareChallenge,
  type SentChallenge,
  tryCode,
  useChallenge,
} from '../../mail/challenges.ts';
import { countAccount, countMail, countRecipientFrom, countSender } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { FieldTaken } from '../accounts/accounts.ts';
import { displaceAddress } from '../accounts/displace-address.ts';
import { requireFewGenerations } from '../accounts/generation-limit.ts';
import { type EndedMakers, finishEnding, onlyMakers } from '../makers/made.ts';
import {
  type ActingOwner,
  type Renewal,
  renewSession,
  type Securing,
  secureInSession,
} from '../sign-in/renew-session.ts';
import { exceededChanges, takeChange } from './change-limit.ts';
import { endSince, findReturn, giveUpAddress } from './earlier-address.ts';
import { endUnproved, isProvedByPerson, valuesWith } from './proved-address.ts';
import type { AddressServices } from './secure-account.ts';

/** How long a link or a code confirms an address. */
const CONFIRMATION_LIFETIME = 15 * MINUTE;

export const VERIFY_PATH = '/verify';
export const UNDO_PATH = '/undo-address-change';

const PURPOSES = ['change address', 'verify address'] as const;
export type AddressPurpose = (typeof PURPOSES)[number];

/** What was confirmed. An address that was never verified is told nothing when it is replaced, and can undo nothing. */
type ConfirmedPurpose = AddressPurpose | 'replace unverified address' | 'go back';

interface AddressChangeServices extends AddressServices {
  readonly limits: Limits;
}

/** What a request for an address remembers. */
interface RequestedAddress {
  readonly email: string;
  /** The session in which the person asked, with which a change ends; undefined in a request of an earlier version. */
  readonly sid?: string;
  /** The right of the earlier address that the person goes back to, having proved themselves; undefined in a request of an earlier version. */
  readonly right?: string | undefined;
  /** Whether the person proved themselves with what is enough to go back to an earlier address, and for nothing else. */
  readonly isReturnOnly?: boolean;
}

/**
 * Sends a link and a code to an address that a person says is theirs: their own, to verify it, or a new one. Where another account has
 * the address, its owner is told instead, and the person sees the same answer; likewise where too many messages were sent.
 * @param isReturnOnly whether what the person proved is enough to go back to an earlier address alone
 * @throws {Failure} `conflict` where it is not one
 * @returns the seconds until the account may change its address again, if it did so too often; else 0
 */
export async function requestAddress(
  services: AddressChangeServices,
  { account, session, browser, origin }: ActingOwner,
  email: string,
  isReturnOnly = false,
): Promise<number> {
  const { clock, sealer, mail, issuer, limits } = services;
  const now = clock();
  const sent = prepareChallenge();
  const { id, profile } = account;
  const purpose: AddressPurpose = emailKey(email) === emailKey(profile.email) ? 'verify address' : 'change address';
  return sessionDatabase(services, session).commit(function* request(): Work<number> {
    const right = purpose === 'change address' ? yield* findReturn(account, session, email, now) : undefined;
    const isReturn = right !== undefined;
    if (isReturnOnly && !isReturn) throw conflict('This is no earlier address of the account. Nothing was changed.');
    if (purpose === 'change address' && !isReturn) {
      const seconds = yield* exceededChanges(limits, id, origin, now);
      if (seconds > 0) return seconds;
    }
    const challenge = {
      purpose,
      account: { id, generation: session.generation },
      address: emailKey(email),
      browserHash: browser.hash,
      data: { email, sid: session.sid, right: right?.hash, isReturnOnly } satisfies RequestedAddress,
      lifetime: CONFIRMATION_LIFETIME,
    };
    const owner = yield* ownerOf(email, id, now);
    const isWithin = yield* countRequest(limits, { email, purpose, origin, accountId: id, isReturn, owner }, now);
    const spared = yield* browsersGoingBack(account, browser, now);
    yield* createChallenge(sealer, sent, { ...challenge, spared, isDecoy: !isWithin || owner !== undefined }, now);
    if (!isWithin) return 0;
    // What sends nothing is no event, and costs no more than its form.
    if (purpose === 'change address') {
      yield* record({ at: now, type: 'account.address_change_requested', origin, accountId: id });
    }
    const expiresAt = now + CONFIRMATION_LIFETIME;
    const kind = purpose === 'verify address' ? 'verify address' : 'address change';
    if (owner === undefined) {
      const content = mailTexts.addresses.verify({
        url: linkTo(issuer, VERIFY_PATH, sent),
        code: sent.code,
        host: new URL(issuer).host,
      });
      yield* mail.enqueue({ to: email, accountId: id, kind, content, expiresAt, challenge: sent.hash }, now);
    } else if (owner !== 'reserved') {
      const content = mailTexts.addresses.exists({ username: owner.profile.username, url: `${issuer}/login` });
      yield* mail.enqueue({ to: email, accountId: owner.id, kind: 'account exists', content, expiresAt }, now);
    }
    return 0;
  });
}

/** Whether a person goes back to an earlier address of their account, and has freshly proved themselves for that. */
export function mayReturn(
  { database, clock }: AddressServices,
  { account, session }: Pick<ActingOwner, 'account' | 'session'>,
  email: string,
): Promise<boolean> {
  const now = clock();
  return database.read(function* read(): Work<boolean> {
    return (yield* findReturn(account, session, email, now)) !== undefined;
  });
}

/**
 * Counts a request for an address. A stranger who names an address that is reserved, to which nothing is sent, uses up nothing of its owner,
 * and going back to an address has counts of its own.
 */
function* countRequest(
  limits: Limits,
  asked: {
    readonly email: string;
    readonly purpose: AddressPurpose;
    readonly origin: Origin;
    readonly accountId: string;
    readonly isReturn: boolean;
    readonly owner: Account | 'reserved' | undefined;
  },
  now: number,
): Work<boolean> {
  const { email: to, purpose, origin, accountId, isReturn, owner } = asked;
  if (isReturn) {
    if (!(yield* countSender(limits, origin, now))) return false;
    return yield* countRecipientFrom(limits, { to, purpose: 'go back', origin }, now);
  }
  if (owner !== 'reserved') return yield* countMail(limits, { to, purpose, origin, accountId }, now);
  return (yield* countSender(limits, origin, now)) && (yield* countAccount(limits, { origin, accountId }, now));
}

/** Other browsers in which somebody goes back to an earlier address: who asks for something elsewhere must not end their links and codes. */
function* browsersGoingBack(account: Account, { hash }: BrowserMark, now: number): Work<readonly string[]> {
  const earlier = yield* listAddressesToReturnTo({ accountId: account.id, now });
  if (earlier.length === 0) return [];
  const keys = earlier.map(({ email }) => emailKey(email));
  const waiting = yield* listBrowsersWaiting(account, 'change address', now, keys);
  return waiting.filter((browserHash) => browserHash !== null).filter((browserHash) => browserHash !== hash);
}

const linkTo = (issuer: string, path: string, { link }: Pick<SentChallenge, 'link'>): string =>
  `${issuer}${path}?token=${link}`;

/** Another account that has verified an address, or has it reserved; one that never verified it does not count. */
function* ownerOf(email: string, ownId: string, now: number): Work<Account | 'reserved' | undefined> {
  const found = yield* findByIdentifier(email);
  if (found !== undefined && found.id !== ownId && found.profile.emailVerified) return found;
  return (yield* isReservedAddress(email, ownId, now)) ? 'reserved' : undefined;
}

/** The newest request of an account that waits for its link or code in this session. */
export async function readAddressRequest(
  services: AddressServices,
  visit: Pick<ActingOwner, 'account' | 'browser' | 'session'>,
): Promise<Challenge | undefined> {
  return (await readRequestsOfBrowser(services, visit)).find((found) => isAskedIn(found, visit.session));
}

/** The newest requests of an account that wait in this browser, in whichever session they were made. */
function readRequestsOfBrowser(
  { database, clock, sealer }: AddressServices,
  { account, browser }: Pick<ActingOwner, 'account' | 'browser'>,
): Promise<readonly Challenge[]> {
  const now = clock();
  return database.read(function* read(): Work<readonly Challenge[]> {
    const requests: Challenge[] = [];
    for (const purpose of PURPOSES) {
      const found = yield* findChallengeOfBrowser(sealer, browser.hash, purpose, now);
      if (isOwn(found, account)) requests.push(found);
    }
    return requests;
  });
}

const isOwn = (challenge: Challenge | undefined, { id, generation }: Account): challenge is Challenge =>
  challenge?.accountId === id && challenge.generation === generation;

/**
 * Whether a request may be confirmed in a session. A change rests on the proof that was given for it, so it ends with that session: who signs
 * in later in the same browser, perhaps with less, has not proved it. The account's own address is verified without a proof.
 */
export const isAskedIn = ({ purpose, data }: Challenge, session: Pick<Session, 'sid'>): boolean =>
  purpose === 'verify address' || (data as RequestedAddress).sid === session.sid;

/** Finds the request that a link confirms; undefined where the link no longer works. Changes nothing. */
export function* findAddressRequest(
  { sealer }: Pick<AddressServices, 'sealer'>,
  link: string,
  now: number,
): Work<Challenge | undefined> {
  for (const purpose of PURPOSES) {
    const found = yield* findChallenge(sealer, link, purpose, now);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The right of the earlier address that the person goes back to; undefined where they ask for another address, or the right has ended. */
export function* rightOf({ accountId, data }: Challenge, now: number): Work<PreviousAddress | undefined> {
  const { right } = data as RequestedAddress;
  if (right === undefined || accountId === null) return undefined;
  return (yield* listAddressesToReturnTo({ accountId, now })).find(({ hash }) => hash === right);
}

export type AddressResult =
  | ({ readonly kind: 'confirmed'; readonly purpose: ConfirmedPurpose } & Renewal)
  /** A link or code that is wrong, was used, has expired or is another browser's; or the address is another account's by now. */
  | { readonly kind: 'wrong' }
  /** It was asked for in a session of this browser that has ended. */
  | { readonly kind: 'session over' }
  | { readonly kind: 'limited'; readonly seconds: number };

/** Confirms an address by the link that was sent to it, in the browser that asked for it. */
export async function confirmByLink(
  services: AddressChangeServices,
  visit: ActingOwner,
  link: string,
): Promise<AddressResult> {
  const now = services.clock();
  const { account, session, browser } = visit;
  const found = await services.database.read(() => findAddressRequest(services, link, now));
  if (!isOwn(found, account) || found.browserHash !== browser.hash || !isAskedIn(found, session)) {
    return { kind: 'wrong' };
  }
  return confirm(services, visit, found, () => useChallenge(services.sealer, link, found.purpose, now));
}

/** Confirms an address by the code that was sent to it, in the browser that asked for it. */
export async function confirmByCode(
  services: AddressChangeServices,
  visit: ActingOwner,
  code: string,
): Promise<AddressResult> {
  const now = services.clock();
  const { account, session, browser, origin } = visit;
  const requests = await readRequestsOfBrowser(services, visit);
  const waiting = requests.find((request) => isAskedIn(request, session));
  if (waiting === undefined) return { kind: requests.length > 0 ? 'session over' : 'wrong' };
  const { purpose } = waiting;
  const isReturn = (waiting.data as RequestedAddress).right !== undefined;
  // A right code is used up by trying it.
  await requireFewGenerations(services, { accountId: account.id, origin });
  const typed = await sessionDatabase(services, session).commit(function* type(): Work<CodeResult> {
    const counts = purpose === 'change address' && !isReturn;
    const seconds = counts ? yield* exceededChanges(services.limits, account.id, origin, now) : 0;
    if (seconds > 0) return { kind: 'limited', seconds };
    return yield* tryCode(services, { purpose, browserHash: browser.hash, isReturn, code, origin }, now);
  });
  if (typed.kind !== 'right') return typed;
  const { challenge } = typed;
  if (!isOwn(challenge, account) || !isAskedIn(challenge, session)) return { kind: 'wrong' };
  return confirm(services, visit, challenge);
}

/**
 * Gives an account the address that was proved, in a new generation: what this browser did not prove ends. An account that never
 * verified the address loses it. The earlier address is told, and can undo the change, unless the account goes back to an address that
 * it had in the last days: that undoes what came since.
 * @param use spends the link, where no limit is exceeded; by default the code is spent
 */
async function confirm(
  services: AddressChangeServices,
  person: ActingOwner,
  challenge: Challenge,
  use?: () => Work<Challenge | undefined>,
): Promise<AddressResult> {
  const { database } = services;
  const { right } = challenge.data as RequestedAddress;
  // Going back ends what was made since.
  const own = right === undefined ? services : { ...services, database: makingDatabase(database) };
  try {
    const { makers, ...result } = await secureInSession(own, person, (securing) =>
      giveAddress(services, person, securing, challenge, use),
    );
    if (makers !== undefined) await finishEnding(services, makers);
    return result;
  } catch (error) {
    // Another account has the address by now.
    if (error instanceof FieldTaken) return { kind: 'wrong' };
    throw error;
  }
}

/** @returns besides the result, the makers that were ended: what they are about to do is waited for */
function* giveAddress(
  services: AddressChangeServices,
  person: ActingOwner,
  securing: Securing,
  challenge: Challenge,
  use: (() => Work<Challenge | undefined>) | undefined,
): Work<AddressResult & { readonly makers?: EndedMakers }> {
  const { limits } = services;
  const { session, origin } = person;
  const { account, now } = securing;
  const { id: accountId, profile: before } = account;
  const { email, isReturnOnly = false } = challenge.data as RequestedAddress;
  const isChange = challenge.purpose === 'change address';
  if (account.generation !== challenge.generation) return { kind: 'wrong' };
  if ((emailKey(before.email) === emailKey(email)) === isChange) return { kind: 'wrong' };
  const right = yield* rightOf(challenge, now);
  if (isChange && isReturnOnly && right === undefined) return { kind: 'wrong' };
  const counts = isChange && right === undefined;
  const seconds = counts ? yield* exceededChanges(limits, accountId, origin, now) : 0;
  if (seconds > 0) return { kind: 'limited', seconds };
  if (use !== undefined && (yield* use()) === undefined) return { kind: 'wrong' };
  if ((yield* displaceAddress(email, accountId, now, origin)) === 'taken') return { kind: 'wrong' };
  if (counts) yield* takeChange(limits, accountId, origin, now);
  const values = yield* valuesWith(account, session, email, right, now);
  const renewal = yield* renewSession(services, person, securing, { values });
  const { account: changed } = renewal;
  if (!before.emailVerified) yield* endUnproved(changed, session, origin, now);
  if (yield* isProvedByPerson(account, session)) yield* recordOwnAddress(accountId, changed.updatedAt);
  let makers = onlyMakers();
  if (right !== undefined) {
    yield* record({ at: now, type: 'account.address_change_undone', origin, accountId });
    makers = yield* endSince(services, changed, { right, left: before.email, session, origin }, now);
  } else if (isChange) {
    yield* giveUpAddress(services, changed, before, { session, sent: prepareChallenge(), path: UNDO_PATH }, now);
  }
  yield* record({
    at: now,
    type: isChange ? 'account.address_changed' : 'account.address_verified',
    origin,
    accountId,
  });
  const purpose = !isChange ? 'verify address' : before.emailVerified ? 'change address' : 'replace unverified address';
  return { kind: 'confirmed', purpose: right === undefined ? purpose : 'go back', ...renewal, makers };
}
