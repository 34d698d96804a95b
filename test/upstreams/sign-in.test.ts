// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MINUTE } from '../../src/platform/clock.ts';
import { agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  redeem,
  signedIn,
  standard,
  walk,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
});
const browserOf = () => agent(server.baseUrl);
let open: TestUpstream;
let closed: TestUpstream;

before(async () => {
  open = await newUpstream(server, { signUp: 'anyone', position: 2 });
  closed = await newUpstream(server, { position: 1 });
});
after(async () => {
  await open.provider[Symbol.asyncDispose]();
  await closed.provider[Symbol.asyncDispose]();
  await server.close();
});

const newPerson = (sub: string) => ({
  sub,
  name: 'Alice Example',
  email: `${sub}@upstream.example`,
  sid: `sid of ${sub}`,
});

/** An event, as the operator reads it. */
async function newestEvent(type: string) {
  const { body } = await admin(server, 'GET', `/audit-events?type=${type}&limit=200`);
  return body.items.at(-1);
}

describe('the buttons', () => {
  test('are on the sign-in and the sign-up page, in the order of the operator', async () => {
    for (const page of ['/login', '/signup']) {
      const { text } = await browserOf().get(page);
      const found = [...text.matchAll(/href="\/login\/with\/(provider-\d+)"/g)].map(([, name]) => name);
      assert.deepEqual(found, [closed.name, open.name], page);
    }
  });

  test('carry the request of an app', async () => {
    const client = standard(await newClient(server));
    const browser = browserOf();
    const asked = await browser.get(authorizeUrl(client, { scope: 'openid' }));
    const { text } = await browser.get(asked.location?.href ?? '');
    assert.match(text, new RegExp(`href="/login/with/${open.name}\\?request=`));
  });
});

