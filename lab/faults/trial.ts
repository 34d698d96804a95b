import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { openBouncer } from '../../test/support/pgbouncer.ts';
import { newDatabase } from '../../test/support/postgres-database.ts';
import { check, Ledger, type Person } from './ledger.ts';
import { beginLoad } from './lives.ts';
import { type Random, random } from './random.ts';
import { contradictions, orphans, readRecords, type Snapshot } from './records.ts';
import { faultOver, openService, type Service } from './service.ts';

/** What came of a fault. */
export interface Outcome {
  readonly fault: string;
  readonly store: 'SQLite' | 'PostgreSQL';
  /** How often it happened. */
  readonly times: number;
  readonly acknowledged: number;
  /** Requests without an answer; each was sent again. */
  readonly unanswered: number;
  /** Retries that were refused, as the rules have it. */
  readonly refused: number;
  readonly violations: readonly string[];
  /** What else was measured. */
  readonly notes: readonly string[];
}

export interface Options {
  readonly times: number;
  readonly seed: number;
  /** How many people use the service at a time. */
  readonly people: number;
  /** How many processes each node has. */
  readonly processes?: number;
  /** Whether the nodes reach PostgreSQL through PgBouncer in transaction mode, where nothing else is in between. */
  readonly pooled?: boolean;
  /** Whether as many faults as asked for are enough, whatever they met. */
  readonly sample?: boolean;
  readonly progress: (done: number) => void;
}

/** A service on a database of its own, under load. */
export interface Trial {
  readonly service: Service;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly databaseUrl: string;
  /** Reads the database, past everything that may be in the way of the nodes. */
  snapshot: () => Promise<Snapshot>;
  readonly folder: string;
  /** Notes that a fault is over, and checks what is at rest and whether the records are consistent. */
  over(): Promise<void>;
}

const PROBLEMS = 20;

interface Setting {
  readonly fault: string;
  /** The server of PostgreSQL; without one the database is a file. */
  readonly server?: { readonly url: string };
  /** The address by which the nodes reach the database, where it is not its own. */
  readonly through?: (url: string) => string;
  /** How many changes a life has at most, where it is not the usual. */
  readonly days?: number;
  /** Whether the server ends with the trial, and with it the database. */
  readonly leave?: boolean;
  /** Whether the secret lies in the file that the first start makes. */
  readonly secretFile?: boolean;
}

/**
 * Runs a trial: a new database, a load, the faults that `prepare` tells, and all checks at the end.
 * @param prepare starts the nodes; what it returns brings the faults about, and stops the nodes at the end
 */
export async function trial(
  setting: Setting,
  options: Options,
  prepare: (trial: Trial) => Promise<{ faults(): Promise<readonly string[]>; end(): Promise<void> }>,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-fault-'));
  const own = setting.server && (await newDatabase(setting.server.url));
  const databaseUrl = own?.url ?? `sqlite:${join(folder, 'tessera.db')}`;
  const pooled = options.pooled === true && setting.server !== undefined && setting.through === undefined;
  const bouncer = pooled ? await openBouncer(setting.server, { mode: 'transaction', size: 24 }) : undefined;
  const through = setting.through ?? bouncer?.through;
  const service = await openService({
    TESSERA_DATA_DIR: folder,
    ...(setting.secretFile !== true && { TESSERA_SECRET: randomSecret() }),
    // Accounts are made at once, without a mail.
    TESSERA_MAILBOX: 'off',
    TESSERA_DATABASE_URL: through?.(databaseUrl) ?? databaseUrl,
    ...(options.processes !== undefined && { TESSERA_PROCESSES: String(options.processes) }),
  });
  const ledger = new Ledger();
  const rng = random(options.seed);

  async function checkAll(people: readonly Person[]): Promise<void> {
    const left = [...people];
    const checkers = Array.from({ length: 8 }, async () => {
      for (let person = left.pop(); person !== undefined; person = left.pop()) {
        const { username } = person;
        await check(service, ledger, person).catch((error: unknown) => ledger.violated(username, error));
      }
    });
    await Promise.all(checkers);
  }

  /** Reads the records, and checks that they fit together. */
  async function records(): Promise<Snapshot | undefined> {
    try {
      const snapshot = await one.snapshot();
      for (const text of contradictions(snapshot).slice(0, PROBLEMS)) ledger.violated('the records', text);
      return snapshot;
    } catch (error) {
      ledger.violated('the records', error);
      return undefined;
    }
  }
  const one: Trial = {
    ...{ service, ledger, random: rng, databaseUrl, folder },
    snapshot: () => readRecords(databaseUrl),
    async over() {
      faultOver(service);
      const { ended } = ledger;
      ledger.ended = [];
      await checkAll(ended);
      await records();
    },
  };
  let end = async (): Promise<void> => {};
  let notes: readonly string[] = [];
  try {
    const prepared = await prepare(one);
    end = prepared.end;
    const load = await beginLoad(service, ledger, rng, { people: options.people, days: setting.days ?? 24 });
    try {
      await ledger.more(options.people);
      notes = await prepared.faults();
    } catch (error) {
      service.giveUp();
      throw error;
    } finally {
      await load.stop();
    }
    if (!service.givenUp) {
      await checkAll(ledger.people);
      const snapshot = await records();
      for (const text of snapshot ? orphans(snapshot, ledger) : []) ledger.violated('the records', text);
    }
  } catch (error) {
    ledger.violated('the trial', error);
  } finally {
    await end();
    await service.close();
    await bouncer?.close();
    if (setting.leave !== true) await own?.drop();
    rmSync(folder, { recursive: true, force: true });
  }
  const { acknowledged, left: unanswered, refused, violations } = ledger;
  const store = own === undefined ? 'SQLite' : 'PostgreSQL';
  return { fault: setting.fault, store, times: options.times, acknowledged, unanswered, refused, violations, notes };
}
