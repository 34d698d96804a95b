import type { AsymmetricAlg, IdTokenAlg } from '../keys/algorithms.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { ClientSecretTable, ClientTable } from '../platform/database/schema.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';
import { saveOrigins } from './origin-store.ts';
import type { AuthMethod } from './rules/credentials.ts';
import { DEFAULT_GRANT_TYPES, type GrantType } from './rules/grant-types.ts';
import type { JwkSet } from './rules/jwks.ts';

/** Whether a client can keep a secret: RFC 6749 §2.1. */
export type ClientType = 'confidential' | 'public';

/** A registered client. */
export interface Client {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly policyUrl: string | null;
  readonly termsUrl: string | null;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  /** The scopes it may ask for; null is all. */
  readonly scopes: readonly string[] | null;
  /** What it is as a resource server: the `resource` that others ask tokens for (RFC 8707). */
  readonly resource: string | null;
  /** The grants that it may use. */
  readonly grantTypes: readonly GrantType[];
  readonly type: ClientType;
  readonly requirePkce: boolean;
  readonly idTokenSignedResponseAlg: IdTokenAlg;
  /** Where it is told that a session has ended: OpenID Connect Back-Channel Logout 1.0 §2.2. */
  readonly backchannelLogoutUri: string | null;
  /** Whether it can do nothing with a notice that does not name the session. */
  readonly backchannelLogoutSessionRequired: boolean;
  /** Null is JSON without a signature. */
  readonly userinfoSignedResponseAlg: AsymmetricAlg | null;
  /** Null is any way that presents a secret, and for a public client none. */
  readonly tokenEndpointAuthMethod: AuthMethod | null;
  /** Its public keys, or where they are: never both. */
  readonly jwks: JwkSet | null;
  readonly jwksUri: string | null;
  /** How old a sign-in may be, in seconds, where a request does not say; null is any age. */
  readonly defaultMaxAge: number | null;
  readonly owner: string | null;
  /** The name of its picture; null is its letters. */
  readonly picture: string | null;
  readonly status: 'active' | 'disabled';
  readonly generation: string;
  readonly consentEpoch: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One of a client's secrets; the secret itself is not kept. */
export interface ClientSecret {
  readonly id: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
}

/** Every column, so that a statement reads and sets all of them. */
const COLUMNS = [
  'id',
  'name',
  'description',
  'logo_url',
  'homepage_url',
  'policy_url',
  'terms_url',
  'redirect_uris',
  'post_logout_redirect_uris',
  'scopes',
  'resource',
  'grant_types',
  'type',
  'require_pkce',
  'id_token_signed_response_alg',
  'default_max_age',
  'backchannel_logout_uri',
  'backchannel_logout_session_required',
  'userinfo_signed_response_alg',
  'token_endpoint_auth_method',
  'jwks',
  'jwks_uri',
  'owner',
  'picture',
  'status',
  'generation',
  'consent_epoch',
  'created_at',
  'updated_at',
] as const;
const columns = (p: ClientTable): ClientTable => pick(p, COLUMNS);

const SECRET_COLUMNS = ['id', 'hash', 'created_at', 'last_used_at', 'expires_at'] as const;

const byId = statement((db, p: { id: string }) => db.selectFrom('client').select(COLUMNS).where('id', '=', p.id));
const byIdLocked = statement((db, p: { id: string }) =>
  db.selectFrom('client').select(COLUMNS).where('id', '=', p.id).forUpdate(),
);
const byResource = statement((db, p: { resource: string }) =>
  db.selectFrom('client').select(COLUMNS).where('resource', '=', p.resource),
);
const insert = statement((db, p: ClientTable) => db.insertInto('client').values(columns(p)));
const update = statement((db, p: ClientTable) => db.updateTable('client').set(columns(p)).where('id', '=', p.id));
const renew = statement((db, p: { generation: string; epoch: string }) =>
  db.updateTable('client').set({ generation: p.generation, consent_epoch: p.epoch }),
);
const remove = statement((db, p: { id: string }) => db.deleteFrom('client').where('id', '=', p.id).returning('id'));
const page = statement((db, p: { after: string; limit: number }) =>
  db.selectFrom('client').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
);
const secretsOf = statement((db, p: { clientId: string }) =>
  db.selectFrom('client_secret').select(SECRET_COLUMNS).where('client_id', '=', p.clientId).orderBy('id'),
);
const insertSecret = statement((db, p: { id: string; clientId: string; hash: string; now: number }) =>
  db.insertInto('client_secret').values({
    id: p.id,
    client_id: p.clientId,
    hash: p.hash,
    created_at: p.now,
    last_used_at: null,
    expires_at: null,
  }),
);
const expireSecret = statement((db, p: { id: string; at: number }) =>
  db.updateTable('client_secret').set({ expires_at: p.at }).where('id', '=', p.id),
);
const deleteSecret = statement((db, p: { id: string; clientId: string }) =>
  db.deleteFrom('client_secret').where('id', '=', p.id).where('client_id', '=', p.clientId).returning('id'),
);
const touchSecret = statement((db, p: { id: string; now: number }) =>
  db.updateTable('client_secret').set({ last_used_at: p.now }).where('id', '=', p.id),
);

function toClient(row: ClientTable): Client {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    logoUrl: row.logo_url,
    homepageUrl: row.homepage_url,
    policyUrl: row.policy_url,
    termsUrl: row.terms_url,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    postLogoutRedirectUris: JSON.parse(row.post_logout_redirect_uris) as string[],
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as string[]),
    resource: row.resource,
    grantTypes: row.grant_types === null ? DEFAULT_GRANT_TYPES : (JSON.parse(row.grant_types) as GrantType[]),
    type: row.type as Client['type'],
    requirePkce: row.require_pkce === 1,
    idTokenSignedResponseAlg: row.id_token_signed_response_alg as IdTokenAlg,
    defaultMaxAge: row.default_max_age,
    backchannelLogoutUri: row.backchannel_logout_uri,
    backchannelLogoutSessionRequired: row.backchannel_logout_session_required === 1,
    userinfoSignedResponseAlg: row.userinfo_signed_response_alg as AsymmetricAlg | null,
    tokenEndpointAuthMethod: row.token_endpoint_auth_method as AuthMethod | null,
    jwks: row.jwks === null ? null : (JSON.parse(row.jwks) as JwkSet),
    jwksUri: row.jwks_uri,
    owner: row.owner,
    picture: row.picture,
    status: row.status as Client['status'],
    generation: row.generation,
    consentEpoch: row.consent_epoch,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(client: Client): ClientTable {
  return {
    id: client.id,
    name: client.name,
    description: client.description,
    logo_url: client.logoUrl,
    homepage_url: client.homepageUrl,
    policy_url: client.policyUrl,
    terms_url: client.termsUrl,
    redirect_uris: JSON.stringify(client.redirectUris),
    post_logout_redirect_uris: JSON.stringify(client.postLogoutRedirectUris),
    scopes: client.scopes === null ? null : JSON.stringify(client.scopes),
    resource: client.resource,
    grant_types: JSON.stringify(client.grantTypes),
    type: client.type,
    require_pkce: client.requirePkce ? 1 : 0,
    id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    default_max_age: client.defaultMaxAge,
    backchannel_logout_uri: client.backchannelLogoutUri,
    backchannel_logout_session_required: client.backchannelLogoutSessionRequired ? 1 : 0,
    userinfo_signed_response_alg: client.userinfoSignedResponseAlg,
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    jwks: client.jwks === null ? null : JSON.stringify(client.jwks),
    jwks_uri: client.jwksUri,
    owner: client.owner,
    picture: client.picture,
    status: client.status,
    generation: client.generation,
    consent_epoch: client.consentEpoch,
    created_at: client.createdAt,
    updated_at: client.updatedAt,
  };
}

const toSecret = (row: Omit<ClientSecretTable, 'client_id'>): ClientSecret => ({
  id: row.id,
  hash: row.hash,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
});

export function* findClient(id: string): Work<Client | undefined> {
  const row = yield* first(byId, { id });
  return row && toClient(row);
}

/** The client that is this resource. */
export function* findResource(resource: string): Work<Client | undefined> {
  const row = yield* first(byResource, { resource });
  return row && toClient(row);
}

/** Reads a client that the same unit of work is about to change. */
export function* lockClient(id: string): Work<Client | undefined> {
  const row = yield* first(byIdLocked, { id });
  return row && toClient(row);
}

export function* insertClient(client: Client): Work<void> {
  yield* run(insert, toRow(client));
  yield* saveOrigins(client);
}

export function* saveClient(client: Client): Work<void> {
  yield* run(update, toRow(client));
  yield* saveOrigins(client);
}

export function* removeClient(id: string): Work<boolean> {
  return (yield* first(remove, { id })) !== undefined;
}

export function* listClients(query: { after: string; limit: number }): Work<Client[]> {
  return (yield* all(page, query)).map(toClient);
}

/** The secrets of a client that hold at `now`, oldest first. */
export function* liveSecrets(clientId: string, now: number): Work<ClientSecret[]> {
  const secrets = (yield* all(secretsOf, { clientId })).map(toSecret);
  return secrets.filter((secret) => secret.expiresAt === null || now < secret.expiresAt);
}

export function* addSecret(id: string, clientId: string, hash: string, now: number): Work<void> {
  yield* run(insertSecret, { id, clientId, hash, now });
}

export function* endClientSecret(id: string, at: number): Work<void> {
  yield* run(expireSecret, { id, at });
}

export function* removeSecret(id: string, clientId: string): Work<boolean> {
  return (yield* first(deleteSecret, { id, clientId })) !== undefined;
}

export function* markSecretUsed(id: string, now: number): Work<void> {
  yield* run(touchSecret, { id, now });
}

/** Gives every client another generation and consent epoch: what was issued to it is dead, and people are asked again. */
export function* renewClients(generation: string, epoch: string): Work<void> {
  yield* run(renew, { generation, epoch });
}
