// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { authenticateByRecoveryCode } from '../../src/account-actions/authentication/recovery-code.ts';
import { findAccount } from '../../src/accounts/store.ts';
import { type LimitName, limitVariables } from '../../src/limits/settings.ts';
import { createChallenge, prepareChallenge, tryCode } from '../../src/mail/challenges.ts';
import { countMail } from '../../src/mail/mail.ts';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../support/agent.ts';
import { askAsDevice, newDeviceClient, typeUserCode } from '../support/devices.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newSignedInUser,
  newUser,
  PASSWORD,
  signedIn,
  standard,
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { png } from '../support/images.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { registerSelf } from '../support/registration.ts';
import { atSecondStep, enroll, typeCode } from '../support/second-factor.ts';
import { startServer, type TestServer } from '../support/server.ts';

// AV-01: every limit holds, tells how long to wait, and can be switched off. LG-03: the first refusal of a window is recorded.

/** What a limit counts: once made ready, each call counts once and answers whether it was refused for the limit. */
type Act = (server: TestServer) => Promise<() => Promise<boolean>>;

function isLimited({ status, headers }: { readonly status: number; readonly headers: Headers }): boolean {
  if (status === 429) assert.equal(headers.get('retry-after'), '60');
  return status === 429;
}

const signIn = (server: TestServer, name: () => string) => async () => {
  const browser = agent(server.baseUrl);
  const fields = { identifier: name(), password: 'not the password' };
  return isLimited(await browser.submit(await browser.get('/login'), fields));
};

let names = 0;

/** Limits of a rolling period: authorize-size, address-rights and taken-back-by-older-rights test them. */
const ROLLING = ['pendingBytesAddress', 'addressAccount', 'generationAccount'] as const;
type LimitOfUses = Exclude<LimitName, (typeof ROLLING)[number]>;
const isRolling = (name: string): boolean => ROLLING.some((rolling) => rolling === name);

/** Asks for a message, as pages do that answer the same whether it may be sent. */
const askForMail = (server: TestServer, to: () => string, settings: Readonly<Record<string, string>>) =>
  withData(server, async ({ database, clock }) => {
    const origin = { actor: { type: 'anonymous', id: null }, address: '127.0.0.1', requestId: null } as const;
    const { limits } = readConfig({ ...server.environment, ...settings });
    return !(await database.commit(() => countMail(limits, { to: to(), purpose: 'recover', origin }, clock())));
  });

/** Asks as an app with a metadata document of its own, each of which is fetched. */
async function askForMetadata(server: TestServer): Promise<() => Promise<boolean>> {
  let count = 0;
  return async () => {
    const client = {
      clientId: `http://127.0.0.1:1/${++count}.json`,
      clientSecret: '',
      redirectUri: 'https://app.example.com/callback',
    };
    const { text } = await agent(server.baseUrl).get(authorizeUrl(standard(client)));
    return text.includes('Too many metadata documents');
  };
}

async function askToRegister(server: TestServer): Promise<() => Promise<boolean>> {
  return async () => (await registerSelf(server)).status === 429;
}

