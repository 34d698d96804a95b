// store: SQLite, PostgreSQL with --all
/** Decisions §12: every command that mirrors a route of the admin API works at a server elsewhere, and does the same there. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ON_SERVER_ONLY } from '../../src/cli/on-server-only.ts';
import { program } from '../../src/cli/program.ts';
import { saveSignIn } from '../../src/cli/sign-ins.ts';
import { certificate, certificateKey } from '../support/certificate.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';
import { type Outcome, tessera } from './command.ts';
import { changesBy, commandNames, type RunCommand, reads, runHere } from './every-command.ts';

// The commands read the settings of this process; the developer’s own must not reach them.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
process.env['TESSERA_MAILBOX'] = 'on';

const folder = mkdtempSync(join(tmpdir(), 'tessera-elsewhere-'));
const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_ADMIN_KEY: 'off',
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function keyFile(name: string, key: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${key}\n`);
  return path;
}

const OWNER = keyFile('owner', ADMIN_KEY);

/** Who did something: the command line on the server is no operator. */
const BY = ['madeBy', 'askedBy', 'decidedBy'];

/** The names and types of a record, to its depth. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  const fields = Object.entries(value).filter(([name]) => !BY.includes(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, shapeOf(field)]));
}

/** Runs a command, and keeps the shape of what it printed. */
function recording(flags: readonly string[]): { readonly run: RunCommand; readonly shapes: unknown[] } {
  const shapes: unknown[] = [];
  return {
    shapes,
    async run(...args) {
      try {
        const printed = await runHere(...args, ...flags);
        shapes.push(args.slice(0, 2), shapeOf(printed));
        return printed;
      } catch (error) {
        shapes.push(args.slice(0, 2), (error as Error).message.replaceAll(/\d{10,}/g, 'ID'));
        throw error;
      }
    },
  };
}

test('every command that is not for the server alone prints there what it prints on the server', async () => {
  const here = recording(['--data-dir', join(folder, 'data')]);
  const there = recording(['--server', server.baseUrl, '--key-file', OWNER]);
  const done = new Set<string>();
  const [changesHere, changesThere] = [changesBy(here.run), changesBy(there.run)];
  for (const [index, [name, act]] of changesHere.entries()) {
    if (name in ON_SERVER_ONLY) continue;
    if (name === 'client unassign') {
      for (const place of [here, there]) {
        const app = (await place.run('client', 'list')).find(
          (client: { name: string }) => client.name === 'B',
        ).clientId;
        for (const [read, args] of Object.entries(reads)) {
          done.add(read);
          // What is recorded differs by who acts, and what is not cached by when.
          if (read === 'events' || read === 'traces' || read === 'client log' || read === 'admin-key list') continue;
          await place.run(...read.split(' '), ...args.map((arg) => (arg === 'APP' ? app : arg)));
        }
      }
    }
    done.add(name);
    await act();
    await changesThere[index]?.[1]();
    assert.deepEqual(there.shapes, here.shapes, name);
    here.shapes.length = 0;
    there.shapes.length = 0;
  }
  for (const name of ['explain', 'login', 'logout']) done.add(name);
  const left = commandNames(program()).filter((name) => !done.has(name) && !(name in ON_SERVER_ONLY));
  assert.deepEqual(left, []);
});

test('events and steps of authorizations are followed from elsewhere by the same IDs', async () => {
  const at = ['--server', server.baseUrl, '--key-file', OWNER];
  const all = await runHere('events', '--limit', '250', ...at);
  const { body } = await admin(server, 'GET', '/audit-events?order=desc&limit=1');
  assert.equal(all.at(-1).id, body.items[0].id);
  assert.ok(all.length > 20);
  const [{ requestId }] = await runHere('events', '--limit', '1', ...at);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
});

describe('what happens', () => {
  test('is the act of the operator whose key it is', async () => {
    const grace = await newUser(server, { username: 'grace.hopper', password: undefined });
    const { body } = await admin(server, 'POST', '/admin-keys', { name: 'desk', role: 'support', expiresAt: null });
    const desk = keyFile('desk', body.adminKey);
    await runHere('user', 'suspend', 'grace.hopper', '--server', server.baseUrl, '--key-file', desk);
    const events = await runHere(
      ...['events', '--actor-id', body.id, '--type', 'account.suspended'],
      ...['--server', server.baseUrl, '--key-file', OWNER],
    );
    assert.deepEqual(
      events.map((event: { userId: string; actor: object; details: { actorRole: string } }) => [
        event.userId,
        event.actor,
        event.details.actorRole,
      ]),
      [[grace.id, { type: 'admin', id: body.id }, 'support']],
    );
  });
});

