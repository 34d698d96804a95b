// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readConfig } from '../../src/settings/config.ts';
import { migratedDatabase } from '../support/postgres-database.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { tessera } from './command.ts';
import { type SeveralProcesses, startSeveral, type Told } from './several.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-processes-'));
const dropped: (() => Promise<void>)[] = [];
const running = new Set<SeveralProcesses>();
after(async () => {
  for (const service of running) service.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
  for (const drop of dropped) await drop();
  // What a supervisor that was killed has started may take a moment to notice.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
let counter = 0;

async function fresh(): Promise<Record<string, string>> {
  const database = await migratedDatabase();
  if (database !== undefined) dropped.push(database.drop);
  return { TESSERA_DATA_DIR: join(folder, `case${++counter}`), ...database?.environment };
}

async function start(settings: Readonly<Record<string, string>> = {}, files?: number): Promise<SeveralProcesses> {
  const data = await fresh();
  const service = await startSeveral({ ...data, TESSERA_ADMIN_KEY: ADMIN_KEY, ...settings }, { files });
  running.add(service);
  return service;
}

const asOperator = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
const person = (username: string) =>
  JSON.stringify({ username, displayName: 'Ada', email: `${username}@example.com`, password: 'a long passphrase' });

/** The value of a metric with these labels in the text for Prometheus; the sum of several. */
function valueIn(text: string, name: string, labels = ''): number {
  const found = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const values = found.filter((line) => line.includes(labels)).map((line) => Number(line.split(' ').at(-1)));
  assert.ok(values.length > 0, `${name} ${labels} in ${text}`);
  return values.reduce((sum, value) => sum + value, 0);
}

const ANSWERS = 'tessera_http_request_duration_seconds_count';
const READY = 'route="/health/ready"';

/** Reads the metrics until so many answers are counted: of a process that is too busy to tell, the values are those of before. */
async function metricsWith(service: SeveralProcesses, answers: number): Promise<string> {
  for (;;) {
    const text = await service.metrics();
    if (text.includes(READY) && valueIn(text, ANSWERS, READY) === answers) return text;
  }
}

/** Kills both processes. @returns those that took their places */
async function killAll(service: SeveralProcesses, both: readonly number[]): Promise<readonly number[]> {
  for (const pid of both) process.kill(pid, 'SIGKILL');
  const came = new Set<unknown>();
  await service.logged(({ msg, process: pid }) => {
    if (msg === 'a process took the place of another' && !both.includes(Number(pid))) came.add(pid);
    return came.size === 2;
  });
  return service.answering(2, both);
}

/** A request whose body is still to come. */
interface OpenRequest {
  /** The process that has it. */
  readonly process: number;
  /** Sends its body, and waits for the answer. */
  finish(): Promise<string>;
  destroy(): void;
}

/** Asks which process has the connection, then sends the head of a request over it, and waits until that process has it. */
async function openRequest(port: number): Promise<OpenRequest> {
  const body = '{"grant_type":"authorization_code"}';
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  socket.on('error', () => {});
  socket.write('HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  while (!answer.endsWith('\r\n\r\n')) await once(socket, 'data');
  const has = Number(/x-process: (\d+)/.exec(answer)?.[1]);
  answer = '';
  socket.write('POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
  socket.write(`Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  assert.match(answer, /^HTTP\/1\.1 100 Continue/);
  return {
    process: has,
    destroy: () => socket.destroy(),
    async finish() {
      const closed = once(socket, 'close');
      socket.write(body);
      await closed;
      return answer;
    },
  };
}

/** Once it takes no more connections, all processes have begun to end. */
async function untilClosed(port: number): Promise<void> {
  for (let accepts = true; accepts; ) {
    const probe = connect(port, '127.0.0.1');
    accepts = await once(probe, 'connect').then(
      () => true,
      () => false,
    );
    probe.destroy();
  }
}

async function areAnswered(open: readonly OpenRequest[]): Promise<void> {
  const answers = await Promise.all(open.map(({ finish }) => finish()));
  for (const answer of answers) assert.match(answer, /HTTP\/1\.1 401 /);
}

/** Opens requests until each of the processes has two. One that is busy is given no connection. */
async function openRequests({ port }: SeveralProcesses, processes: readonly number[]): Promise<readonly OpenRequest[]> {
  const open: OpenRequest[] = [];
  const has = (pid: number) => open.filter((request) => request.process === pid).length >= 2;
  while (!processes.every(has)) open.push(await openRequest(port));
  return open;
}

/** Asks so often at once, and again until two processes have answered: one that is busy is given no connection. */
async function askBoth(atOnce: number, ask: (index: number) => Promise<Told>): Promise<readonly Told[]> {
  const told: Told[] = [];
  while (new Set(told.map((answer) => answer.process)).size < 2) {
    told.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => ask(told.length + index)))));
  }
  return told;
}

// Those that end in other ways start beside the first.
const others = [start(), start()] as const;

// Its tests have a limit each.
describe('a service of two processes', { timeout: Number.POSITIVE_INFINITY }, () => {
  let service: SeveralProcesses;
  let both: readonly number[];
  let askedReady = 0;
  before(async () => {
    // One hash at a time, of both together.
    service = await start({ TESSERA_LOG_LEVEL: 'debug', TESSERA_HASHING_CONCURRENCY: '1' });
    both = await service.answering(2);
  });

  test('both answer on one port, and it greets once', () => {
    assert.ok(!both.includes(service.pid), 'the supervisor answers no request');
    assert.equal(service.lines.filter((line) => line.startsWith('{"baseUrl"')).length, 1);
    assert.equal(service.baseUrl, `http://localhost:${service.port}`);
  });

  test('their metrics add up', async () => {
    const sent = await askBoth(40, () => service.ask('/health/ready'));
    askedReady = sent.length;
    assert.deepEqual([...new Set(sent.map(({ status }) => status))], [200]);
    const text = await metricsWith(service, askedReady);
    assert.equal(valueIn(text, 'tessera_processes'), 2);
    assert.equal(valueIn(text, 'tessera_process_ends_total'), 0);
    // What each of them reads from the database, or must hold for all, is not added up.
    assert.equal(valueIn(text, 'tessera_node_numbers_held'), 2);
    assert.equal(valueIn(text, 'tessera_ready'), 1);
    assert.equal(valueIn(text, 'tessera_store_up'), 1);
  });

  test('passwords are hashed at both, where one may be at a time', async () => {
    const body = (index: number) => ({ method: 'POST', headers: asOperator, body: person(`ada${index}`) });
    const made = await askBoth(12, (index) => service.ask('/api/v2/admin/users', body(index)));
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
  });

  test('one that is killed is replaced; nothing that was acknowledged is lost, nor a connection that it has not taken', async () => {
    await metricsWith(service, askedReady);
    const made = await service.ask('/api/v2/admin/users', { method: 'POST', headers: asOperator, body: person('eve') });
    process.kill(made.process, 'SIGSTOP');
    assert.equal(made.status, 201, made.text);
    const { id } = JSON.parse(made.text);
    // One of them is given to the process that cannot take it.
    const asked = Array.from({ length: 4 }, () => service.ask('/health/live'));
    await Promise.any(asked);
    process.kill(made.process, 'SIGKILL');
    for (const answer of await Promise.all(asked)) assert.notEqual(answer.process, made.process);

    const line = await service.logged(({ msg }) => msg === 'a process ended and is replaced');
    assert.deepEqual(
      [line['level'], line['pid'], line['process'], line['ended']],
      [50, service.pid, made.process, 'SIGKILL'],
    );
    const other = await service.logged(({ msg }) => msg === 'a process took the place of another');
    both = await service.answering(2, [made.process]);
    assert.ok(both.includes(Number(other['process'])));
    for (const known of both) {
      for (let answered = 0; answered !== known; ) {
        const read = await service.ask(`/api/v2/admin/users/${id}`, { headers: asOperator });
        assert.equal(read.status, 200);
        answered = read.process;
      }
    }
    // What the one that was killed had told stays counted.
    const text = await metricsWith(service, askedReady);
    assert.equal(valueIn(text, 'tessera_processes'), 2);
    assert.equal(valueIn(text, 'tessera_process_ends_total'), 1);
  });

  test('all are killed: the service comes back on its port', async () => {
    both = await killAll(service, both);
  });

  test('SIGTERM to every process: requests in flight at both are answered, then all end with 0; the log has whole lines of both', async () => {
    const path = `/${'nothing-here/'.repeat(400)}`;
    const asked = 200;
    await Promise.all(Array.from({ length: asked }, () => service.ask(path)));
    const open = await openRequests(service, both);
    // As from a service manager.
    for (const pid of both) process.kill(pid, 'SIGTERM');
    service.kill('SIGTERM');
    await untilClosed(service.port);
    await areAnswered(open);
    assert.deepEqual(await service.ended, { code: 0, signal: null });
    running.delete(service);

    const lines = service.lines.filter((line) => !line.startsWith('{"baseUrl"')).map((line) => JSON.parse(line));
    assert.equal(lines.filter(({ msg, status }) => msg === 'answered' && status === 404).length, asked);
    for (const pid of both) assert.ok(lines.some((line) => line.pid === pid));
    for (const { level, time, pid, hostname } of lines) {
      assert.deepEqual(
        [typeof level, typeof time, typeof pid, typeof hostname],
        ['number', 'number', 'number', 'string'],
      );
    }
  });
});

/** Loaded into the supervisor: the system has no room for the second and the fourth process, and says so later for the fifth. */
const NO_ROOM = `
  import cluster from 'node:cluster';
  const { fork } = cluster;
  const { execPath } = process;
  let forks = 0;
  cluster.fork = () => {
    forks++;
    if (forks === 2 || forks === 4) throw new Error('spawn ENOMEM');
    process.execPath = forks === 5 ? '/nothing-here' : execPath;
    return fork();
  };`;

test('a process that the system has no room for is tried again later, also where no other one is left', async () => {
  const preload = `--import=data:text/javascript,${encodeURIComponent(NO_ROOM)}`;
  const service = await start({ NODE_OPTIONS: preload });
  const refused = (reason: RegExp) => service.logged(({ ended }) => reason.test(String(ended)));
  assert.equal((await refused(/^spawn ENOMEM$/))['msg'], 'a process ended and is replaced');
  const both = await service.answering(2);
  await killAll(service, both);
  await refused(/^spawn .*ENOENT$/);
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});

test('more connections than the processes may open: those are refused, and once some have ended, both answer again', async () => {
  const files = 100;
  const service = await start({}, files);
  await service.answering(2);
  const sockets = Array.from({ length: 3 * files }, () => connect(service.port, '127.0.0.1').on('error', () => {}));
  const closed = sockets.map((socket) => once(socket.resume(), 'close'));
  // Each of the three processes may have so many open.
  await Promise.race([Promise.all(sockets.map((socket) => once(socket, 'connect'))), ...closed]);
  await Promise.any(closed);
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  while ((await service.ask('/health/live').catch(() => undefined)) === undefined);
  await service.answering(2);
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});

test('SIGTERM while one hangs: it is killed, the port is closed, and the service ends with 0', async () => {
  const service = await start();
  const [hangs = 0] = await service.answering(2);
  process.kill(hangs, 'SIGSTOP');
  service.kill('SIGTERM');
  const line = await service.logged(({ msg }) => msg === 'a process hangs and is killed');
  assert.equal(line['process'], hangs);
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  await untilClosed(service.port);
});

test('SIGINT to every process, as from a terminal: requests in flight are answered; told twice, all end at once with 1', async () => {
  const service = await others[0];
  const both = await service.answering(2);
  const [request, ...open] = await openRequests(service, both);
  const interrupt = () => {
    for (const pid of both) process.kill(pid, 'SIGINT');
    service.kill('SIGINT');
  };
  interrupt();
  await untilClosed(service.port);
  await areAnswered(open);
  // One within a second counts as the same.
  const timer = setInterval(() => service.kill('SIGINT'), 100);
  assert.deepEqual(await service.ended, { code: 1, signal: null });
  clearInterval(timer);
  request?.destroy();
  await Promise.all(both.map(untilGone));
  running.delete(service);
});

test('no process outlives its supervisor', async () => {
  const service = await others[1];
  const both = await service.answering(2);
  service.kill('SIGKILL');
  await service.ended;
  await Promise.all(both.map(untilGone));
  running.delete(service);
});

async function untilGone(pid: number): Promise<void> {
  while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // One that has ended keeps its id until its parent has asked how: of an orphan, that is the first process of the system.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // Not Linux, or it has gone just now.
    return true;
  }
}

test('what keeps every process from starting ends the service, with the message of one and its status', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const env = { ...(await fresh()), TESSERA_PORT: String(port) };
  const busy = await tessera(['serve', '--processes', '2'], { env, cwd: folder });
  other.close();
  assert.equal(busy.code, 3, busy.stderr);
  assert.deepEqual(busy.stderr.match(/Cannot listen on 127\.0\.0\.1:\d+.*TESSERA_PORT/g)?.length, 1, busy.stderr);
  assert.doesNotMatch(busy.stderr, /^\s+at /m, 'no stack trace');
});

test('the number of processes: auto is one for each processor; each needs the same database', () => {
  assert.equal(readConfig({}).processes, 1);
  assert.equal(readConfig({ TESSERA_PROCESSES: '3' }).processes, 3);
  assert.equal(readConfig({ TESSERA_PROCESSES: 'auto' }).processes, Math.min(64, availableParallelism()));
  const inMemory = { TESSERA_PROCESSES: '2', TESSERA_DATABASE_URL: 'sqlite::memory:' };
  assert.throws(() => readConfig(inMemory), /TESSERA_PROCESSES asks for 2 processes.*Set it to 1, or use a file/);
  for (const wrong of ['0', '65', 'all'])
    assert.throws(
      () => readConfig({ TESSERA_PROCESSES: wrong }),
      /TESSERA_PROCESSES must be a whole number from 1 to 64, or auto/,
    );
});
