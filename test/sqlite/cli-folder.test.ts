// store: SQLite
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { tessera } from '../operator/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'tessera-cli-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

test('in a folder without data a command refuses, naming where it looked; one that makes something says where', async () => {
  const lost = await tessera(['user', 'ban', 'ada'], { cwd });
  assert.equal(lost.code, 3);
  assert.match(lost.stderr, new RegExp(`no Tessera database at ${join(cwd, 'data', 'tessera.db')}.*--data-dir`));
  assert.ok(!existsSync(join(cwd, 'data')), 'and leaves nothing behind');
  const person = ['--display-name', 'Ada Lovelace', '--email', 'a@a.example', '--username', '123'];
  const made = await tessera(['user', 'create', ...person, '--data-dir', 'here'], { cwd });
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, new RegExp(`Created a new database: ${join(cwd, 'here', 'tessera.db')}`));
  const shown = await tessera(['--data-dir', 'here', 'user', 'show', '123'], { cwd });
  assert.equal(shown.code, 0, 'a user name of digits is a user name');
});
