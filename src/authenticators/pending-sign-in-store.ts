import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  json,
  jsonOr,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { MappedClaims } from '../upstreams/rules/claims-map.ts';
import type { UpstreamOrigin } from '../upstreams/session-store.ts';
import type { Method } from './rules/authentication-context.ts';
import type { PendingSignInTable } from './tables.ts';

/** Where a person came from, and what that writes into the account once the sign-in is complete. */
interface PendingOrigin extends UpstreamOrigin {
  /** Absent where an earlier version stored it, which wrote it at once. */
  readonly mapped?: MappedClaims;
}

const PENDING_SIGN_IN = {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: storedField('hash', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  generation: storedField('generation', plain<string>()),
  browserHash: storedField('browser_hash', plain<string>()),
  /** The methods that were used so far, */
  methods: storedField('methods', json<readonly Method[]>()),
  /** and when what was used was set up; none where an earlier version stored it. */
  factorsSince: storedField('factors_since', jsonOr<readonly (number | null)[], readonly null[]>([])),
  /** The digest of the pending request that needs the sign-in, if there is one. */
  interactionHash: storedField('interaction_hash', plain<string | null>()),
  /** Where the person came from, if it was another provider. */
  upstream: storedField('upstream', jsonOr<PendingOrigin, null>(null)),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
} as const;

/** A sign-in that waits for a second factor. No session exists: it is good for nothing else. */
export type PendingSignIn = Values<typeof PENDING_SIGN_IN>;

const COLUMNS = columnsOf(PENDING_SIGN_IN);
const toPendingSignIn: (row: object) => PendingSignIn = decoder(PENDING_SIGN_IN);

const insert = command((db, p: PendingSignInTable) => db.insertInto('pending_sign_in').values(pick(p, COLUMNS)));

export const insertPendingSignIn = (pending: PendingSignIn): Work<void> => insert(encode(PENDING_SIGN_IN, pending));

export const findPendingSignIn = one(
  (db, p: { hash: string }) => db.selectFrom('pending_sign_in').select(COLUMNS).where('hash', '=', p.hash),
  toPendingSignIn,
);

/** Removes a pending sign-in, once; false where it was completed before. */
export const removePendingSignIn = changes((db, p: { hash: string }) =>
  db.deleteFrom('pending_sign_in').where('hash', '=', p.hash).returning('hash'),
);

/** Removes the pending sign-ins of one browser to an account: a new one replaces them. */
export const removePendingSignInsOfBrowser = command((db, p: { accountId: string; browserHash: string }) =>
  db.deleteFrom('pending_sign_in').where('account_id', '=', p.accountId).where('browser_hash', '=', p.browserHash),
);
