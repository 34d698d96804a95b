import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { createAccount } from '../../src/account-actions/accounts/create-account.ts';
import type { Account } from '../../src/accounts/store.ts';
import { ACR, authenticationContext } from '../../src/authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES } from '../../src/claims/endpoint-set.ts';
import { pictureUrl } from '../../src/claims/rules/userinfo.ts';
import { createClient } from '../../src/clients/clients.ts';
import type { Client as App } from '../../src/clients/store.ts';
import { addGrant } from '../../src/consent/store.ts';
import { databaseFile, openCore } from '../../src/core.ts';
import { insertFamily, type NewFamily } from '../../src/credentials/token-family-store.ts';
import type { IdTokenAlg } from '../../src/keys/algorithms.ts';
import { openKeys } from '../../src/keys/keys.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { digest, randomIdentifier } from '../../src/platform/crypto/secrets.ts';
import type { Origin } from '../../src/platform/validation/origin.ts';
import { newRefreshToken } from '../../src/protocol/token/grant.ts';
import { accessClaims, FAMILY_LIFETIME, refreshClaims } from '../../src/protocol/token/rules/claims.ts';
import { insertSession } from '../../src/sessions/store.ts';
import { readConfig } from '../../src/settings/config.ts';
import { CLIENTS, PASSWORD, REDIRECT_URI, SCOPE, type Spread, spread } from './setting.ts';

export type Environment = Readonly<Record<string, string>>;

const origin: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

/** What a load needs to know about a seeded database, in which each user has given one app access. */
export interface Seed extends Spread {
  clientOf(person: number): { readonly id: string; readonly secret: string };
  accountOf(person: number): string;
  usernameOf(person: number): string;
  /** The secret in the session cookie of a user. */
  sessionOf(person: number): string;
  /** Mints another valid access token. */
  accessToken(person: number): string;
  /** The first refresh token of a user, valid until it is used. */
  firstRefreshToken(person: number): string;
}

/** Random values are derived from a seed, in the same way here and in the database. */
const scattered = (text: string): string => hash('md5', text).slice(0, 22);
const sessionSecret = (index: number): string => digest(`session ${index}`);

/** Of whom the users are copies: made by the service's own functions. Goes into a file and comes back as it was. */
export interface Model {
  readonly issuer: string;
  readonly clients: readonly (App & { readonly secret: string })[];
  readonly account: Account;
  readonly grantId: string;
  readonly familyId: string;
  readonly currentToken: NewFamily['currentToken'];
  /** The ids of the copies begin here: four for each. */
  readonly base: string;
  readonly now: number;
  readonly endsAt: number;
}

/** Registers {@link CLIENTS} apps and creates a first user who has given one of them access. */
export async function makeModel(
  environment: Environment & { TESSERA_BASE_URL: string },
  idTokenAlg?: IdTokenAlg,
): Promise<Model> {
  const core = await openCore(readConfig(environment), Date.now);
  const { database, ids, secret, clock } = core;
  const keys = await openKeys(database, { current: secret, previous: undefined }, clock);

  const clients: (App & { readonly secret: string })[] = [];
  for (let index = 0; index < CLIENTS; index++) {
    const { client, clientSecret = '' } = await createClient(
      { ...core, issuer: environment.TESSERA_BASE_URL, operator: undefined },
      {
        name: `Load ${index}`,
        redirectUris: [REDIRECT_URI],
        ...(idTokenAlg !== undefined && { idTokenSignedResponseAlg: idTokenAlg }),
      },
      origin,
    );
    clients.push({ ...client, secret: clientSecret });
  }

  const account = await createAccount(
    core,
    { username: 'model', displayName: 'Model', email: 'model@example.com', password: PASSWORD },
    { kind: 'operator', operator: undefined },
    origin,
  );
  const [grantId, familyId, client] = [await ids.next(), await ids.next(), clients[0]];
  if (client === undefined) throw new Error('there is no client');
  const now = clock();
  const endsAt = now + FAMILY_LIFETIME * SECOND;
  const currentToken = newRefreshToken(keys.keySet(), now, endsAt);
  const about = { accountId: account.id, clientId: client.id, scopes: SCOPE, endpointSet: 'v2' } as const;
  await database.commit(function* grant() {
    yield* addGrant({
      ...about,
      id: grantId,
      declined: '',
      resources: null,
      decidedBy: 'person',
      epoch: client.consentEpoch,
      now,
    });
    yield* insertFamily({
      ...about,
      id: familyId,
      grantId,
      inherited: { accountGeneration: account.generation, clientGeneration: client.generation },
      claims: null,
      resources: null,
      sid: randomIdentifier(),
      authTime: now,
      amr: ['pwd'],
      acr: ACR,
      currentToken,
      createdAt: now,
      endsAt,
      endsWithSession: false,
      assignmentId: null,
      memberId: null,
      lastNetwork: null,
    });
  });
  // From the next id on, with room for a person's three.
  const base = String(BigInt(await ids.next()) + (1n << 22n));
  await core.close();
  return { issuer: environment.TESSERA_BASE_URL, clients, account, grantId, familyId, currentToken, base, now, endsAt };
}

