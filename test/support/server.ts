import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { start } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { randomSecret } from '../../src/secrets.ts';
import { ownDatabase } from './postgres-database.ts';

export const ADMIN_KEY = randomSecret();

/**
 * A listening server on a database of its own, whose clock moves only when a test moves it. The database is a file, or one
 * of the PostgreSQL server that TESSERA_TEST_POSTGRES names.
 */
export interface TestServer {
  readonly baseUrl: string;
  readonly dataDir: string;
  /** The settings that it runs with, for a command that works on the same data. */
  readonly environment: Readonly<Record<string, string>>;
  now(): number;
  advance(milliseconds: number): void;
  /** Closes the server and opens another one on the same data: as a new process would. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The moment at which every test begins. */
export const BEGINNING = Date.parse('2026-03-01T12:00:00.250Z');

/** @param settings more environment variables, laid over quiet defaults */
export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tessera-test-'));
  const database = await ownDatabase();
  const environment = {
    TESSERA_DATA_DIR: dataDir,
    TESSERA_LOG_LEVEL: 'silent',
    TESSERA_ADMIN_KEY: ADMIN_KEY,
    TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
    TESSERA_LIMIT_TOKEN: 'off',
    ...database?.environment,
    ...settings,
  };
  let now = BEGINNING;
  const open = (port: string) => start(readConfig({ TESSERA_PORT: port, ...environment }), () => now);
  let tessera = await open('0');
  const { baseUrl } = tessera;
  return {
    baseUrl,
    dataDir,
    environment,
    now: () => now,
    advance(milliseconds) {
      assert.ok(milliseconds >= 0);
      now += milliseconds;
    },
    async restart() {
      await tessera.close();
      // The same port, so that the issuer stays what it was.
      tessera = await open(new URL(baseUrl).port);
      // The ends of the old connections arrive in these turns: without them a request might go out on one of those.
      for (let turn = 0; turn < 4; turn++) await nextTurn();
    },
    async close() {
      await tessera.close();
      await database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
