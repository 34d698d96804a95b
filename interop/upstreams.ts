/*
 * `npm run interop:upstreams`: people sign in through Keycloak, as its release comes from Maven Central (decisions §14). Two of its people walk
 * what is asked of a provider: a wrong secret that is explained, a first sign-in, the way back in one press, the connection with an account that
 * was there before, a session that ends there, and one that an operator ends here. It needs Java 17, Maven and unzip; what is missing is
 * reported, and the exit code is 1.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE } from '../src/platform/clock.ts';
import { randomSecret } from '../src/platform/crypto/secrets.ts';
import { type Agent, type Answer, agent } from '../test/support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestUser,
  walk,
} from '../test/support/flow.ts';
import { startServer, type TestServer } from '../test/support/server.ts';
import { freePort, listening, Missing, type Running, report, run, stopAll } from './processes.ts';

const VERSION = '26.7.3';
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop', 'keycloak');
/** Its first start configures itself. */
const START = 6 * MINUTE;
const SECRET = randomSecret();
const OPERATOR = { username: 'operator', password: randomSecret() };

/** A person of Keycloak. */
interface Person {
  readonly username: string;
  readonly password: string;
  readonly email: string;
  readonly firstName: string;
  readonly role: string;
}
const GRACE: Person = {
  ...{ username: 'grace', password: randomSecret(), email: 'grace@staff.example', firstName: 'Grace', role: 'ops' },
};
const LINUS: Person = {
  ...{ username: 'linus', password: randomSecret(), email: 'linus@staff.example', firstName: 'Linus', role: 'dev' },
};

let failed = false;
function expect(what: string, holds: boolean, otherwise = ''): void {
  report(`  ${holds ? '✔' : '✖'} ${what}${holds ? '' : `: ${otherwise}`}`);
  failed ||= !holds;
}

/** Keycloak, with a realm whose people sign in to Tessera. */
interface Keycloak {
  readonly address: string;
  /** Ends all sessions of a person, as an operator there does. */
  signOut(person: Person): Promise<void>;
  close(): Promise<void>;
}

/** What an operator of Keycloak sets up, as the how-to page says it. */
const realmFor = ({ baseUrl }: TestServer) => ({
  ...{ realm: 'staff', enabled: true, sslRequired: 'none', roles: { realm: [{ name: 'ops' }, { name: 'dev' }] } },
  users: [GRACE, LINUS].map(({ username, password, email, firstName, role }) => ({
    ...{ username, email, firstName, lastName: 'Example', emailVerified: true, enabled: true, realmRoles: [role] },
    credentials: [{ type: 'password', value: password, temporary: false }],
  })),
  clients: [
    {
      ...{ clientId: 'tessera', secret: SECRET, enabled: true, publicClient: false, standardFlowEnabled: true },
      redirectUris: [`${baseUrl}/login/with/staff/callback`],
      attributes: {
        'backchannel.logout.url': `${baseUrl}/upstreams/staff/backchannel-logout`,
        'backchannel.logout.session.required': 'true',
      },
      protocolMappers: [
        {
          ...{ name: 'roles', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-realm-role-mapper' },
          config: {
            ...{ 'claim.name': 'realm_access.roles', 'jsonType.label': 'String', multivalued: 'true' },
            ...{ 'id.token.claim': 'true', 'access.token.claim': 'true' },
          },
        },
      ],
    },
  ],
});

async function startKeycloak(server: TestServer): Promise<Keycloak> {
  const home = join(cache, `keycloak-${VERSION}`);
  if (!existsSync(home)) {
    mkdirSync(cache, { recursive: true });
    const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    await run('mvn', ['--batch-mode', '--quiet', plugin, `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`], {
      cwd: cache,
    });
    await run('unzip', ['-q', '-o', `keycloak-quarkus-dist-${VERSION}.zip`], { cwd: cache });
  }
  const imported = join(home, 'data', 'import');
  mkdirSync(imported, { recursive: true });
  writeFileSync(join(imported, 'staff-realm.json'), JSON.stringify(realmFor(server)));
  const script = join(home, 'bin', 'kc.sh');
  const port = await freePort();
  const address = `http://localhost:${port}`;
  const running: Running = await listening(
    {
      ...{ command: script, cwd: home },
      args: ['start-dev', `--http-port=${port}`, '--db=dev-mem', '--import-realm'],
      env: { KC_BOOTSTRAP_ADMIN_USERNAME: OPERATOR.username, KC_BOOTSTRAP_ADMIN_PASSWORD: OPERATOR.password },
    },
    port,
    '/realms/staff',
    START,
  );
  return {
    address,
    signOut: (person) => signOutThere(address, person),
    close: () => running.close(),
  };
}

async function signOutThere(address: string, { username }: Person): Promise<void> {
  const form = { grant_type: 'password', client_id: 'admin-cli', ...OPERATOR };
  const token = await fetch(`${address}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token: accessToken } = (await token.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${accessToken}` };
  const users = await fetch(`${address}/admin/realms/staff/users?username=${username}`, { headers });
  const [user] = (await users.json()) as readonly { readonly id: string }[];
  const path = `${address}/admin/realms/staff/users/${user?.id}/logout`;
  const answer = await fetch(path, { method: 'POST', headers });
  if (!answer.ok) throw new Error(`Keycloak answers ${answer.status} to the sign-out of ${username}`);
}

/** Goes through the pages of Keycloak. @returns where it leads in the end, and whether it asked for the password */
async function through(
  server: TestServer,
  there: Agent,
  address: string,
  { username, password }: Person,
): Promise<{ readonly back: string; readonly asked: boolean }> {
  let answer = await there.get(address);
  let asked = false;
  for (let hop = 0; hop < 10; hop++) {
    const next = answer.location?.href;
    if (next?.startsWith(server.baseUrl)) {
      // Both servers have the time of the system.
      server.advance(Date.now() - server.now());
      return { back: next, asked };
    }
    if (next === undefined) {
      const action = /<form[^>]* action="([^"]+)"/.exec(answer.text)?.[1];
      if (action === undefined) throw new Error(`Keycloak answers ${answer.status}: ${answer.text.slice(0, 500)}`);
      asked = true;
      answer = await there.post(action.replaceAll('&amp;', '&'), { username, password, credentialId: '' });
    } else answer = await there.get(next);
  }
  throw new Error('the sign-in at Keycloak did not end');
}

