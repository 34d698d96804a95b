import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { randomSecret } from '../src/platform/crypto/secrets.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { type Answer, openConnection } from './load.ts';
import type { Opponent } from './options.ts';
import { startPeer } from './peer.ts';
import { say } from './say.ts';
import type { Environment } from './seed.ts';
import { forkProgram, type Subject, stop, type Target } from './subject.ts';
import { type Population, populate, startTessera } from './tessera.ts';
import { BARE, OWN, SOCKETS } from './work-names.ts';

/** Everything that is started to be compared, and ended again. */
export class Field implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'tessera-bench-'));
  readonly #running = new Set<Pick<Target, 'process'>>();
  #postgres: PostgresServer | undefined;
  #databases = 0;
  /** What answers of tokens are to be as long as: those of the first server that made some. */
  #tokenAnswerBytes = 0;

  /** Remembers what is to be stopped at the end, whatever happens. */
  keep<Started extends Pick<Target, 'process'>>(started: Started): Started {
    this.#running.add(started);
    return started;
  }

  async end(target: Pick<Target, 'process'>): Promise<void> {
    this.#running.delete(target);
    await stop(target);
  }

  async #postgresServer(): Promise<PostgresServer> {
    // Beside its durable defaults only a cache as an operator would give it.
    this.#postgres ??= await startPostgres({ settings: ['shared_buffers=1GB'] });
    return this.#postgres;
  }

  /** An empty database of its own: the embedded default, or one of PostgreSQL. */
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

  /** A store of so many users, which is not served yet. */
  async population(kind: 'sqlite' | 'postgres', people: number): Promise<Population> {
    say(`${kind}: ${people} people, each with a live token …`);
    const { environment, database } = await this.environment(kind);
    return populate(environment, people, database);
  }

  /** Starts those who know people, each with a store of so many. */
  async subjects(against: ReadonlySet<Opponent>, people: number): Promise<Subject[]> {
    const { folder } = this;
    const subjects: Subject[] = [];
    if (against.has('sqlite')) {
      const population = await this.population('sqlite', people);
      subjects.push(this.keep(await startTessera(OWN.sqlite, population, { folder })));
    }
    if (against.has('postgres') || against.has('postgres2')) {
      const population = await this.population('postgres', people);
      if (against.has('postgres')) {
        subjects.push(this.keep(await startTessera(OWN.postgres, population, { folder })));
      }
      if (against.has('postgres2')) {
        subjects.push(this.keep(await startTessera(OWN.postgres2, population, { folder, processes: 2 })));
      }
    }
    if (against.has('peer')) {
      say(`node-oidc-provider: ${people} people, each with a live token …`);
      const [first] = subjects;
      if (first !== undefined) {
        this.#tokenAnswerBytes = (await answerTo(first, first.refresh(0), first.refreshed)).body.length;
      }
      subjects.push(this.keep(await startPeer(people, { folder, tokenAnswerBytes: this.#tokenAnswerBytes })));
    }
    return subjects;
  }

  /** A server without any work that sends an answer's bytes: by `node:http`, or as fast as sockets can. */
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

/** The answer to one request. */
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
