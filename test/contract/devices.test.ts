// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { type Answer, agent } from '../support/agent.ts';
import { call } from '../support/api-call.ts';
import { allow, newApi } from '../support/api-scopes.ts';
import {
  answerDevice,
  askAsDevice,
  DEVICE_AUTHORIZATION,
  newDeviceClient,
  poll,
  startDevice,
  typeUserCode,
} from '../support/devices.ts';
import {
  admin,
  claimsOf,
  newClient,
  newSignedInUser,
  newUser,
  PASSWORD,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { everyRow, query, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, introspect } from '../support/token-services.ts';

// RFC 8628, decisions §15: a device without a browser signs in by a code that its person types elsewhere.

const server = await startServer({
  TESSERA_LIMIT_CLIENT_AUTH: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
});
after(() => server.close());
const client = await newDeviceClient(server);
const STANDARD = '/oidc/userinfo';
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Waits as long as a device does. */
const wait = (seconds = 5) => server.advance(seconds * SECOND);

/** A device that a new person has allowed, and what it may present. */
async function allowedDevice(at: TestClient = client, fields?: Readonly<Record<string, string>>) {
  const device = await startDevice(server, at, fields);
  const { user, browser } = await newSignedInUser(server);
  const answer = await answerDevice(server, browser, device);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /Your device is connected/);
  const masthead = /<header class="masthead">.*<a href="\/account">.*Sign out.*<\/header>/s;
  assert.match(answer.text, masthead, 'who is signed in');
  assert.match((await browser.get('/device')).text, masthead);
  return { device, user, browser };
}

async function connectedDevice(at: TestClient = client, fields?: Readonly<Record<string, string>>) {
  const allowed = await allowedDevice(at, fields);
  const { status, body: tokens } = await poll(server, at, allowed.device);
  assert.equal(status, 200, JSON.stringify(tokens));
  return { ...allowed, tokens };
}

const refused = ({ status, body }: { status: number; body: { error?: string } }) => `${status} ${body?.error}`;