/** A browser of a person, with its cookies at both servers. */
interface Browser {
  readonly here: Agent;
  readonly there: Agent;
  readonly person: Person;
}

/** Presses the button of the provider. */
async function press(server: TestServer, { here, there, person }: Browser, page = '/login/with/staff') {
  const left = await here.get(page);
  if (left.location === undefined) return { answer: left, asked: false };
  const { back, asked } = await through(server, there, left.location.href, person);
  return { answer: await here.get(back), asked };
}

async function follow(here: Agent, answer: Answer): Promise<Answer> {
  let last = answer;
  for (let hop = 0; hop < 5 && last.location !== undefined; hop++) last = await here.get(last.location.href);
  return last;
}

const isSignedIn = async ({ here }: Browser): Promise<boolean> => (await here.get('/account')).status === 200;

async function wrongSecret(server: TestServer, id: string, browser: Browser): Promise<void> {
  report('A wrong secret');
  const { body } = await admin(server, 'POST', `/upstreams/${id}/test`, {});
  const client = body.steps.find(({ step }: { step: string }) => step === 'client');
  expect(
    'the test names it',
    client?.level === 'problem' && /Check the client ID and the secret/.test(client.found),
    JSON.stringify(body),
  );
  const { answer } = await press(server, browser);
  const reference = answer.headers.get('x-request-id') ?? '';
  expect(
    'the person gets a page with a reference',
    answer.status === 502 && answer.text.includes(reference),
    `${answer.status}`,
  );
  const trace = JSON.stringify((await admin(server, 'GET', `/traces/${reference}`)).body);
  expect('which leads the operator to the remedy', /does not accept the client ID or the secret/.test(trace), trace);
  await admin(server, 'PATCH', `/upstreams/${id}`, { clientSecret: SECRET });
  const again = await admin(server, 'POST', `/upstreams/${id}/test`, {});
  const problems = again.body.steps.filter(({ level }: { level: string }) => level === 'problem');
  expect('the right one is accepted', problems.length === 0, JSON.stringify(again.body));
}

async function firstSignIn(server: TestServer, browser: Browser): Promise<void> {
  report('A first sign-in');
  const { answer, asked } = await press(server, browser);
  expect('the person signs in at Keycloak', asked, 'it asked for nothing');
  const { email, username } = browser.person;
  const page = answer.location === undefined ? answer : await browser.here.get(answer.location.href);
  expect('the page offers an account with the verified address', page.text.includes(email), page.text.slice(0, 500));
  const joined = await browser.here.submit(page, { displayName: 'Grace', username }, answer.location?.pathname);
  expect(
    'it is created without a message',
    joined.location?.pathname === '/account',
    `${joined.status}: ${joined.text.slice(0, 500)}`,
  );
}

async function comingBack(server: TestServer, browser: Browser): Promise<void> {
  report('The way back');
  const elsewhere: Browser = { ...browser, here: agent(server.baseUrl) };
  const { answer, asked } = await press(server, elsewhere);
  expect(
    'one press is enough, since Keycloak knows the browser',
    !asked && answer.location?.pathname === '/account',
    answer.text.slice(0, 500),
  );
  const { body } = await admin(server, 'GET', `/users/${await idOf(server, browser.person.username)}`);
  expect('the map writes the name', body.displayName === 'Grace Example', body.displayName);
  const groups = await admin(server, 'GET', `/users/${body.id}/groups`);
  expect('and the groups of the provider', JSON.stringify(groups.body).includes('"ops"'), JSON.stringify(groups.body));
}

