import {
  listPreviousAddresses,
  type PreviousAddress,
  removePreviousAddress,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import { record } from '../../audit/audit.ts';
import { mailTexts } from '../../mail/messages.ts';
import { DAY } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import type { ActingOwner } from '../sign-in/renew-session.ts';
import { findReturn } from './earlier-address.ts';
import { isEarlierProof, isSecondFactor } from './rules/earlier-proof.ts';
import type { AddressServices } from './secure-account.ts';

/** An address that an account had in the last days, which can undo what came since. */
export interface EarlierAddress {
  readonly email: string;
  readonly until: number;
  /** Since when what was added is removed when the account goes back to it. */
  readonly since: number;
  /** Whether the visitor may end its right: they proved themselves with a second factor from before the address was given up. */
  readonly isClosable: boolean;
  /** Whether the visitor goes back to it with what they proved in this session: that undoes the change. */
  readonly isReturn: boolean;
}

/** The earlier addresses of an account that can still undo a change, the latest first. */
export function readEarlierAddresses(
  { database, clock }: AddressServices,
  { account, session }: Pick<ActingOwner, 'account' | 'session'>,
): Promise<readonly EarlierAddress[]> {
  const now = clock();
  return database.read(function* read(): Work<readonly EarlierAddress[]> {
    const rights = yield* listPreviousAddresses({ accountId: account.id, now });
    const addresses: EarlierAddress[] = [];
    for (const right of rights) {
      const isReturn = (yield* findReturn(account, session, right.email, now)) !== undefined;
      const { email, expiresAt: until, factorsSince: since } = right;
      addresses.push({ email, until, since, isClosable: mayClose(session, right), isReturn });
    }
    return addresses;
  });
}

/**
 * Ends the right of an earlier address whose mailbox is no longer the person's. A thief must not do it: it takes a second factor from
 * before the address was given up. The address is told.
 * @returns whether the address had a right that the person may end
 */
export async function closeRight(
  services: AddressServices,
  { account, session, origin }: Pick<ActingOwner, 'account' | 'session' | 'origin'>,
  email: string,
): Promise<boolean> {
  const { clock, mail } = services;
  const now = clock();
  return sessionDatabase(services, session).commit(function* close(): Work<boolean> {
    const rights = yield* listPreviousAddresses({ accountId: account.id, now });
    const closable = rights.filter((one) => emailKey(one.email) === emailKey(email) && mayClose(session, one));
    for (const { hash } of closable) yield* removePreviousAddress({ hash });
    const [right] = closable;
    if (right === undefined) return false;
    yield* record({ at: now, type: 'account.earlier_address_removed', origin, accountId: account.id });
    const message = { to: right.email, accountId: account.id, kind: 'address changed', expiresAt: now + DAY } as const;
    yield* mail.enqueue({ ...message, content: mailTexts.addresses.rightClosed(account.profile) }, now);
    return true;
  });
}

/** A session that was stolen with a fresh proof is not enough: the person proves themselves again, after the address was given up. */
const mayClose = ({ provedBy, provedAfter, provedFactorSince }: Session, right: PreviousAddress): boolean =>
  isSecondFactor(provedBy) &&
  provedAfter !== null &&
  provedAfter >= right.changedAt &&
  isEarlierProof(provedFactorSince, right.factorsSince);
