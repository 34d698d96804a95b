// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, codeOf, MINUTE, SECOND, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §3.1.2.1, AZ-13: how old a sign-in may be, and whose it is.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server, { displayName: 'Ada <b>' });

/** A browser whose person signed in just now, and consented. */
async function fresh(who = user, of = client): Promise<Agent> {
  const browser = await signedIn(server, who);
  await walk(browser, authorizeUrl(of), { user: who });
  return browser;
}

const page = (answer: Answer): string => answer.location?.pathname ?? '';
const authTime = async (answer: Answer, of = client): Promise<number> =>
  claimsOf((await redeem(server, of, codeOf(answer))).body.id_token).auth_time;

describe('max_age', () => {
  test('a session exactly as old is good, and a millisecond later it is not', async () => {
    const browser = await fresh();
    server.advance(60 * SECOND);
    codeOf(await browser.get(authorizeUrl(client, { max_age: '60' })));
    server.advance(1);
    const begun = await browser.get(authorizeUrl(client, { max_age: '60' }));
    assert.equal(page(begun), '/login');
    codeOf(await browser.get(authorizeUrl(client, { max_age: '61' })));
    const form = await settle(browser, server, begun);
    const answer = await browser.submit(form, { identifier: user.username, password: PASSWORD });
    assert.equal(await authTime(answer), Math.floor(server.now() / 1000));
  });

  test('0 is a sign-in for every request, and one is enough', async () => {
    const browser = await fresh();
    const form = await settle(browser, server, await browser.get(authorizeUrl(client, { max_age: '0' })));
    codeOf(await browser.submit(form, { identifier: user.username, password: PASSWORD }));
    assert.equal(page(await browser.get(authorizeUrl(client, { max_age: '0' }))), '/login');
  });

  test('the longest that can be asked for needs no sign-in; what is no number of seconds is an error', async () => {
    const browser = await fresh();
    server.advance(MINUTE);
    codeOf(await browser.get(authorizeUrl(client, { max_age: '9999999999' })));
    for (const age of ['99999999999', '-1', '1e3', 'soon', '60s']) {
      const answer = await browser.get(authorizeUrl(client, { max_age: age }));
      assertErrorRedirect(answer, { error: 'invalid_request', state: 'st4te', to: client.redirectUri }, server);
    }
  });

  test('AZ-13: without max_age or prompt in a later request the one that waits is as strict as before', async () => {
    const browser = await fresh();
    server.advance(MINUTE);
    for (const more of [{ max_age: '30' }, { prompt: 'login' }]) {
      const begun = await browser.get(authorizeUrl(client, more));
      // The same request without them is answered at once; the page of the one before still asks for the password.
      codeOf(await browser.get(authorizeUrl(client)));
      for (const added of ['', '&prompt=none', '&max_age=9999', '&prompt=']) {
        for (const path of ['/consent', '/continue']) {
          const answer = await browser.get(`${path}${begun.location?.search}${added}`);
          assert.equal(page(answer), '/login', path + added);
        }
        const form = await browser.get(`/login${begun.location?.search}${added}`);
        assert.match(form.text, /id="password"/);
        const empty = { identifier: user.username, password: '', prompt: 'none', max_age: '9999' };
        assert.equal((await browser.submit(form, empty, '/login')).location, undefined);
      }
    }
  });

  test('with prompt=none: login_required, and a code while it is young enough', async () => {
    const browser = await fresh();
    codeOf(await browser.get(authorizeUrl(client, { max_age: '10', prompt: 'none' })));
    server.advance(11 * SECOND);
    for (const age of ['10', '0']) {
      const answer = await browser.get(authorizeUrl(client, { max_age: age, prompt: 'none' }));
      assertErrorRedirect(answer, { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
    }
  });

  test('a consent page that stays open for longer than max_age leads to no second sign-in', async () => {
    const browser = await fresh();
    const asked = authorizeUrl(client, { max_age: '0', prompt: 'consent' });
    const form = await settle(browser, server, await browser.get(asked));
    const consent = await settle(
      browser,
      server,
      await browser.submit(form, { identifier: user.username, password: PASSWORD }),
    );
    server.advance(30 * MINUTE);
    codeOf(await browser.submit(consent, { decision: 'allow' }, '/consent'));
  });

  test('AZ-13: an older sign-in in another tab is not one for this request', async () => {
    const browser = await fresh();
    server.advance(MINUTE);
    const begun = await browser.get(authorizeUrl(client, { max_age: '30' }));
    for (const path of ['/consent', '/continue']) {
      const answer = await browser.get(`${path}${begun.location?.search}`);
      assert.equal(answer.location?.href, begun.location?.href, path);
    }
  });

  test('Registration 1.0 §2: the client’s default_max_age holds where the request says nothing', async () => {
    const strict = await newClient(server, { defaultMaxAge: 60 });
    const browser = await fresh(user, strict);
    server.advance(2 * MINUTE);
    assert.equal(page(await browser.get(authorizeUrl(strict))), '/login');
    codeOf(await browser.get(authorizeUrl(strict, { max_age: '3600' })));
    await admin(server, 'PATCH', `/clients/${strict.clientId}`, { defaultMaxAge: null });
    codeOf(await browser.get(authorizeUrl(strict)));
  });
});

describe('AZ-13: a sign-in counts for the request that it was made for, and for no other', () => {
  const credentials = { identifier: user.username, password: PASSWORD };

  /** Every way on from a request that wants a sign-in of its own: each leads back to the sign-in page. */
  async function assertAsks(browser: Agent, begun: Answer): Promise<void> {
    const handle = begun.location?.searchParams.get('request') ?? '';
    for (const path of ['/consent', '/continue']) {
      const answer = await browser.get(`${path}?request=${handle}`);
      assert.equal(answer.location?.href, begun.location?.href, path);
    }
    const login = await browser.get(begun.location?.href ?? '');
    assert.equal(login.status, 200);
    assert.match(login.text, /type="password"/);
    const form_token = /name="form_token" value="([^"]*)"/.exec(login.text)?.[1] ?? '';
    for (const path of ['/consent', '/continue']) {
      const answer = await browser.post(path, { request: handle, form_token, decision: 'allow' });
      assert.equal(answer.location?.href, begun.location?.href, path);
    }
  }

  const wanted: readonly Readonly<Record<string, string>>[] = [
    { prompt: 'login' },
    { max_age: '0' },
    { prompt: 'login', max_age: '3600' },
    { prompt: 'login consent' },
  ];

  for (const parameters of wanted) {
    const asked = new URLSearchParams(parameters).toString();

    test(`${asked}: a later sign-in for another request, or for none, is not one for this request`, async () => {
      const browser = await fresh();
      const begun = await browser.get(authorizeUrl(client, parameters));
      server.advance(SECOND);
      const other = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
      codeOf(await browser.submit(other, credentials));
      await assertAsks(browser, begun);
      await browser.submit(await browser.get('/account'), {}, '/logout');
      server.advance(SECOND);
      assert.equal((await browser.submit(await browser.get('/login'), credentials)).location?.pathname, '/account');
      await assertAsks(browser, begun);
    });

    test(`${asked}: nor does one after the sign-in that was made for it`, async () => {
      const browser = await fresh();
      const begun = await browser.get(authorizeUrl(client, { ...parameters, scope: 'openid phone' }));
      const own = await browser.submit(await settle(browser, server, begun), credentials);
      assert.equal(page(own), '/consent');
      const other = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
      codeOf(await browser.submit(other, credentials));
      await assertAsks(browser, begun);
    });
  }
});

