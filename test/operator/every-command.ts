import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';

/** Runs a command; answers what `--json` printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
export type RunCommand = (...args: readonly string[]) => Promise<any>;

/** Runs a command in this very process. */
export const runHere: RunCommand = async (...args) => {
  const { write } = process.stdout;
  const { exitCode } = process;
  let printed = '';
  // What the test runner itself reports comes the same way, as bytes.
  process.stdout.write = ((chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return write.call(process.stdout, chunk);
    printed += chunk;
    return true;
  }) as typeof write;
  try {
    await program().parseAsync([...args, '--json'], { from: 'user' });
  } finally {
    process.stdout.write = write;
    // A command that found a problem says so by its status, which is not that of the tests.
    process.exitCode = exitCode;
  }
  return printed === '' ? undefined : JSON.parse(printed);
};

/** A command, what does it, and the types of the events that it leaves. */
export type Change = readonly [name: string, act: () => Promise<unknown>, ...types: string[]];

/** Every command that does something, by its words. */
export function commandNames(command: Command, path: readonly string[] = []): string[] {
  const own = command.commands.filter((child) => child.name() !== 'help');
  return own.length === 0 ? [path.join(' ')] : own.flatMap((child) => commandNames(child, [...path, child.name()]));
}

/** The resource identifier of an API. */
const API = 'https://api.example.com/notes';

/** What each command that changes something leaves in the audit trail, in an order in which they can run. */
export function changesBy(run: RunCommand): readonly Change[] {
  let app = '';
  let organization = '';
  let key = '';
  let kid = '';
  let invitation = '';
  let initialToken = '';
  let scopeRequest = '';
  const askFor = (scope: string) => run('client', 'request-scope', app, '--scope', scope, '--reason', 'To show teams');
  return [
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
    ['user unlock', () => run('user', 'unlock', 'ada'), 'account.unlocked'],
    ['user remind-to-verify', () => run('user', 'remind-to-verify', 'ada'), 'account.verification_reminded'],
    [
      'user send-recovery',
      async () => {
        await run('user', 'update', 'ada', '--email-verified');
        await run('user', 'send-recovery', 'ada');
      },
      'account.updated',
      'recovery.requested',
    ],
    // There is none.
    ['user remove-factor', () => run('user', 'remove-factor', 'ada', 'totp').catch(() => undefined)],
    ['user remove-identity', () => run('user', 'remove-identity', 'ada', 'none', '--yes').catch(() => undefined)],
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
    ['second-factor end-existing', () => run('second-factor', 'end-existing', '--everyone', '--yes')],
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
    [
      'client request-scope',
      async () => {
        scopeRequest = (await askFor('groups')).id;
      },
      'client.scope_requested',
    ],
    [
      'client approve-scope',
      () => run('client', 'approve-scope', app, scopeRequest),
      'client.updated',
      'client.scope_approved',
    ],
    [
      'client decline-scope',
      async () => run('client', 'decline-scope', app, (await askFor('roles')).id, '--answer', 'No need'),
      'client.scope_requested',
      'client.scope_declined',
    ],
    [
      'client withdraw-scope-request',
      async () => run('client', 'withdraw-scope-request', app, (await askFor('roles')).id),
      'client.scope_requested',
      'client.scope_request_withdrawn',
    ],
    // An operator registered it, so there is nothing to accept.
    ['client accept', () => run('client', 'accept', app).catch(() => undefined)],
    ['client end-acceptance', () => run('client', 'end-acceptance', app).catch(() => undefined)],
    ['client end-self-registration', () => run('client', 'end-self-registration', app).catch(() => undefined)],
    ['client block-domain', () => run('client', 'block-domain', '.agents.example'), 'client.domain_blocked'],
    ['client unblock-domain', () => run('client', 'unblock-domain', '.agents.example'), 'client.domain_unblocked'],
    [
      'upstream create',
      () =>
        run('upstream', 'create', '--name', 'staff', '--issuer', 'https://id.example.com', '--client-id', 'tessera'),
      'upstream.created',
    ],
    ['upstream update', () => run('upstream', 'update', 'staff', '--sign-up', 'anyone'), 'upstream.updated'],
    [
      'org require-upstream',
      async () => {
        await run('org', 'require-upstream', 'acme', 'staff');
        await run('org', 'require-upstream', 'acme', '--none');
      },
      'organization.updated',
      'organization.updated',
    ],
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
    [
      'initial-access-token create',
      async () => {
        initialToken = (await run('initial-access-token', 'create', '--name', 'Partner portal')).id;
      },
      'initial_access_token.created',
    ],
    [
      'initial-access-token revoke',
      () => run('initial-access-token', 'revoke', initialToken),
      'initial_access_token.revoked',
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
    ['upstream disable', () => run('upstream', 'disable', 'staff', '--end-sessions', '--yes'), 'upstream.disabled'],
    ['upstream enable', () => run('upstream', 'enable', 'staff'), 'upstream.enabled'],
    [
      'upstream delete',
      async () => {
        await run('upstream', 'disable', 'staff');
        await run('upstream', 'delete', 'staff', '--yes');
      },
      'upstream.disabled',
      'upstream.deleted',
    ],
    ['mail test', () => run('mail', 'test', 'ada@example.com'), 'mail.tested'],
    ['keys drop', () => run('keys', 'drop', kid, '--yes'), 'keys.dropped'],
    ['client delete', () => run('client', 'delete', app, '--yes'), 'client.deleted'],
    ['user delete', () => run('user', 'delete', 'ada', '--yes'), 'account.deleted'],
    ['restore', () => run('restore', '--new-epoch', '--yes'), 'data.restored'],
    ['recover', () => run('recover', '--accept-loss', '--yes'), 'data.recovered'],
  ];
}

/** Commands that only read, with what they take, in the state before the changes from `client unassign` on. */
export const reads: Readonly<Record<string, readonly string[]>> = {
  events: ['--limit', '5'],
  traces: [],
  'user show': ['ada'],
  'user list': [],
  'user connections': ['ada'],
  'user sessions': ['ada'],
  'user identities': ['ada'],
  'user groups': ['ada'],
  'user roles': ['ada'],
  'user factors': ['ada'],
  'user last-sign-ins': ['ada'],
  'client show': ['APP'],
  'client list': [],
  'client api-scopes': ['APP'],
  'client log': ['APP'],
  'client scope-requests': ['APP'],
  'client unregistered': [],
  'client blocked-domains': [],
  'client allowed-clients': ['APP'],
  'client assignments': ['APP'],
  'client access': ['APP', 'ada'],
  'group show': ['analysts'],
  'group list': [],
  'group members': ['analysts'],
  'org show': ['acme'],
  'org list': [],
  'admin-key list': [],
  'initial-access-token list': [],
  'mail list': [],
  'upstream list': [],
  'upstream show': ['staff'],
  'upstream test': ['staff'],
  'upstream preview': ['staff', '--claims', '{}'],
  'invite list': [],
};