/** A limit that is new needs an act of its own here. */
const ACTS: Readonly<Record<LimitOfUses, Act>> = {
  async signInAccount(server) {
    const { username } = await newUser(server);
    return signIn(server, () => username);
  },
  async sessionAccount(server) {
    const { username } = await newUser(server);
    const fields = { identifier: username, password: PASSWORD };
    // Each in a browser that has not signed in before.
    return async () => {
      const browser = agent(server.baseUrl);
      return isLimited(await browser.submit(await browser.get('/login'), fields));
    };
  },
  signInAddress: async (server) => signIn(server, () => `nobody-${++names}`),
  async codeAccount(server) {
    const address = `person-${++names}@example.com`;
    const browserHash = `browser ${names}`;
    const purpose = 'sign up';
    return () =>
      withData(server, async ({ database, clock, sealer: open }) => {
        const [sealer, { limits }] = [await open(), readConfig(server.environment)];
        const origin = { actor: { type: 'anonymous', id: null }, address: null, requestId: null } as const;
        const challenge = { purpose, account: null, address, browserHash, lifetime: MINUTE } as const;
        const attempt = { purpose, browserHash, code: 'not a code', origin } as const;
        // Tries count over reissued codes.
        await database.commit(() => createChallenge(sealer, prepareChallenge(), challenge, clock()));
        const result = await database.commit(() => tryCode({ sealer, limits }, attempt, clock()));
        return result.kind === 'limited';
      });
  },
  mailRecipient: async (server) => {
    const to = `person-${++names}@example.com`;
    return () =>
      askForMail(server, () => [to.toUpperCase(), to][names % 2] ?? to, { TESSERA_LIMIT_MAIL_ADDRESS: 'off' });
  },
  mailAddress: async (server) => () =>
    askForMail(server, () => `person-${++names}@example.com`, { TESSERA_LIMIT_MAIL_RECIPIENT: 'off' }),
  async deviceAddress(server) {
    const client = await newDeviceClient(server);
    return async () => (await askAsDevice(server, client)).status === 429;
  },
  registrationAddress: async (server) => askToRegister(server),
  registration: async (server) => askToRegister(server),
  metadataAddress: async (server) => askForMetadata(server),
  metadataHost: async (server) => askForMetadata(server),
  async userCode(server) {
    const { browser } = await newSignedInUser(server);
    return async () => isLimited(await typeUserCode(server, browser, 'BBBB-BBBB'));
  },
  userCodeAddress: async (server) => async () =>
    isLimited(await typeUserCode(server, agent(server.baseUrl), 'BBBB-BBBB')),
  async totpAccount(server) {
    const user = await newUser(server);
    await enroll(server, user);
    // No browser is known to the account: each first factor is right, and each code is wrong.
    return async () => {
      const { browser, page } = await atSecondStep(server, user);
      return isLimited(await typeCode(browser, page, '000000'));
    };
  },
  async recoveryCodeAccount(server) {
    const user = await newUser(server);
    await enroll(server, user);
    // Otherwise the limit of all codes is reached first.
    const { limits } = readConfig({ ...server.environment, TESSERA_LIMIT_TOTP_ACCOUNT: 'off' });
    const origin = { actor: { type: 'anonymous', id: null }, address: null, requestId: null } as const;
    return () =>
      withData(server, async (core) => {
        const account = await core.database.read(() => findAccount(user));
        assert.ok(account);
        const services = { ...core, limits, sealer: await core.sealer() } as never;
        const attempt = { account, code: 'ABCD-EFGH-JKMN', browser: { hash: 'unknown', knownHashes: [] }, origin };
        return (await authenticateByRecoveryCode(services, attempt, core.clock())).kind === 'limited';
      });
  },
  async usernameAccount(server) {
    const browser = await signedIn(server, await newUser(server));
    return async () => {
      const page = await browser.get('/account');
      return isLimited(await browser.submit(page, { username: `renamed-${++names}` }, '/account/username'));
    };
  },
  async exportAccount(server) {
    const browser = await signedIn(server, await newUser(server));
    return async () => {
      const page = await browser.get('/account/data/export');
      const answer = await browser.submit(page, {}, '/account/data/export');
      await server.makeExports();
      return isLimited(answer);
    };
  },
  signUpAddress: async (server) => async () => {
    const browser = agent(server.baseUrl);
    const username = `person-${++names}`;
    const fields = { username, displayName: 'N', email: `${username}@example.com`, password: 'some passphrase' };
    return isLimited(await browser.submit(await browser.get('/signup'), fields));
  },
  async pendingAddress(server) {
    const client = await newClient(server);
    return async () => {
      const { location } = await agent(server.baseUrl).get(authorizeUrl(client));
      return location?.searchParams.get('error') === 'temporarily_unavailable';
    };
  },
  async authorization(server) {
    const [user, client] = [await newUser(server), await newClient(server)];
    const browser = await signedIn(server, user);
    await codeFor(server, client, user, {}, { browser });
    server.advance(MINUTE);
    return async () => {
      const { location } = await browser.get(authorizeUrl(client));
      return location?.searchParams.get('error') === 'temporarily_unavailable';
    };
  },
  async clientAuth(server) {
    const { clientId } = await newClient(server);
    const body = { grant_type: 'refresh_token', client_id: clientId, client_secret: 'wrong' };
    return async () => isLimited(await tokenCall(server, body));
  },
  adminKey: async (server) => async () => isLimited(await admin(server, 'GET', '/users', undefined, 'x'.repeat(43))),
  async token(server) {
    const { clientId, clientSecret } = await newClient(server);
    const body = { grant_type: 'refresh_token', refresh_token: 'x', client_id: clientId, client_secret: clientSecret };
    return async () => isLimited(await tokenCall(server, body));
  },
  playgroundAddress: async (server) => async () => {
    const browser = agent(server.baseUrl);
    return isLimited(await browser.submit(await browser.get('/playground'), { action: 'start' }, '/playground'));
  },
  async formAccount(server) {
    const browser = await signedIn(server, await newUser(server));
    return async () => {
      const page = await browser.get('/account');
      return isLimited(await browser.submit(page, { location: `Place ${++names}` }, '/account/profile'));
    };
  },
  async developerAccount(server) {
    const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
    return async () => {
      const page = await browser.get('/console/apps/new');
      return isLimited(await browser.submit(page, { kind: 'web', name: '', uris: '' }, '/console/apps/new'));
    };
  },
  async pictureAccount(server) {
    const browser = await signedIn(server, await newUser(server));
    const picture = new File([Uint8Array.from(png(8, 8))], 'picture.png');
    return async () => isLimited(await browser.upload(await browser.get('/account'), { picture }, '/account/picture'));
  },
  async userinfo(server) {
    const { access_token } = await tokensFor(server, await newClient(server), await newUser(server));
    return async () => isLimited(await userinfo(server, access_token));
  },
};

