// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { start } from '../../src/app.ts';
import { ConfigError } from '../../src/platform/config/config-error.ts';
import { readConfig } from '../../src/settings/config.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { tessera } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-health-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test('tessera health: 0 while the server is ready, 1 while it is not, by the port alone', async () => {
  const database = await ownDatabase();
  const data = { TESSERA_DATA_DIR: join(folder, 'data'), ...database?.environment };
  const settings = { ...data, TESSERA_HOST: '0.0.0.0', TESSERA_LOG_LEVEL: 'silent', TESSERA_DRAIN_SECONDS: '0' };
  const server = await start(readConfig({ ...settings, TESSERA_PORT: '0' }));
  const { port } = new URL(server.baseUrl);
  // The public address is behind a proxy: the command asks the process beside it.
  const env = { TESSERA_HOST: '0.0.0.0', TESSERA_PORT: port, TESSERA_BASE_URL: 'https://id.example.com' };
  const [ready, alive, elsewhere] = await Promise.all([
    tessera(['health'], { env }),
    tessera(['health', '--live', '--json'], { env }),
    tessera(['health', '--base-url', 'https://id.example.com/login', '--json'], { env }),
  ]);
  assert.deepEqual(ready, { code: 0, stdout: 'The server is ready.\n', stderr: '' });
  assert.equal(alive.code, 0);
  const address = `http://127.0.0.1:${port}/health/live`;
  assert.deepEqual(JSON.parse(alive.stdout), { healthy: true, address, reason: null });
  assert.equal(elsewhere.code, 1, 'what is not this server is not healthy');
  const { address: asked, reason } = JSON.parse(elsewhere.stdout);
  assert.equal(asked, `http://127.0.0.1:${port}/login/health/ready`);
  assert.match(reason, /^It answered 404/);
  server.drain();
  const [draining, living] = await Promise.all([tessera(['health'], { env }), tessera(['health', '--live'], { env })]);
  assert.equal(draining.code, 1);
  assert.match(draining.stdout, /is not ready\. It answered 503: This node is about to stop\./);
  assert.equal(living.code, 0);
  await server.close();
  await database?.drop();
  const gone = await tessera(['health', '--json'], { env });
  assert.equal(gone.code, 1);
  assert.match(JSON.parse(gone.stdout).reason, /^Nothing answers \(ECONNREFUSED\)\. Start the server/);
});

test('tessera health cannot ask a port that only the server knows', async () => {
  const { code, stderr } = await tessera(['health'], { env: { TESSERA_PORT: '0' } });
  assert.equal(code, 3);
  assert.match(stderr, /TESSERA_PORT is 0/);
});

test('secrets come from files, without the line end of an editor', () => {
  const url = 'postgres://tessera@db.example.com/tessera';
  const files = {
    TESSERA_DATABASE_URL_FILE: written('database', `${url}\n`),
    TESSERA_SMTP_URL_FILE: written('smtp', 'smtps://mail.example.com\r\n'),
  };
  const config = readConfig({ ...files, TESSERA_BASE_URL: 'https://id.example.com' });
  assert.equal(config.databaseUrl, url);
  assert.equal(config.mail.smtp?.host, 'mail.example.com');
});

test('a file that is missing, empty, wrong or one too many is refused, and nothing in it is repeated', () => {
  const password = 'hunter2';
  const path = written('wrong', `mysql://root:${password}@db/x`);
  const problems = (environment: Readonly<Record<string, string>>): string => {
    try {
      readConfig(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.join('\n');
      throw error;
    }
    return '';
  };
  assert.match(problems({ TESSERA_DATABASE_URL_FILE: join(folder, 'none') }), /must name a file .*\(ENOENT/);
  assert.match(
    problems({ TESSERA_ADMIN_KEY_FILE: written('empty', '\n') }),
    /TESSERA_ADMIN_KEY_FILE names an empty file/,
  );
  assert.match(problems({ TESSERA_DATABASE_URL_FILE: path }), /^TESSERA_DATABASE_URL must be sqlite:/);
  assert.doesNotMatch(problems({ TESSERA_DATABASE_URL_FILE: path }), new RegExp(password));
  const both = { TESSERA_DATABASE_URL: 'sqlite:x', TESSERA_DATABASE_URL_FILE: path };
  assert.match(problems(both), /^TESSERA_DATABASE_URL and TESSERA_DATABASE_URL_FILE are both set\. Remove one/);
});
