import { findAccount } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import type { AdminKey } from '../../admin-keys/store.ts';
import * as store from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../operators/permissions.ts';
import { requireNotStronger } from '../../operators/refusal.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { notFound } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import { type EndedWithKey, endHandedOut } from '../accounts/handed-out.ts';
import {
  type ActingOperator,
  grantDetails,
  grantFields,
  readGrant,
  requireGivable,
  requirePlace,
} from '../operators/grants.ts';
import { idsOfMade, isNothing, type Made, madeBy } from './list-made.ts';
import { type EndedMakers, endAllMadeBy, finishEnding, NOTHING_ENDED, onlyMakers } from './made.ts';
import { listMadeRows } from './made-view-store.ts';

export const CreateAdminKeyRequest = requestBody('CreateAdminKeyRequest', {
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    format: 'single-line',
    about: 'What the key is for.',
    description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
  }),
  role: Type.Unsafe<OperatorRole>({
    enum: [...OPERATOR_ROLES],
    about: 'What the key may do.',
    description: `one of ${OPERATOR_ROLES.join(', ')}`,
  }),
  ...grantFields,
});
export type CreateAdminKeyRequest = Type.Static<typeof CreateAdminKeyRequest>;

interface AdminKeysContext {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Creates a key.
 * @returns its record, and the key itself, which cannot be read again
 * @throws {Failure} `invalid`, `not found`, or `insufficient permission` where the maker may not give the role
 */
export async function createAdminKey(
  { database, clock, ids, operator }: AdminKeysContext & ActingOperator & { readonly ids: Ids },
  input: Pick<CreateAdminKeyRequest, 'name'> & Partial<CreateAdminKeyRequest>,
  origin: Origin,
): Promise<{ readonly key: AdminKey; readonly adminKey: string }> {
  const now = clock();
  const wanted = readGrant({ ...input, role: input.role ?? 'owner' }, now);
  const adminKey = `tak_${randomSecret()}`;
  const key: AdminKey = {
    ...{ id: await ids.next(), name: input.name, ...wanted },
    ...{ createdAt: now, revokedAt: null, lastUsedAt: null, madeBy: operator?.id ?? null },
  };
  await makingDatabase(database).commit(function* create(): Work<void> {
    requireGivable(operator, wanted);
    yield* requirePlace(wanted);
    yield* store.insertAdminKey(key, adminKey);
    const details = { adminKeyId: key.id, name: key.name, ...grantDetails(wanted) };
    yield* record({ at: now, type: 'admin_key.created', origin, details });
  });
  return { key, adminKey };
}

export interface RevokeOptions {
  /** Makes invitations the command line's own instead of ending them. */
  readonly takeOver?: boolean;
  /** Ends the keys and roles that the key made, and what these made. */
  readonly endMade?: boolean;
}

/** What the end of a key ended, and what it made that goes on. */
export interface RevokedAdminKey extends EndedWithKey {
  readonly made: Made;
}

/**
 * Revokes a key, and with it what the key handed out and nobody used. Once this has returned, no request with the key changes anything.
 * The same holds for the keys that it made, where these are to end as well: also of a key that has ended, or is gone from the records.
 * @throws {Failure} `not found`, or `insufficient permission` where the key has a permission that the operator lacks
 */
export async function revokeAdminKey(
  { database, clock, operator }: AdminKeysContext & ActingOperator,
  id: string,
  origin: Origin,
  { takeOver = false, endMade = false }: RevokeOptions = {},
): Promise<RevokedAdminKey> {
  const now = clock();
  const revoked = await makingDatabase(database).commit(function* revoke(): Work<Revocation> {
    const key = yield* store.findAdminKey({ id });
    if (operator !== undefined && key !== undefined) requireNotStronger(operator, [store.grantOfKey(key)]);
    const isRevoked = yield* store.markAdminKeyRevoked({ id, now });
    const made = yield* madeBy(id, now);
    const ended = yield* endHandedOut(id, takeOver, now);
    const isEnding = isRevoked || (endMade && (key !== undefined || (yield* isFormerKey(id, made, now))));
    // A second caller may rely on the answer as well, which waits for the same requests.
    if (!isEnding) return { ...ended, made, makers: undefined };
    const { makers, ...alsoEnded } = endMade ? yield* endAllMadeBy(id, { operator, origin, now }) : NOTHING_ENDED;
    const details = { adminKeyId: id, ...ended, ...(endMade && { made: idsOfMade(alsoEnded) }) };
    yield* record({ at: now, type: 'admin_key.revoked', origin, details });
    return { ...ended, made: endMade ? alsoEnded : made, makers: { ...makers, ids: [id, ...makers.ids] } };
  });
  const { makers, ...answer } = revoked;
  await finishEnding({ database, clock }, makers ?? onlyMakers(id));
  // After the wait: a second caller may rely on this answer as well.
  if (makers === undefined) {
    throw notFound(`There is no live admin key with the id ${id}. List them with: tessera admin-key list`);
  }
  return answer;
}

/** Whether something was made by a key of which no record is left: one of an organization that was deleted, or an earlier `TESSERA_ADMIN_KEY`. */
function* isFormerKey(id: string, made: Made, now: number): Work<boolean> {
  if (isNothing(made) || (yield* store.isKeyOnRecord(id, now))) return false;
  return (yield* findAccount({ id })) === undefined;
}

interface Revocation extends RevokedAdminKey {
  readonly makers: EndedMakers | undefined;
}

/** A key, and the valid keys and roles that were made with it. */
export interface AdminKeyWithMade {
  readonly key: AdminKey;
  readonly made: Made;
}

function* readKey(id: string): Work<AdminKey> {
  const key = yield* store.findAdminKey({ id });
  if (key === undefined) throw store.adminKeyNotFound(id);
  return key;
}

/** A key alone: what was made with it stands in many tables. @throws {Failure} `not found` */
export const getAdminKeyAlone = ({ database }: Pick<AdminKeysContext, 'database'>, id: string): Promise<AdminKey> =>
  database.read(() => readKey(id));

/** How many rows of each part of what was made are listed. */
export const LISTED_ROWS = 5;

/** A key with the newest of what was made with it, as a page lists it; one more of each part shows that there is more. @throws {Failure} `not found` */
export const getAdminKeyWithRows = ({ database }: Pick<AdminKeysContext, 'database'>, id: string) =>
  database.read(function* read() {
    return { key: yield* readKey(id), rows: yield* listMadeRows({ madeBy: id, limit: LISTED_ROWS + 1 }) };
  });

/** @throws {Failure} `not found` */
export function getAdminKey({ database, clock }: AdminKeysContext, id: string): Promise<AdminKeyWithMade> {
  const now = clock();
  return database.read(function* read(): Work<AdminKeyWithMade> {
    return { key: yield* readKey(id), made: yield* madeBy(id, now) };
  });
}

/** Why a key does not work any more, or that it does. */
export function adminKeyStatus({ revokedAt, expiresAt }: AdminKey, now: number): 'active' | 'revoked' | 'ended' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'ended' : 'active';
}
