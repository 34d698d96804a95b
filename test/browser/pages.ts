import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { agent } from '../support/agent.ts';
import { call } from '../support/api-call.ts';
import { allow as allowScopes, newApi } from '../support/api-scopes.ts';
import { newDeviceClient, startDevice } from '../support/devices.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  standard,
  type TestClient,
  tokensFor,
} from '../support/flow.ts';
import { landscape } from '../support/images.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { press, type Stage, signIn, submit } from './stage.ts';

/** Opens the page of the design system, which `npm run docs` makes, as if the server had the repository's files. */
export async function openDesign(page: Page, { server }: Stage): Promise<void> {
  const folder = `${server.baseUrl}/repository`;
  await page.route(`${folder}/**`, (route) => {
    const path = route
      .request()
      .url()
      .slice(folder.length + 1);
    return route.fulfill({ path: fileURLToPath(new URL(`../../${path}`, import.meta.url)) });
  });
  await page.goto(`${folder}/docs/reference/design.html`);
}

const ALL = 'openid email details phone social organization.read';
const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
const DAY = 24 * 60 * 60 * 1000;

/** Apps whose pages show addresses of real ones; what reaches the app goes to the local one. */
export interface Apps {
  readonly notes: TestClient;
  readonly almanac: TestClient;
  /** With a picture and the longest names, for tokens of which another place asks. */
  readonly society: TestClient;
  /** That an operator allowed for everyone. */
  readonly desk: TestClient;
}

const archiveOf = ({ clientId }: TestClient): string => `https://archive.society.example/${clientId}`;

export async function registerApps({ server, app }: Stage): Promise<Apps> {
  const redirectUris = (uri: string) => [uri, app.redirectUri];
  return {
    notes: await newClient(server, {
      name: 'Acme Notes',
      owner: 'Acme Ltd',
      redirectUris: redirectUris('https://notes.acme.example/callback'),
      postLogoutRedirectUris: ['https://notes.acme.example/bye'],
    }),
    almanac: await newAlmanac(server, redirectUris('https://almanac.example/signed-in')),
    society: await newSociety(server),
    desk: await newDesk(server),
  };
}

/** An app that may act for people at an API. */
async function newAlmanac(server: Stage['server'], redirectUris: readonly string[]): Promise<TestClient> {
  const almanac = await newClient(server, { name: 'Weather Almanac', redirectUris });
  const texts = {
    'stations.read': 'See your weather stations',
    'stations.write': 'Add and rename stations, and change how often and how exactly each of them measures',
  };
  const stations = await newApi(server, [], {
    name: 'Weather stations',
    resourceScopes: Object.entries(texts).map(([name, en]) => ({ name, descriptions: { en } })),
  });
  await allowScopes(server, stations, almanac, Object.keys(texts));
  return almanac;
}

/** An app of the people who run the service, who allowed it for everyone. */
async function newDesk(server: Stage['server']): Promise<TestClient> {
  const scopes = ['openid', 'profile', 'email', 'groups'];
  const redirectUris = ['https://desk.example/signed-in'];
  const desk = await newClient(server, { name: 'Help desk', redirectUris, scopes, consent: 'operator' });
  const answer = await admin(server, 'PUT', `/clients/${desk.clientId}/consent-approval`, { scopes });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return desk;
}

async function newSociety(server: Stage['server']): Promise<TestClient> {
  const society = await newClient(server, {
    name: 'The Society for the Collected Correspondence of Ada Lovelace',
    owner: 'Donaudampfschiffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    redirectUris: ['https://members.correspondence.society.example/signed-in'],
  });
  const answer = await call(
    server,
    'PUT',
    `/api/v2/admin/clients/${society.clientId}/picture`,
    { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'image/png' },
    new Uint8Array(await landscape().png()),
  );
  assert.equal(answer.status, 200, answer.text);
  await newClient(server, { name: 'The archive', resource: archiveOf(society), grantTypes: ['client_credentials'] });
  return society;
}