describe('a sign-in through another provider', () => {
  test('takes state, nonce, PKCE and the one redirect URI along', async () => {
    const left = await browserOf().get(`/login/with/${open.name}`);
    const { searchParams: asked, origin } = left.location ?? new URL('about:blank');
    assert.equal(origin, open.provider.issuer);
    assert.equal(asked.get('redirect_uri'), `${server.baseUrl}/login/with/${open.name}/callback`);
    assert.deepEqual([asked.get('response_type'), asked.get('code_challenge_method')], ['code', 'S256']);
    for (const name of ['state', 'nonce', 'code_challenge']) assert.ok((asked.get(name) ?? '').length >= 43, name);
  });

  test('creates an account whose address is proved here, and finds it again by the subject alone', async () => {
    const person = newPerson('first');
    const email = 'first@example.com';
    await joinedThrough(server, open, { person, username: 'first', email });
    const [row] = await query(
      server,
      `SELECT id, email, email_verified, password_hash FROM account WHERE username = 'first'`,
    );
    assert.deepEqual([row?.['email'], row?.['email_verified'], row?.['password_hash']], [email, '1', null]);
    // Another name and address there change nothing here.
    open.provider.person = { ...person, name: 'Mallory', email: 'mallory@upstream.example', email_verified: true };
    const browser = browserOf();
    assert.equal((await throughUpstream(browser, open)).location?.pathname, '/account');
    assert.match((await browser.get('/account')).text, /first/);
    const event = await newestEvent('sign_in.succeeded');
    assert.deepEqual([event.userId, event.details.methods], [String(row?.['id']), ['upstream']]);
  });

  test('goes on with the request of an app, which learns how the person signed in', async () => {
    const person = { ...newPerson('for-app'), amr: ['pwd', 'mfa'] };
    await joinedThrough(server, open, { person, username: 'for-app', email: 'for-app@example.com' });
    const client = standard(await newClient(server));
    const browser = browserOf();
    const asked = await browser.get(authorizeUrl(client, { scope: 'openid', claims: '{"id_token":{"acr":null}}' }));
    const back = await throughUpstream(browser, open, asked.location?.search);
    assert.equal(back.location?.pathname, '/consent');
    const target = await walk(browser, back.location.href);
    const { body } = await redeem(server, client, target.searchParams.get('code') ?? '');
    const { amr, acr } = claimsOf(body.id_token);
    assert.deepEqual(amr, ['upstream', 'upstream:pwd', 'upstream:mfa'], 'marked as the words of the provider');
    assert.equal(acr, undefined, 'what a provider says is no second factor here');
  });

  test('asks for the second factor that the account has here', async () => {
    const person = newPerson('two-step');
    const browser = await joinedThrough(server, open, { person, username: 'two-step', email: 'two-step@example.com' });
    const [row] = await query(server, `SELECT id FROM account WHERE username = 'two-step'`);
    const factor = await enroll(server, { id: String(row?.['id']) });
    assert.equal((await browser.get('/account')).status, 200);
    const other = browserOf();
    const back = await throughUpstream(other, open);
    assert.equal(back.location?.pathname, '/login/verify');
    assert.equal((await other.get('/account')).location?.pathname, '/login', 'nothing is signed in yet');
    server.advance(MINUTE);
    const done = await other.submit(
      await other.get('/login/verify'),
      { code: totpCode(factor, server.now()), with: 'app' },
      '/login/verify',
    );
    assert.equal(done.location?.pathname, '/account');
    const rows = await query(server, `SELECT upstream_sid FROM upstream_session WHERE upstream_sid = '${person.sid}'`);
    assert.ok(rows.length >= 1, 'the session is still the upstream’s after the second factor');
  });

  test('is refused to a banned and a suspended person as everywhere', async () => {
    const person = newPerson('barred');
    await joinedThrough(server, open, { person, username: 'barred', email: 'barred@example.com' });
    const [row] = await query(server, `SELECT id FROM account WHERE username = 'barred'`);
    for (const state of ['ban', 'suspension']) {
      await admin(server, 'PUT', `/users/${row?.['id']}/${state}`, {});
      assert.equal((await throughUpstream(browserOf(), open)).status, 403, state);
      await admin(server, 'DELETE', `/users/${row?.['id']}/${state}`);
    }
  });

  test('passes prompt, max_age and login_hint on, and believes auth_time only', async () => {
    await joinedThrough(server, open, { person: newPerson('again'), username: 'again', email: 'again@example.com' });
    const client = standard(await newClient(server));
    const ask = async (parameters: Record<string, string>) => {
      const browser = browserOf();
      const asked = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }));
      const left = await browser.get(`/login/with/${open.name}${asked.location?.search}`);
      return { browser, left: left.location ?? new URL('about:blank') };
    };
    const { browser, left } = await ask({ max_age: '60', prompt: 'login', login_hint: 'alice' });
    const sent = Object.fromEntries(
      ['max_age', 'prompt', 'login_hint'].map((name) => [name, left.searchParams.get(name)]),
    );
    assert.deepEqual(sent, { max_age: '60', prompt: 'login', login_hint: 'alice' });
    assert.equal((await browser.get(open.provider.authorize(left.href).href)).location?.pathname, '/consent');
    for (const change of [{ auth_time: undefined }, { auth_time: Math.floor(server.now() / 1000) - 3600 }]) {
      const { browser: another, left: gone } = await ask({ max_age: '60' });
      open.provider.tricks = { claims: (claims) => ({ ...claims, ...change }) };
      const answer = await another.get(open.provider.authorize(gone.href).href);
      open.provider.tricks = {};
      assert.equal(answer.status, 400);
      assert.match((await newestEvent('upstream.refused')).details.reason, /auth_time/);
    }
  });
});