describe('a sign-in', () => {
  const home = { HOME: folder };

  test('takes the place of a key, until it ends; logout ends the token as well', async () => {
    const operator = await operatorInBrowser(server);
    await admin(server, 'PUT', `/users/${operator.user.id}/roles/auditor`, {});
    const token = await signInOnCommandLine(server, operator);
    saveSignIn(home, server.baseUrl, { token, endsAt: new Date(server.now()).toISOString() });
    assert.equal(statSync(join(folder, '.config', 'tessera', 'sign-ins.json')).mode & 0o777, 0o600);
    const at = ['--server', server.baseUrl];
    const found = await tessera(['user', 'show', operator.user.username, ...at, '--json'], { cwd: folder, env: home });
    assert.equal(JSON.parse(found.stdout).id, operator.user.id, found.stderr);
    const refused = await tessera(['user', 'ban', operator.user.username, ...at], { cwd: folder, env: home });
    assertRefused(refused, 1, /Missing permission: users\.ban/);
    assert.equal(
      (await tessera(['logout', ...at], { cwd: folder, env: home })).stdout,
      `You are signed out at ${server.baseUrl}.\n`,
    );
    assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
    assertRefused(
      await tessera(['user', 'list', ...at], { cwd: folder, env: home }),
      3,
      /or sign in with: tessera login/,
    );
    saveSignIn(home, server.baseUrl, { token, endsAt: new Date(server.now()).toISOString() });
    const ended = await tessera(['user', 'list', ...at], { cwd: folder, env: home });
    assertRefused(ended, 3, /does not accept your sign-in any more\. Sign in again with: tessera login/);
  });

  test('login and logout need a server', async () => {
    for (const name of ['login', 'logout']) assertRefused(await tessera([name], { cwd: folder }), 3, /Name the server/);
  });
});

/** Runs the real command at a server elsewhere. */
const elsewhere = (url: string, key: string, ...args: readonly string[]): Promise<Outcome> =>
  tessera([...args, '--server', url, '--key-file', key], { cwd: folder });

function assertRefused({ code, stdout, stderr }: Outcome, expected: number, message: RegExp): void {
  assert.equal(code, expected, `${stdout}${stderr}`);
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at /m, 'no stack trace');
  assert.ok(!stderr.includes(ADMIN_KEY));
  assert.equal(stdout, '');
}

/** A server that is not Tessera. */
async function withServer<T>(listener: RequestListener, work: (url: string) => Promise<T>, secure = false): Promise<T> {
  const other = secure
    ? createSecureServer({ cert: certificate, key: certificateKey }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    return await work(`${secure ? 'https' : 'http'}://localhost:${(other.address() as AddressInfo).port}`);
  } finally {
    other.closeAllConnections();
    other.close();
  }
}

