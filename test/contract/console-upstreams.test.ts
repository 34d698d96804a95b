// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream } from '../upstreams/people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
const UPSTREAMS = '/console/upstreams';
let owner: TestOperator;
let auditor: TestOperator;
const running: TestUpstream[] = [];

before(async () => {
  owner = await newOperator(server, 'owner');
  auditor = await newOperator(server, 'auditor');
});
after(async () => {
  for (const { provider } of running) await provider[Symbol.asyncDispose]();
  await server.close();
});

/** A provider that answers. */
async function provider(fields = {}): Promise<TestUpstream> {
  const upstream = await newUpstream(server, fields);
  running.push(upstream);
  return upstream;
}

const read = async (id: string) => (await admin(server, 'GET', `/upstreams/${id}`)).body;
const on = (name: string, about: Readonly<Record<string, string>>, typed: Readonly<Record<string, string>> = {}) =>
  act(server, owner, `${UPSTREAMS}/${name}`, about, typed);

describe('the providers through which people sign in', () => {
  test('are listed, searched and opened by who may see them', async () => {
    const { id, name, provider: there } = await provider({ displayName: 'Acme Staff' });
    const list = await auditor.browser.get(UPSTREAMS);
    assert.equal(list.status, 200, list.text.slice(0, 500));
    assert.match(list.text, /Acme Staff/);
    assert.doesNotMatch(list.text, /upstreams\/new/, 'an auditor adds none');
    assert.match((await auditor.browser.get(`${UPSTREAMS}?q=acme+st`)).text, /Acme Staff/);
    assert.match((await auditor.browser.get(`${UPSTREAMS}?q=${id}`)).text, /Acme Staff/);
    assert.match(
      (await auditor.browser.get(`${UPSTREAMS}?q=nothing-like-it`)).text,
      /No results for <bdi>nothing-like-it</,
    );
    await admin(server, 'POST', '/upstreams', {
      ...{ name: 'of-a-realm', displayName: 'Überall', issuer: 'http://127.0.0.1:9/realms/Looms', clientId: 'a' },
    });
    for (const text of ['realms/looms', 'REALMS/LOOMS', 'Überall']) {
      const { text: found } = await auditor.browser.get(`${UPSTREAMS}?q=${encodeURIComponent(text)}`);
      assert.match(found, /of-a-realm/, text);
    }
    const page = await auditor.browser.get(`${UPSTREAMS}/${id}`);
    assert.ok(page.text.includes(`/login/with/${name}/callback`), 'the redirect URI');
    assert.ok(page.text.includes(`/upstreams/${name}/backchannel-logout`));
    assert.ok(page.text.includes(there.issuer));
    assert.ok(page.text.includes(`/console/events?upstreamId=${id}`));
    assert.ok(!page.text.includes(there.clientSecret));
    for (const name of ['change', 'domains', 'secret', 'test', 'preview', 'switch-off', 'delete']) {
      assert.ok(!page.text.includes(`${UPSTREAMS}/${name}?`), name);
      const refused = await auditor.browser.get(`${UPSTREAMS}/${name}?id=${id}`);
      assert.equal(refused.status, 403, name);
      assert.match(refused.text, /upstreams\.manage/);
    }
    assert.equal((await auditor.browser.get(`${UPSTREAMS}/1`)).status, 404);
    assert.equal((await auditor.browser.get(`${UPSTREAMS}/no-id`)).status, 404);
  });

  test('are hidden from a role that may not see them, which is told what it lacks', async () => {
    const support = await newOperator(server, 'support');
    assert.doesNotMatch((await support.browser.get('/console/people')).text, /console\/upstreams/);
    const refused = await support.browser.get(UPSTREAMS);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /upstreams\.read/);
  });

  test('list on from page to page', async () => {
    for (let index = 0; index < 26; index++) {
      const input = { name: `many-${index}`, issuer: `https://many-${index}.example`, clientId: 'a' };
      assert.equal((await admin(server, 'POST', '/upstreams', input)).status, 201);
    }
    const first = await auditor.browser.get(`${UPSTREAMS}?q=many-`);
    const next = /href="([^"]*after=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(first.text);
    const second = await auditor.browser.get(next);
    assert.match(second.text, /many-25/);
    assert.doesNotMatch(second.text, /many-0\b/);
  });
});