describe('an app asks for a class of authentication', () => {
  const MFA = 'https://refeds.org/profile/mfa';
  const knows = (acrs: unknown) => ({
    metadata: (known: object) => ({ ...known, acr_values_supported: acrs }),
  });

  /** A provider that says what it says of classes, and a person who is known there. */
  async function provider(acrs: unknown, username: string) {
    const upstream = await newUpstream(server, { signUp: 'anyone' });
    upstream.provider.tricks = knows(acrs);
    const person = newPerson(username);
    await joinedThrough(server, upstream, { person, username, email: `${username}@example.com` });
    const client = standard(await newClient(server));
    const leave = async (parameters: Record<string, string>) => {
      const browser = browserOf();
      const asked = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }));
      const { location } = await browser.get(`/login/with/${upstream.name}${asked.location?.search}`);
      return { browser, left: location ?? new URL('about:blank') };
    };
    const come = async ({ browser, left }: Awaited<ReturnType<typeof leave>>) => {
      const back = await browser.get(upstream.provider.authorize(left.href).href);
      const target = back.location ?? new URL('about:blank');
      return target.origin === new URL(server.baseUrl).origin ? walk(browser, target.href) : target;
    };
    const end = async () => {
      await upstream.provider[Symbol.asyncDispose]();
      await admin(server, 'POST', `/upstreams/${upstream.id}/disable`, {});
      server.advance(11_000);
    };
    return { upstream, person, client, leave, come, end };
  }

  test('and a provider that knows it is asked for it, as for no other', async () => {
    const { leave, end } = await provider([MFA, 'urn:example:gold'], 'acr-asked');
    const sent = async (parameters: Record<string, string>) =>
      (await leave(parameters)).left.searchParams.get('acr_values');
    assert.equal(await sent({ acr_values: `phr ${MFA} urn:example:gold` }), MFA);
    assert.equal(await sent({ claims: JSON.stringify({ id_token: { acr: { essential: true, value: MFA } } }) }), MFA);
    assert.equal(await sent({ acr_values: 'phr' }), null, 'the provider does not know it');
    assert.equal(await sent({}), null, 'nothing was asked for');
    await end();
  });

  test('and one that does not say what it knows is not asked', async () => {
    for (const [index, acrs] of [undefined, MFA, null, {}].entries()) {
      const { leave, end } = await provider(acrs, `acr-silent-${index}`);
      assert.equal((await leave({ acr_values: MFA })).left.searchParams.get('acr_values'), null);
      await end();
    }
  });

  test('and what the provider says of it meets nothing: the app is told that it is not met', async () => {
    const { upstream, leave, come, end } = await provider([MFA], 'acr-claimed');
    upstream.provider.person = { ...upstream.provider.person, acr: MFA, amr: ['mfa'] };
    const target = await come(await leave({ acr_values: MFA }));
    assert.equal(target.searchParams.get('error'), 'unmet_authentication_requirements');
    assert.equal(target.searchParams.get('code'), null);
    await end();
  });

  test('and a class that nobody asked the provider for is no class here either', async () => {
    const { upstream, person, client, leave, come, end } = await provider([MFA], 'acr-unasked');
    for (const acr of [MFA, 'phr', undefined]) {
      upstream.provider.person = { ...person, amr: ['mfa'], ...(acr !== undefined && { acr }) };
      const gone = await leave({ claims: '{"id_token":{"acr":null}}' });
      assert.equal(gone.left.searchParams.get('acr_values'), null);
      const { body } = await redeem(server, client, (await come(gone)).searchParams.get('code') ?? '');
      const claims = claimsOf(body.id_token);
      assert.deepEqual([claims.acr, claims.amr], [undefined, ['upstream', 'upstream:mfa']], String(acr));
    }
    await end();
  });
});

describe('an app asks for a provider', () => {
  const ask = async (upstream: string) => {
    const client = standard(await newClient(server));
    const browser = browserOf();
    const asked = await browser.get(authorizeUrl(client, { scope: 'openid', upstream }));
    return { browser, query: asked.location?.search ?? '', login: await browser.get(asked.location?.href ?? '') };
  };

  test('and the person goes there without the sign-in page, and back to the app', async () => {
    const person = newPerson('asked-for');
    await joinedThrough(server, open, { person, username: 'asked-for', email: 'asked-for@example.com' });
    const { browser, login, query } = await ask(open.name);
    assert.equal(login.location?.pathname, `/login/with/${open.name}`);
    open.provider.person = person;
    assert.equal((await throughUpstream(browser, open, query)).location?.pathname, '/consent');
  });

  test('and who is not known there finds the sign-in page', async () => {
    const { browser, query } = await ask(open.name);
    open.provider.person = newPerson('asked-for-by-nobody');
    const back = await throughUpstream(browser, open, query);
    const { text } = await browser.get(back.location?.href ?? '');
    const [, other = ''] = /href="([^"]*other=1)"/.exec(text) ?? [];
    assert.equal((await browser.get(other.replaceAll('&amp;', '&'))).status, 200);
  });

  test('that is not offered, and the sign-in page is shown', async () => {
    for (const upstream of ['unknown', '../../account', 'https://evil.example', '']) {
      const { login } = await ask(upstream);
      assert.deepEqual([login.status, login.location], [200, undefined], upstream);
    }
  });
});

