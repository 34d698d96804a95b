// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Outcome, tessera } from './command.ts';
import { tesseraHere } from './command-here.ts';

let server: TestServer;
let elsewhere: string;
before(async () => {
  // The clock goes on by months at once: a key would follow by itself, at some point of these tests.
  server = await startServer({ TESSERA_KEY_ROTATION: 'off' });
  synchronize();
  elsewhere = mkdtempSync(join(tmpdir(), 'tessera-cli-'));
});
after(async () => {
  await server.close();
  rmSync(elsewhere, { recursive: true, force: true });
});

/** Brings the server's clock to the one that the command goes by. */
const synchronize = (): void => server.advance(Math.max(0, Date.now() - server.now()));

/** Runs the command on the data that the server runs on, in a folder that has nothing to do with it. */
const run = (args: readonly string[], input?: string): Promise<Outcome> =>
  tesseraHere(args, { env: server.environment, cwd: elsewhere, ...(input !== undefined && { input }) });

/** The same, where it must succeed; answers what `--json` printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
async function done(args: readonly string[], input?: string): Promise<any> {
  const { code, stdout, stderr } = await run([...args, '--json'], input);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

async function refused(args: readonly string[], code: number, message: RegExp): Promise<void> {
  const outcome = await run(args);
  assert.equal(outcome.code, code, `${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
  assert.match(outcome.stderr, message);
  assert.doesNotMatch(outcome.stderr, /^\s+at /m, 'no stack trace');
  assert.equal(outcome.stdout, '');
}

const CREATE = ['user', 'create', '--display-name', 'Ada Lovelace', '--email'];

test('user: create with a password from standard input, sign in, show, list, update, delete', async () => {
  const fields = ['--about', 'First', '--theme', 'dark', '--phone', '+905551234567', '--email-verified'];
  const made = await done(
    [...CREATE, 'ada@a.example', '--username', 'ada', ...fields, '--password-stdin'],
    'a fine secret\n',
  );
  assert.deepEqual([made.username, made.emailVerified, made.hasPassword, made.status], ['ada', true, true, 'active']);
  await signedIn(server, made, 'a fine secret');
  const [shown, byEmail, listed, updated] = await Promise.all([
    run(['user', 'show', made.id]),
    done(['user', 'show', 'ADA@a.example']),
    done(['user', 'list', '--query', 'ada@']),
    done([
      'user',
      'update',
      'ada',
      '--phone',
      '',
      '--social-links',
      '[{"platform":"x","url":"https://x.example","label":"X"}]',
    ]),
  ]);
  assert.match(shown.stdout, /^username +ada$/m);
  assert.equal(byEmail.id, made.id);
  assert.deepEqual(
    listed.map((user: { id: string }) => user.id),
    [made.id],
  );
  assert.deepEqual([updated.phone, updated.socialLinks[0].platform, updated.about], [null, 'x', 'First']);
  assert.deepEqual(await done(['user', 'delete', 'ada', '--yes']), { id: made.id, deleted: true });
  assert.equal((await admin(server, 'GET', `/users/${made.id}`)).status, 404);
});

test('user ban, unban, suspend, reinstate and disconnect bind the server’s next request', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const first = await tokensFor(server, client, user, {}, { browser });
  const connections = await done(['user', 'connections', user.username]);
  assert.equal(connections[0].clientId, client.clientId);
  await done(['user', 'disconnect', user.username, client.clientId]);
  assert.equal((await userinfo(server, first.access_token)).body.error_description, 'Access revoked by user');

  const second = await tokensFor(server, client, user, {}, { browser });
  const banned = await done(['user', 'ban', user.username, '--until', '2100-01-01T00:00:00+02:00', '--reason', 'spam']);
  assert.deepEqual(
    [banned.status, banned.ban.until, banned.ban.reason],
    ['banned', '2099-12-31T22:00:00.000Z', 'spam'],
  );
  assert.equal((await userinfo(server, second.access_token)).body.error_description, 'Account banned');
  assert.equal((await done(['user', 'unban', user.id])).status, 'active');
  assert.equal((await userinfo(server, second.access_token)).status, 401, 'what was dead stays dead');

  const third = await tokensFor(server, client, user);
  assert.equal((await done(['user', 'suspend', user.username])).status, 'suspended');
  assert.equal((await userinfo(server, third.access_token)).body.error_description, 'Account is suspended');
  assert.equal((await done(['user', 'reinstate', user.username])).status, 'active');
});

test('client: create, show, list, update, rotate-secret, disable, enable, delete', async () => {
  const uri = ['--redirect-uri', 'https://app.example.com/callback', '--redirect-uri', 'http://localhost:1/cb'];
  const made = await done(['client', 'create', '--name', 'My app', ...uri, '--scope', 'openid', '--require-pkce']);
  assert.match(made.clientSecret, /^tcs_/);
  assert.deepEqual([made.redirectUris.length, made.scopes, made.requirePkce], [2, ['openid'], true]);
  const { clientId } = made;
  const client = { clientId, clientSecret: made.clientSecret, redirectUri: made.redirectUris[0] };
  const updated = await done(['client', 'update', clientId, '--all-scopes', '--no-require-pkce', '--owner', 'Acme']);
  assert.deepEqual([updated.scopes, updated.requirePkce, updated.owner], [null, false, 'Acme']);
  const bye = 'https://app.example.com/bye';
  const added = ['--add-redirect-uri', 'https://app.example.com/two', '--add-redirect-uri', client.redirectUri];
  // The former name of --endpoints, until 1.0.
  assert.deepEqual((await done(['client', 'update', clientId, '--face', 'standard'])).endpoints, ['oidc']);
  assert.deepEqual((await done(['client', 'update', clientId, '--endpoints', 'v2'])).endpoints, ['v2']);
  const longer = await done(['client', 'update', clientId, ...added, '--add-post-logout-redirect-uri', bye]);
  assert.deepEqual(longer.redirectUris, [...made.redirectUris, 'https://app.example.com/two']);
  assert.deepEqual(longer.postLogoutRedirectUris, [bye]);
  const user = await newUser(server);
  const tokens = await tokensFor(server, client, user);
  const rotated = await done(['client', 'rotate-secret', clientId, '--expire-previous-in', '0']);
  synchronize();
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 401, 'the secret before ended at once');
  const renewed = await refresh(server, { ...client, clientSecret: rotated.clientSecret }, tokens.refresh_token);
  assert.equal(renewed.status, 200);
  const [shown, list] = await Promise.all([run(['client', 'show', clientId]), done(['client', 'list'])]);
  assert.ok(!shown.stdout.includes(made.clientSecret) && !shown.stdout.includes(rotated.clientSecret));
  assert.ok(list.some((item: { clientId: string }) => item.clientId === clientId));
  assert.equal((await done(['client', 'disable', clientId])).status, 'disabled');
  assert.equal((await userinfo(server, renewed.body.access_token)).status, 401);
  assert.equal((await done(['client', 'enable', clientId])).status, 'active');
  assert.equal((await userinfo(server, renewed.body.access_token)).status, 401);
  assert.deepEqual(await done(['client', 'delete', clientId, '--yes']), { clientId, deleted: true });
});

test('org: create, show, list, add-member by name, remove-member, seen at UserInfo', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user, { scope: 'openid organization.read' });
  const { id } = await done(['org', 'create', '--name', 'acme', '--domain', 'acme.example']);
  const member = await done(['org', 'add-member', 'acme', user.username, '--role', 'ADMIN']);
  assert.deepEqual(member, { organizationId: id, userId: user.id, role: 'ADMIN' });
  const shown = (await userinfo(server, tokens.access_token)).body.user.organization;
  assert.deepEqual(shown, { id, name: 'acme', role: 'ADMIN', domain: 'acme.example' });
  const [org, list] = await Promise.all([done(['org', 'show', id]), done(['org', 'list'])]);
  assert.deepEqual(org.members, [{ userId: user.id, username: user.username, role: 'ADMIN' }]);
  assert.deepEqual(
    list.map(({ name }: { name: string }) => name),
    ['acme'],
  );
  await done(['org', 'remove-member', id, user.id]);
  assert.equal((await userinfo(server, tokens.access_token)).body.user.organization, null);
});

test('admin-key: create, list, revoke bind the next call of the admin API', async () => {
  const made = await done(['admin-key', 'create', '--name', 'deploy']);
  assert.match(made.adminKey, /^tak_[A-Za-z0-9_-]{43}$/);
  assert.equal((await admin(server, 'GET', '/users', undefined, made.adminKey)).status, 200);
  const listed = await run(['admin-key', 'list']);
  assert.match(listed.stdout, new RegExp(`^${made.id} +deploy +owner +- +active`, 'm'));
  assert.ok(!listed.stdout.includes(made.adminKey));
  const taken = await done(['admin-key', 'create']);
  for (const key of [made, taken]) {
    for (let count = 0; count < 2; count++) {
      assert.equal((await admin(server, 'POST', '/invitations', {}, key.adminKey)).status, 201);
    }
  }
  const user = await newUser(server);
  assert.equal((await admin(server, 'POST', `/users/${user.id}/recovery-link`, {}, made.adminKey)).status, 201);
  assert.deepEqual(await done(['admin-key', 'revoke', made.id]), {
    id: made.id,
    revoked: true,
    ended: { invitations: 2, recoveryLinks: 1, initialAccessTokens: 0 },
    takenOver: { invitations: 0 },
    made: {
      adminKeys: [],
      roles: [],
      apps: [],
      unblockedDomains: [],
      settings: [],
      upstreams: [],
      access: [],
      hasMoreAccess: false,
      changedRights: [],
      hasMoreChangedRights: false,
      accounts: [],
      hasMoreAccounts: false,
      through: [],
    },
  });
  const { stdout } = await run(['admin-key', 'revoke', taken.id, '--take-over']);
  assert.equal(
    stdout,
    `Revoked the admin key ${taken.id}.\nEnded with it, unused: 0 invitations, 0 recovery links and 0 initial access tokens.\nTaken over: 2 invitations.\nIt had made nothing that still counts.\n`,
  );
  assert.equal((await admin(server, 'GET', '/users', undefined, made.adminKey)).status, 401);
  await refused(['admin-key', 'revoke', made.id], 4, /no live admin key/);
  const leaked = await run(['admin-key', 'revoke', made.adminKey]);
  assert.equal(leaked.code, 4);
  assert.ok(!leaked.stderr.includes(made.adminKey), 'a key that is given by mistake is not repeated');
});

test('admin-key revoke --end-made names what stays closed, and an app of which nothing whole is left', async () => {
  const app = await newClient(server, { name: 'Ledger', access: 'everyone' });
  const key = await done(['admin-key', 'create']);
  const change = { access: 'assigned', redirectUris: ['https://evil.example/cb'] };
  const path = `/clients/${app.clientId}`;
  assert.equal((await admin(server, 'PATCH', path, change, key.adminKey)).status, 200);
  const { stdout } = await run(['admin-key', 'revoke', key.id, '--end-made']);
  const named = `of the app ${app.clientId} (Ledger)`;
  assert.ok(
    stdout.includes(`the change of redirectUris ${named}, which is disabled, as nothing whole is left of it.`),
    stdout,
  );
  assert.ok(
    stdout.includes(`Check access, redirectUris ${named}. What was closed there, or is closed again, stays closed;`),
    stdout,
  );
});

test('keys: rotate keeps tokens alive, drop ends them, and a wrong secret may do neither', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const before = await done(['keys', 'list']);
  assert.deepEqual(
    before.map(({ status }: { status: string }) => status),
    ['signs'],
  );
  const env = { ...server.environment, TESSERA_SECRET: 'Zm9yZWlnbi1zZWNyZXQtb2YtYW5vdGhlci1kYXRhYmFzZS0x' };
  const foreign = await tesseraHere(['keys', 'rotate'], { env });
  assert.equal(foreign.code, 3);
  assert.match(foreign.stderr, /secret does not fit this database.*TESSERA_SECRET_PREVIOUS/s);
  const { kid } = await done(['keys', 'rotate']);
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  const fresh = await refresh(server, client, tokens.refresh_token);
  assert.equal(fresh.status, 200);
  await done(['keys', 'drop', before[0].kid, '--yes']);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401, 'what the dropped key signed is dead');
  assert.equal((await userinfo(server, fresh.body.access_token)).status, 200);
  assert.deepEqual(
    (await done(['keys', 'list'])).map((key: { kid: string }) => key.kid),
    [kid],
  );
  await refused(['keys', 'drop', 'nothing', '--yes'], 4, /There is no key nothing\. List them with: tessera keys list/);
});

test('names in which nothing is visible are refused by every command, and the field is named', async () => {
  const filler = '\u3164';
  const expected = (field: string) =>
    new RegExp(
      `${field} must be 1 to \\d+ characters on one line, at least one of them visible.*; got a text of 1 char`,
    );
  const { clientId } = await newClient(server);
  const { id } = await newUser(server);
  const app = ['--redirect-uri', 'https://app.example.com/callback'];
  await refused(
    ['user', 'create', '--username', 'x1y', '--email', 'x@a.example', '--display-name', filler],
    1,
    expected('--display-name'),
  );
  await refused(['user', 'update', id, '--display-name', filler], 1, expected('--display-name'));
  await refused(['user', 'update', id, '--location', filler], 1, expected('--location'));
  await refused(['client', 'create', '--name', filler, ...app], 1, expected('--name'));
  await refused(['client', 'update', clientId, '--name', filler], 1, expected('--name'));
  await refused(['client', 'update', clientId, '--owner', filler], 1, expected('--owner'));
  await refused(['admin-key', 'create', '--name', filler], 1, expected('--name'));
});

const help: [string[], RegExp][] = [
  [['--help'], /serve.*user.*client.*org.*admin-key.*keys.*Examples?:.*Exit status: 0 success, 1 failure/s],
  [['user', 'ban', '--help'], / user +ID, username or email.*--until.*Examples:\n +tessera user ban ada --until/s],
  [['help', 'user', 'ban'], /^Usage: tessera user ban /],
  [['client', 'create', '--help'], /Examples?:\n +tessera client create --name/],
];
for (const [args, expected] of help) {
  test(`tessera ${args.join(' ')} exits 0 and says how`, async () => {
    const { code, stdout } = await run(args);
    assert.equal(code, 0);
    assert.match(stdout, expected);
  });
}

const refusals: [string[], number, RegExp][] = [
  [[], 2, /Usage: tessera/],
  [['usr', 'list'], 2, /unknown command 'usr'\s*\(Did you mean user\?\).*--help/s],
  [['user', 'bann', 'ada'], 2, /Did you mean ban\?/],
  [['client', 'create', '--nam', 'A'], 2, /unknown option '--nam'\s*\(Did you mean --name\?\)/],
  [['user', 'list', '--jsn'], 2, /unknown option '--jsn'\s*\(Did you mean --json\?\)/],
  [['user', 'show'], 2, /missing required argument 'user'/],
  [['user', 'create', '--username', 'x'], 2, /required option '--display-name <name>' not specified/],
  [['client', 'rotate-secret', '1', '--expire-previous-in', ''], 2, /whole number of seconds/],
  [[...CREATE, 'a@a.example', '--username', 'Ada'], 1, /^--username must be 3 to 32 of/],
  [
    ['client', 'create', '--name', 'A', '--redirect-uri', 'http://a.example/cb'],
    1,
    /^--redirect-uri http:\/\/\S+ must use https/,
  ],
  [
    ['client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example', '--scope', 'x'],
    1,
    /^--scope x must be one of openid/,
  ],
  [
    ['client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example', '--scope', 'openid email'],
    1,
    /Give each by itself: --scope openid --scope email\s*$/,
  ],
  [['client', 'update', '1', '--type', 'public'], 2, /The type of an app cannot be changed\. Register another app/],
  [['client', 'create', '--name', 'A'], 1, /^--redirect-uri is missing: .*--grant-type client_credentials/],
  [
    ['client', 'create', '--name', 'A', '--grant-type', 'password'],
    1,
    /^--grant-type password must be one of authorization_code, refresh_token, client_credentials/,
  ],
  [
    ['client', 'create', '--name', 'A', '--grant-type', 'client_credentials', '--resource', 'http://a.example'],
    1,
    /^--resource must use https/,
  ],
  [
    [
      ...['client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example'],
      ...['--token-endpoint-auth-method', 'private_key_jwt'],
    ],
    1,
    /^--token-endpoint-auth-method private_key_jwt needs .*: give --jwks-file or --jwks-uri\.$/m,
  ],
  [
    [...CREATE, 'a@a.example', '--username', 'bea', '--password', 'geheim'],
    1,
    /^--password is not supported: .*--password-stdin/,
  ],
  [['events', '--request', 'abc'], 1, /^--request must be a correlation ID such as/],
  [['events', '--type', 'sign-in'], 1, /^--type must be one of .*sign_in/],
  [['events', '--since', 'yesterday'], 2, /--since <when>.* is invalid\. It must be a time .*or 90m, 24h or 7d ago/],
  [['user', 'show', 'nobody'], 4, /There is no user nobody\. List them with: tessera user list/],
  [['user', 'update', 'nobody'], 1, /Nothing to change/],
  [['client', 'show', 'abc'], 4, /There is no client with the id abc\. List them/],
  [['org', 'show', 'nothing'], 4, /There is no organization named nothing\. List them/],
  [
    ['user', 'list', '--database-url', 'mysql://x'],
    3,
    /^The command cannot run:\n {2}- TESSERA_DATABASE_URL must be sqlite:/,
  ],
];
test('exit status 1 failure, 2 wrong usage, 3 unusable data, 4 not found; each error says what to do', async () => {
  for (let at = 0; at < refusals.length; at += 3) {
    await Promise.all(refusals.slice(at, at + 3).map(([args, code, message]) => refused(args, code, message)));
  }
});

test('events: the newest that fit, oldest first; by name, by family, by time; for scripts as the API has them', async () => {
  const user = await newUser(server);
  const inItsProcess = (...args: string[]) => tessera(args, { env: server.environment, cwd: elsewhere });
  assert.equal((await inItsProcess('user', 'ban', user.username, '--reason', 'spam')).code, 0);
  assert.equal((await inItsProcess('user', 'unban', user.username)).code, 0);
  const [own, bans, recent, shown, none] = await Promise.all([
    done(['events', '--user', user.username]),
    done(['events', '--user', user.id, '--type', 'account', '--actor', 'cli', '--limit', '1']),
    done(['events', '--user', user.id, '--since', '1h', '--until', '2100-01-01T00:00:00Z', '--actor', 'cli']),
    run(['events', '--user', user.username, '--type', 'account.banned']),
    run(['events', '--user', user.id, '--failures']),
  ]);
  const types = (events: { type: string }[]) => events.map(({ type }) => type);
  assert.deepEqual(types(own), ['account.created', 'account.banned', 'account.unbanned']);
  assert.deepEqual(types(bans), ['account.unbanned']);
  assert.deepEqual(types(recent), ['account.banned', 'account.unbanned']);
  const byApi = await admin(server, 'GET', `/audit-events?userId=${user.id}`);
  assert.deepEqual(own, byApi.body.items);
  const { actor, requestId, details } = own[1];
  assert.deepEqual([actor, typeof details.systemUser], [{ type: 'cli', id: null }, 'string']);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
  assert.notEqual(requestId, own[2].requestId, 'each run of the command has an id of its own');
  assert.match(shown.stdout, /account\.banned +success +cli .*until=null reason=spam systemUser=/);
  assert.equal(none.stdout, 'None.\n');
});

test('explain: with a correlation id, the steps of the authorization that the request belongs to', async () => {
  const { clientId, ...client } = await newClient(server);
  const user = await newUser(server);
  const code = await codeFor(server, { clientId, ...client }, user);
  const wrong = await redeem(server, { clientId, ...client }, code, { redirect_uri: 'https://app.example.com/other' });
  const id = wrong.headers.get('x-request-id') ?? '';
  // The server stores what waits once a second, and before it answers.
  await admin(server, 'GET', `/traces/${id}`);
  const trace = await done(['explain', id.toUpperCase()]);
  assert.deepEqual([trace.requestId, trace.clientId, trace.userId], [id, clientId, user.id]);
  assert.deepEqual(
    trace.steps.map((step: { step: string }) => step.step),
    ['authorize', 'consent', 'code', 'token'],
  );
  const { code: status, stdout } = await run(['explain', id]);
  assert.equal(status, 0);
  assert.match(stdout, new RegExp(`^App ${clientId}, user ${user.id}, 4 steps\n`));
  assert.match(stdout, /✗ \S+ {2}token {2}POST \S+\/token 400 {2}← this request/);
  for (const fact of ['rule', 'expected', 'received', 'remedy'])
    assert.match(stdout, new RegExp(`^ {4}${fact} +\\S`, 'm'));
  assert.ok(!stdout.includes(code));
  await refused(
    ['explain', '6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11'],
    4,
    /Traces are kept for a day.*tessera events --request/,
  );
  const { stdout: lines } = await run(['traces', '--client', clientId]);
  assert.match(
    lines,
    new RegExp(`✗ \\S+ token \\(400 invalid_grant\\) app ${clientId}: .* More: tessera explain ${id}\n`),
  );
  const { stdout: flow } = await run(['client', 'log', clientId, '--request', id]);
  const steps = flow.trimEnd().split('\n');
  assert.equal(steps.length, 4);
  assert.match(
    steps.at(-1) ?? '',
    new RegExp(
      `^✗ \\S+ token \\(400 invalid_grant\\) app ${clientId}: .* More: tessera client log ${clientId} --request ${id}$`,
    ),
  );
  assert.doesNotMatch(flow, /Remedy:/, 'which may be for operators alone');
  assert.equal((await run(['client', 'log', clientId, '--limit', '1', '--json'])).stdout.trim().split('\n').length, 1);
  await refused(['explain', 'none'], 1, /must be a correlation ID .*standard input/);
});

test('explain: whether a token is valid and why, without using or showing it', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const { baseUrl } = server;
  const explain = async (token: string, at = baseUrl) => {
    const outcome = await run(['explain', '--json', '--base-url', at], `${token}\n`);
    assert.ok(!`${outcome.stdout}${outcome.stderr}`.includes(token), 'the token is not shown');
    return { code: outcome.code, ...JSON.parse(outcome.stdout) };
  };
  const [access, renewal, id, elsewhere, rubbish] = await Promise.all([
    explain(tokens.access_token),
    explain(tokens.refresh_token),
    explain(tokens.id_token),
    explain(tokens.access_token, 'https://id.example.com'),
    explain('rubbish'),
  ]);
  assert.deepEqual([access.code, access.verdict, access.answer], [0, 'accepted', '200 at UserInfo']);
  const about = [access.kind, access.userId, access.username, access.clientId, access.scope];
  assert.deepEqual(about, ['access token', user.id, user.username, client.clientId, 'openid']);
  assert.deepEqual([renewal.code, renewal.answer, renewal.kind], [0, '200 at the token endpoint', 'refresh token']);
  assert.deepEqual([id.code, id.kind], [1, 'perhaps an ID token under HS256']);
  assert.match(elsewhere.reason, /^it was issued by http:.*, and this service is https:\/\/id\.example\.com$/);
  assert.deepEqual([rubbish.code, rubbish.kind], [1, 'no token']);

  const next = await refresh(server, client, tokens.refresh_token);
  assert.equal(next.status, 200, 'explaining it did not use it');
  server.advance(31_000);
  await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  const banned = await explain(next.body.access_token);
  assert.deepEqual([banned.code, banned.answer], [1, '403 access_denied: Account banned']);
  assert.match(banned.remedy, /tessera user unban/);
  await admin(server, 'DELETE', `/users/${user.id}/ban`);
  const before = await explain(next.body.access_token);
  assert.deepEqual([before.answer, before.reason], ['401 invalid_token', 'the account was secured after the sign-in']);

  // What the person has taken away since is no part of what the token gives.
  const wide = await tokensFor(server, client, user, { scope: 'openid email phone' });
  await tokensFor(server, client, user, { scope: 'openid email phone', prompt: 'consent' }, { allow: ['phone'] });
  assert.equal((await explain(wide.access_token)).scope, 'openid phone');
});

test('explain names the endpoints that accept a token, and their errors, by where it was issued', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const explain = async (token: string) => {
    const { stdout } = await run(['explain', '--json', '--base-url', server.baseUrl], `${token}\n`);
    return JSON.parse(stdout);
  };
  const ofContract = await tokensFor(server, client, user);
  const ofStandard = await tokensFor(server, standard(client), user);
  const accepted = {
    [ofContract.access_token]: '/api/v2/oauth/userinfo and /oidc/userinfo',
    [ofContract.refresh_token]: '/api/v2/oauth/token',
    [ofStandard.access_token]: '/oidc/userinfo',
    [ofStandard.refresh_token]: '/oidc/token',
  };
  for (const [token, places] of Object.entries(accepted)) {
    assert.equal((await explain(token)).reason, `accepted at ${places}`);
  }
  await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  const refused = {
    [ofContract.access_token]: '403 access_denied: Account banned',
    [ofStandard.access_token]: '401 invalid_token: Account banned',
    [ofStandard.refresh_token]: '400 invalid_grant: Account banned',
  };
  for (const [token, answer] of Object.entries(refused)) assert.equal((await explain(token)).answer, answer);
});

test('--json makes a refusal readable for scripts', async () => {
  const { code, stderr } = await run(['user', 'show', 'nobody', '--json']);
  assert.equal(code, 4);
  const error = JSON.parse(stderr);
  assert.deepEqual(Object.keys(error), ['error', 'error_description']);
  assert.equal(error.error, 'not_found');
  const usage = await run(['--json', 'user', 'ban']);
  assert.equal(usage.code, 2);
  const { error: wrong, error_description: why } = JSON.parse(usage.stderr);
  assert.equal(wrong, 'invalid_request');
  assert.match(why, /missing required argument 'user'/);
});

test('a secret that is shown once is said to be', async () => {
  const made = await run(['admin-key', 'create', '--name', 'once']);
  assert.match(made.stdout, /^adminKey +tak_/m);
  assert.match(made.stderr, /Copy the adminKey now: it is not shown again\./);
});

test('upstream update: none takes the domains of a provider away', async () => {
  const update = (...given: string[]) => done(['upstream', 'update', 'withdrawn', ...given]);
  await done(['upstream', 'create', '--name', 'withdrawn', '--issuer', 'https://id.example.com', '--client-id', 'a']);
  const given = await update('--domain', 'a.example', '--domain', 'b.example', '--sign-up-domain', 'c.example');
  assert.deepEqual([given.domains, given.signUpDomains], [['a.example', 'b.example'], ['c.example']]);
  const withdrawn = await update('--domain', 'none', '--sign-up-domain', 'none');
  assert.deepEqual([withdrawn.domains, withdrawn.signUpDomains], [[], []]);
});