describe('adding a provider', () => {
  test('asks for its kind, and for what that kind needs alone', async () => {
    const kinds = await open(server, owner, `${UPSTREAMS}/new`);
    for (const kind of ['google', 'entra', 'okta', 'keycloak', 'tessera', 'github', 'apple', 'oidc']) {
      assert.ok(kinds.text.includes(`${UPSTREAMS}/create?provider=${kind}`), kind);
    }
    const fields = async (kind: string) => {
      const { text } = await open(server, owner, `${UPSTREAMS}/create?provider=${kind}`);
      return ['at', 'issuer', 'clientSecret', 'privateKey', 'teamId'].filter((name) => text.includes(`name="${name}"`));
    };
    assert.deepEqual(await fields('google'), ['clientSecret']);
    assert.deepEqual(await fields('entra'), ['at', 'clientSecret']);
    assert.deepEqual(await fields('apple'), ['privateKey', 'teamId']);
    assert.deepEqual(await fields('oidc'), ['issuer', 'clientSecret']);
    const page = await open(server, owner, `${UPSTREAMS}/create?provider=google`);
    assert.match(page.text, /login\/with\/google\/callback/, 'the redirect URI to register first');
    assert.equal((await owner.browser.get(`${UPSTREAMS}/create?provider=nothing`)).status, 404);
  });

  test('keeps its secret, shows it to nobody, and gives the addresses to register', async () => {
    const { provider: there } = await provider();
    const typed = {
      ...{ name: 'partner', issuer: there.issuer, clientId: there.clientId, clientSecret: 'never-shown-again' },
      ...{ secretEnds: '2099-01-31', signUp: 'domains', signUpDomains: 'example.com\nexample.org', displayName: '' },
    };
    const done = await on('create', { provider: 'oidc' }, typed);
    assert.equal(done.status, 200, done.text.slice(0, 2000));
    assert.match(done.text, /\/login\/with\/partner\/callback/);
    assert.doesNotMatch(done.text, /never-shown-again/);
    const id = /console\/upstreams\/(\d+)/.exec(done.text)?.[1] ?? assert.fail(done.text);
    const { signUp, signUpDomains, secretExpiresAt, hasClientSecret, status } = await read(id);
    assert.deepEqual(
      { signUp, signUpDomains, secretExpiresAt, hasClientSecret, status },
      {
        ...{ signUp: 'domains', signUpDomains: ['example.com', 'example.org'] },
        ...{ secretExpiresAt: '2099-01-31T00:00:00.000Z', hasClientSecret: true, status: 'active' },
      },
    );
    assert.doesNotMatch((await owner.browser.get(`${UPSTREAMS}/${id}`)).text, /never-shown-again/);
    const created = await admin(server, 'GET', `/audit-events?type=upstream.created&actorId=${owner.id}`);
    assert.equal(created.body.items[0].details.name, 'partner');
  });

  test('says at each field what is wrong, and shows no secret with it', async () => {
    const page = await open(server, owner, `${UPSTREAMS}/create?provider=oidc`);
    const send = (typed: Readonly<Record<string, string>>) =>
      owner.browser.submit(page, { clientSecret: 'not-to-be-seen', signUp: 'nobody', ...typed }, `${UPSTREAMS}/create`);
    const wrong = async (typed: Readonly<Record<string, string>>, field: string, what: RegExp) => {
      const answer = await send({ name: 'fine', issuer: 'https://fine.example', clientId: 'a', ...typed });
      assert.equal(answer.status >= 400, true, field);
      assert.match(answer.text, new RegExp(`id="${field}-note"`), field);
      assert.match(answer.text, what);
      assert.doesNotMatch(answer.text, /not-to-be-seen/);
    };
    await wrong({ name: 'Not A Slug' }, 'name', /2 to 32/);
    await wrong({ name: 'partner' }, 'name', /Another provider has this name/);
    await wrong({ issuer: 'https://id.example/?a=b' }, 'issuer', /must have neither a query/);
    await wrong({ clientId: '' }, 'clientId', /Enter the client ID/);
    await wrong({ signUp: 'domains', signUpDomains: '' }, 'signUpDomains', /at least one/);
    await wrong({ secretEnds: 'soon' }, 'secretEnds', /Choose a day/);
    const fine = { clientId: 'a', signUp: 'nobody' };
    const apple = await on('create', { provider: 'apple' }, { ...fine, name: 'apple-1', privateKey: 'not-a-key' });
    assert.equal(apple.status, 400);
    assert.doesNotMatch(apple.text, /not-a-key/);
    const entra = await on('create', { provider: 'entra' }, { ...fine, name: 'entra-1', at: 'x', clientSecret: 'y' });
    assert.match(entra.text, /This cannot be used\. The ID of a tenant/);
  });
});

