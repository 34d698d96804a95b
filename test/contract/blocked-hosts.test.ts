// store: SQLite, PostgreSQL
/** A blocked host is blocked however it is written, and wherever an app of strangers sends people. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, authorizeUrl, newUser, signedIn, walk } from '../support/flow.ts';
import { startPublisher } from '../support/metadata-publisher.ts';
import { newSelfRegistered, registerSelf } from '../support/registration.ts';
import { startServer } from '../support/server.ts';

const publisher = await startPublisher();
const server = await startServer({
  TESSERA_REGISTRATION: 'open',
  TESSERA_CLIENT_METADATA: 'open',
  TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off',
});
after(async () => {
  await server.close();
  await publisher.close();
});

let hosts = 0;
const newHost = (): string => `host${++hosts}.example`;
const block = async (domain: string): Promise<string> => {
  const { status, body } = await admin(server, 'PUT', `/blocked-domains/${domain}`, {});
  assert.equal(status, 200, JSON.stringify(body));
  return body.domain;
};
const statusOf = async (clientId: string): Promise<string> =>
  (await admin(server, 'GET', `/clients/${clientId}`)).body.status;

/** Hosts that resolve to a name, or to one below it. */
const SPELLINGS: readonly ((host: string) => string)[] = [
  (host) => host,
  (host) => `${host}.`,
  (host) => host.toUpperCase(),
  (host) => `${host}:8443`,
  (host) => `${host}.:8443`,
  (host) => `${host.slice(0, 1)}%${host.charCodeAt(1).toString(16)}${host.slice(2)}`,
];

for (const [index, spell] of SPELLINGS.entries()) {
  test(`spelling ${index}: an app that leads to a blocked host is not registered, and one from before is disabled`, async () => {
    for (const [blocked, host] of [
      ['', ''],
      ['.', 'app.'],
    ]) {
      const name = newHost();
      const redirect_uris = [`https://${spell(`${host}${name}`)}/callback`];
      const app = await newSelfRegistered(server, { redirect_uris });
      await block(`${blocked}${name}`);
      assert.equal(await statusOf(app.clientId), 'disabled');
      assert.equal((await registerSelf(server, { redirect_uris })).status, 400);
    }
  });
}

test('a domain is blocked however it is written', async () => {
  for (const [typed, stored] of [
    ['Last.Example.', 'last.example'],
    ['.bücher.example', '.xn--bcher-kva.example'],
    ['.Localhost.', '.localhost'],
  ] as const) {
    assert.equal(await block(encodeURIComponent(typed)), stored);
    const unblocked = await admin(server, 'DELETE', `/blocked-domains/${encodeURIComponent(typed)}`);
    assert.equal(unblocked.status, 204);
  }
});

test('an app that sends people to a blocked host after they signed out is not registered, and one from before is disabled', async () => {
  const host = newHost();
  const uris = { redirect_uris: ['https://ok.example/callback'], post_logout_redirect_uris: [`https://${host}/bye`] };
  const app = await newSelfRegistered(server, uris);
  await block(host);
  assert.equal(await statusOf(app.clientId), 'disabled');
  assert.equal((await registerSelf(server, uris)).status, 400);
});

const PKCE = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };

test('an app whose metadata document is elsewhere sends nobody to a blocked host, unless an operator accepted it', async () => {
  const [host, other] = [newHost(), newHost()];
  const at = (name: string) => `https://${name}/callback`;
  const authorize = async (path: string, redirectUri: string) => {
    const app = publisher.app(path, { redirect_uris: [redirectUri] });
    const person = await newUser(server);
    const browser = await signedIn(server, person);
    const url = authorizeUrl({ ...app, redirectUri }, { scope: 'openid', ...PKCE });
    return { url, browser, go: () => walk(browser, url, { user: person }) };
  };
  const known = await authorize('/known.json', at(host));
  assert.ok((await known.go()).searchParams.has('code'));
  const accepted = await authorize('/accepted.json', at(host));
  assert.ok((await accepted.go()).searchParams.has('code'));
  const { body } = await admin(server, 'GET', '/unregistered-clients');
  const { clientId } = body.items.find((one: { metadataUrl: string | null }) =>
    one.metadataUrl?.endsWith('/accepted.json'),
  );
  assert.equal((await admin(server, 'PUT', `/clients/${clientId}/acceptance`, {})).status, 200);
  await block(host);
  await block(other);
  const isRefused = async ({ browser, url }: typeof known) => (await browser.get(url)).status === 400;
  assert.ok(await isRefused(known), 'one that was on record');
  assert.ok(await isRefused(await authorize('/new.json', at(other))), 'one that was not');
  assert.ok((await accepted.go()).searchParams.has('code'));
});