describe('bad input', () => {
  test('no key, a file that is not there, an empty one, one with more than a key', async () => {
    const list = ['user', 'list', '--server', server.baseUrl];
    assertRefused(
      await tessera(list, { cwd: folder }),
      3,
      /needs an admin key or a sign-in: give the file of a key with --key-file/,
    );
    assertRefused(await elsewhere(server.baseUrl, join(folder, 'none'), 'user', 'list'), 3, /cannot be read: ENOENT/);
    assertRefused(await elsewhere(server.baseUrl, keyFile('empty', ''), 'user', 'list'), 3, /is empty/);
    assertRefused(await elsewhere(server.baseUrl, keyFile('two', 'a b'), 'user', 'list'), 3, /more in it than a key/);
  });

  test('a key that is unknown, or was revoked', async () => {
    assertRefused(
      await elsewhere(server.baseUrl, keyFile('unknown', 'tak_unknown'), 'user', 'list'),
      3,
      /does not accept the admin key in .*unknown: it is unknown there, was revoked or has ended/,
    );
    const { body } = await admin(server, 'POST', '/admin-keys', { name: 'gone', role: 'owner' });
    await admin(server, 'DELETE', `/admin-keys/${body.id}`);
    const outcome = await elsewhere(server.baseUrl, keyFile('gone', body.adminKey), 'user', 'list', '--json');
    assert.equal(outcome.code, 3);
    assert.equal(JSON.parse(outcome.stderr).error, 'invalid_token');
  });

  test('a missing permission names it; what is not there is exit code 4; what is wrong names the flag', async () => {
    const { body } = await admin(server, 'POST', '/admin-keys', { name: 'reads', role: 'auditor' });
    const reads = keyFile('reads', body.adminKey);
    const user = await newUser(server, { password: undefined });
    const refused = await elsewhere(server.baseUrl, reads, 'user', 'ban', user.id);
    assertRefused(
      refused,
      1,
      /Missing permission: users\.ban\. Use a key or an account with one of the roles that include it: owner, admin/,
    );
    assertRefused(await elsewhere(server.baseUrl, OWNER, 'user', 'show', 'nobody'), 4, /There is no user nobody/);
    const wrong = ['user', 'ban', user.id, '--reason', 'x'.repeat(501)];
    assertRefused(await elsewhere(server.baseUrl, OWNER, ...wrong), 1, /^--reason must be at most 500/);
  });

  test('an address that is none, one where nothing listens, a name that is unknown', async () => {
    assertRefused(
      await elsewhere('id.example.com', OWNER, 'user', 'list'),
      3,
      /--server .* must begin with http:\/\/ or https:\/\/: write https:\/\/id\.example\.com/,
    );
    let closed = '';
    await withServer(
      () => {},
      async (url) => {
        closed = url;
      },
    );
    assertRefused(await elsewhere(closed, OWNER, 'user', 'list'), 3, /nothing listens there/);
    assertRefused(await elsewhere('https://tessera.invalid', OWNER, 'user', 'list'), 3, /its name is not known/);
  });

  test('http beyond this machine: the key is not sent', async () => {
    assertRefused(await elsewhere('http://id.example.com', OWNER, 'user', 'list'), 3, /could read the admin key/);
  });

  test('another program, another path, a redirect: the key goes nowhere else', async () => {
    await withServer(
      (_request, response) => response.end('<h1>Hello</h1>'),
      async (url) => assertRefused(await elsewhere(url, OWNER, 'user', 'list'), 3, /not as the admin API/),
    );
    assertRefused(await elsewhere(`${server.baseUrl}/id`, OWNER, 'user', 'list'), 3, /status 404.*base URL/);
    const reached: (string | undefined)[] = [];
    await withServer(
      (request, response) => {
        reached.push(request.headers.authorization);
        response.end('{}');
      },
      (other) =>
        withServer(
          (_request, response) => response.writeHead(307, { location: `${other}/` }).end(),
          async (url) => assertRefused(await elsewhere(url, OWNER, 'user', 'list'), 3, /redirects to/),
        ),
    );
    assert.deepEqual(reached, []);
  });

  test('a certificate that nobody vouches for: nothing is sent', async () => {
    const reached: unknown[] = [];
    await withServer(
      (request, response) => {
        reached.push(request.headers.authorization);
        response.end('{}');
      },
      async (url) =>
        assertRefused(await elsewhere(url, OWNER, 'user', 'list'), 3, /certificate is not from an authority/),
      true,
    );
    assert.deepEqual(reached, []);
  });

  test('what works on the server alone says so, with its reason, and does nothing', async () => {
    for (const name of Object.keys(ON_SERVER_ONLY)) {
      const required =
        {
          'keys drop': ['x'],
          'mail test': ['a@example.com'],
          backup: ['/x'],
          restore: ['/x'],
          recover: ['--accept-loss'],
        }[name] ?? [];
      const promise = runHere(...name.split(' '), ...required, '--server', server.baseUrl, '--key-file', OWNER);
      await assert.rejects(promise, /This works only on the server itself/, name);
    }
    const token = runHere('explain', '--server', server.baseUrl, '--key-file', OWNER);
    await assert.rejects(token, /This works only on the server itself.*keys/);
    const last = runHere(
      'user',
      'delete',
      'ada',
      '--yes',
      '--last-owner',
      '--server',
      server.baseUrl,
      '--key-file',
      OWNER,
    );
    await assert.rejects(last, /--last-owner works only on the server itself/);
  });
});
