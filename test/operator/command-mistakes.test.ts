// store: SQLite
/** Mistakes at the command line: each answer names what is wrong and what to do, and its exit code tells what kind of refusal it is. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { tesseraHere as tessera } from './command-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-mistakes-'));
const env = { TESSERA_DATA_DIR: join(folder, 'data') };
before(async () => {
  writeFileSync(
    join(folder, 'k.pem'),
    ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE KEY-----\n`).join('MC4=\n'),
  );
  await tessera(['migrate'], { env });
});
after(() => rmSync(folder, { recursive: true, force: true }));

const APP = ['client', 'create', '--name', 'My app', '--redirect-uri'];
const GOOD = 'https://app.example.com/cb';
const USER = ['user', 'create', '--username', 'ada', '--display-name', 'Ada', '--email'];
const ID = '384104438412873728';

const mistakes: readonly (readonly [args: readonly string[], code: number, ...told: readonly RegExp[]])[] = [
  // The form of a command.
  [['clinet', 'create'], 2, /unknown command 'clinet'/, /Did you mean client\?/],
  [
    ['user', 'remove-identity', 'ada', '-Yk3vZ0f1n8Qw'],
    2,
    /unknown option '-Yk3vZ0f1n8Qw'/,
    /after two dashes: -- -Yk3vZ0f1n8Qw/,
  ],
  [['user', 'update', 'ada', '-email', 'x'], 2, /unknown option '-email'\n\(Did you mean --email\?\)/],
  [['user', 'update', 'ada', '--emial', '-Yk3vZ0f1n8Qw'], 2, /unknown option '--emial'/, /Did you mean --email\?/],
  [['client', 'create', '--nam', 'x'], 2, /unknown option '--nam'/, /Did you mean --name\?/],
  [['client', 'rotate-secret'], 2, /missing required argument 'clientId'/],
  [['events', '--since', 'yesterday'], 2, /'yesterday' is invalid/, /2030-01-31T12:00:00Z, or 90m, 24h or 7d ago/],
  [['admin-key', 'create', '--name', 'x', '--role', 'amdin'], 2, /owner, admin, support, auditor, developer/],
  // Values.
  [['client', 'create', '--name', 'x'], 1, /--redirect-uri is missing/],
  [[...APP, 'http://app.example.com/cb'], 1, /must use https/, /localhost/],
  [
    [...APP, 'app.example.com/cb'],
    1,
    /must be an absolute URI: write https:\/\/ before it, as in https:\/\/app\.example/,
  ],
  [[...APP, 'localhost:8080/cb'], 1, /must be an absolute URI: write http:\/\/ before it/],
  [
    [...APP, GOOD, '--resource', 'api.example.com'],
    1,
    /--resource must be an absolute URI: write https:\/\/ before it/,
  ],
  [
    [...APP, GOOD, '--resource', 'notes'],
    1,
    /--resource must be an absolute URI, for example https:\/\/api\.example\.com/,
  ],
  [['keys', 'drop', 'x'], 1, /no terminal to ask in, so nothing was changed\. To go on, add --yes\./],
  [
    [...USER, 'ada@example.com', '--email-verified', 'false'],
    2,
    /takes no value, and got 'false'/,
    /--no-email-verified/,
  ],
  [['client', 'list', '--json', 'true'], 2, /option '--json' takes no value, and got 'true'\. Write --json alone/],
  [[...APP, `${GOOD}#x`], 1, /must have no fragment/],
  [[...APP, 'myapp://cb'], 1, /myapp: is not allowed/, /com\.example\.myapp:\/callback/, /type public/],
  [[...APP, GOOD, '--scope', 'emial'], 1, /--scope emial must be one of openid/, /Did you mean email\?/],
  [[...APP, GOOD, '--scope', 'read:notes'], 1, /scopes of an API are allowed with tessera client allow-scopes/],
  [[...APP, GOOD, '--type', 'native'], 1, /--type must be confidential or public/],
  [[...USER, 'ada@example'], 1, /--email must be an email address such as ada@example\.com/],
  [[...USER, 'ada@example.com', '--password', 'x'], 1, /other users .* process list/, /Use --password-stdin/],
  [['explain', 'abc'], 1, /must be a correlation ID/, /x-request-id/],
  [[...APP, `${GOOD},https://b.example.com/cb`], 1, /must be one address: register each of several by itself/],
  [
    ['user', 'list', '--server', 'http://localhost:9', '--key-file', 'none'],
    3,
    /Correct --key-file .*admin-key create/,
  ],
  [
    ['user', 'list', '--server', 'https://id.example.com/api/v2/admin', '--key-file', 'none'],
    3,
    /must be the base URL of the server: leave out \/api\/v2\/admin/,
  ],
  [[...APP, GOOD, '--jwks-file', 'k.pem'], 2, /this is PEM, and a private key.*a JSON Web Key Set of public keys/],
  [[...APP, GOOD, '--id-token-signed-response-alg', 'RS512'], 1, /or "" for the default/],
  [['mail', 'test', 'ada@example.com'], 3, /percent-encode # \/ \? @ : in the password/],
  // What is not there.
  [['client', 'show', ID], 4, new RegExp(`no client with the id ${ID}`)],
  [['client', 'show', 'My app'], 4, /tessera client list/],
  [['user', 'show', 'nobody@example.com'], 4, /tessera user list/],
  [['explain', '6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11'], 4, /no trace of the request/, /tessera events --request/],
  // What cannot run.
  [['serve', '--base-url', 'example.com'], 3, /TESSERA_BASE_URL must be an absolute URL, for example https:/],
  [['restore', 'nothing.tar'], 3, /nothing\.tar cannot be read/, /a file that tessera backup has written/],
];

for (const [args, code, ...told] of mistakes) {
  test(`tessera ${args.join(' ')}`, async () => {
    const smtp = args[0] === 'mail' ? { TESSERA_SMTP_URL: 'smtp://user:p#ss/1@host' } : {};
    const outcome = await tessera(args, { env: { ...env, ...smtp }, cwd: folder });
    assert.equal(outcome.code, code, outcome.stderr);
    for (const words of told) assert.match(outcome.stderr, words);
    assert.doesNotMatch(outcome.stderr, /^\s+at /m, 'no stack trace');
    assert.equal(outcome.stdout, '');
  });
}

/** Runs a command that works. */
async function made(...args: readonly string[]): Promise<Record<string, string>> {
  const outcome = await tessera([...args, '--json'], { env, cwd: folder });
  assert.equal(outcome.code, 0, outcome.stderr);
  return JSON.parse(outcome.stdout);
}