const idOf = ({ base }: Model, n: number, part: number): string => String(BigInt(base) + BigInt(4 * n + part));

/** Copies the rows of the first user in the database, for the users from one number up to another. */
export async function copyPeople(sql: Omit<Sql, 'close'>, model: Model, from: number, to: number): Promise<void> {
  const { account, grantId, familyId, clients } = model;
  const id = (part: number) => `${BigInt(model.base) + BigInt(part)} + 4 * n.n`;
  const text = (label: string) => `substr(md5('${label}' || n.n), 1, 22)`;
  const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    account: {
      id: id(0),
      username: `'person' || n.n`,
      email: `'person' || n.n || '@example.com'`,
      email_key: `'person' || n.n || '@example.com'`,
      display_name: `'Person ' || n.n`,
      generation: text('generation'),
    },
    consent_grant: { id: id(1), account_id: id(0), client_id: 'c.id', consent_epoch: 'c.epoch' },
    token_family: {
      id: id(2),
      grant_id: id(1),
      account_id: id(0),
      client_id: 'c.id',
      account_generation: text('generation'),
      client_generation: 'c.generation',
      sid: text('sid'),
      leaf_jti: text('leaf'),
    },
  };
  const values = clients.map(
    ({ id, consentEpoch, generation }, n) => `(${n}, ${id}, '${consentEpoch}', '${generation}')`,
  );
  for (const [table, first] of [
    ['account', account.id],
    ['consent_grant', grantId],
    ['token_family', familyId],
  ] as const) {
    const columns = await sql.columns(table);
    const expressions = columns.map((column) => changes[table]?.[column] ?? `t.${column}`);
    // Rows lie in the order in which people come, which a join would not keep.
    await sql.run(
      `WITH RECURSIVE n(n) AS (VALUES (${from}) UNION ALL SELECT n + 1 FROM n WHERE n < ${to - 1}),
         c(n, id, epoch, generation) AS (VALUES ${values.join(', ')})
       INSERT INTO ${table} (${columns.join(', ')})
       SELECT ${expressions.join(', ')} FROM ${table} t, n JOIN c ON c.n = n.n % ${CLIENTS} WHERE t.id = ${first}
       ORDER BY n.n`,
    );
  }
}