describe('changing a provider', () => {
  test('changes what was typed, in the version that was shown', async () => {
    const { id } = await provider({ signUp: 'anyone', claimsMap: { name: '/name', picture: '/picture' } });
    const page = await open(server, owner, `${UPSTREAMS}/change?id=${id}`);
    const before = { clientId: 'tessera', scopes: 'openid profile email', signUp: 'nobody', position: '7' };
    const typed = { ...before, displayName: 'Renamed', mapName: '', mapPicture: '/picture', mapGroups: '/groups' };
    const done = await owner.browser.submit(page, typed, `${UPSTREAMS}/change`);
    assert.equal(done.status, 200, done.text.slice(0, 2000));
    const { displayName, signUp, claimsMap, position, scopes } = await read(id);
    assert.deepEqual(
      { displayName, signUp, claimsMap, position, scopes },
      {
        ...{
          displayName: 'Renamed',
          signUp: 'nobody',
          claimsMap: { picture: '/picture', groups: '/groups' },
          position: 7,
        },
        scopes: ['openid', 'profile', 'email'],
      },
    );
    const late = await owner.browser.submit(page, { ...before, displayName: 'Too Late' }, `${UPSTREAMS}/change`);
    assert.equal(late.status, 409);
    assert.match(late.text, /Somebody changed the provider/);
    assert.match(late.text, /value="Too Late"/, 'what was typed is kept');
    assert.match(late.text, /Renamed/);
    assert.equal((await read(id)).displayName, 'Renamed');
    // A pointer has what stands between the entries of a list.
    for (const mapName of ['/full name', '/full,name']) {
      await on('change', { id }, { ...before, displayName: 'Renamed', mapName });
      assert.equal((await read(id)).claimsMap.name, mapName);
    }
    const pointer = await on('change', { id }, { ...before, displayName: 'Renamed', mapName: 'no pointer' });
    assert.match(pointer.text, /id="mapName-note"/);
  });

  test('makes it authoritative for domains, each at one provider, and none of public mail', async () => {
    const [one, other] = [await provider(), await provider()];
    assert.equal((await on('domains', { id: one.id }, { domains: 'engines.example' })).status, 200);
    assert.deepEqual((await read(one.id)).domains, ['engines.example']);
    assert.match((await owner.browser.get(`${UPSTREAMS}/${one.id}`)).text, /engines\.example/);
    const taken = await on('domains', { id: other.id }, { domains: 'engines.example' });
    assert.match(taken.text, /engines\.example is taken/);
    const mail = await on('domains', { id: other.id }, { domains: 'gmail.com' });
    assert.match(mail.text, /gmail\.com, where anybody gets an address/);
    assert.equal((await on('domains', { id: one.id }, { domains: '' })).status, 200);
    assert.deepEqual((await read(one.id)).domains, []);
  });

  test('puts a new secret in the place of the one before', async () => {
    const { id, provider: there } = await provider({ clientSecret: 'wrong' });
    assert.match((await on('test', { id })).text, /Nobody can sign in/);
    const done = await on('secret', { id }, { clientSecret: there.clientSecret, secretEnds: '2099-02-01' });
    assert.equal(done.status, 200);
    assert.ok(!done.text.includes(there.clientSecret));
    assert.equal((await read(id)).secretExpiresAt, '2099-02-01T00:00:00.000Z');
    assert.match((await on('test', { id })).text, /can be used/);
    const empty = await on('secret', { id }, { clientSecret: '' });
    assert.equal(empty.status, 400);
    assert.match(empty.text, /Enter the client secret/);
  });
});

