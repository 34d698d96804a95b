import { type HandsOut, holdHandingKey } from '../admin-keys/hand-out.ts';
import { holdAdminKey } from '../admin-keys/live.ts';
import { record } from '../audit/audit.ts';
import { type Clock, DAY, iso, isoOrNull } from '../platform/clock.ts';
import { digest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { notFound } from '../platform/failure.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { type Ids, isSnowflake } from '../platform/ids/ids.ts';
import { requestBody } from '../platform/validation/fields.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as Type from '../platform/validation/type.ts';
import { disableClient } from './disable.ts';
import type { InitialAccessToken } from './initial-access-token-store.ts';
import * as store from './initial-access-token-store.ts';
import { listRegisteredWith } from './self-registration-store.ts';

const DEFAULT_DAYS = 30;

export const CreateInitialAccessTokenRequest = requestBody('CreateInitialAccessTokenRequest', {
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    format: 'single-line',
    about: 'Whom or what it is for.',
    description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
  }),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      about: `For how many days it is valid. Default: ${DEFAULT_DAYS}.`,
      description: 'a whole number from 1 to 365',
    }),
  ),
  mostUses: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      about: 'How many apps may register with it. Default: 1.',
      description: 'a whole number from 1 to 10000',
    }),
  ),
});
export type CreateInitialAccessTokenRequest = Type.Static<typeof CreateInitialAccessTokenRequest>;

const recordFields = {
  id: Id,
  name: Type.String(),
  status: Type.Unsafe<string>({ enum: ['active', 'used', 'expired', 'revoked'] }),
  uses: Type.Integer({ about: 'How many apps registered with it.' }),
  mostUses: Type.Integer(),
  createdAt: Instant,
  expiresAt: Instant,
  lastUsedAt: nullableField(Instant),
  revokedAt: nullableField(Instant),
};

/** A token in the admin API, as made by `initialTokenView`. */
export const InitialAccessTokenRecord = Type.Object(recordFields, { title: 'InitialAccessToken' });

/** The response that shows a new token. */
export const CreatedInitialAccessToken = Type.Object(
  {
    ...recordFields,
    initialAccessToken: Type.String({ about: 'Shown only once: the server stores a hash of it.' }),
  },
  { title: 'CreatedInitialAccessToken' },
);

function statusOf({ revokedAt, expiresAt, uses, mostUses }: InitialAccessToken, now: number) {
  if (revokedAt !== null) return 'revoked';
  if (uses >= mostUses) return 'used';
  return expiresAt <= now ? 'expired' : 'active';
}

export const initialTokenView = (token: InitialAccessToken, now: number) => ({
  id: token.id,
  name: token.name,
  status: statusOf(token, now),
  uses: token.uses,
  mostUses: token.mostUses,
  createdAt: iso(token.createdAt),
  expiresAt: iso(token.expiresAt),
  lastUsedAt: isoOrNull(token.lastUsedAt),
  revokedAt: isoOrNull(token.revokedAt),
});

interface TokensContext {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Makes a token with which apps may register themselves: RFC 7591 §3.
 * @returns its record, and the token, which cannot be read again
 */
export async function createInitialToken(
  { database, clock, ids, adminKeyId }: TokensContext & HandsOut & { readonly ids: Ids },
  { name, days = DEFAULT_DAYS, mostUses = 1 }: CreateInitialAccessTokenRequest,
  origin: Origin,
): Promise<{ readonly token: InitialAccessToken; readonly initialAccessToken: string }> {
  const now = clock();
  const initialAccessToken = `tit_${randomSecret()}`;
  const token: InitialAccessToken = {
    ...{ id: await ids.next(), name, adminKeyId, createdAt: now, expiresAt: now + days * DAY, uses: 0, mostUses },
    ...{ lastUsedAt: null, revokedAt: null },
  };
  await database.commit(function* create(): Work<void> {
    yield* holdHandingKey({ adminKeyId }, now);
    yield* store.insertInitialToken({ ...token, hash: digest(initialAccessToken) });
    const details = { initialAccessTokenId: token.id, name, mostUses };
    yield* record({ at: now, type: 'initial_access_token.created', origin, details });
  });
  return { token, initialAccessToken };
}

/**
 * Revokes a token: from here on no app registers with it.
 * @param options.endApps also disables the apps that registered with it, which ends everything that was issued to them
 * @returns the ids of the apps that registered with it
 * @throws {Failure} `not found`
 */
export async function revokeInitialToken(
  { database, clock }: TokensContext,
  id: string,
  origin: Origin,
  { endApps = false }: { readonly endApps?: boolean } = {},
): Promise<readonly string[]> {
  const now = clock();
  return database.commit(function* revoke(): Work<readonly string[]> {
    // With its lock: a registration that holds the token has committed then, and its app is found below.
    const token = isSnowflake(id) ? yield* store.lockInitialToken({ id }) : undefined;
    if (token === undefined) throw notFound(`There is no initial access token with the id ${id}.`);
    const revoked = yield* store.markInitialTokenRevoked({ id, now });
    const apps = yield* listRegisteredWith({ tokenId: id });
    if (endApps) for (const clientId of apps) yield* disableClient(clientId, now, origin);
    if (revoked || endApps) {
      const details = { initialAccessTokenId: id, apps: apps.length, appsEnded: endApps };
      yield* record({ at: now, type: 'initial_access_token.revoked', origin, details });
    }
    return apps;
  });
}

/**
 * Part of the unit of work that registers an app: uses an initial access token.
 * @returns the token, or why it is refused
 */
export function* useInitialToken(
  initialAccessToken: string,
  now: number,
): Work<InitialAccessToken | 'unknown' | 'used' | 'expired' | 'revoked'> {
  const found = yield* store.findInitialToken({ hash: digest(initialAccessToken) });
  if (found === undefined) return 'unknown';
  // Before any other lock: what a key handed out and nobody used ends with the key.
  const { adminKeyId } = found;
  const isHeld = adminKeyId === null || (yield* holdAdminKey(adminKeyId, now));
  const token = yield* store.lockInitialToken({ id: found.id });
  if (token === undefined || !isHeld) return 'revoked';
  const status = statusOf(token, now);
  if (status !== 'active') return status;
  yield* store.countInitialTokenUse({ id: token.id, now });
  return token;
}