describe('a device begins', () => {
  test('§3.2: it gets two codes, the page, and how long they last', async () => {
    const { body } = await askAsDevice(server, client, { scope: 'openid' });
    assert.match(body.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.match(body.device_code, /^[\w-]{43}$/);
    assert.deepEqual(
      { ...body, user_code: '', device_code: '' },
      { user_code: '', device_code: '', verification_uri: `${server.baseUrl}/device`, expires_in: 600, interval: 5 },
    );
  });

  test('§4: discovery names the endpoint and the grant', async () => {
    const metadata = (await call(server, 'GET', '/.well-known/openid-configuration')).body;
    assert.equal(metadata.device_authorization_endpoint, `${server.baseUrl}/oidc/device_authorization`);
    assert.ok(metadata.grant_types_supported.includes(DEVICE_GRANT));
  });

  test('a confidential client authenticates', async () => {
    const confidential = await newDeviceClient(server, { type: 'confidential' });
    assert.equal((await askAsDevice(server, confidential)).status, 200);
    assert.equal(refused(await askAsDevice(server, { ...confidential, clientSecret: 'wrong' })), '401 invalid_client');
  });

  test('a client that is not registered for the grant, or for the OIDC endpoints, is refused with the remedy', async () => {
    const { status, body } = await askAsDevice(server, await newClient(server));
    assert.equal(`${status} ${body.error}`, '400 unauthorized_client');
    assert.match(body.error_description, /device_code.*grantTypes/);
    const v2 = await newDeviceClient(server, { endpoints: ['v2'] });
    assert.equal(refused(await askAsDevice(server, v2)), '400 unauthorized_client');
  });

  test('a scope or a resource that is not known is refused', async () => {
    assert.equal(refused(await askAsDevice(server, client, { scope: 'a  b' })), '400 invalid_scope');
    assert.equal(refused(await askAsDevice(server, client, { scope: 'nothing' })), '400 invalid_scope');
    assert.equal(refused(await askAsDevice(server, client, { resource: 'notes' })), '400 invalid_target');
    assert.equal(refused(await askAsDevice(server, client, { resource: 'https://x.example' })), '400 invalid_target');
  });
});

describe('the person', () => {
  test('types the code in any form, signs in, sees what asks and from where, and allows it', async () => {
    const user = await newUser(server);
    const device = await startDevice(server, client);
    const browser = agent(server.baseUrl);
    const login = await typeUserCode(server, browser, device.user_code.replace('-', ' ').toLowerCase());
    assert.match(login.text, /You will return to <bdi>your device<\/bdi>/);
    const page = await settle(
      browser,
      server,
      await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login'),
    );
    assert.match(page.text, /This gives access to a device/);
    assert.match(page.text, /the network that you are using now/);
    const end = await browser.submit(page, { decision: 'allow', 'allow email': 'on' }, '/consent');
    assert.match(end.text, /Your device is connected/);
    assert.equal(end.headers.get('location'), null);
    const { status, body } = await poll(server, client, device);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.scope, 'openid email');
    assert.equal(claimsOf(body.id_token).sub, user.id);
    assert.equal((await userinfo(server, body.access_token, STANDARD)).body.sub, user.id);
    assert.equal((await refresh(server, client, body.refresh_token)).status, 200);
  });

  test('is asked each time, also where the app has access already', async () => {
    const { browser } = await connectedDevice();
    const again = await startDevice(server, client);
    assert.match((await typeUserCode(server, browser, again.user_code)).text, /action="\/consent"/);
  });

  test('may say no, which the device learns', async () => {
    const { browser } = await newSignedInUser(server);
    const device = await startDevice(server, client);
    const end = await answerDevice(server, browser, device, 'deny');
    assert.match(end.text, /Your device was not connected/);
    const { status, body } = await poll(server, client, device);
    assert.equal(`${status} ${body.error} ${body.error_description}`, '400 access_denied User denied the request');
  });

  test('may leave scopes out', async () => {
    const device = await startDevice(server, client);
    const { browser } = await newSignedInUser(server);
    const page = await typeUserCode(server, browser, device.user_code);
    await browser.submit(page, { decision: 'allow' }, '/consent');
    assert.equal((await poll(server, client, device)).body.scope, 'openid');
  });

  test('is told of a code that is malformed, unknown, answered or expired', async () => {
    const { browser } = await newSignedInUser(server);
    const typed = async (code: string) => browser.submit(await browser.get('/device'), { user_code: code });
    assert.match((await typed('')).text, /Enter the code that your device shows/);
    assert.match((await typed('ABCD-1234')).text, /eight letters and no vowels/);
    assert.match((await typed('BBBB-BBBB')).text, /No device is waiting/);
    const { device } = await allowedDevice();
    assert.match((await typed(device.user_code)).text, /No device is waiting/);
    const old = await startDevice(server, client);
    server.advance(10 * MINUTE);
    assert.match((await typed(old.user_code)).text, /No device is waiting/);
  });

  test('who answers too late, or after somebody else, is told so, and nothing is granted', async () => {
    const device = await startDevice(server, client);
    const [one, two] = [await newSignedInUser(server), await newSignedInUser(server)];
    const first = await typeUserCode(server, one.browser, device.user_code);
    const second = await typeUserCode(server, two.browser, device.user_code);
    await one.browser.submit(first, { decision: 'allow' }, '/consent');
    const late = await two.browser.submit(second, { decision: 'allow' }, '/consent');
    assert.equal(late.status, 410);
    assert.match(late.text, /This code no longer works/);
    assert.equal(claimsOf((await poll(server, client, device)).body.id_token).sub, one.user.id);
    assert.deepEqual((await admin(server, 'GET', `/users/${two.user.id}/connections`)).body.items, []);

    const slow = await startDevice(server, client);
    const page = await typeUserCode(server, two.browser, slow.user_code);
    server.advance(10 * MINUTE);
    assert.equal((await two.browser.submit(page, { decision: 'allow' }, '/consent')).status, 410);
    assert.equal(refused(await poll(server, client, slow)), '400 expired_token');
  });

  test('who says no after the device was allowed is not told that it got nothing', async () => {
    const { browser } = await newSignedInUser(server);
    const other = await newSignedInUser(server);
    const device = await startDevice(server, client);
    const pages = [];
    for (const at of [browser, browser, other.browser]) pages.push(await typeUserCode(server, at, device.user_code));
    const [first, second, foreign] = pages as [Answer, Answer, Answer];
    await browser.submit(first, { decision: 'allow' }, '/consent');
    const late = [
      await browser.submit(second, { decision: 'deny' }, '/consent'),
      await other.browser.submit(foreign, { decision: 'deny' }, '/consent'),
    ];
    for (const { status, text } of late) {
      assert.equal(status, 410);
      assert.doesNotMatch(text, /gets no access/);
    }
    assert.equal((await poll(server, client, device)).status, 200);
  });

  test('sends the form twice, and sees the same page', async () => {
    const device = await startDevice(server, client);
    const { browser } = await newSignedInUser(server);
    const page = await typeUserCode(server, browser, device.user_code);
    for (let n = 0; n < 2; n++) {
      assert.match((await browser.submit(page, { decision: 'allow' }, '/consent')).text, /Your device is connected/);
    }
    assert.equal((await poll(server, client, device)).status, 200);
  });

  test('§5.4: no address carries the code', async () => {
    const device = await startDevice(server, client);
    const { browser } = await newSignedInUser(server);
    const page = await browser.get(`/device?user_code=${device.user_code}`);
    assert.doesNotMatch(page.text, new RegExp(device.user_code));
    const { location } = await browser.submit(await browser.get('/device'), { user_code: device.user_code });
    assert.doesNotMatch(String(location), new RegExp(device.user_code.replace('-', '-?')));
  });

  test('who may not use the app is refused, and so is the device', async () => {
    const closed = await newDeviceClient(server, { access: 'assigned' });
    const device = await startDevice(server, closed);
    const { browser } = await newSignedInUser(server);
    const page = await typeUserCode(server, browser, device.user_code);
    assert.match(page.text, /You have no access/);
    await browser.submit(page, {}, '/no-access');
    assert.equal(refused(await poll(server, closed, device)), '400 access_denied');
  });
});