async function recorded(server: TestServer): Promise<string[]> {
  const { body } = await admin(server, 'GET', '/audit-events?type=limit.exceeded');
  return body.items.map(({ details }: { details: { limit: string } }) => details.limit);
}

const settings = (value: string, which: (name: string) => boolean) => ({
  TESSERA_CLIENT_METADATA: 'open',
  TESSERA_REGISTRATION: 'open',
  TESSERA_DEVELOPERS: 'anyone',
  TESSERA_CONSOLE_SECOND_FACTOR: 'off',
  ...Object.fromEntries(
    Object.entries(limitVariables).map(([key, { name }]) => [name, which(key) && !isRolling(key) ? value : 'off']),
  ),
});

// Apart, for what is counted for an account or a client comes from one address, too, and much of it after a sign-in.
const isApart = (name: string): boolean => name.endsWith('Address') || name === 'sessionAccount';
const servers = {
  apart: await startServer(settings('2/m', isApart)),
  other: await startServer(settings('2/m', (name) => !isApart(name))),
  off: await startServer(settings('off', () => true)),
};
after(() => Promise.all(Object.values(servers).map((server) => server.close())));

for (const [name, act] of Object.entries(ACTS)) {
  test(`AV-01: ${name}: what is beyond the limit is refused, and the first refusal of a window alone is recorded`, async () => {
    const server = isApart(name) ? servers.apart : servers.other;
    const refused = await act(server);
    for (const windows of [1, 2]) {
      assert.deepEqual([await refused(), await refused()], [false, false]);
      for (let time = 0; time < 4; time++) {
        assert.ok(await refused(), `refusal ${time} of window ${windows}`);
        const events = (await recorded(server)).filter((limit) => limit === name);
        assert.equal(events.length, windows, `refusal ${time}`);
      }
      server.advance(MINUTE);
    }
  });

  test(`AV-01: ${name}: a limit that is off refuses nothing`, async () => {
    const refused = await act(servers.off);
    for (let use = 0; use < 4; use++) assert.equal(await refused(), false);
    assert.deepEqual(await recorded(servers.off), []);
  });
}

test('PW-08: whoever uses up the sign-ins to an account with its password keeps no browser out that signed in before', async () => {
  const user = await newUser(servers.apart);
  const browser = await signedIn(servers.apart, user);
  const fields = { identifier: user.username, password: PASSWORD };
  const signInFrom = async (from = agent(servers.apart.baseUrl)) =>
    (await from.submit(await from.get('/login'), fields)).status;
  assert.deepEqual([await signInFrom(), await signInFrom()], [303, 429]);
  await browser.submit(await browser.get('/account'), {}, '/logout');
  assert.equal(await signInFrom(browser), 303);
});

test('codes of devices that are typed beyond the limit of an address add no count for each new browser', async () => {
  const server = await startServer({ TESSERA_LIMIT_USER_CODE_ADDRESS: '5/10m' });
  after(() => server.close());
  for (let turn = 0; turn < 12; turn++) {
    const answer = await typeUserCode(server, agent(server.baseUrl), 'BBBB-BBBB');
    assert.equal(answer.status, turn < 5 ? 400 : 429);
  }
  const counts = await query(server, "SELECT bucket FROM rate_count WHERE bucket LIKE 'user-code browser %'");
  assert.equal(counts.length, 5);
});
