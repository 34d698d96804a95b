import { bit, jsonOr, plain, readAs, storedField } from '../platform/database/statement.ts';
import { clientStatusOf } from '../verdict/rules.ts';

/** The columns of account and client that the verdict on a credential goes by, in a join where their aliases are `a` and `c`. */
export const STATE_COLUMNS = [
  'a.banned_at',
  'a.banned_until',
  'a.suspended_at',
  'a.generation as account_now',
  'c.status as client_status',
  'c.generation as client_now',
] as const;

/** What the verdict on a credential goes by, in a row that also has the revocation of its grant, and whether its path exists. */
export const STATE = {
  account: {
    bannedAt: storedField('banned_at', plain<number | null>()),
    bannedUntil: storedField('banned_until', plain<number | null>()),
    suspendedAt: storedField('suspended_at', plain<number | null>()),
    generation: storedField('account_now', plain<string>()),
  },
  client: {
    status: storedField('client_status', readAs(clientStatusOf)),
    generation: storedField('client_now', plain<string>()),
  },
  grant: { revokedAt: storedField('revoked_at', plain<number | null>()) },
  hasAccess: storedField('has_access', bit),
} as const;

/** The scopes that the client is registered for now, `c.scopes`; null is those of the identity. */
export const REGISTERED_SCOPES = storedField('registered_scopes', jsonOr<readonly string[], null>(null));

/** The same for a credential of a family. */
export const FAMILY_STATE = {
  ...STATE,
  family: {
    endsAt: storedField('ends_at', plain<number>()),
    deadAt: storedField('dead_at', plain<number | null>()),
  },
} as const;

/** The generations of account and client that a credential got when the person signed in. */
export const INHERITED = {
  accountGeneration: storedField('account_generation', plain<string>()),
  clientGeneration: storedField('client_generation', plain<string>()),
} as const;