describe('trying a provider out', () => {
  test('says step by step what was found, and what is wrong', async () => {
    const { id } = await provider();
    const good = await on('test', { id });
    assert.match(good.text, /can be used/);
    assert.match(good.text, /accepts the client ID and the secret/);
    const input = { name: 'unreachable', issuer: 'http://127.0.0.1:9', clientId: 'a' };
    const { body } = await admin(server, 'POST', '/upstreams', input);
    const bad = await on('test', { id: body.id });
    assert.match(bad.text, /Nobody can sign in/);
    assert.match(bad.text, /Problem/);
  });

  test('shows what a token would do, and writes nothing', async () => {
    const { id } = await provider({ signUp: 'nobody', claimsMap: { name: '/name' } });
    const refused = await on('preview', { id }, { token: '{"sub":"stranger","name":"Ada"}' });
    assert.equal(refused.status, 200, refused.text.slice(0, 1000));
    assert.match(refused.text, /It is refused/);
    await admin(server, 'PATCH', `/upstreams/${id}`, { signUp: 'anyone' });
    const allowed = await on('preview', { id }, { token: '{"sub":"stranger","name":"Ada of the Looms"}' });
    assert.match(allowed.text, /The person may create an account/);
    assert.match(allowed.text, /Ada of the Looms/);
    const typo = await on('preview', { id }, { token: '{"sub":' });
    assert.equal(typo.status, 400);
    assert.match(typo.text, /Enter a JWT/);
    const jwt = await on('preview', { id }, { token: 'not-a-token-not-to-be-seen' });
    assert.doesNotMatch(jwt.text, /not-to-be-seen/);
  });
});