describe('what comes back is of use to one browser, once', () => {
  const known = newPerson('states');
  before(async () => {
    await joinedThrough(server, open, { person: known, username: 'states', email: 'states@example.com' });
  });
  const begun = async () => {
    open.provider.person = known;
    const browser = browserOf();
    const left = await browser.get(`/login/with/${open.name}`);
    return { browser, callback: open.provider.authorize(left.location?.href ?? '') };
  };

  test('not to another browser', async () => {
    const { browser, callback } = await begun();
    assert.equal((await browserOf().get(callback.href)).status, 400);
    assert.equal((await browser.get(callback.href)).location?.pathname, '/account', 'its honest twin');
  });

  test('not twice, even if the provider accepts its code twice', async () => {
    const { browser, callback } = await begun();
    assert.equal((await browser.get(callback.href)).status, 302);
    const again = open.provider.authorize(
      (await browser.get(`/login/with/${open.name}`)).location?.href ?? 'about:blank',
    );
    assert.equal((await browser.get(callback.href)).status, 502, 'the provider refuses the code');
    assert.ok(again.searchParams.get('state') !== callback.searchParams.get('state'));
  });

  test('not after a quarter of an hour', async () => {
    const { browser, callback } = await begun();
    server.advance(16 * MINUTE);
    assert.equal((await browser.get(callback.href)).status, 400);
  });

  test('not at the address of another provider (mix-up)', async () => {
    const { browser, callback } = await begun();
    const mixed = callback.href.replace(`/${open.name}/`, `/${closed.name}/`);
    assert.equal((await browser.get(mixed)).status, 400);
    assert.equal(closed.provider.asked.includes('/token'), false, 'no code goes to another provider');
  });

  test('not with a changed state, or with none', async () => {
    const { browser, callback } = await begun();
    const state = callback.searchParams.get('state') ?? '';
    for (const changed of [`${state.slice(0, -4)}AAAA`, '', 'x'.repeat(3000)]) {
      callback.searchParams.set('state', changed);
      assert.equal((await browser.get(callback.href)).status, 400);
    }
  });

  test('in two tabs at the same time', async () => {
    const browser = browserOf();
    open.provider.person = known;
    const [one, other] = [await browser.get(`/login/with/${open.name}`), await browser.get(`/login/with/${open.name}`)];
    for (const left of [other, one]) {
      const answer = await browser.get(open.provider.authorize(left.location?.href ?? '').href);
      assert.equal(answer.location?.pathname, '/account');
    }
  });
});

describe('what is refused is explained', () => {
  test('to a person who cancels, without a report', async () => {
    open.provider.tricks = { callback: (parameters) => parameters.set('error', 'access_denied') };
    const answer = await throughUpstream(browserOf(), open);
    open.provider.tricks = {};
    assert.equal(answer.status, 400);
    assert.match(answer.text, /You did not sign in at/);
    assert.doesNotMatch(answer.text, /reference/);
  });

  test('with the id of the request, by which the operator finds the reason', async () => {
    open.provider.tricks = { claims: (claims) => ({ ...claims, aud: 'another' }) };
    const answer = await throughUpstream(browserOf(), open);
    open.provider.tricks = {};
    const id = answer.headers.get('x-request-id') ?? '';
    assert.ok(answer.text.includes(id));
    const event = await newestEvent('upstream.refused');
    assert.equal(event.requestId, id);
    assert.match(event.details.reason, /aud/);
    assert.doesNotMatch(answer.text, /audience/, 'the reason itself is for the operator');
  });

  test('a wrong secret: the trace names the remedy', async () => {
    const path = `/upstreams/${open.id}`;
    await admin(server, 'PATCH', path, { clientSecret: 'wrong' });
    const answer = await throughUpstream(browserOf(), open);
    await admin(server, 'PATCH', path, { clientSecret: open.provider.clientSecret });
    const { body } = await admin(server, 'GET', `/traces/${answer.headers.get('x-request-id')}`);
    const { step, received, remedy } = body.steps.at(-1);
    assert.equal(step, 'sign-in');
    assert.match(received, /token endpoint: .*invalid_client/);
    assert.match(
      remedy,
      new RegExp(
        `does not accept the client ID or the secret.*tessera upstream update ${open.name} --client-secret-stdin`,
      ),
    );
  });

  test('where the provider does not answer', async () => {
    const dead = await newUpstream(server);
    await dead.provider[Symbol.asyncDispose]();
    const answer = await browserOf().get(`/login/with/${dead.name}`);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /cannot be reached/);
    await admin(server, 'POST', `/upstreams/${dead.id}/disable`, {});
    server.advance(11_000);
  });

  test('where nobody may create an account', async () => {
    closed.provider.person = newPerson('nobody');
    const browser = browserOf();
    const back = await throughUpstream(browser, closed);
    const { text, status } = await browser.get(back.location?.href ?? '');
    assert.equal(status, 200);
    assert.match(text, /No account here is connected/);
    assert.doesNotMatch(text, /name="username"/);
    assert.equal((await browser.post(`/login/with/${closed.name}/new`, { username: 'nobody' })).status, 400);
  });
});