describe('the device asks', () => {
  test('§3.5: until the person has answered, and slower where it asks too soon', async () => {
    const device = await startDevice(server, client);
    const ask = async () => refused(await poll(server, client, device));
    assert.equal(await ask(), '400 authorization_pending');
    assert.equal(await ask(), '400 slow_down');
    wait(5);
    assert.equal(await ask(), '400 slow_down', 'ten seconds now');
    wait(15);
    assert.equal(await ask(), '400 authorization_pending');
    wait(600);
    assert.equal(await ask(), '400 expired_token');
  });

  test('it gets its answer whenever it asks, and once: a second time ends what it got', async () => {
    const { device, tokens } = await connectedDevice();
    assert.equal((await userinfo(server, tokens.access_token, STANDARD)).status, 200);
    assert.equal(refused(await poll(server, client, device)), '400 invalid_grant');
    assert.equal((await userinfo(server, tokens.access_token, STANDARD)).status, 401);
    assert.equal(refused(await refresh(server, client, tokens.refresh_token)), '400 invalid_grant');
  });

  test('at once from two places it gets one answer, which then ends', async () => {
    const { device } = await allowedDevice();
    const answers = await Promise.all([poll(server, client, device), poll(server, client, device)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
    const tokens = answers.find(({ status }) => status === 200)?.body;
    assert.equal((await userinfo(server, tokens.access_token, STANDARD)).status, 401);
  });

  test('with the code of another client, an unknown one, none, or at the v2 endpoints: refused', async () => {
    const { device } = await allowedDevice();
    const other = await newDeviceClient(server);
    const foreign = await poll(server, other, device);
    const unknown = await poll(server, client, { device_code: 'x'.repeat(43) });
    assert.equal(refused(foreign), '400 invalid_grant');
    assert.deepEqual(foreign.body, unknown.body, 'a foreign code looks like an unknown one');
    assert.equal(refused(await poll(server, client, device, { device_code: undefined })), '400 invalid_request');
    const { body } = await poll(server, { ...client, endpointSet: 'v2' }, device);
    assert.equal(body.error, 'unsupported_grant_type');
    assert.match(body.error_description, /\/oidc\/token/);
    assert.equal((await poll(server, client, device)).status, 200, 'none of this used it up');
  });

  test('a device code is no authorization code, and the other way round', async () => {
    const { device } = await allowedDevice();
    const as = { client_id: client.clientId, redirect_uri: `${server.baseUrl}/device` };
    const call = { grant_type: 'authorization_code', code: device.device_code, ...as };
    assert.equal(refused(await tokenCall(server, call, client)), '400 unauthorized_client');
    const both = await newDeviceClient(server, {
      grantTypes: [DEVICE_GRANT, 'authorization_code', 'refresh_token'],
      redirectUris: [`${server.baseUrl}/device`],
    });
    const { device: second } = await allowedDevice(both);
    const exchange = { ...call, client_id: both.clientId, code: second.device_code };
    assert.equal(refused(await tokenCall(server, exchange, both)), '400 invalid_grant');
  });

  test('a client without the grant refresh_token gets no refresh token', async () => {
    const once = await newDeviceClient(server, { grantTypes: [DEVICE_GRANT] });
    assert.equal((await connectedDevice(once)).tokens.refresh_token, undefined);
  });

  test('with scopes of an API, its tokens are for that API', async () => {
    const api = await newApi(server, ['notes.read']);
    const app = await newDeviceClient(server);
    await allow(server, api, app, ['notes.read']);
    const { tokens } = await connectedDevice(app, { scope: 'openid notes.read' });
    const { body } = await introspect(server, api, tokens.access_token);
    assert.equal(`${body.active} ${body.scope}`, 'true notes.read');
  });
});

/** What ends the access of a device. */
const ENDINGS: Readonly<Record<string, (at: Awaited<ReturnType<typeof allowedDevice>>) => Promise<unknown>>> = {
  'the person takes the access away': ({ browser }) => revokeOnPage(browser, client),
  'the account is banned': ({ user }) => admin(server, 'PUT', `/users/${user.id}/ban`, {}),
  'the account is suspended': ({ user }) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}),
  'an operator signs the person out everywhere': ({ user }) => admin(server, 'DELETE', `/users/${user.id}/sessions`),
  'the person signs out': async ({ browser }) => browser.submit(await browser.get('/account'), {}, '/logout'),
};

