// store: none
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tessera-cli-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
// The commands read the settings of this process; the developer’s own must not reach them.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];

/** Every command that does something, by its words. */
function commands(command: Command, path: readonly string[] = []): string[] {
  const own = command.commands.filter((child) => child.name() !== 'help');
  return own.length === 0 ? [path.join(' ')] : own.flatMap((child) => commands(child, [...path, child.name()]));
}

/** Runs a command in this very process, on the data of this test; answers what `--json` printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
async function run(...args: readonly string[]): Promise<any> {
  const { write } = process.stdout;
  let printed = '';
  // What the test runner itself reports comes the same way, as bytes.
  process.stdout.write = ((chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return write.call(process.stdout, chunk);
    printed += chunk;
    return true;
  }) as typeof write;
  try {
    await program().parseAsync([...args, '--json', '--data-dir', dataDir], { from: 'user' });
  } finally {
    process.stdout.write = write;
  }
  return JSON.parse(printed);
}

let app = '';
let organization = '';
let key = '';
let kid = '';
let invitation = '';

/** The resource identifier of an API. */
const API = 'https://api.example.com/notes';

/** What each command that changes something leaves in the audit trail, in an order in which they can run. */
const changes: readonly (readonly [string, () => Promise<unknown>, ...string[]])[] = [
  [
    'user create',
    () => run('user', 'create', '--username', 'ada', '--display-name', 'Ada', '--email', 'ada@example.com'),
    'account.created',
  ],
  ['user update', () => run('user', 'update', 'ada', '--about', 'x'), 'account.updated'],
  ['user ban', () => run('user', 'ban', 'ada'), 'account.banned'],
  ['user unban', () => run('user', 'unban', 'ada'), 'account.unbanned'],
  ['user suspend', () => run('user', 'suspend', 'ada'), 'account.suspended'],
  ['user reinstate', () => run('user', 'reinstate', 'ada'), 'account.reinstated'],
  [
    'user release-username',
    async () => {
      await run('user', 'update', 'ada', '--username', 'ada.king');
      await run('user', 'release-username', 'ada');
      await run('user', 'update', 'ada.king', '--username', 'ada');
    },
    'account.updated',
    'account.username_released',
    'account.updated',
  ],
  [
    'client create',
    async () => {
      app = (await run('client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example/cb')).clientId;
    },
    'client.created',
  ],
  ['client update', () => run('client', 'update', app, '--name', 'B'), 'client.updated'],
  [
    'client rotate-secret',
    () => run('client', 'rotate-secret', app, '--expire-previous-in', '0'),
    'client.secret_ended',
    'client.secret_added',
  ],
  [
    'client end-secret',
    async () => {
      const before = (await run('client', 'show', app)).secrets[0].id;
      await run('client', 'rotate-secret', app);
      await run('client', 'end-secret', app, before);
    },
    'client.secret_added',
    'client.secret_ended',
  ],
  ['client disable', () => run('client', 'disable', app), 'client.disabled'],
  ['client enable', () => run('client', 'enable', app), 'client.enabled'],
  ['user grant-role', () => run('user', 'grant-role', 'ada', 'auditor'), 'operator.role_granted'],
  ['user revoke-role', () => run('user', 'revoke-role', 'ada', 'auditor'), 'operator.role_revoked'],
  // No deletion was asked for.
  ['user cancel-deletion', () => run('user', 'cancel-deletion', 'ada')],
  ['user recovery-link', () => run('user', 'recovery-link', 'ada'), 'recovery.link_created'],
  ['user sign-out', () => run('user', 'sign-out', 'ada'), 'account.signed_out_everywhere'],
  // Nothing was granted, so there is nothing to take away.
  ['user disconnect', () => run('user', 'disconnect', 'ada', app).catch(() => undefined)],
  [
    'org create',
    async () => {
      organization = (await run('org', 'create', '--name', 'acme', '--domain', 'acme.example')).id;
    },
    'organization.created',
  ],
  ['org update', () => run('org', 'update', 'acme', '--require-second-factor'), 'organization.updated'],
  // No one has signed in.
  ['second-factor end-existing', () => run('second-factor', 'end-existing', '--everyone')],
  ['org add-member', () => run('org', 'add-member', organization, 'ada'), 'organization.member_set'],
  ['group create', () => run('group', 'create', '--name', 'analysts'), 'group.created'],
  ['group update', () => run('group', 'update', 'analysts', '--description', 'See figures'), 'group.updated'],
  ['group add', () => run('group', 'add', 'analysts', 'ada'), 'group.member_added'],
  ['client assign', () => run('client', 'assign', app, '--group', 'analysts'), 'access.assigned'],
  [
    'client set-role',
    async () => {
      await run('client', 'update', app, '--role', 'viewer');
      await run('client', 'set-role', app, '--group', 'analysts', '--role', 'viewer');
    },
    'client.updated',
    'access.assigned',
  ],
  ['client preview', () => run('client', 'preview', app, 'ada'), 'access.previewed'],
  [
    'client allow-scopes',
    async () => {
      const scope = ['--resource', API, '--resource-scope', 'notes.read=See your notes'];
      await run('client', 'create', '--name', 'Notes', '--grant-type', 'client_credentials', ...scope);
      await run('client', 'allow-scopes', app, '--api', API, '--scope', 'notes.read');
    },
    'client.created',
    'client.api_scopes_changed',
  ],
  ['client disallow-scopes', () => run('client', 'disallow-scopes', app, '--api', API), 'client.api_scopes_changed'],
  [
    'client approve',
    async () => {
      await run('client', 'update', app, '--consent', 'operator');
      await run('client', 'approve', app, '--scope', 'openid');
    },
    'client.updated',
    'client.consent_approved',
  ],
  ['client withdraw-approval', () => run('client', 'withdraw-approval', app), 'client.consent_approval_ended'],
  ['client unassign', () => run('client', 'unassign', app, '--group', 'analysts'), 'access.unassigned'],
  ['group remove', () => run('group', 'remove', 'analysts', 'ada'), 'group.member_removed'],
  ['group delete', () => run('group', 'delete', 'analysts', '--yes'), 'group.deleted'],
  ['org remove-member', () => run('org', 'remove-member', 'acme', 'ada'), 'organization.member_removed'],
  ['org delete', () => run('org', 'delete', 'acme', '--yes'), 'organization.deleted'],
  [
    'admin-key create',
    async () => {
      key = (await run('admin-key', 'create')).id;
    },
    'admin_key.created',
  ],
  ['admin-key revoke', () => run('admin-key', 'revoke', key), 'admin_key.revoked'],
  [
    'keys rotate',
    async () => {
      ({ kid } = await run('keys', 'rotate'));
    },
    // The first rotation is of a key set that did not exist before.
    'keys.created',
    'keys.rotated',
  ],
  [
    'invite create',
    async () => {
      invitation = (await run('invite', 'create')).id;
    },
    'invitation.created',
  ],
  ['invite revoke', () => run('invite', 'revoke', invitation), 'invitation.revoked'],
  ['mail test', () => run('mail', 'test', 'ada@example.com'), 'mail.tested'],
  ['keys drop', () => run('keys', 'drop', kid), 'keys.dropped'],
  ['client delete', () => run('client', 'delete', app, '--yes'), 'client.deleted'],
  ['user delete', () => run('user', 'delete', 'ada', '--yes'), 'account.deleted'],
  ['restore', () => run('restore', '--new-epoch', '--yes'), 'data.restored'],
  ['recover', () => run('recover', '--accept-loss', '--yes'), 'data.recovered'],
];

/** Commands that leave no event: they read, run the server, or bring the schema to its version. */
const others = [
  ...[
    'serve',
    'events',
    'explain',
    'migrate',
    'backup',
    'doctor',
    'health',
    'user show',
    'user list',
    'user connections',
    'user sessions',
    'user groups',
    'user roles',
    'traces',
    'client show',
  ],
  ...[
    'client api-scopes',
    'client allowed-clients',
    'client assignments',
    'client access',
    'group show',
    'group list',
    'group members',
  ],
  ...['client list', 'org show', 'org list', 'admin-key list', 'keys list', 'mail list', 'mail link', 'invite list'],
];

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
  const known = new Set([...changes.map(([name]) => name), ...others]);
  for (const name of commands(program())) assert.ok(known.has(name), `${name}: which events does it leave?`);
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
