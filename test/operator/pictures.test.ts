// store: SQLite, PostgreSQL with --all
/** Pictures that operators give to apps and people, over the admin API and by command. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LARGEST_PICTURE } from '../../src/pictures/pictures.ts';
import type { Agent } from '../support/agent.ts';
import { call } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  signedIn,
  type TestClient,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { landscape, png, pngOfSize } from '../support/images.ts';
import { query } from '../support/outcome.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../support/server.ts';
import { tessera } from './command.ts';

let server: TestServer;
let client: TestClient;
let ada: TestUser;
let browser: Agent;
before(async () => {
  server = await startServer();
  [client, ada] = [await newClient(server, { name: 'Acme Notes' }), await newUser(server)];
  browser = await signedIn(server, ada);
  await walk(browser, authorizeUrl(client));
});
after(() => server.close());

const put = (path: string, body: Uint8Array, type = 'image/png') =>
  call(
    server,
    'PUT',
    `/api/v2/admin${path}`,
    { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': type },
    new Uint8Array(body),
  );
const ofClient = () => `/clients/${client.clientId}/picture`;

/** Where the pages show pictures of apps. */
const shown = (text: string): string[] =>
  [...text.matchAll(/(?:src|href)="(\/app-pictures\/[^"]+)"/g)].map(([, at]) => at ?? '');
async function pages(): Promise<Readonly<Record<string, string>>> {
  const asked = await browser.get(authorizeUrl(client, { prompt: 'consent' }));
  const choice = await browser.get(authorizeUrl(client, { prompt: 'login' }));
  return {
    consent: (await browser.get(asked.location?.href ?? '')).text,
    'sign-in': (await browser.get(choice.location?.href ?? '')).text,
    'connected apps': (await browser.get('/account/connections')).text,
  };
}

test('without a picture an app is shown by letters, and nothing is fetched from its logoUrl', async () => {
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { logoUrl: 'https://acme.example/logo.png' });
  for (const [name, text] of Object.entries(await pages())) {
    assert.deepEqual(shown(text), [], name);
    assert.ok(text.includes('>AN<'), name);
    assert.ok(!text.includes('acme.example/logo'), name);
  }
});

test('a picture of an app is on every page that names it, from our own origin; another takes its place', async () => {
  const answer = await put(ofClient(), await landscape().jpeg(), 'image/jpeg');
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.deepEqual([answer.body.clientId, answer.body.hasPicture], [client.clientId, true]);
  const addresses = new Set<string>();
  for (const [name, text] of Object.entries(await pages())) {
    const [address = '', ...more] = shown(text);
    assert.match(address, new RegExp(`^/app-pictures/${client.clientId}/[A-Za-z0-9_-]{22}\\.jpg$`), name);
    assert.deepEqual(more, [], name);
    assert.ok(!text.includes('>AN<'), name);
    addresses.add(address);
  }
  const [first = ''] = addresses;
  assert.equal(addresses.size, 1);
  const served = await call(server, 'GET', first);
  assert.equal(served.headers.get('content-type'), 'image/jpeg');
  assert.equal(served.headers.get('x-content-type-options'), 'nosniff');
  assert.match(served.headers.get('content-security-policy') ?? '', /sandbox/);
  await put(ofClient(), await landscape().png());
  assert.equal((await call(server, 'GET', first)).status, 404);
  assert.equal((await query(server, 'SELECT name FROM picture WHERE client_id = ?', client.clientId)).length, 1);
});

test('what is no picture is refused with its reason, and the one before stays', async () => {
  const before = await query(server, 'SELECT name FROM picture WHERE client_id = ?', client.clientId);
  const bad: readonly (readonly [Uint8Array, string, number, RegExp])[] = [
    [new Uint8Array(), 'image/png', 400, /is empty/],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png', 415, /JPEG, PNG or WebP/],
    [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'image/svg+xml',
      415,
      /Send image\/jpeg or image\/png or image\/webp/,
    ],
    [Buffer.from('{}'), 'application/json', 415, /does not accept application\/json/],
    [png(9, 9).subarray(0, 50), 'image/png', 400, /damaged or not whole/],
    [png(30_000, 30_000, { data: Buffer.alloc(9) }), 'image/png', 400, /too many pixels/],
    [pngOfSize(LARGEST_PICTURE + 1), 'image/png', 413, /larger than 1 MiB/],
  ];
  for (const [file, type, status, text] of bad) {
    const answer = await put(ofClient(), file, type);
    assert.deepEqual([answer.status, answer.body.error], [status, 'invalid_request'], answer.text);
    assert.match(answer.body.error_description, text);
  }
  for (const nobodys of [
    '/clients/333941264481144832/picture',
    '/users/333941264481144832/picture',
    '/clients/x/picture',
  ]) {
    assert.equal((await put(nobodys, png(1, 1))).status, 404, nobodys);
  }
  assert.deepEqual(await query(server, 'SELECT name FROM picture WHERE client_id = ?', client.clientId), before);
});

test('DELETE: the letters again, as often as it is asked; the change is recorded, once', async () => {
  for (let time = 0; time < 2; time++) {
    const answer = await admin(server, 'DELETE', ofClient());
    assert.deepEqual([answer.status, answer.body.hasPicture], [200, false]);
  }
  const { body } = await admin(server, 'GET', `/audit-events?clientId=${client.clientId}&type=client.updated`);
  const pictures = body.items.filter(
    ({ details }: { details: { fields: string[] } }) => details.fields[0] === 'picture',
  );
  assert.equal(pictures.length, 3);
});

test('an operator takes away what a person shows, and a client that is deleted takes its picture along', async () => {
  const given = await put(`/users/${ada.id}/picture`, await landscape().jpeg());
  assert.deepEqual([given.status, given.body.hasPicture], [200, true]);
  const taken = await admin(server, 'DELETE', `/users/${ada.id}/picture`);
  assert.deepEqual([taken.status, taken.body.hasPicture], [200, false]);
  const other = await newClient(server);
  await put(`/clients/${other.clientId}/picture`, png(3, 3));
  await admin(server, 'DELETE', `/clients/${other.clientId}`);
  assert.deepEqual(await query(server, 'SELECT name FROM picture'), []);
});

test('tessera client update --picture and --no-picture: what is no picture changes nothing else either', async () => {
  const file = join(server.dataDir, 'logo.png');
  writeFileSync(file, png(20, 20));
  const broken = join(server.dataDir, 'broken.png');
  writeFileSync(broken, 'none');
  const run = (...args: string[]) => tessera([...args, '--json'], { env: server.environment });
  const set = await run('client', 'update', client.clientId, '--picture', file, '--name', 'Acme Notes 2');
  assert.equal(set.code, 0, set.stderr);
  const { name, hasPicture } = JSON.parse(set.stdout);
  assert.deepEqual([name, hasPicture], ['Acme Notes 2', true]);
  const refused = await run('client', 'update', client.clientId, '--picture', broken, '--name', 'Never');
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /must be a JPEG, PNG or WebP file/);
  const removed = JSON.parse((await run('client', 'update', client.clientId, '--no-picture')).stdout);
  assert.deepEqual([removed.name, removed.hasPicture], ['Acme Notes 2', false]);
});
