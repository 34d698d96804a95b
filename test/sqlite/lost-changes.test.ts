// store: SQLite
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { type Node, openService, type Service, startNode } from '../../lab/faults/service.ts';
import { start } from '../../src/app.ts';
import type { Finding } from '../../src/operations/doctor/finding.ts';
import { readConfig } from '../../src/settings/config.ts';
import { tessera } from '../operator/command.ts';
import { refusedStart } from '../operator/refused-start.ts';
import { agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  type TestClient,
  type Tokens,
  userinfo,
  walk,
} from '../support/flow.ts';
import type { TestServer } from '../support/server.ts';
import { revoke } from '../support/token-services.ts';

// What is left of a folder after `kill -9` of a server that had just revoked a token, and what then happens to its files.

const folder = mkdtempSync(join(tmpdir(), 'tessera-lost-'));
let counter = 0;
const fresh = (): string => join(folder, `case${++counter}`);
/** The folder as the last orderly end left it, and as the kill did. */
const [atRest, killed] = [fresh(), fresh()];
let service: Service;
let client: TestClient;
let [revoked, live]: Tokens[] = [];
/** What the mark and the database said when the server was killed. */
let sequence = 0;

const settingsOf = (dataDir: string) => ({ ...service.settings, TESSERA_DATA_DIR: dataDir });
const node = (dataDir: string): Promise<Node> => startNode({ settings: settingsOf(dataDir) });
const server = () => ({ baseUrl: service.baseUrl }) as TestServer;
const file = (dataDir: string, suffix = ''): string => join(dataDir, `tessera.db${suffix}`);
const wal = (dataDir: string): string => file(dataDir, '-wal');

async function tokens(): Promise<Tokens> {
  const target = await walk(agent(service.baseUrl), authorizeUrl(client), { user: await newUser(server()) });
  return (await redeem(server(), client, target.searchParams.get('code') ?? '')).body;
}

before(async () => {
  service = await openService({});
  let running = await node(atRest);
  service.front.targets = [running.port];
  client = await newClient(server());
  [revoked, live] = [await tokens(), await tokens()];
  await running.stop();
  cpSync(atRest, killed, { recursive: true });
  running = await node(killed);
  service.front.targets = [running.port];
  for (let edit = 0; edit < 10; edit++) await newUser(server());
  assert.equal((await revoke(server(), client, revoked?.refresh_token ?? '')).status, 200);
  await running.kill();
  service.front.targets = [];
  sequence = Number(/^tessera 1 (\d{16}) /.exec(readFileSync(file(killed, '-mark'), 'latin1'))?.[1]);
});
after(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A copy of the folder that the kill left, or another one. */
function copy(from = killed): string {
  const dataDir = fresh();
  cpSync(from, dataDir, { recursive: true });
  return dataDir;
}

/** Starts on a folder in this process, which refuses in these words and leaves the database and its log as they are. */
async function refuses(dataDir: string, words: RegExp): Promise<void> {
  const files = () =>
    ['', '-wal', '-mark'].map((suffix) => existsSync(file(dataDir, suffix)) && readFileSync(file(dataDir, suffix)));
  const [found, names] = [files(), readdirSync(dataDir).filter((name) => !name.endsWith('-shm'))];
  const config = readConfig({ ...settingsOf(dataDir), TESSERA_PORT: '0' });
  await assert.rejects(
    start(config).then((started) => started.close()),
    { name: 'ConfigError', message: words },
  );
  assert.deepEqual(files(), found, 'what could still be mended is as it was');
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => !name.endsWith('-shm')),
    names,
  );
}

/** Starts on a folder, and finds dead what was revoked, and alive what was not. */
async function isWhole(dataDir: string): Promise<void> {
  const running = await node(dataDir);
  service.front.targets = [running.port];
  try {
    assert.equal((await userinfo(server(), revoked?.access_token ?? '')).status, 401);
    assert.equal((await userinfo(server(), live?.access_token ?? '')).status, 200);
  } finally {
    service.front.targets = [];
    await running.stop();
  }
}

const LACKS =
  /tessera\.db lacks \d+ recorded changes? or more, the last of \d{4}-.*Put back.*tessera recover --accept-loss/;

