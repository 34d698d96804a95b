// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { authorizeUrl, newClient, newUser, signedIn, walk } from '../support/flow.ts';
import { assertStaysHere, codeOf, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// RFC 9700 §2.1, AZ-02: a redirect URI equals a registered one character for character, or there is no redirect.

const REGISTERED = [
  'https://app.example.com/callback',
  'https://app.example.com',
  'https://app.example.com/Path/%7Euser/a%2Fb',
  'https://app.example.com/query?tenant=1&next=%2Fhome',
  'https://app.example.com/empty-query?',
  'https://app.example.com:8443/callback',
  'https://xn--bcher-kva.example/callback',
  'http://localhost/callback',
  'http://127.0.0.1:8080/callback',
  'http://[::1]:8080/callback',
];

/** Signed in, with consent given: a request that passed the check would be answered with a code. */
const server = await startServer();
after(() => server.close());
const client = await newClient(server, { redirectUris: REGISTERED });
const user = await newUser(server);
const browser = await signedIn(server, user);
await walk(browser, authorizeUrl(client));

const ask = (redirectUri: string) => browser.get(authorizeUrl(client, { redirect_uri: redirectUri }));

for (const uri of REGISTERED) {
  test(`contract §4.1: ${uri} as registered is where the answer goes, with its own query kept`, async () => {
    const answer = await ask(uri);
    assert.equal(answer.status, 302);
    const location = answer.headers.get('location') ?? '';
    assert.ok(location.startsWith(uri), location);
    assert.match(location.slice(uri.length), uri.endsWith('?') ? /^code=/ : uri.includes('?') ? /^&code=/ : /^\?code=/);
    const added = [...new URLSearchParams(location.slice(uri.length).replace(/^[?&]/, '')).keys()];
    assert.deepEqual(added, ['code', 'state', 'iss']);
  });
}

const BASE = 'https://app.example.com/callback';
const mutants: readonly string[] = [
  // Letter case, of every part.
  'HTTPS://app.example.com/callback',
  'https://APP.example.com/callback',
  'https://app.example.com/Callback',
  'https://app.example.com/CALLBACK',
  'https://app.example.com/Path/%7euser/a%2fb',
  // Percent-encoding, once and twice.
  'https://app.example.com/%63allback',
  'https://app.example.com/callbac%6B',
  'https://app.example.com/%2563allback',
  'https://app.example.com%2Fcallback',
  'https%3A%2F%2Fapp.example.com%2Fcallback',
  'https://app.example.com/Path/~user/a%2Fb',
  'https://app.example.com/Path/%7Euser/a/b',
  'https://app.example.com/Path/%257Euser/a%252Fb',
  'https://app.example.com/callback%00',
  'https://app.example.com/callback%20',
  'https://app.example.com/callback%0d%0a',
  // Dot segments and other ways to climb.
  'https://app.example.com/./callback',
  'https://app.example.com/x/../callback',
  'https://app.example.com/callback/.',
  'https://app.example.com/callback/..',
  'https://app.example.com/callback/../evil',
  'https://app.example.com/callback/..;/evil',
  'https://app.example.com/callback;/../evil',
  'https://app.example.com/callback;x=1',
  'https://app.example.com/%2e/callback',
  'https://app.example.com/callback/%2e%2e/evil',
  'https://app.example.com/callback/..%2fevil',
  'https://app.example.com/callback%2f..%2fevil',
  'https://app.example.com/callback/..%5cevil',
  // Slashes.
  'https://app.example.com/callback/',
  'https://app.example.com//callback',
  'https://app.example.com/callback//',
  'https:/app.example.com/callback',
  'https:app.example.com/callback',
  'https:///app.example.com/callback',
  '//app.example.com/callback',
  '/callback',
  'app.example.com/callback',
  'https://app.example.com/',
  // Backslashes.
  'https:\\\\app.example.com\\callback',
  'https://app.example.com\\callback',
  'https://app.example.com/callback\\',
  'https://evil.example\\@app.example.com/callback',
  'https://app.example.com\\@evil.example/callback',
  // Ports.
  'https://app.example.com:443/callback',
  'https://app.example.com:/callback',
  'https://app.example.com:8444/callback',
  'https://app.example.com:08443/callback',
  'http://localhost:80/callback',
  'http://localhost:3000/callback',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:8081/callback',
  'http://[::1]/callback',
  'http://[0:0:0:0:0:0:0:1]:8080/callback',
  'http://127.1:8080/callback',
  'http://2130706433:8080/callback',
  'http://0x7f.0.0.1:8080/callback',
  'http://localhost.evil.test/callback',
  'http://127.0.0.1.evil.test:8080/callback',
  // Scheme.
  'http://app.example.com/callback',
  'https://localhost/callback',
  'javascript://app.example.com/callback',
  'data:text/html,https://app.example.com/callback',
  // Other hosts that look like it.
  'https://app.example.com.evil.example/callback',
  'https://evilapp.example.com/callback',
  'https://evil.app.example.com/callback',
  'https://example.com/callback',
  'https://app-example.com/callback',
  'https://appXexample.com/callback',
  'https://app.example.com./callback',
  'https://app。example.com/callback',
  'https://аpp.example.com/callback',
  'https://ａpp.example.com/callback',
  'https://bücher.example/callback',
  'https://XN--BCHER-KVA.example/callback',
  // User names and at-signs.
  'https://user@app.example.com/callback',
  'https://user:pass@app.example.com/callback',
  'https://@app.example.com/callback',
  'https://app.example.com@evil.example/callback',
  'https://app.example.com:443@evil.example/callback',
  'https://app.example.com%40evil.example/callback',
  'https://a@b@app.example.com/callback',
  'https://app.example.com@app.example.com@evil.example/callback',
  'https://app.example.com/callback@evil.example',
  // Fragments and queries.
  'https://app.example.com/callback#',
  'https://app.example.com/callback#fragment',
  'https://app.example.com/callback%23',
  'https://evil.example#https://app.example.com/callback',
  'https://evil.example/?https://app.example.com/callback',
  'https://app.example.com/callback?',
  'https://app.example.com/callback?x=1',
  'https://app.example.com/callback?code=stolen',
  'https://app.example.com/callback&x=1',
  'https://app.example.com/query',
  'https://app.example.com/query?',
  'https://app.example.com/query?tenant=2&next=%2Fhome',
  'https://app.example.com/query?next=%2Fhome&tenant=1',
  'https://app.example.com/query?tenant=1&next=/home',
  'https://app.example.com/query?tenant=1&next=%2Fhome&x=1',
  'https://app.example.com/query?tenant=1&next=%2Fhome&',
  'https://app.example.com/empty-query',
  // White space and control characters, which URL parsers drop or trim.
  ` ${BASE}`,
  `${BASE} `,
  `\t${BASE}`,
  `${BASE}\n`,
  `${BASE}\r\n`,
  `${BASE}\0`,
  'https://app.example.com/call\tback',
  'https://app.exam\nple.com/callback',
  'ht\ttps://app.example.com/callback',
  `${BASE}\u200b`,
  `${BASE}\u202e`,
  `\ufeff${BASE}`,
  // Patterns, lists and words that another implementation might have read into it.
  'https://app.example.com/*',
  'https://*.example.com/callback',
  'https://app.example.com/.*',
  '*',
  '.*',
  '%',
  '_',
  `${BASE},https://evil.example`,
  `${BASE} https://evil.example`,
  `["${BASE}"]`,
  'null',
  'undefined',
  'urn:ietf:wg:oauth:2.0:oob',
  'about:blank',
];

for (const mutant of mutants) {
  test(`AZ-02: ${JSON.stringify(mutant)} is refused here`, async () => assertStaysHere(await ask(mutant), 400));
}

for (const uri of REGISTERED) {
  test(`AZ-02: no single character of ${uri} can be left out, doubled, changed in case or encoded`, async () => {
    for (const [index, character] of [...uri].entries()) {
      const [head, tail] = [uri.slice(0, index), uri.slice(index + 1)];
      const encoded = `%${character.charCodeAt(0).toString(16)}`;
      const other = character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
      for (const instead of ['', character + character, encoded, other]) {
        const mutant = head + instead + tail;
        if (!REGISTERED.includes(mutant)) assertStaysHere(await ask(mutant), 400);
      }
    }
  });
}

// AZ-04: the check at registration is not the only one. These reach the database another way.
for (const uri of [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://app.example.com/1',
  'about:blank',
  'ftp://app.example.com/callback',
  'com.example.app:/callback',
  'myapp://callback',
  'https://app.example.com/callback#fragment',
  'https://app.example.com/callback#',
  'https://user@app.example.com/callback',
  'https://user:pass@app.example.com/callback',
  'https://app.example.com@evil.example/callback',
  'https://@evil.example/callback',
  'https://app.example.com\\@evil.example/callback',
  'http://app.example.com/callback',
  'http://127.0.0.1.evil.test/callback',
  'http://localhost.evil.test/callback',
  'http://localhost@evil.example/callback',
  'https://app.example.com/callback?code=x',
  'https://app.example.com/callback?state=x',
  'https://app.example.com/callback?error=x',
  'https://app.example.com/callback?iss=x',
  '/callback',
  '//evil.example/callback',
  'callback',
  'https:///evil.example/callback',
  'https:evil.example/callback',
  'https://app.example.com/callback\r\nSet-Cookie: a=b',
  'https://bücher.example/callback',
]) {
  test(`AZ-04: ${JSON.stringify(uri)} on record by another way is refused when it is used`, async () => {
    const bad = await newClient(server);
    await query(
      server,
      'UPDATE client SET redirect_uris = ? WHERE id = ?',
      JSON.stringify([uri]),
      BigInt(bad.clientId),
    );
    for (const more of [{}, { prompt: 'none' }, { scope: 'bogus' }]) {
      assertStaysHere(await browser.get(authorizeUrl({ ...bad, redirectUri: uri }, more)), 400);
    }
  });
}

test('the redirect URI of one client is not one of another that has the same app behind it', async () => {
  const second = await newClient(server, { redirectUris: ['https://app.example.com/second'] });
  const answer = await browser.get(authorizeUrl({ ...second, redirectUri: BASE }));
  assertStaysHere(answer, 400);
  codeOf(await ask(BASE));
});