for (const [name, end] of Object.entries(ENDINGS)) {
  test(`${name}: neither the answer that waits nor the tokens of a device work`, async () => {
    const waiting = await allowedDevice();
    await end(waiting);
    assert.equal(refused(await poll(server, client, waiting.device)), '400 invalid_grant');
    const connected = await connectedDevice();
    assert.equal((await userinfo(server, connected.tokens.access_token, STANDARD)).status, 200, 'it worked');
    await end(connected);
    assert.equal((await userinfo(server, connected.tokens.access_token, STANDARD)).status, 401);
    assert.equal(refused(await refresh(server, client, connected.tokens.refresh_token)), '400 invalid_grant');
  });
}

test('access that is taken away while the device asks is gone for good when both have returned', async () => {
  for (let round = 0; round < 6; round++) {
    const { device, user } = await allowedDevice();
    const [polled, taken] = await Promise.all([
      poll(server, client, device),
      admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`),
    ]);
    assert.ok(taken.status < 300, JSON.stringify(taken.body));
    if (polled.status === 200) {
      assert.equal((await userinfo(server, polled.body.access_token, STANDARD)).status, 401);
      assert.equal(refused(await refresh(server, client, polled.body.refresh_token)), '400 invalid_grant');
    }
    assert.equal(refused(await poll(server, client, device)), '400 invalid_grant');
  }
});

test('of two people who answer a device at once, one does', async () => {
  for (let round = 0; round < 3; round++) {
    const device = await startDevice(server, client);
    const people = [await newSignedInUser(server), await newSignedInUser(server)];
    const pages = await Promise.all(people.map(({ browser }) => typeUserCode(server, browser, device.user_code)));
    const answers = await Promise.all(
      people.map(({ browser }, index) => browser.submit(pages[index] as Answer, { decision: 'allow' }, '/consent')),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410]);
    const winner = people[answers.findIndex(({ status }) => status === 200)]?.user.id;
    assert.equal(claimsOf((await poll(server, client, device)).body.id_token).sub, winner);
  }
});

test('decisions §15: with offline_access, a device outlives the session in which it was allowed', async () => {
  const { browser, tokens } = await connectedDevice(client, { scope: 'openid offline_access' });
  await browser.submit(await browser.get('/account'), {}, '/logout');
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});

test('a client that is disabled or loses the grant: the page and the device are refused', async () => {
  const own = await newDeviceClient(server, { grantTypes: [DEVICE_GRANT, 'client_credentials'], type: 'confidential' });
  const device = await startDevice(server, own);
  const { browser } = await newSignedInUser(server);
  const page = await typeUserCode(server, browser, device.user_code);
  await admin(server, 'PATCH', `/clients/${own.clientId}`, { grantTypes: ['client_credentials'] });
  assert.equal((await browser.submit(page, { decision: 'allow' }, '/consent')).status, 400);
  assert.equal(refused(await poll(server, own, device)), '400 unauthorized_client');
});

test('refresh_token without a grant that it comes from is refused at the registration', async () => {
  const { status, body } = await admin(server, 'POST', '/clients', { name: 'App', grantTypes: ['refresh_token'] });
  assert.equal(status, 400);
  assert.match(body.error_description, /device_code/);
});

test('a client with redirect URIs and a device shares one consent', async () => {
  const both = standard(await newClient(server, { grantTypes: ['authorization_code', 'refresh_token', DEVICE_GRANT] }));
  const { user } = await connectedDevice(both);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/connections`)).body;
  assert.equal(items.length, 1);
  const browser = await signedIn(server, user);
  assert.match((await browser.get('/account/connections')).text, /App/);
});

test('decisions §15: typed codes and asking devices count for the whole network of an IPv6 address', async () => {
  const settings = { TESSERA_TRUST_PROXY: '1', TESSERA_LIMIT_USER_CODE: 'off' };
  const limits = { TESSERA_LIMIT_USER_CODE_ADDRESS: '1/m', TESSERA_LIMIT_DEVICE_ADDRESS: '1/m' };
  const limited = await startServer({ ...settings, ...limits });
  try {
    const television = await newDeviceClient(limited);
    const from = (home: number) => ({ 'x-forwarded-for': `2001:db8:1:${home.toString(16)}::1` });
    const typed = async (home: number) => {
      const browser = agent(limited.baseUrl, undefined, from(home));
      return (await browser.submit(await browser.get('/device'), { user_code: 'BBBB-BBBB' })).status;
    };
    const asked = async (home: number) =>
      (await asClient(limited, DEVICE_AUTHORIZATION, television, {}, from(home))).status;
    for (let home = 1; home <= 8; home++) assert.deepEqual([await typed(home), await asked(home)], [400, 200]);
    assert.deepEqual([await typed(9), await asked(9)], [429, 429]);
  } finally {
    await limited.close();
  }
});

test('the connections page and operators see from which network a device last got tokens; using a token writes nothing', async () => {
  const proxied = await startServer({ TESSERA_TRUST_PROXY: '1' });
  try {
    const client = await newDeviceClient(proxied, { name: 'Television' });
    const { user, browser } = await newSignedInUser(proxied);
    const started = await startDevice(proxied, client, { scope: 'openid' });
    await answerDevice(proxied, browser, started);
    const from = async (address: string, grant: Readonly<Record<string, string>>) => {
      const form = new URLSearchParams({ client_id: client.clientId, ...grant });
      const { status, body } = await call(proxied, 'POST', '/oidc/token', { 'x-forwarded-for': address }, form);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const seen = async () => {
      const { items } = (await admin(proxied, 'GET', `/users/${user.id}/connections`)).body;
      const { text } = await browser.get(`/account/connections/${client.clientId}`);
      return [items[0].lastNetwork, items[0].lastUsedAt, /Network<\/dt><dd>([^<]*)/.exec(text)?.[1]];
    };
    const at = () => new Date(proxied.now()).toISOString();
    const first = await from('198.51.100.7', { grant_type: DEVICE_GRANT, device_code: started.device_code });
    assert.deepEqual(await seen(), ['198.51.100.x', at(), '198.51.100.x']);
    proxied.advance(MINUTE);
    const second = await from('203.0.113.9', { grant_type: 'refresh_token', refresh_token: first.refresh_token });
    const refreshed = at();
    assert.deepEqual(await seen(), ['203.0.113.x', refreshed, '203.0.113.x']);
    proxied.advance(MINUTE);
    const before = await everyRow(proxied);
    const headers = { authorization: `Bearer ${second.access_token}`, 'x-forwarded-for': '192.0.2.1' };
    assert.equal((await call(proxied, 'GET', '/oidc/userinfo', headers)).status, 200);
    assert.deepEqual((await everyRow(proxied))['token_family'], before['token_family']);
    assert.deepEqual(await seen(), ['203.0.113.x', refreshed, '203.0.113.x']);
  } finally {
    await proxied.close();
  }
});

test('the network of the server of an app is not kept', async () => {
  const { user, browser } = await newSignedInUser(server);
  const app = standard(await newClient(server));
  await tokensFor(server, app, user, {}, { browser });
  const [family] = await query(server, 'SELECT last_network FROM token_family WHERE client_id = ?', app.clientId);
  assert.equal(family?.['last_network'], null);
  assert.equal((await admin(server, 'GET', `/users/${user.id}/connections`)).body.items[0].lastNetwork, null);
});

test('the audit trail says that it was a device, which an app in a browser is not', async () => {
  const both = standard(await newClient(server, { grantTypes: ['authorization_code', 'refresh_token', DEVICE_GRANT] }));
  const { user } = await connectedDevice(both);
  await tokensFor(server, both, user);
  const another = await startDevice(server, both);
  const browser = await signedIn(server, user);
  const page = await typeUserCode(server, browser, another.user_code);
  await browser.submit(page, { decision: 'deny' }, '/consent');
  const { items } = (await admin(server, 'GET', `/audit-events?userId=${user.id}&limit=100`)).body;
  const devices = (type: string) =>
    items.filter((event: { type: string }) => event.type === type).map(({ details }: Event) => details.device ?? false);
  assert.deepEqual(devices('authorization.issued').toSorted(), [false, true]);
  assert.deepEqual(devices('consent.denied'), [true]);
});

test('the trace of a device says what it sent, and follows it from its request to its tokens', async () => {
  const own = await newDeviceClient(server);
  const { status, body, headers } = await askAsDevice(server, own, { scope: 'openid nothing' });
  assert.equal(status, 200);
  const { browser } = await newSignedInUser(server);
  await answerDevice(server, browser, body);
  wait();
  assert.equal((await poll(server, own, body)).status, 200);
  const trace = (await admin(server, 'GET', `/traces/${headers.get('x-request-id')}`)).body;
  const [asked] = trace.steps;
  assert.match(asked.sent, new RegExp(`client_id=${own.clientId}.*scope="openid nothing"`));
  assert.match(asked.ignored, /nothing/);
  const steps = trace.steps.map(({ step }: { step: string }) => step);
  assert.deepEqual([steps.filter((step: string) => step === 'authorize').length, steps.at(-1)], [2, 'token']);
});

interface Event {
  readonly details: { readonly device?: boolean };
}
