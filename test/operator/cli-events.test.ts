// store: none
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { ON_SERVER_ONLY } from '../../src/cli/on-server-only.ts';
import { program } from '../../src/cli/program.ts';
import { changesBy, commandNames, type RunCommand, reads, runHere } from './every-command.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tessera-cli-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
// The commands read the settings of this process; the developer’s own must not reach them.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
process.env['TESSERA_MAILBOX'] = 'on';

const run: RunCommand = (...args) => runHere(...args, '--data-dir', dataDir);

const changes = changesBy(run);

test('LG-02: every command that changes something leaves its event, with who ran it and the run', async () => {
  const recorded: { type: string; actor: { type: string }; details: { systemUser?: string }; requestId: string }[] = [];
  for (const [name, act, ...types] of changes) {
    await act();
    const all = await run('events', '--limit', '1000');
    const left = all.slice(recorded.length) as typeof recorded;
    assert.deepEqual(
      left.map(({ type }) => type),
      types,
      name,
    );
    recorded.push(...left);
  }
  for (const { type, actor, details, requestId } of recorded.filter(({ type }) => type !== 'keys.created')) {
    assert.equal(actor.type, 'cli', type);
    assert.ok(details.systemUser, type);
    assert.match(requestId, /^[0-9a-f-]{36}$/, type);
  }
});

test('LG-02: there is no command of which it is not known what it leaves', () => {
  const silent = ['explain', 'login', 'logout', ...Object.keys(reads), ...Object.keys(ON_SERVER_ONLY)];
  const known = new Set([...changes.map(([name]) => name), ...silent]);
  for (const name of commandNames(program())) assert.ok(known.has(name), `${name}: which events does it leave?`);
});

test('every command that takes something shows by an example how', () => {
  const silent: string[] = [];
  const visit = (command: Command, path: string): void => {
    for (const child of command.commands) visit(child, `${path} ${child.name()}`);
    let help = '';
    command.configureOutput({
      writeOut(text) {
        help += text;
      },
    });
    if (command.commands.length === 0) command.outputHelp();
    if (command.commands.length === 0 && !help.includes('Example')) silent.push(path.trim());
  };
  visit(program(), '');
  assert.deepEqual(silent, []);
});