describe('switching a provider off', () => {
  test('shows whose sessions would end, and ends them if that is chosen', async () => {
    const upstream = await provider({ signUp: 'anyone' });
    const person = { sub: 'walker', email: 'walker@upstream.example' };
    const browser = await joinedThrough(server, upstream, { person, username: 'walker', email: 'walker@example.com' });
    const { id } = upstream;
    const asked = await open(server, owner, `${UPSTREAMS}/switch-off?id=${id}`);
    assert.match(asked.text, /1 person in 1 browser/);
    assert.match(asked.text, /walker/);
    const left = await owner.browser.submit(asked, {}, `${UPSTREAMS}/switch-off`);
    assert.match(left.text, /Who is signed in stays so/);
    assert.equal((await read(id)).status, 'disabled');
    assert.equal((await browser.get('/account')).status, 200);
    const ended = await on('switch-off', { id }, { end: 'yes' });
    assert.match(ended.text, /1 browser was signed out/);
    assert.notEqual((await browser.get('/account')).status, 200);
    assert.match(
      (await open(server, owner, `${UPSTREAMS}/switch-off?id=${id}`)).text,
      /Nobody is signed in through it/,
    );
    assert.equal((await on('switch-on', { id })).status, 200);
    assert.equal((await read(id)).status, 'active');
    const found = await owner.browser.get(`/console/events?upstreamId=${id}`);
    for (const type of ['upstream.created', 'upstream.disabled', 'upstream.sessions_ended', 'upstream.enabled']) {
      assert.ok(found.text.includes(type), type);
    }
    const others = await admin(server, 'GET', `/audit-events?upstreamId=${running[0]?.id}`);
    assert.ok(others.body.items.every(({ details }: { details: { upstreamId: string } }) => details.upstreamId !== id));
  });

  test('changes nothing where somebody switched it on or off since the page was opened', async () => {
    const { id } = await provider({ signUp: 'anyone' });
    const path = `${UPSTREAMS}/switch-off`;
    await admin(server, 'POST', `/upstreams/${id}/disable`, {});
    // To end what people got through it: it is switched off on that page.
    const asked = await open(server, owner, `${path}?id=${id}`);
    await admin(server, 'POST', `/upstreams/${id}/enable`, {});
    const late = await owner.browser.submit(asked, { end: 'yes' }, path);
    assert.equal(late.status, 409);
    assert.match(late.text, /switched the provider on since you opened this page/);
    assert.equal((await read(id)).status, 'active');
    // Now the page says that it is switched off.
    assert.match(late.text, /Nobody signs in through it from then on/);
    assert.equal((await owner.browser.submit(late, {}, path)).status, 200);
    assert.equal((await read(id)).status, 'disabled');

    const again = await open(server, owner, `${UPSTREAMS}/switch-on?id=${id}`);
    await admin(server, 'POST', `/upstreams/${id}/enable`, {});
    await admin(server, 'POST', `/upstreams/${id}/disable`, {});
    const refused = await owner.browser.submit(again, {}, `${UPSTREAMS}/switch-on`);
    assert.equal(refused.status, 409);
    assert.equal((await read(id)).status, 'disabled');
    // What else is changed of it does not matter.
    const shown = await open(server, owner, `${UPSTREAMS}/switch-on?id=${id}`);
    await admin(server, 'PATCH', `/upstreams/${id}`, { displayName: 'Renamed Meanwhile' });
    assert.equal((await owner.browser.submit(shown, {}, `${UPSTREAMS}/switch-on`)).status, 200);
  });

  test('comes before it is deleted, by who types its name', async () => {
    const upstream = await provider({ signUp: 'anyone' });
    const { id, name } = upstream;
    const person = { sub: 'loser', email: 'loser@upstream.example' };
    await joinedThrough(server, upstream, { person, username: 'loser', email: 'loser@example.com' });
    assert.equal((await on('delete', { id }, { typed: name })).status, 409, 'an active one is not');
    // A person is one, with however many accounts at the provider.
    await query(
      server,
      `INSERT INTO upstream_identity (id, upstream_id, issuer, subject, account_id, created_at) SELECT 'another', upstream_id, issuer, 'another', account_id, created_at FROM upstream_identity WHERE subject = 'loser'`,
    );
    await on('switch-off', { id });
    const asked = await open(server, owner, `${UPSTREAMS}/delete?id=${id}`);
    assert.match(asked.text, /1 person, who loses it/);
    const wrong = await owner.browser.submit(asked, { typed: 'another' }, `${UPSTREAMS}/delete`);
    assert.equal(wrong.status, 400);
    const done = await owner.browser.submit(asked, { typed: name }, `${UPSTREAMS}/delete`);
    assert.equal(done.status, 200);
    assert.equal((await admin(server, 'GET', `/upstreams/${id}`)).status, 404);
    assert.equal((await owner.browser.get(`${UPSTREAMS}/${id}`)).status, 404);
  });
});