function change(path: string, edit: (bytes: Buffer) => Uint8Array): void {
  writeFileSync(path, edit(readFileSync(path)));
}
const flip = (at: (size: number) => number) => (bytes: Buffer) => {
  const offset = at(bytes.length);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff;
  return bytes;
};
/** A frame of the log has 24 bytes before its page; the log itself 32: https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const FRAME = 24 + 4096;
const frames = (size: number): number => Math.floor((size - 32) / FRAME);

test('the mark is what was committed last, and readable by its owner alone', () => {
  const database = new DatabaseSync(file(copy()));
  assert.equal(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'").get()?.['seq'], sequence);
  database.close();
  assert.equal(statSync(file(killed, '-mark')).mode & 0o777, 0o600);
  assert.ok(statSync(wal(killed)).size > 0, 'the kill left a log');
});

const LOST: Readonly<Record<string, (dataDir: string) => void>> = {
  'without its log': (dataDir) => rmSync(wal(dataDir)),
  'with an empty log': (dataDir) => truncateSync(wal(dataDir), 0),
  'with the head of the log alone': (dataDir) => truncateSync(wal(dataDir), 32),
  'with a log cut in its middle': (dataDir) => truncateSync(wal(dataDir), statSync(wal(dataDir)).size / 2),
  'with a log cut in its last frame': (dataDir) => truncateSync(wal(dataDir), statSync(wal(dataDir)).size - 100),
  'with a damaged head of the log': (dataDir) =>
    change(
      wal(dataDir),
      flip(() => 17),
    ),
  'with a damaged first frame': (dataDir) =>
    change(
      wal(dataDir),
      flip(() => 32 + 24 + 100),
    ),
  'with a damaged middle frame': (dataDir) =>
    change(
      wal(dataDir),
      flip((size) => 32 + Math.floor(frames(size) / 2) * FRAME + 24 + 100),
    ),
  'with a damaged last frame': (dataDir) =>
    change(
      wal(dataDir),
      flip((size) => 32 + (frames(size) - 1) * FRAME + 24 + 100),
    ),
  'with an older copy of the file': (dataDir) => {
    rmSync(wal(dataDir));
    cpSync(file(atRest), file(dataDir));
  },
};
for (const [name, damage] of Object.entries(LOST)) {
  test(`a database ${name} is refused, and whole again when what is missing is put back`, async () => {
    const dataDir = copy();
    damage(dataDir);
    await refuses(dataDir, LACKS);
    for (const suffix of ['', '-wal']) cpSync(file(killed, suffix), file(dataDir, suffix));
    await (await start(readConfig({ ...settingsOf(dataDir), TESSERA_PORT: '0' }))).close();
  });
}

const GONE = /The database is gone: .*tessera\.db does not exist or is empty, and .*Put the database back/;
const UNUSABLE: Readonly<Record<string, [RegExp, (dataDir: string) => void]>> = {
  'that is not there': [GONE, (dataDir) => rmSync(file(dataDir))],
  'of no bytes': [GONE, (dataDir) => truncateSync(file(dataDir), 0)],
  'of no bytes beside a log alone': [
    /The database is gone: .*tessera\.db-wal belongs to one/,
    (dataDir) => {
      truncateSync(file(dataDir), 0);
      for (const path of [file(dataDir, '-mark'), join(dataDir, 'secret')]) rmSync(path);
    },
  ],
  'that is cut': [/damaged|cannot be opened/, (dataDir) => truncateSync(file(dataDir), 100_000)],
  'with a damaged head': [
    /cannot be opened.*restore a backup/,
    (dataDir) => {
      rmSync(wal(dataDir));
      change(
        file(dataDir),
        flip(() => 3),
      );
    },
  ],
  'with the log of another one': [
    /The database is gone: .*tessera\.db holds no tables of Tessera, and .*secret and .*-mark belong to one/,
    (dataDir) => {
      const other = new DatabaseSync(join(dataDir, 'other.db'));
      other.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (b TEXT)');
      for (let row = 0; row < 100; row++) other.exec(`INSERT INTO a VALUES ('${'x'.repeat(2000)}')`);
      cpSync(join(dataDir, 'other.db-wal'), wal(dataDir));
      other.close();
    },
  ],
};
for (const [name, [words, damage]] of Object.entries(UNUSABLE)) {
  test(`a database ${name} is refused, and nothing takes its place`, async () => {
    const dataDir = copy();
    damage(dataDir);
    await refuses(dataDir, words);
  });
}

test('the log of another server’s database is not taken for its own', async () => {
  const other = fresh();
  await (await node(other)).kill();
  const dataDir = copy();
  cpSync(wal(other), wal(dataDir));
  await refuses(dataDir, LACKS);
});

test('a page of the file that was damaged while its server was dead is found before anything is served', async () => {
  const dataDir = copy();
  // The pages of the log lie over those of the file: the first that it does not hold.
  const log = readFileSync(wal(dataDir));
  const held = new Set(Array.from({ length: frames(log.length) }, (_, n) => log.readUInt32BE(32 + n * FRAME)));
  const pages = statSync(file(dataDir)).size / 4096;
  const page = Array.from({ length: pages }, (_, n) => n + 1).find((n) => n > 1 && !held.has(n)) ?? assert.fail();
  change(file(dataDir), (bytes) => bytes.fill(0x55, (page - 1) * 4096, page * 4096));
  await refuses(dataDir, /tessera\.db is damaged/);
});

const HARMLESS: Readonly<Record<string, (dataDir: string) => void>> = {
  'as the kill left it': () => {},
  'without the index of the log': (dataDir) => rmSync(file(dataDir, '-shm'), { force: true }),
  'with a damaged index of the log': (dataDir) => writeFileSync(file(dataDir, '-shm'), Buffer.alloc(32_768, 0x5a)),
  'without its mark': (dataDir) => rmSync(file(dataDir, '-mark')),
  'with a damaged mark': (dataDir) =>
    change(
      file(dataDir, '-mark'),
      flip(() => 12),
    ),
  'with an empty mark': (dataDir) => truncateSync(file(dataDir, '-mark'), 0),
};
for (const [name, damage] of Object.entries(HARMLESS)) {
  test(`a whole database ${name} is served: what was revoked is dead, and the mark is kept anew`, async () => {
    const dataDir = copy();
    damage(dataDir);
    await isWhole(dataDir);
    const mark = /^tessera 1 (\d{16}) [0-9a-f]{8}\n$/.exec(readFileSync(file(dataDir, '-mark'), 'latin1'));
    assert.ok(Number(mark?.[1]) >= sequence);
    rmSync(wal(dataDir), { force: true });
    cpSync(file(atRest), file(dataDir));
    await refuses(dataDir, LACKS);
  });
}

test('a secret without its database is refused by every command, and neither of them by a first start', async () => {
  const dataDir = copy(atRest);
  for (const name of readdirSync(dataDir)) if (name !== 'secret') rmSync(join(dataDir, name));
  await refuses(
    dataDir,
    /The database is gone: .*tessera\.db does not exist or is empty, and [^ ]*secret belongs to one.*move [^ ]*secret away/,
  );
  const env = { TESSERA_DATA_DIR: dataDir };
  for (const args of [['migrate'], ['migrate', '--dry-run'], ['admin-key', 'create']]) {
    const { code, stderr } = await tessera(args, { env });
    assert.equal(code, 3, args.join(' '));
    assert.match(stderr, /The database is gone|There is no Tessera database/);
  }
  assert.deepEqual(readdirSync(dataDir), ['secret']);
  rmSync(join(dataDir, 'secret'));
  await (await start(readConfig({ ...settingsOf(dataDir), TESSERA_PORT: '0' }))).close();
});

test('a first start that ended before it made a secret is gone through again', async () => {
  const dataDir = fresh();
  await (await node(dataDir)).kill();
  const journal = readFileSync(wal(dataDir));
  for (const name of readdirSync(dataDir)) if (!/^tessera\.db(-wal)?$/.test(name)) rmSync(join(dataDir, name));
  // Its migrations in the log, not committed yet.
  for (const size of [journal.length / 2, 40_000, 0]) {
    const half = copy(dataDir);
    writeFileSync(wal(half), journal.subarray(0, size));
    await (await start(readConfig({ ...settingsOf(half), TESSERA_PORT: '0' }))).close();
    assert.ok(existsSync(join(half, 'secret')) && existsSync(file(half, '-mark')));
  }
});

test('the real command: refused in words by whatever opens the data, and told by the doctor in the same', async () => {
  const dataDir = copy();
  rmSync(wal(dataDir));
  const env = { TESSERA_DATA_DIR: dataDir, TESSERA_BASE_URL: 'http://127.0.0.1:9' };
  assert.match(await refusedStart(env, folder), LACKS);
  for (const args of [['user', 'list'], ['migrate'], ['keys', 'rotate']]) {
    const { code, stderr } = await tessera(args, { env });
    assert.equal(code, 3, args.join(' '));
    assert.match(stderr, LACKS);
  }
  const { code, stdout } = await tessera(['doctor', '--json'], { env });
  assert.equal(code, 1);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const finding = findings.find(({ check, level }) => check === 'database' && level === 'problem');
  assert.match(finding?.found ?? '', /lacks 11 recorded changes or more.*older copy\.$/);
  assert.match(finding?.remedy ?? '', /^Put back the missing log.*tessera recover --accept-loss$/);
});

test('the doctor reports an unclean shutdown and a damaged mark', async () => {
  const dataDir = copy();
  const doctor = async (): Promise<string[]> => {
    const env = { TESSERA_DATA_DIR: dataDir, TESSERA_BASE_URL: 'http://127.0.0.1:9' };
    const { stdout } = await tessera(['doctor', '--json'], { env });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings.filter(({ level }) => level !== 'ok').map(({ check, found }) => `${check} ${found}`);
  };
  change(
    file(dataDir, '-mark'),
    flip(() => 12),
  );
  const after = (await doctor()).join('\n');
  assert.match(after, /^database .*-mark is damaged: missing changes cannot be detected\.$/m);
  assert.match(after, /^database .*-wal contains changes that are not in the file yet, and no server answers/m);
  await (await start(readConfig({ ...settingsOf(dataDir), TESSERA_PORT: '0' }))).close();
  assert.deepEqual(
    (await doctor()).filter((line) => line.startsWith('database')),
    [],
  );
});

test('a loss that is accepted: nothing from before works, admin keys and secrets to sign with are new, and it is on record', async () => {
  const dataDir = copy();
  const env = settingsOf(dataDir);
  const { stdout: made } = await tessera(['admin-key', 'create', '--json'], { env });
  const { adminKey } = JSON.parse(made) as { adminKey: string };
  cpSync(file(atRest), file(dataDir));
  await refuses(dataDir, LACKS);
  const unsaid = await tessera(['recover'], { env });
  assert.equal(unsaid.code, 2);
  const declined = await tessera(['recover', '--accept-loss'], { env, input: 'no\n', atTerminal: true });
  assert.equal(declined.code, 1);
  assert.match(declined.stdout + declined.stderr, /lacks \d+ recorded changes/);
  await refuses(dataDir, LACKS);

  const done = await tessera(['recover', '--accept-loss', '--yes', '--json'], { env });
  assert.equal(done.code, 0, done.stderr);
  const { missing, unknown } = JSON.parse(done.stdout) as { missing: number; unknown: { from: string; until: string } };
  assert.equal(missing, 12, 'ten users, the revocation and the admin key');
  assert.ok(unknown.from <= unknown.until);
  const events = await tessera(['events', '--type', 'data.recovered', '--json'], { env });
  const [event] = JSON.parse(events.stdout) as { id: string; details: { missing: number } }[];
  assert.equal(Number(event?.id), sequence + 2, 'the ids of lost events are not given again');
  assert.equal(event?.details.missing, missing);

  const running = await node(dataDir);
  service.front.targets = [running.port];
  try {
    for (const { access_token, refresh_token } of [revoked, live].filter((pair) => pair !== undefined)) {
      assert.equal((await userinfo(server(), access_token)).status, 401);
      assert.equal((await refresh(server(), client, refresh_token)).body.error, 'invalid_grant');
    }
    assert.equal((await admin(server(), 'GET', '/users', undefined, adminKey)).status, 401);
    const again = await tokens();
    assert.equal((await userinfo(server(), again.access_token)).status, 200);
  } finally {
    service.front.targets = [];
    await running.stop();
  }
});