/** Signs some of the users in, and says how their requests look. */
export async function seedOf(environment: Environment, model: Model, people: number, signsIn = true): Promise<Seed> {
  const core = await openCore(readConfig(environment), Date.now);
  const { database, secret, clock } = core;
  const keySet = (await openKeys(database, { current: secret, previous: undefined }, clock)).keySet();
  const { sample, sessions, numberOf: number } = spread(people);
  const { issuer, clients, account, currentToken, now, endsAt } = model;
  if (signsIn) {
    await database.commit(function* signIn() {
      for (let person = 0; person < sessions; person++) {
        const n = number(person);
        yield* insertSession({
          hash: digest(sessionSecret(person)),
          sid: randomIdentifier(),
          accountId: idOf(model, n, 0),
          generation: scattered(`generation${n}`),
          authTime: now,
          lastSeenAt: now,
          expiresAt: endsAt,
          browser: 'Firefox',
          system: 'Linux',
          network: '203.0.113.x',
          provedAt: now,
          provedBy: 'password',
          provedFactorSince: 0,
          provedAfter: now,
          ...authenticationContext(['password']),
        });
      }
    });
  }
  await core.close();

  const [accessKey, refreshKey] = [keySet.current('access'), keySet.current('refresh')];
  const clientOf = (person: number) => {
    const client = clients[number(person) % CLIENTS];
    if (client === undefined) throw new Error('there is no client');
    return client;
  };
  const subjectOf = (person: number) => {
    const n = number(person);
    const accountId = idOf(model, n, 0);
    return {
      issuer,
      accountId,
      clientId: clientOf(person).id,
      familyId: idOf(model, n, 2),
      profile: { ...account.profile, username: `person${n}`, email: `person${n}@example.com` },
      updatedAt: account.updatedAt,
      picture: pictureUrl(issuer, accountId, null),
      sid: scattered(`sid${n}`),
      authTime: now,
      member: {},
      claimNames: null,
      metadataUrl: null,
      ...authenticationContext(['password']),
    };
  };
  const { v2 } = ENDPOINT_RULES;
  return {
    sample,
    sessions,
    numberOf: number,
    clientOf,
    accountOf: (person) => idOf(model, number(person), 0),
    usernameOf: (person) => `person${number(person)}`,
    sessionOf: sessionSecret,
    accessToken: (person) =>
      accessKey.sign(
        accessClaims(subjectOf(person), { rules: v2, scope: SCOPE, claims: null }, randomIdentifier(), Date.now()),
      ),
    firstRefreshToken: (person) =>
      refreshKey.sign(
        refreshClaims(subjectOf(person), { ...currentToken, jti: scattered(`leaf${number(person)}`) }, v2),
      ),
  };
}

/**
 * Seeds a database with users who each gave one of {@link CLIENTS} apps access. The first is created by the service's own
 * functions; the others are copies of its rows made in the database, so that a million takes a minute.
 * @param idTokenAlg the algorithm that the apps are registered with; undefined is the default
 */
export async function seed(
  environment: Environment & { TESSERA_BASE_URL: string },
  people: number,
  idTokenAlg?: IdTokenAlg,
): Promise<Seed> {
  const model = await makeModel(environment, idTokenAlg);
  const config = readConfig(environment);
  const sql = await openSql(databaseFile(config), config.databaseUrl);
  await copyPeople(sql, model, 0, people);
  await sql.close();
  return seedOf(environment, model, people);
}

/** A direct connection to the database, with a hash function of the same name on both kinds. */
interface Sql {
  columns(table: string): Promise<readonly string[]>;
  run(text: string): Promise<void>;
  close(): Promise<void>;
}

async function openSql(file: string | undefined, url: string): Promise<Sql> {
  if (file === undefined) return openPostgresSql(url);
  const connection = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  connection.function('md5', { deterministic: true }, (text) => hash('md5', String(text)));
  connection.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000');
  return {
    columns: async (table) =>
      connection
        .prepare(`SELECT * FROM ${table}`)
        .columns()
        .map(({ name }) => name),
    run: async (text) => connection.exec(text),
    async close() {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      connection.close();
    },
  };
}

async function openPostgresSql(url: string): Promise<Sql> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const sql = await bulkSql(client);
  return {
    ...sql,
    async close() {
      await client.query('VACUUM ANALYZE');
      await client.query('CHECKPOINT');
      await client.end();
    },
  };
}

/** Lets a connection copy many rows. */
export async function bulkSql(client: Client): Promise<Omit<Sql, 'close'>> {
  // What refers to what is known: nothing is to be looked up for each row.
  await client.query("SET session_replication_role = 'replica'; SET synchronous_commit = off");
  return {
    columns: async (table) => (await client.query(`SELECT * FROM ${table} LIMIT 0`)).fields.map(({ name }) => name),
    run: async (text) => void (await client.query(text)),
  };
}