async function idOf(server: TestServer, username: string): Promise<string> {
  return (await admin(server, 'GET', `/users?q=${username}`)).body.items[0]?.id;
}

async function linking(server: TestServer, there: Agent): Promise<TestUser> {
  report('An account that was there before');
  const user = await newUser(server, { username: 'linus-here', email: 'linus@home.example', emailVerified: true });
  const browser: Browser = { here: await signedIn(server, user), there, person: LINUS };
  const { answer } = await press(server, browser, '/account/security/connect/staff');
  const question = await follow(browser.here, answer);
  expect('the person is asked', question.text.includes(LINUS.email), question.text.slice(0, 500));
  const done = await browser.here.submit(question, {}, '/account/security/connect/staff/confirm');
  expect('and connects it', /is connected/.test(done.text), done.text.slice(0, 500));
  const elsewhere: Browser = { ...browser, here: agent(server.baseUrl) };
  const { answer: back } = await press(server, elsewhere);
  const page = await follow(elsewhere.here, back);
  expect('then it signs in to that account', page.text.includes('linus-here'), page.text.slice(0, 500));
  return user;
}

/** A browser that is signed in through Keycloak, with the tokens of two apps: one of the session, and one that outlives it. */
async function withTokens(server: TestServer, browser: Browser) {
  const client = standard(await newClient(server));
  const here = agent(server.baseUrl);
  const fresh: Browser = { ...browser, here };
  const { answer } = await press(server, fresh);
  await follow(here, answer);
  const tokenFor = async (scope: string) => {
    const target = await walk(here, authorizeUrl(client, { scope, prompt: 'consent' }));
    return (await redeem(server, client, target.searchParams.get('code') ?? '')).body.refresh_token;
  };
  const [ofSession, offline] = [await tokenFor('openid'), await tokenFor('openid offline_access')];
  const lives = async (token: string) => (await refresh(server, client, token)).status === 200;
  return { browser: fresh, ofSession, offline, lives };
}

async function endThere(server: TestServer, keycloak: Keycloak, browser: Browser): Promise<void> {
  report('The session ends at Keycloak');
  const { browser: one, ofSession, offline, lives } = await withTokens(server, browser);
  await keycloak.signOut(browser.person);
  // Keycloak sends the logout token before it answers; a busy machine may be late.
  for (let tries = 0; tries < 50 && (await isSignedIn(one)); tries++) await wait(200);
  expect('the session here is over', !(await isSignedIn(one)), 'the person is still signed in');
  expect('and its tokens', !(await lives(ofSession)), 'a refresh token works');
  expect('those with offline_access live on', await lives(offline), 'it was refused');
}

async function switchOff(server: TestServer, id: string, browser: Browser): Promise<void> {
  report('An operator switches it off');
  const { browser: one, offline, lives } = await withTokens(server, browser);
  const { status, body } = await admin(server, 'POST', `/upstreams/${id}/disable`, { endSessions: true });
  expect('the operator is told how much ended', status === 200 && body.ended.sessions > 0, JSON.stringify(body));
  expect('the session is over at once', !(await isSignedIn(one)), 'the person is still signed in');
  expect('with all tokens', !(await lives(offline)), 'a refresh token works');
  const { answer } = await press(server, { ...browser, here: agent(server.baseUrl) });
  expect('and nobody signs in through it', answer.status === 404, `${answer.status}`);
}

async function walkAll(server: TestServer, keycloak: Keycloak): Promise<void> {
  const map = { name: '/name', groups: '/realm_access/roles' };
  const { body } = await admin(server, 'POST', '/upstreams', {
    ...{ name: 'staff', preset: 'keycloak', at: `${keycloak.address}/realms/staff`, clientId: 'tessera' },
    ...{ clientSecret: 'not the secret', signUp: 'domains', domains: ['staff.example'], claimsMap: map },
  });
  for (const name of ['ops', 'dev']) await admin(server, 'POST', '/groups', { name, upstreamId: body.id });
  const grace: Browser = { here: agent(server.baseUrl), there: agent(keycloak.address), person: GRACE };
  await wrongSecret(server, body.id, { ...grace, here: agent(server.baseUrl), there: agent(keycloak.address) });
  await firstSignIn(server, grace);
  await comingBack(server, grace);
  const linus: Browser = { ...grace, there: agent(keycloak.address), person: LINUS };
  await linking(server, linus.there);
  await endThere(server, keycloak, grace);
  await switchOff(server, body.id, linus);
}

try {
  const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
  server.advance(Date.now() - server.now());
  try {
    const keycloak = await startKeycloak(server);
    report(`Keycloak ${VERSION}`);
    try {
      await walkAll(server, keycloak);
    } finally {
      await keycloak.close();
    }
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    report(`skipped: ${error.message}`);
    failed = true;
  } finally {
    await server.close();
  }
} finally {
  await stopAll();
}
process.exitCode = failed ? 1 : 0;