describe('prompt=select_account', () => {
  const choosing = async (browser: Agent, more: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'select_account', ...more })));

  test('one press goes on as the person who is signed in, with the same auth_time', async () => {
    const browser = await fresh();
    const signedInAt = Math.floor(server.now() / 1000);
    server.advance(MINUTE);
    const form = await choosing(browser);
    assert.match(form.text, /Continue as <bdi>Ada &lt;b&gt;<\/bdi> \(user\d+\)/);
    assert.equal(await authTime(await browser.submit(form, {}, '/continue')), signedInAt);
  });

  test('or another person signs in, and is asked for consent', async () => {
    const browser = await fresh();
    const other = await newUser(server);
    const answer = await browser.submit(
      await choosing(browser),
      { identifier: other.username, password: PASSWORD },
      '/login',
    );
    assert.equal(page(answer), '/consent');
  });

  test('each request asks anew; a choice is one for its own request', async () => {
    const browser = await fresh();
    const [first, second] = [await choosing(browser), await choosing(browser)];
    codeOf(await browser.submit(first, {}, '/continue'));
    const again = await settle(
      browser,
      server,
      await browser.get(second.text.match(/\/signup(\?request=[^"]+)/)?.[1]?.replace(/^/, '/login') ?? ''),
    );
    assert.match(again.text, /Continue as/);
  });

  test('a choice is of one session, and no sign-in: after another sign-in or past max_age it no longer holds', async () => {
    const browser = await fresh();
    const consentAfterChoice = async (more: Readonly<Record<string, string>>): Promise<Answer> => {
      const form = await choosing(browser, { scope: 'openid phone', ...more });
      return settle(browser, server, await browser.submit(form, {}, '/continue'));
    };
    const aged = await consentAfterChoice({ max_age: '60' });
    server.advance(60 * SECOND + 1);
    assert.equal(page(await browser.submit(aged, { decision: 'allow' }, '/consent')), '/login');
    const chosen = await consentAfterChoice({});
    const other = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
    codeOf(await browser.submit(other, { identifier: user.username, password: PASSWORD }));
    assert.equal(page(await browser.submit(chosen, { decision: 'allow' }, '/consent')), '/login');
  });

  test('with login or an exceeded max_age there is no going on without a password', async () => {
    const browser = await fresh();
    server.advance(MINUTE);
    const plain = await choosing(browser);
    for (const more of [{ prompt: 'login select_account' }, { max_age: '30' }]) {
      const form = await choosing(browser, more);
      assert.doesNotMatch(form.text, /Continue as/);
      const request = /name="request" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
      const token =
        /action="\/continue"><input type="hidden" name="form_token" value="([^"]+)"/.exec(plain.text)?.[1] ?? '';
      const forced = await browser.post('/continue', { request, form_token: token });
      assert.equal(page(forced), '/login');
    }
  });

  test('a form that was shown about another user says so, and leads to the page of the one who is signed in', async () => {
    const browser = await fresh();
    const form = await choosing(browser);
    const other = await newUser(server);
    await browser.submit(await browser.get('/account'), {}, '/logout');
    await browser.submit(await browser.get('/login'), { identifier: other.username, password: PASSWORD }, '/login');
    const answer = await browser.submit(form, {}, '/continue');
    assert.equal(answer.status, 400);
    assert.match(answer.text, /This page was opened for another account, so nothing was changed/);
    const [, next = ''] = /href="(\/continue\?request=[^"]+)"/.exec(answer.text) ?? [];
    const shown = await settle(browser, server, await browser.get(next));
    assert.match(shown.text, new RegExp(`\\(${other.username}\\)`));
  });

  test('forms of another site or without the token continue without a session', async () => {
    const browser = await fresh();
    const form = await choosing(browser);
    const request = /name="request" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    assert.equal((await browser.post('/continue', { request }, { 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal(page(await browser.post('/continue', { request, form_token: 'x' })), '/login');
    assert.equal((await browser.post('/continue', {})).status, 400);
  });
});
