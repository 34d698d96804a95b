// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cookieStyle } from '../../src/web/browser/browser.ts';
import { newUser, PASSWORD, type TestUser } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

// RFC 6265 §8.5: browsers send a cookie to every port and path of a host.

const [one, other] = [await startServer(), await startServer()];
after(() => Promise.all([one.close(), other.close()]));
const user = await newUser(one);
const neighbor = await newUser(other);

type Jar = Map<string, string>;

/** A request of a browser with one jar for all ports of a host. */
async function visit(jar: Jar, { baseUrl }: TestServer, path: string, form?: Readonly<Record<string, string>>) {
  const response = await fetch(baseUrl + path, {
    redirect: 'manual',
    headers: {
      accept: 'text/html',
      origin: new URL(baseUrl).origin,
      cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') jar.delete(name);
    else jar.set(name, value);
  }
  return { status: response.status, text: await response.text() };
}

const tokenOf = (page: string): string => /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';

async function signIn(jar: Jar, server: TestServer, { username }: TestUser): Promise<void> {
  const page = await visit(jar, server, '/login');
  const form = { form_token: tokenOf(page.text), identifier: username, password: PASSWORD };
  assert.equal((await visit(jar, server, '/login', form)).status, 303);
}

async function signOut(jar: Jar, server: TestServer): Promise<void> {
  const page = await visit(jar, server, '/account');
  const [, form = ''] = /<form[^>]* action="\/logout">(.*?)<\/form>/s.exec(page.text) ?? [];
  assert.equal((await visit(jar, server, '/logout', { form_token: tokenOf(form) })).status, 303);
}

const isSignedIn = async (jar: Jar, server: TestServer): Promise<boolean> =>
  (await visit(jar, server, '/account')).status === 200;

test('two servers on one host: a sign-in or sign-out at one changes nothing at the other', async () => {
  const jar: Jar = new Map();
  const open = await visit(jar, one, '/login');
  await signIn(jar, other, neighbor);
  const form = { form_token: tokenOf(open.text), identifier: user.username, password: PASSWORD };
  assert.equal((await visit(jar, one, '/login', form)).status, 303, 'a form that was open');
  assert.deepEqual([await isSignedIn(jar, one), await isSignedIn(jar, other)], [true, true]);
  await signOut(jar, one);
  assert.deepEqual([await isSignedIn(jar, one), await isSignedIn(jar, other)], [false, true]);
  await signIn(jar, one, user);
  await signOut(jar, other);
  assert.deepEqual([await isSignedIn(jar, one), await isSignedIn(jar, other)], [true, false]);
});

test('a base URL at the default port without a path keeps the plain names', () => {
  for (const baseUrl of ['https://id.example.com', 'http://id.example.com']) {
    assert.match(cookieStyle(baseUrl).session, /^(__Host-)?tessera_session$/, baseUrl);
  }
  const names = ['https://id.example.com', 'https://id.example.com:8443', 'https://id.example.com/a'].map(
    (baseUrl) => cookieStyle(baseUrl).session,
  );
  assert.equal(new Set(names).size, 3);
});