/** A person with everything set. */
async function newAda({ server }: Stage) {
  const user = await newUser(server, {
    username: 'ada.lovelace',
    displayName: 'Ada Lovelace',
    email: 'ada@example.com',
    emailVerified: true,
    about: 'Writes programs for a machine that is not built yet.',
    website: 'https://ada.example/',
    location: 'London',
    birthDate: '1990-12-10',
    phone: '+905551234567',
    socialLinks: [{ platform: 'github', url: 'https://github.com/ada', label: 'GitHub' }],
    avatarColor: '#1f4e8c',
  });
  const organization = await admin(server, 'POST', '/organizations', {
    name: 'engines',
    domain: 'engines.example',
  });
  await admin(server, 'PUT', `/organizations/${organization.body.id}/members/${user.id}`, { role: 'MEMBER' });
  return user;
}

/** Walks one page through every page and state, and stops at each. */
export async function walkPages(
  stage: Stage,
  { notes, almanac, society, desk }: Apps,
  page: Page,
  stop: (name: string) => Promise<void>,
): Promise<void> {
  const { server, app } = stage;
  const to = (path: string) => page.goto(server.baseUrl + path);
  const ask = (client: TestClient, scope: string) => to(authorizeUrl(client, { scope }));
  const local = (client: TestClient): TestClient => ({ ...client, redirectUri: app.redirectUri });
  const allow = async (client: TestClient, scope: string) => {
    await ask(local(client), scope);
    await press(page.locator('[value=allow]').first());
    await redeem(server, local(client), app.answers.at(-1)?.get('code') ?? '');
  };
  const takeAway = async (name: string) => {
    await press(page.locator('.rows-of-account > a').first());
    await page.locator('.confirm summary').click();
    await stop(name);
    await press(page.locator('.confirm button.danger'));
  };
  const user = await newAda(stage);
  const banned = await newUser(server);
  const until = new Date(server.now() + 3 * DAY).toISOString();
  await admin(server, 'PUT', `/users/${banned.id}/ban`, { until });

  await to('/login');
  await stop('sign-in');
  await ask(notes, ALL);
  await stop('sign-in-app');
  await submit(page);
  await stop('sign-in-empty');
  await signIn(page, user.username, 'not the password');
  await stop('sign-in-wrong');
  await signIn(page, banned.username, PASSWORD);
  await stop('sign-in-banned');
  await press(page.getByRole('link', { name: 'Create one' }));
  await stop('sign-up-app');
  await to('/signup');
  await stop('sign-up');
  await page.fill('#username', 'Ada Lovelace');
  await page.fill('#email', 'ada');
  await submit(page);
  await stop('sign-up-errors');

  await to(`${authorizeUrl(society, { scope: ALL })}&resource=${encodeURIComponent(archiveOf(society))}`);
  await signIn(page, (await newUser(server)).username, PASSWORD);
  await stop('consent-long');
  await press(page.getByRole('button', { name: 'Not you?' }));
  await stop('sign-in-long');

  await ask(notes, ALL);
  await signIn(page, user.username, PASSWORD);
  await stop('consent');
  await page.focus('[value=allow]');
  await stop('consent-meeting');
  await to(authorizeUrl(standard(notes), { scope: `${ALL} profile offline_access` }));
  await stop('consent-standard');
  await to(authorizeUrl(standard(almanac), { scope: 'openid phone stations.read stations.write' }));
  await stop('consent-api');
  await allow(notes, 'openid email');
  // The code is used, so a second submit of the same form has nowhere to lead.
  await page.goBack();
  await stop('error-finished');
  await ask(notes, ALL);
  await stop('consent-more');
  await page.click('summary');
  await stop('consent-more-open');
  await to(authorizeUrl(notes, { prompt: 'select_account' }));
  await stop('account-choice');

  server.advance(DAY + 2 * 60 * 60 * 1000);
  await allow(standard(almanac), 'openid phone stations.read');
  await to(authorizeUrl(standard(almanac), { scope: 'openid stations.read stations.write' }));
  await page.click('summary');
  await stop('consent-api-more');
  await to('/account/connections');
  await stop('connected-apps');
  await takeAway('connected-app');
  await stop('connected-apps-revoked');
  await takeAway('connected-app-alone');
  await to('/account/connections');
  await stop('connected-apps-none');
  // Nobody is asked, and the app is not there to open.
  await page.request.get(server.baseUrl + authorizeUrl(standard(desk), { scope: 'openid profile email groups' }), {
    maxRedirects: 0,
  });
  await to('/account/connections');
  await stop('connected-apps-operator');

  await to('/');
  await stop('home');
  await to('/playground');
  await stop('playground');
  await submit(page);
  await stop('playground-authorize');
  await press(page.locator('.guide a.primary'));
  await press(page.locator('[value=allow]'));
  await stop('playground-code');
  await submit(page);
  await page.locator('summary').last().click();
  await stop('playground-tokens');
  await submit(page);
  await stop('playground-userinfo');
  await submit(page);
  await stop('playground-refresh');
  await press(page.locator('.guide button.danger'));
  await stop('playground-revoked');

  const television = await newDeviceClient(server, { name: 'Acme TV', owner: 'Acme Ltd' });
  const typeCode = async (code: string) => {
    await to('/device');
    await page.fill('#user_code', code);
    await submit(page);
  };
  await to('/device');
  await stop('device');
  await typeCode('BBBB-BBBB');
  await stop('device-wrong');
  const waiting = await startDevice(server, television, { scope: 'openid profile email' });
  await typeCode(waiting.user_code);
  await stop('device-consent');
  await press(page.locator('[value=allow]'));
  await stop('device-allowed');
  await typeCode((await startDevice(server, television)).user_code);
  await press(page.locator('[value=deny]'));
  await stop('device-denied');

  await to('/account/sessions');
  await stop('sessions-one');
  const elsewhere = async (agentText: string) => {
    server.advance(3 * 60 * 60 * 1000);
    const other = agent(server.baseUrl, undefined, { 'user-agent': agentText });
    await other.submit(await other.get('/login'), { identifier: user.username, password: PASSWORD });
    return other;
  };
  await tokensFor(server, notes, user, {}, { browser: await elsewhere(WINDOWS) });
  await elsewhere(PHONE);
  await elsewhere('');
  await to('/account/sessions');
  await stop('sessions');
  await page.locator('article .confirm > summary').last().click();
  await stop('sessions-end');
  await press(page.locator('article button.danger').last());
  await stop('sessions-ended');
  await page.click('.stack > .confirm > summary');
  await press(page.locator('.stack > .confirm button.danger'));
  await stop('sessions-others-ended');
  await to('/account');
  await stop('account');
  await to('/account?row=details');
  await stop('profile');
  await page.fill('#website', 'ada.example');
  await press(page.getByRole('button', { name: 'Save “Website, location and birth date”' }));
  await stop('profile-errors');
  await to('/account?row=change-picture');
  await page.setInputFiles('#picture', { name: 'ada.png', mimeType: 'image/png', buffer: await landscape().png() });
  await press(page.locator('[enctype] .primary'));
  await stop('account-picture');
  await to('/account/security');
  await stop('security');
  await page.click('#change-password > summary');
  await stop('security-password');
  const change = async (current: string) => {
    await page.fill('#current', current);
    await page.fill('#password', 'another good password');
    await press(page.getByRole('button', { name: 'Change password' }));
  };
  await change('not the password');
  await stop('security-wrong');
  await change(PASSWORD);
  await stop('security-changed');

  const leaving = { client_id: notes.clientId, post_logout_redirect_uri: 'https://notes.acme.example/bye' };
  await to(`/oidc/logout?${new URLSearchParams(leaving)}`);
  await stop('sign-out');
  await to('/oidc/logout?id_token_hint=broken');
  await stop('sign-out-wrong');
  await submit(page);
  await stop('signed-out');
  await to(`/oidc/logout?${new URLSearchParams(leaving)}`);
  await stop('signed-out-app');
  await to('/login');
  await signIn(page, user.username, 'another good password');
  await to('/account/security?row=sign-out-everywhere');
  await press(page.getByRole('button', { name: 'Sign out everywhere' }));
  await stop('signed-out-everywhere');

  await to(authorizeUrl({ ...notes, redirectUri: 'https://notes.acme.example/wrong' }));
  await stop('error-redirect-uri');
  await to(authorizeUrl({ ...notes, clientId: 'acme-notes' }));
  await stop('error-client');
  await to('/api');
  await stop('api');
  await to('/api/clients');
  await page.click('summary');
  await stop('api-clients');
  await to('/login?request=unknown');
  await stop('error-expired');
  await to('/nowhere');
  await stop('error-nothing-here');
}
