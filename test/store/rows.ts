import { newProfile } from '../../src/accounts/rules/profile.ts';
import { insertAccount } from '../../src/accounts/store.ts';
import { REGISTERED_BY_OPERATOR } from '../../src/clients/clients.ts';
import { CLIENT_FIELDS } from '../../src/clients/fields.ts';
import { type Client, insertClient } from '../../src/clients/store.ts';
import { addGrant } from '../../src/consent/store.ts';
import { insertCode } from '../../src/credentials/code-store.ts';
import { insertFamily } from '../../src/credentials/token-family-store.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import type { Tables } from '../../src/platform/database/schema.ts';
import { many } from '../../src/platform/database/statement.ts';
import { initialValues } from '../../src/platform/validation/fields.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');

/** Rows that hang together: a person, an app, a consent, a code and a token family, with ids from 1 on by default. */
export interface Fixture {
  readonly accountId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly code: string;
}

export function* account(id: string, name = `user${id}`): Work<boolean> {
  return yield* insertAccount({
    id,
    profile: newProfile({ username: name, displayName: name, email: `${name}@example.com` }, id, NOW),
    passwordHash: null,
    passwordSetAt: null,
    generation: `generation ${id}`,
    bannedAt: null,
    bannedUntil: null,
    banReason: null,
    suspendedAt: null,
    suspensionReason: null,
    deletionRequestedAt: null,
    deletionDueAt: null,
    createdAt: NOW,
    updatedAt: NOW,
  });
}

export function* client(id: string): Work<void> {
  const row: Client = {
    id,
    ...initialValues(CLIENT_FIELDS, {
      name: `App ${id}`,
      redirectUris: ['https://app.example.com/cb'],
      // Older schemas require it.
      idTokenSignedResponseAlg: 'HS256',
    }),
    picture: null,
    organizationId: null,
    developerId: null,
    leftOut: null,
    consentApproval: null,
    resourceMark: null,
    ...REGISTERED_BY_OPERATOR,
    status: 'active',
    generation: `generation ${id}`,
    consentEpoch: 'epoch',
    createdAt: NOW,
    updatedAt: NOW,
  };
  yield* insertClient(row);
}

export function* grant(id: string, accountId: string, clientId: string): Work<boolean> {
  const terms = {
    scopes: 'openid',
    declined: '',
    resources: null,
    epoch: 'epoch',
    decidedBy: 'person',
    now: NOW,
  } as const;
  return (yield* addGrant({ id, accountId, clientId, endpointSet: 'v2', ...terms })) !== undefined;
}

const INHERITED = { accountGeneration: 'a', clientGeneration: 'c' } as const;

export function* family(id: string, fixture: Pick<Fixture, 'accountId' | 'clientId' | 'grantId'>, jti = `jti ${id}`) {
  yield* insertFamily({
    id,
    grantId: fixture.grantId,
    accountId: fixture.accountId,
    clientId: fixture.clientId,
    inherited: INHERITED,
    scopes: 'openid',
    claims: null,
    resources: null,
    sid: 'sid',
    authTime: NOW,
    amr: ['pwd'],
    acr: null,
    currentToken: { jti, kid: 'kid', issuedAt: NOW, expiresAt: NOW + 1000 },
    createdAt: NOW,
    endsAt: NOW + 2000,
    endpointSet: 'v2',
    endsWithSession: false,
    assignmentId: null,
    memberId: null,
    lastNetwork: null,
  });
}

export function* code({ grantId, accountId, clientId, code: hash }: Omit<Fixture, 'familyId'>): Work<void> {
  yield* insertCode({
    endpointSet: 'v2',
    ...{ hash, grantId, accountId, clientId, inherited: INHERITED },
    redirectUri: 'https://app.example.com/cb',
    scopes: 'openid',
    narrowed: false,
    nonce: null,
    codeChallenge: null,
    claims: null,
    resources: null,
    sid: 'sid',
    authTime: NOW,
    amr: ['pwd'],
    acr: null,
    expiresAt: NOW + 60_000,
    endsWithSession: false,
    assignmentId: null,
    memberId: null,
  });
}

/** Puts the fixture on record, with ids that follow on `from`. */
export async function fixture(database: Database, from = 1n): Promise<Fixture> {
  const [accountId = '', clientId = '', grantId = '', familyId = ''] = [0n, 1n, 2n, 3n].map((n) => String(from + n));
  const made = { accountId, clientId, grantId, familyId, code: `code ${from}` };
  await database.commit(function* make(): Work<void> {
    yield* account(accountId);
    yield* client(clientId);
    yield* grant(grantId, accountId, clientId);
    yield* family(familyId, made);
    yield* code(made);
  });
  return made;
}

const TABLES = [
  'account',
  'organization',
  'membership',
  'client',
  'client_secret',
  'browser_session',
  'known_browser',
  'interaction',
  'consent_grant',
  'authorization_code',
  'token_family',
  'client_token',
  'picture',
  'playground_visit',
  'signing_key',
  'key_set',
  'node_lease',
  'rate_count',
  'admin_key',
  'audit_event',
] as const satisfies readonly (keyof Tables)[];

const readers = TABLES.map((table) => [table, many((db, _p: object) => db.selectFrom(table).selectAll())] as const);

/** Everything on record, to be compared. */
export const dump = (database: Database): Promise<Record<string, unknown[]>> =>
  database.read(function* read() {
    const tables: Record<string, unknown[]> = {};
    for (const [table, reader] of readers) {
      const rows: unknown[] = [...(yield* reader({}))];
      tables[table] = rows.map((row) => ({ ...(row as object) }));
    }
    return tables;
  });