describe('an address decides nothing', () => {
  test('nOAuth: the verified address of another person signs in nowhere', async () => {
    const user = await newUser(server, { username: 'victim', email: 'victim@example.com', emailVerified: true });
    open.provider.person = { sub: 'attacker', email: 'victim@example.com', email_verified: true, name: 'Victim' };
    const browser = browserOf();
    const back = await throughUpstream(browser, open);
    assert.equal(back.location?.pathname, `/login/with/${open.name}/new`);
    const page = await browser.get(back.location.href);
    const fields = { displayName: 'Victim', username: 'not-the-victim', email: 'victim@example.com' };
    const sent = await browser.submit(page, fields, back.location.pathname);
    // As for any address: who reads the mailbox learns that there is an account.
    assert.equal(sent.location?.pathname, '/signup/verify');
    const [mail] = await mailsTo(server, 'victim@example.com');
    assert.equal(mail?.kind, 'account exists');
    assert.equal((await query(server, `SELECT id FROM upstream_identity WHERE account_id = '${user.id}'`)).length, 0);
    // The honest twin: the owner signs in with the password.
    assert.equal((await (await signedIn(server, user)).get('/account')).status, 200);
  });

  test('pre-hijacking: an account that a stranger made with an address loses it to the person who proves it', async () => {
    const stranger = await newUser(server, { username: 'stranger', email: 'owned@example.com', emailVerified: false });
    const strangers = await signedIn(server, stranger);
    await joinedThrough(server, open, {
      person: newPerson('owner'),
      username: 'the-owner',
      email: 'owned@example.com',
    });
    assert.equal((await strangers.get('/account')).location?.pathname, '/login', 'the session of the stranger ended');
    const rows = await query(
      server,
      `SELECT a.username FROM upstream_identity i JOIN account a ON a.id = i.account_id WHERE i.subject = 'owner'`,
    );
    assert.deepEqual(
      rows.map(({ username }) => username),
      ['the-owner'],
    );
  });

  test('a provider that vouches for any address gets none verified', async () => {
    const trusting = await newUpstream(server, { signUp: 'domains', signUpDomains: ['corp.example'] });
    trusting.provider.person = { sub: 'liar', email: 'ceo@corp.example', email_verified: true };
    const browser = browserOf();
    const back = await throughUpstream(browser, trusting);
    const page = await browser.get(back.location?.href ?? '');
    const path = `/login/with/${trusting.name}/new`;
    const fields = { displayName: 'Liar', username: 'liar', email: 'ceo@corp.example' };
    const outside = await browser.submit(page, { ...fields, email: 'liar@other.example' }, path);
    assert.equal(outside.status, 400, 'another domain');
    assert.equal((await browser.submit(page, fields, path)).location?.pathname, '/signup/verify');
    const wrong = await browser.submit(await browser.get('/signup/verify'), { code: '000000' }, '/signup/verify');
    assert.equal(wrong.status, 400);
    assert.deepEqual(await query(server, `SELECT id FROM account WHERE username = 'liar'`), []);
    await trusting.provider[Symbol.asyncDispose]();
  });
});
