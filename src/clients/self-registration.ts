import { isDeepStrictEqual } from 'node:util';
import { record } from '../audit/audit.ts';
import { type Clock, DAY, HOUR } from '../platform/clock.ts';
import { digest, randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import { pick } from '../platform/database/columns.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict } from '../platform/failure.ts';
import { initialValues } from '../platform/validation/fields.ts';
import { type Origin, SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { giveUpAlgorithms } from './change.ts';
import { clientNotFound, newSecret, REGISTERED_BY_OPERATOR } from './clients.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { presentsSecret } from './rules/registration.ts';
import { SELF_REGISTERED_FIELDS, type SelfRegisteredFields } from './rules/registration-metadata.ts';
import { endSecretNow, issueSecret } from './secrets.ts';
import {
  countUnused,
  findRegistrationOf,
  listUnused,
  lockUnused,
  removeRegistrationToken,
} from './self-registration-store.ts';
import { type Client, findClient, insertClient, liveSecrets, lockClient, removeClient, saveClient } from './store.ts';

/** How long an app that registered itself waits for the first person who allows it: decisions §15. */
export const UNUSED_LIFETIME = 30 * DAY;
/** How many such apps there may be; the oldest makes room. */
const MOST_UNUSED = 5000;
/** Nobody's place is taken before they could have been used. */
const SAFE_FOR = HOUR;
/** How many make room at a time, where nodes had let in more. */
const MOST_REMOVED = 10;

/** A registration, with what is shown once. */
export interface Registered {
  readonly client: Client;
  readonly registrationToken: string;
  readonly clientSecret: string | undefined;
}

/** Who registers: anyone, or the holder of an initial access token. */
export type Registrant = { readonly by: 'open' } | { readonly by: 'token'; readonly initialTokenId: string };

/** Part of a unit of work: makes room for one more app that nobody has used yet. @returns whether there is some */
export function* makeRoom(now: number): Work<boolean> {
  const surplus = ((yield* countUnused({})) ?? 0) - MOST_UNUSED + 1;
  if (surplus <= 0) return true;
  let removed = 0;
  for (const { id, createdAt } of yield* listUnused({ limit: Math.min(surplus, MOST_REMOVED) })) {
    if (createdAt > now - SAFE_FOR) break;
    if (yield* removeUnused(id, now)) removed++;
  }
  return removed > 0;
}

/** Part of a unit of work: removes an app that nobody has allowed. @returns whether it did */
export function* removeUnused(id: string, now: number): Work<boolean> {
  const client = yield* lockUnused({ id });
  if (client === undefined || client.unusedUntil === null) return false;
  yield* removeClient({ id });
  yield* giveUpAlgorithms(client, undefined, now);
  yield* record({
    at: now,
    type: 'client.deleted',
    origin: SYSTEM_ORIGIN,
    clientId: id,
    details: { reason: 'unused' },
  });
  return true;
}

/** Part of a unit of work: puts an app on record that registers itself. */
export function* registerSelf(
  fields: SelfRegisteredFields,
  registrant: Registrant,
  ids: { readonly clientId: string; readonly secretId: string },
  now: number,
  origin: Origin,
): Work<Registered> {
  const registrationToken = `trt_${randomSecret()}`;
  const initialTokenId = registrant.by === 'token' ? registrant.initialTokenId : null;
  const client: Client = {
    id: ids.clientId,
    ...initialValues(CLIENT_FIELDS, { ...fields, endpoints: ['oidc'], requirePkce: fields.type === 'public' }),
    ...REGISTERED_BY_OPERATOR,
    registeredBy: registrant.by,
    // Who hands out an initial access token answers for what registers with it.
    acceptedAt: registrant.by === 'token' ? now : null,
    registrationHash: digest(registrationToken),
    initialTokenId,
    unusedUntil: registrant.by === 'open' ? now + UNUSED_LIFETIME : null,
    picture: null,
    organizationId: null,
    developerId: null,
    consentApproval: null,
    resourceMark: null,
    leftOut: null,
    status: 'active',
    generation: randomIdentifier(),
    consentEpoch: randomIdentifier(),
    createdAt: now,
    updatedAt: now,
  };
  yield* insertClient(client);
  const clientSecret = presentsSecret(client) ? yield* giveSecret(client.id, ids.secretId, now) : undefined;
  const details = {
    registeredBy: registrant.by,
    ...(initialTokenId !== null && { initialAccessTokenId: initialTokenId }),
  };
  yield* record({ at: now, type: 'client.created', origin, clientId: client.id, details });
  return { client, registrationToken, clientSecret };
}

function* giveSecret(clientId: string, id: string, now: number): Work<string> {
  const secret = newSecret();
  yield* issueSecret(clientId, { id, text: secret }, now);
  return secret;
}

/** The active client whose registration a token manages; undefined where it manages none. */
export const readRegistrationOf = (id: string, registrationToken: string): Work<Client | undefined> =>
  managed(id, registrationToken, findClient);

/** The same, locked, as a part of a unit of work. */
export const lockRegistration = (id: string, registrationToken: string): Work<Client | undefined> =>
  managed(id, registrationToken, lockClient);

function* managed(id: string, token: string, read: typeof findClient): Work<Client | undefined> {
  const hash = digest(token);
  if ((yield* findRegistrationOf({ id, hash })) === undefined) return undefined;
  const client = yield* read({ id });
  // Read after a lock: an operator may have disabled it, or taken it over.
  return client?.registrationHash === hash && client.status === 'active' ? client : undefined;
}

/** What an operator accepted, and people consented to: an app of another name, or one that sends people elsewhere, is another app. */
const CONSENTED_FIELDS = ['name', 'redirectUris'] as const;

/**
 * Part of a unit of work: replaces the registration of a locked client by a new one of its own (RFC 7592 §2.2). Another name or other
 * redirect URIs ask for consent again and end the acceptance of an app that registered openly; another way to authenticate ends
 * everything that was issued.
 */
export function* updateSelf(
  client: Client,
  fields: SelfRegisteredFields,
  secretId: string,
  now: number,
  origin: Origin,
): Work<Omit<Registered, 'registrationToken'>> {
  const changed = SELF_REGISTERED_FIELDS.filter((field) => !isDeepStrictEqual(client[field], fields[field]));
  if (changed.length === 0) return { client, clientSecret: undefined };
  const isOther = (names: readonly (keyof SelfRegisteredFields)[]) => names.some((name) => changed.includes(name));
  const isOtherApp = isOther(CONSENTED_FIELDS);
  const saved: Client = {
    ...client,
    ...pick(fields, SELF_REGISTERED_FIELDS),
    requirePkce: client.requirePkce || fields.type === 'public',
    acceptedAt: isOtherApp && client.registeredBy === 'open' ? null : client.acceptedAt,
    consentEpoch: isOtherApp ? randomIdentifier() : client.consentEpoch,
    generation: isProvedAlike(client, fields) ? client.generation : randomIdentifier(),
    updatedAt: now,
  };
  yield* saveClient(saved);
  yield* giveUpAlgorithms(client, saved, now);
  const clientSecret = yield* adjustSecret(saved, secretId, now, origin);
  yield* record({ at: now, type: 'client.updated', origin, clientId: client.id, details: { fields: changed } });
  return { client: saved, clientSecret };
}

/** Whether a client still proves who it is by the same kind of thing: nothing, a secret or a key. */
const isProvedAlike = (before: Client, after: SelfRegisteredFields): boolean =>
  before.type === after.type && presentsSecret(before) === presentsSecret(after);

/** A client that has begun to present a secret gets one; one that has stopped keeps none. */
function* adjustSecret(client: Client, secretId: string, now: number, origin: Origin): Work<string | undefined> {
  const live = yield* liveSecrets({ clientId: client.id, now });
  if (presentsSecret(client)) return live.length === 0 ? yield* giveSecret(client.id, secretId, now) : undefined;
  for (const { id } of live) {
    yield* endSecretNow(client.id, id, now, origin);
  }
  return undefined;
}

/** Part of a unit of work: deletes a locked client at its own request (RFC 7592 §2.3), with everything that was issued to it. */
export function* deleteSelf(client: Client, now: number, origin: Origin): Work<void> {
  yield* removeClient({ id: client.id });
  yield* giveUpAlgorithms(client, undefined, now);
  yield* record({ at: now, type: 'client.deleted', origin, clientId: client.id });
}

/**
 * An operator takes over the registration of an app, so that the app itself no longer changes it.
 * @throws {Failure} `not found`, `conflict` for an app that does not manage its registration
 */
export function endSelfRegistration(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  return database.commit(function* end(): Work<void> {
    if ((yield* lockClient({ id })) === undefined) throw clientNotFound(id);
    if (!(yield* removeRegistrationToken({ id }))) throw conflict('This app does not manage its registration itself.');
    yield* record({ at: now, type: 'client.self_registration_ended', origin, clientId: id });
  });
}