test('two arguments in the wrong order: which is which, and nothing is changed', async () => {
  await made('user', 'create', '--username', 'grace', '--display-name', 'Grace', '--email', 'grace@example.com');
  await made('group', 'create', '--name', 'analysts');
  await made('org', 'create', '--name', 'acme', '--domain', 'acme.example');
  const { clientId = '' } = await made('client', 'create', '--name', 'A', '--redirect-uri', GOOD);
  for (const [args, words] of [
    [
      ['group', 'add', 'grace', 'analysts'],
      /grace is a user, and a group comes first.*tessera group add <group> <user>/,
    ],
    [['group', 'remove', 'grace', 'analysts'], /tessera group remove <group> <user>/],
    [['org', 'add-member', 'grace', 'acme'], /grace is a user, and an organization comes first/],
    [['user', 'disconnect', clientId, 'grace'], /\d+ is an app, and a user comes first/],
    [['client', 'preview', 'grace', clientId], /grace is a user, and an app comes first/],
    [['client', 'access', 'grace', clientId], /grace is a user, and an app comes first/],
    [['user', 'remove-factor', 'totp', 'grace'], /tessera user remove-factor <user> <factorId>/],
  ] as const) {
    const outcome = await tessera(args, { env, cwd: folder });
    assert.equal(outcome.code, 1, args.join(' '));
    assert.match(outcome.stderr, words);
  }
});

