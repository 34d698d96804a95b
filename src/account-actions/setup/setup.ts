import { insertGrant } from '../../access/operator-grant-store.ts';
import { findSetupLink, saveSetupLink, spendSetupLink } from '../../access/setup-link-store.ts';
import { newProfile } from '../../accounts/rules/profile.ts';
import { hasAccounts } from '../../accounts/store.ts';
import { hasAdminKeys } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { type Clock, HOUR, iso } from '../../platform/clock.ts';
import type { Passwords } from '../../platform/crypto/passwords.ts';
import { digest, isSecretForm, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { addAccount, newAccount } from '../accounts/create-account.ts';
import { hasOwner } from '../accounts/last-owner.ts';
import { FieldTaken } from '../accounts/usernames.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { grantDetails } from '../operators/grants.ts';
import { type SignedIn, type SignInBrowser, startSession } from '../sign-in/sign-in.ts';

/** How long a link works. */
const SETUP_LINK_LIFETIME = HOUR;

const OWNER = { role: 'owner', organizationId: null, expiresAt: null } as const;

interface SetupContext {
  readonly database: Database;
  readonly clock: Clock;
}

/** The address at which a link is opened. It is for standard output and never logged. */
export const setupAddress = (baseUrl: string, link: string): string => `${baseUrl}/setup?link=${link}`;

function* makeLink(now: number, origin: Origin): Work<string> {
  const link = randomSecret();
  const expiresAt = now + SETUP_LINK_LIFETIME;
  yield* saveSetupLink({ hash: digest(link), expiresAt });
  yield* record({ at: now, type: 'operator.setup_link_made', origin, details: { expiresAt: iso(expiresAt) } });
  return link;
}

/**
 * Makes the link with which the first owner makes their account; the one before it ends.
 * @throws {Failure} `conflict` where the installation has an owner
 */
export function makeSetupLink({ database, clock }: SetupContext, origin: Origin): Promise<string> {
  const now = clock();
  return database.commit(function* make(): Work<string> {
    if (yield* hasOwner(now)) {
      throw conflict(
        'This installation has an owner, who signs in. On the server, tessera user grant-role <user> owner makes another one.',
      );
    }
    return yield* makeLink(now, origin);
  });
}

/** The same for the start of a server, where nobody has anything yet: neither an account nor an admin key. */
export async function makeFirstSetupLink(
  { database, clock }: SetupContext,
  origin: Origin,
): Promise<string | undefined> {
  const isInUse = await database.read(function* look(): Work<boolean> {
    return (yield* hasAccounts({})) !== undefined || (yield* hasAdminKeys({})) !== undefined;
  });
  return isInUse ? undefined : database.commit(() => makeLink(clock(), origin));
}

/** Why a link opens nothing; undefined where it works. */
export async function problemOfSetupLink(
  { database, clock }: SetupContext,
  link: string,
): Promise<'dead' | 'owned' | undefined> {
  const now = clock();
  return database.read(function* look(): Work<'dead' | 'owned' | undefined> {
    if (yield* hasOwner(now)) return 'owned';
    const works = isSecretForm(link) && (yield* findSetupLink({ hash: digest(link), now })) !== undefined;
    return works ? undefined : 'dead';
  });
}

export type CompletedSetup =
  | SignedIn
  | { readonly kind: 'dead' | 'owned' }
  | { readonly kind: 'taken'; readonly field: FieldTaken['field'] };

/**
 * Creates the account of the owner and signs in to it, in the commit that uses the link up: of several at the same time, one wins. The
 * address counts as verified by the operator, so that a second factor can be set up without mail.
 * @param password a password that may be chosen
 */
export async function completeSetup(
  services: SetupContext & SecurityNoticeServices & { readonly ids: Ids; readonly passwords: Passwords },
  link: string,
  { password, ...fields }: Readonly<Record<'displayName' | 'username' | 'email' | 'password', string>>,
  browser: SignInBrowser,
): Promise<CompletedSetup> {
  const { database, clock, ids, passwords } = services;
  const { origin } = browser;
  const passwordHash = await passwords.hash(password, addressFlows(origin));
  const now = clock();
  const id = await ids.next();
  try {
    return await database.commit(function* complete(): Work<CompletedSetup> {
      // First, so that of several with one link the others wait for it, and see the owner that it made.
      const isSpent = isSecretForm(link) && (yield* spendSetupLink({ hash: digest(link), now }));
      if (yield* hasOwner(now)) return { kind: 'owned' };
      if (!isSpent) return { kind: 'dead' };
      const account = newAccount(id, newProfile({ ...fields, emailVerified: true }, id, now), passwordHash, now);
      yield* addAccount(account, { kind: 'operator', operator: undefined }, origin);
      yield* insertGrant({ accountId: id, ...OWNER, madeBy: null, now });
      const by: Origin = { ...origin, actor: { type: 'user', id } };
      yield* record({
        at: now,
        type: 'operator.role_granted',
        origin: by,
        accountId: id,
        details: grantDetails(OWNER),
      });
      return yield* startSession(services, account, [{ method: 'password', factorSince: 0 }], browser, now);
    });
  } catch (error) {
    if (error instanceof FieldTaken) return { kind: 'taken', field: error.field };
    throw error;
  }
}
