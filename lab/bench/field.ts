import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { IdTokenAlg } from '../../src/keys/algorithms.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { type Answer, openConnection } from './load.ts';
import type { Opponent } from './options.ts';
import { startPeer } from './peer.ts';
import { say } from './say.ts';
import type { Environment } from './seed.ts';
import { forkProgram, type Subject, stop, type Target } from './subject.ts';
import { type Population, populate, startTessera } from './tessera.ts';
import { BARE, OWN, SOCKETS } from './work-names.ts';

/** Starts the servers under comparison, and stops them. */
export class Field implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'tessera-bench-'));
  readonly #running = new Set<Pick<Target, 'process'>>();
  #postgres: PostgresServer | undefined;
  #databases = 0;
  /** The length of token responses: that of the first server, which the others match. */
  #tokenAnswerBytes = 0;

  /** Registers what must be stopped at the end, also after an error. */
  keep<Started extends Pick<Target, 'process'>>(started: Started): Started {
    this.#running.add(started);
    return started;
  }

  async end(target: Pick<Target, 'process'>): Promise<void> {
    this.#running.delete(target);
    await stop(target);
  }

  async #postgresServer(): Promise<PostgresServer> {
    // Durable defaults, and a cache size that an operator would set.
    this.#postgres ??= await startPostgres({ settings: ['shared_buffers=1GB'] });
    return this.#postgres;
  }

  /** Creates an empty database: SQLite, or one on the PostgreSQL server. */
  async environment(kind: 'sqlite' | 'postgres'): Promise<{ environment: Environment; database?: number | undefined }> {
    const TESSERA_DATA_DIR = mkdtempSync(join(this.folder, 'data-'));
    if (kind === 'sqlite') return { environment: { TESSERA_DATA_DIR } };
    const server = await this.#postgresServer();
    const name = `bench${++this.#databases}`;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    const environment = { TESSERA_DATA_DIR, TESSERA_DATABASE_URL: url.href, TESSERA_SECRET: randomSecret() };
    return { environment, database: server.process.pid };
  }

  /** Creates a database with this many users. */
  async population(kind: 'sqlite' | 'postgres', people: number, idTokenAlg?: IdTokenAlg): Promise<Population> {
    say(`${kind}: ${people} people, each with a live token …`);
    const { environment, database } = await this.environment(kind);
    return populate(environment, people, database, idTokenAlg);
  }

  /** Starts the servers with users, each with this many. */
  async subjects(against: ReadonlySet<Opponent>, people: number): Promise<Subject[]> {
    const { folder } = this;
    const subjects: Subject[] = [];
    for (const [kind, two] of [
      ['sqlite', 'sqlite2'],
      ['postgres', 'postgres2'],
    ] as const) {
      if (!against.has(kind) && !against.has(two)) continue;
      const population = await this.population(kind, people);
      if (against.has(kind)) subjects.push(this.keep(await startTessera(OWN[kind], population, { folder })));
      if (against.has(two)) {
        subjects.push(this.keep(await startTessera(OWN[two], population, { folder, processes: 2 })));
      }
    }
    for (const storage of ['peer', 'peer-sqlite'] as const) {
      if (!against.has(storage)) continue;
      say(`node-oidc-provider: ${people} people, each with a live token …`);
      const [first] = subjects;
      if (first !== undefined) {
        this.#tokenAnswerBytes = (await answerTo(first, first.refresh(0), first.refreshed)).body.length;
      }
      const { folder } = this;
      const database = storage === 'peer' ? undefined : join(mkdtempSync(join(folder, 'peer-')), 'peer.db');
      const order = { folder, database, tokenAnswerBytes: this.#tokenAnswerBytes };
      subjects.push(this.keep(await startPeer(people, order)));
    }
    return subjects;
  }

  /** A server that sends a fixed response: by `node:http`, or by plain sockets. */
  async bare(kind: 'http' | 'sockets', { head, body }: Answer): Promise<Target> {
    const name = kind === 'http' ? BARE : SOCKETS;
    const args = [JSON.stringify({ kind, head, body })];
    const started = await forkProgram('./bare-server.ts', { args, log: join(this.folder, 'bare.log') });
    return this.keep({ name, ...started });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running].map(stop));
    await this.#postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Sends one request and returns its response. */
export async function answerTo(
  { port }: Target,
  request: string | Uint8Array,
  seen: (person: number, answer: Answer) => unknown = () => {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const connection = await openConnection(port, resolve, reject);
  connection.send(request);
  const answer = await promise;
  connection.close();
  seen(0, answer);
  return answer;
}
