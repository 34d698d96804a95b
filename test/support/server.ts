import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { start, type Tessera } from '../../src/app.ts';
import { type Pictures, pictures } from '../../src/pictures/pictures.ts';
import { type HashCost, type Passwords, passwords } from '../../src/platform/crypto/passwords.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { readConfig } from '../../src/settings/config.ts';
import { copyTemplate } from './file-template.ts';
import { withPort } from './own-port.ts';
import { migratedDatabase } from './postgres-database.ts';
import { startService } from './service.ts';
// Watches what every server of these tests answers.
import './answer-checker.ts';
// Watches redirects after forms, and what the token endpoint answers.
import './flow-checker.ts';
// Watches what protects each of those answers.
import './header-checker.ts';
// Watches how SQLite runs what they ask of it.
import './plan-checker.ts';

export const ADMIN_KEY = randomSecret();

/**
 * A listening server with its own database, whose clock moves only when a test moves it. The database is a file in the
 * folder that TEST_DATA_FOLDER names, or in the temporary folder, or one of the PostgreSQL server that
 * TESSERA_TEST_POSTGRES names.
 */
export interface TestServer {
  readonly baseUrl: string;
  /** Where each of its nodes is reached, the first at its base URL. */
  readonly nodes: readonly string[];
  /** Where the next request goes, if a test spreads its requests over the nodes. */
  readonly nodeInTurn?: () => string;
  readonly dataDir: string;
  /** The settings that it runs with, for a command that works on the same data. */
  readonly environment: Readonly<Record<string, string>>;
  now(): number;
  advance(milliseconds: number): void;
  /** Sets the clock back, as an operator or a time service may. */
  setBack(milliseconds: number): void;
  /** Lets its nodes tell apps of ended sessions, as far as that is due, side by side. */
  deliverNotices(): Promise<unknown>;
  /** Lets its nodes make the messages that browsers asked for. */
  sendRequestedMail(): Promise<unknown>;
  makeExports(): Promise<unknown>;
  /** Lets its nodes go on with acts on many people. */
  runBulkActs(): Promise<unknown>;
  /**
   * Closes the server and opens another one on the same data: as a new process would.
   * @param between what is done while none is open
   */
  restart(between?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** How many nodes a test may have on a database that several processes share; on a file it has one. */
export const SEVERAL = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;

/** The same server, each of whose requests goes to the next one of its nodes. */
export function spread(server: TestServer): TestServer {
  let turn = 0;
  return { ...server, nodeInTurn: () => server.nodes[turn++ % server.nodes.length] ?? server.baseUrl };
}

/** Thousands of passwords are hashed in these tests: at the service's own cost they would take most of their time. */
const CHEAP: HashCost = { memoryCost: 64, timeCost: 1 };

/** What stands around work of the server that takes its time. */
interface Hold {
  readonly passwords?: (passwords: Passwords) => Passwords;
  readonly pictures?: (pictures: Pictures) => Pictures;
  readonly database?: (database: Database) => Database;
  /** How far the clock of its database is ahead of its own, in milliseconds. */
  readonly databaseAhead?: () => number;
  /** How long each request has waited before it is read, in milliseconds. */
  readonly waited?: () => number;
}

const held = <T>(own: T, hold: ((own: T) => T) | undefined): T => hold?.(own) ?? own;

/** Starts again where a busy machine did not let PostgreSQL answer in the seconds that a start waits. */
async function insist<T>(begin: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await begin();
    } catch (error) {
      if (attempts === 5 || !/(does|did) not answer/.test(String(error))) throw error;
    }
  }
}

/** The moment at which every test begins. */
export const BEGINNING = Date.parse('2026-03-01T12:00:00.250Z');

/**
 * @param settings more environment variables, laid over quiet defaults
 * @param size how many nodes share the database and the clock; more than one only on PostgreSQL
 * @param hashCost what hashing a password costs; little, where a test is not about that
 * @param hold holds up work of the server under way
 */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  size = 1,
  hashCost: HashCost = CHEAP,
  hold: Hold = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(process.env['TEST_DATA_FOLDER'] ?? tmpdir(), 'tessera-test-'));
  const database = await migratedDatabase();
  const environment = {
    TESSERA_DATA_DIR: dataDir,
    TESSERA_LOG_LEVEL: 'silent',
    TESSERA_ADMIN_KEY: ADMIN_KEY,
    TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
    TESSERA_LIMIT_TOKEN: 'off',
    // The clock stands still, so that a minute never ends.
    TESSERA_LIMIT_AUTHORIZATION: 'off',
    TESSERA_LIMIT_FORM_ACCOUNT: 'off',
    TESSERA_LIMIT_DEVELOPER_ACCOUNT: 'off',
    TESSERA_LIMIT_SESSION_ACCOUNT: 'off',
    // Tests about mail turn it on, and read it with `mailsTo`.
    TESSERA_MAILBOX: 'off',
    ...database?.environment,
    ...settings,
  };
  if (database === undefined && settings['TESSERA_DATABASE_URL'] === undefined) copyTemplate(dataDir);
  const removeData = async () => {
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  // See npm run races.
  const processes = process.env['TESSERA_TEST_PROCESSES'];
  if (processes !== undefined && Object.keys(hold).length === 0)
    return startService(environment, dataDir, processes, removeData);
  let now = BEGINNING;
  const open = (port: string, more = {}) =>
    start(readConfig({ TESSERA_PORT: port, ...environment, ...more }), () => now, {
      passwords: (concurrency) => held(passwords(concurrency, hashCost), hold.passwords),
      pictures: held(pictures(), hold.pictures),
      sharedTime: () => now + (hold.databaseAhead?.() ?? 0),
      ...(hold.waited !== undefined && { waiting: { of: hold.waited, accepted: () => {}, beat: () => {} } }),
      ...(hold.database !== undefined && { wrapDatabase: hold.database }),
    });
  let first = await insist(() => open('0'));
  const { baseUrl } = first;
  // The other nodes go by the first one's address, as behind a load balancer.
  const openOther = (port: string) => open(port, { TESSERA_BASE_URL: baseUrl });
  let others: Tessera[] = [];
  const ports: number[] = [];
  while (ports.length < size - 1) {
    const { opened, port } = await insist(() => withPort(() => openOther('0')));
    others.push(opened);
    ports.push(port);
  }
  const close = () => Promise.all([first, ...others].map((node) => node.close()));
  return {
    baseUrl,
    nodes: [baseUrl, ...ports.map((port) => `http://localhost:${port}`)],
    dataDir,
    environment,
    now: () => now,
    advance(milliseconds) {
      assert.ok(milliseconds >= 0);
      now += milliseconds;
    },
    setBack(milliseconds) {
      assert.ok(milliseconds >= 0);
      now -= milliseconds;
    },
    deliverNotices: () => Promise.all([first, ...others].map((node) => node.deliverNotices())),
    sendRequestedMail: () => Promise.all([first, ...others].map((node) => node.sendRequestedMail())),
    makeExports: () => Promise.all([first, ...others].map((node) => node.makeExports())),
    runBulkActs: () => Promise.all([first, ...others].map((node) => node.runBulkActs())),
    async restart(between) {
      await close();
      await between?.();
      // The same port, so that the issuer stays what it was.
      first = await insist(() => open(new URL(baseUrl).port));
      others = await Promise.all(ports.map((port) => insist(() => openOther(String(port)))));
      // The ends of the old connections arrive in these turns: without them a request might go out on one of those.
      for (let turn = 0; turn < 4; turn++) await nextTurn();
    },
    async close() {
      await close();
      await removeData();
    },
  };
}