describe('an organization that is let in only through one provider', () => {
  test('says so on its page and on that of the provider', async () => {
    const { id, name } = await provider({ displayName: 'Only This' });
    const organization = (await admin(server, 'POST', '/organizations', { name: `of-${name}`, domain: 'o.example' }))
      .body;
    const address = `/console/organizations/${organization.id}`;
    assert.match((await owner.browser.get(address)).text, /As they like/);
    const path = '/console/organizations/only-upstream';
    const done = await act(server, owner, path, { id: organization.id }, { upstream: id, end: 'yes' });
    assert.equal(done.status, 200, done.text.slice(0, 1000));
    const only = await admin(server, 'GET', `/organizations/${organization.id}/only-upstream`);
    assert.equal(only.body.upstreamId, id);
    assert.match((await owner.browser.get(address)).text, /Only through.*Only This/s);
    assert.ok((await owner.browser.get(`${UPSTREAMS}/${id}`)).text.includes(`of-${name}`));
    await on('switch-off', { id });
    const refused = await on('delete', { id }, { typed: name });
    assert.equal(refused.status, 409);
    assert.match(refused.text, /lets its members in only through/);
    const back = await act(server, owner, path, { id: organization.id }, { upstream: '' });
    assert.match(back.text, /sign in as they like/);
    const bad = await act(server, owner, path, { id: organization.id }, { upstream: 'nothing' });
    assert.match(bad.text, /Choose a provider/);
  });

  test('is chosen as it was shown, and stays where the form leaves it, however many providers there are', async () => {
    const path = '/console/organizations/only-upstream';
    const { body: organization } = await admin(server, 'POST', '/organizations', {
      name: 'many-providers',
      domain: 'o.example',
    });
    const { id } = organization;
    const chosen = async () => (await admin(server, 'GET', `/organizations/${id}/only-upstream`)).body.upstreamId;
    for (let made = 0; made < 100; made++) {
      const input = { name: `more-${made}`, issuer: 'http://127.0.0.1:9', clientId: 'a' };
      assert.equal((await admin(server, 'POST', '/upstreams', input)).status, 201);
    }
    const last = await provider({ displayName: 'The Last One' });
    await admin(server, 'PUT', `/organizations/${id}/only-upstream`, { upstreamId: last.id });
    const shown = await open(server, owner, `${path}?id=${id}`);
    // As a browser sends it: the first of all where none is selected.
    const [, upstream = ''] = /<option value="(\d*)" selected/.exec(shown.text) ?? [];
    const unchanged = await owner.browser.submit(shown, { upstream }, path);
    assert.equal(unchanged.status, 200, unchanged.text.slice(0, 1000));
    assert.match(unchanged.text, /The Last One/);
    assert.equal(await chosen(), last.id);

    const page = await open(server, owner, `${path}?id=${id}`);
    const other = running[0]?.id ?? '';
    await admin(server, 'PUT', `/organizations/${id}/only-upstream`, { upstreamId: other });
    const late = await owner.browser.submit(page, { upstream: '' }, path);
    assert.equal(late.status, 409);
    assert.match(late.text, /Somebody chose otherwise since you opened this page.*Acme Staff/s);
    assert.equal(await chosen(), other);
    const seen = await owner.browser.submit(late, { upstream: '' }, path);
    assert.equal(seen.status, 200, seen.text.slice(0, 1000));
    assert.equal(await chosen(), null);
  });

  test('is read by an auditor, and chosen by who manages providers alone', async () => {
    const organization = (await admin(server, 'POST', '/organizations', { name: 'read-only', domain: 'o.example' }))
      .body;
    const page = await auditor.browser.get(`/console/organizations/${organization.id}`);
    assert.match(page.text, /As they like/);
    assert.doesNotMatch(page.text, /only-upstream/);
    const refused = await auditor.browser.get(`/console/organizations/only-upstream?id=${organization.id}`);
    assert.equal(refused.status, 403);
    const member = await newUser(server);
    await admin(server, 'PUT', `/organizations/${organization.id}/members/${member.id}`, { role: 'OWNER' });
    assert.match(refused.text, /upstreams\.manage/);
  });
});