test('an app and its API exchanged: which is which, and nothing is changed', async () => {
  const { clientId: app = '' } = await made('client', 'create', '--name', 'A', '--redirect-uri', GOOD);
  const asApi = ['--resource', 'https://api.example.com/n', '--resource-scope', 'notes.read=Read your notes'];
  const { clientId: api = '' } = await made('client', 'create', '--name', 'N', '--redirect-uri', GOOD, ...asApi);
  const exchanged = ['client', 'allow-scopes', api, '--api', app, '--scope', 'notes.read'];
  const outcome = await tessera(exchanged, { env, cwd: folder });
  assert.equal(outcome.code, 1, outcome.stderr);
  assert.match(outcome.stderr, new RegExp(`Exchange the two: tessera client allow-scopes ${app} --api ${api}`));
});

test('a key without a role is that of an owner, and the command says so', async () => {
  const without = await tessera(['admin-key', 'create'], { env, cwd: folder });
  assert.match(without.stderr, /Without --role this is the key of an owner/);
  const support = await tessera(['admin-key', 'create', '--role', 'support'], { env, cwd: folder });
  assert.doesNotMatch(support.stderr, /Without --role/);
});

for (const [url, told] of [
  ['smtp://127.0.0.1:9', /nothing listens there \(ECONNREFUSED\)\. Correct host and port/],
  ['smtp://mail.invalid:25', /the name of the mail server is not known/],
] as const) {
  test(`mail test at ${url}: what is wrong, in plain words`, async () => {
    const args = ['mail', 'test', 'ada@example.com'];
    const outcome = await tessera(args, { env: { ...env, TESSERA_SMTP_URL: url }, cwd: folder });
    assert.equal(outcome.code, 1, outcome.stderr);
    assert.match(outcome.stderr, told);
  });
}

test('mail test by smtps:// at a port without TLS', async () => {
  const plain = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'));
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port } = plain.address() as AddressInfo;
  const url = `smtps://127.0.0.1:${port}`;
  const args = ['mail', 'test', 'ada@example.com'];
  const outcome = await tessera(args, { env: { ...env, TESSERA_SMTP_URL: url }, cwd: folder });
  plain.close();
  assert.match(outcome.stderr, /the port does not begin with TLS: use smtp:\/\/ \(STARTTLS\)/);
});

test('an option that replaces a list: what it removed, and how to keep it', async () => {
  const { clientId = '' } = await made('client', 'create', '--name', 'A', '--redirect-uri', GOOD);
  const other = 'https://b.example.com/cb';
  const replaced = await tessera(['client', 'update', clientId, '--redirect-uri', other], { env, cwd: folder });
  assert.match(replaced.stderr, /Removed from redirectUris: https:\/\/app\.example\.com\/cb\..*--add-redirect-uri/);
  const added = await tessera(['client', 'update', clientId, '--add-redirect-uri', GOOD], { env, cwd: folder });
  assert.equal(added.stderr, '');
});

test('a link that begins with the default base URL says so, and one of a setting does not', async () => {
  await made('user', 'create', '--username', 'alan', '--display-name', 'Alan', '--email', 'alan@example.com');
  for (const args of [['user', 'recovery-link', 'alan'], ['invite', 'create'], ['setup-link']]) {
    const usual = await tessera(args, { env, cwd: folder });
    assert.match(
      usual.stderr,
      /begins with http:\/\/localhost:3000, the default, because TESSERA_BASE_URL is not set here/,
    );
    const set = await tessera(args, { env: { ...env, TESSERA_BASE_URL: 'https://id.example.com' }, cwd: folder });
    assert.equal(set.stderr, '');
    assert.match(set.stdout, /https:\/\/id\.example\.com\//);
  }
});
