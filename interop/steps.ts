import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { App, Claims } from './apps.ts';
import { type Answer, asksForPassword, type Browser, newBrowser, open } from './browser.ts';
import type { Client, Optional } from './clients.ts';
import type { Exchange, Issuer } from './issuer.ts';
import { freePort, listen, type Running } from './processes.ts';
import type { Prepared } from './toolchains.ts';

/** The steps, in this order. */
export const steps = {
  discovery: 'Discovery',
  signIn: 'Sign-in',
  idToken: 'ID token',
  userInfo: 'UserInfo',
  refresh: 'Refresh',
  signOut: 'Sign-out',
  backchannel: 'Back-channel logout',
  revocation: 'Noticed revocation',
} as const;

export type Step = keyof typeof steps;

export interface Outcome {
  readonly result: 'passed' | 'failed' | 'not offered' | 'not reached';
  /** What was seen; in case of failure, what was expected. */
  readonly detail: string;
}

export type Row = Readonly<Record<Step, Outcome>>;

interface Stage {
  readonly client: Client;
  readonly issuer: Issuer;
  readonly app: App;
  readonly running: Running;
  readonly browser: Browser;
  readonly origin: string;
  readonly clientId: string;
  /** The metadata of the discovery document. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly started: number;
  readonly logoutTokens: Receiver;
}

/** Registers a client, starts its app, and takes it through the steps. */
export async function walkThrough(client: Client, prepared: Prepared, issuer: Issuer): Promise<Row> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const logoutTokens = await receiver(origin + client.backchannelLogout);
  try {
    const { clientId, clientSecret } = await issuer.register({
      name: client.name,
      redirectUris: [origin + client.callback],
      postLogoutRedirectUris: [`${origin}/`],
      ...(client.type !== undefined && { type: client.type }),
      ...(client.backchannelLogout !== undefined && { backchannelLogoutUri: logoutTokens.uri }),
    });
    const document = await fetch(`${issuer.address}/.well-known/openid-configuration`);
    const metadata = (await document.json()) as Stage['metadata'];
    const started = issuer.mark();
    let running: Running;
    try {
      running = await prepared.start({ issuer: issuer.address, clientId, clientSecret, port });
    } catch (error) {
      return notStarted(message(error));
    }
    try {
      const app = client.app(origin);
      const browser = newBrowser();
      const stage = { client, issuer, app, running, browser, origin, clientId, metadata, started, logoutTokens };
      return await takeAll(stage);
    } finally {
      await running.close();
    }
  } finally {
    await logoutTokens.close();
  }
}

/** Most clients read the discovery document when they start. */
function notStarted(detail: string): Row {
  const row = Object.fromEntries(Object.keys(steps).map((step) => [step, { result: 'not reached', detail: '' }]));
  return { ...(row as Row), discovery: { result: 'failed', detail } };
}

async function takeAll(stage: Stage): Promise<Row> {
  const row = {} as Record<Step, Outcome>;
  for (const step of Object.keys(steps) as Step[]) {
    const reason = stage.client.notOffered[step as Optional];
    if (reason !== undefined) row[step] = { result: 'not offered', detail: reason };
    // The steps after the sign-in need a signed-in person.
    else if (row.signIn?.result === 'failed') row[step] = { result: 'not reached', detail: 'The sign-in failed.' };
    else row[step] = await outcome(stage, step);
  }
  return row;
}

async function outcome(stage: Stage, step: Step): Promise<Outcome> {
  try {
    return { result: 'passed', detail: await actions[step](stage) };
  } catch (error) {
    const said = stage.running.said().slice(-1500);
    const seen = stage.issuer.since(stage.started).slice(-5).map(named).join('; ');
    return { result: 'failed', detail: `${message(error)}\n  the issuer answered: ${seen}\n  the app wrote: ${said}` };
  }
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What each step does; it returns what was seen, or fails. */
const actions: Readonly<Record<Step, (stage: Stage) => Promise<string>>> = {
  async discovery({ app, browser, issuer, metadata, started }) {
    const sent = await app.begin(browser);
    assertSentTo(sent, metadata['authorization_endpoint']);
    assert.ok(
      issuer.since(started).some(({ path }) => path === '/.well-known/openid-configuration'),
      'the app did not read the discovery document',
    );
    return '';
  },

  async signIn(stage) {
    await signIn(stage);
    return '';
  },

  async idToken({ app, browser, client, issuer, metadata, started }) {
    const claims = (await app.idToken(browser)) ?? (await app.profile(browser));
    assert.equal(claims?.['sub'], issuer.person.id, `the app shows ${JSON.stringify(claims)}`);
    const passed = issuer.since(started);
    if (client.notOffered.userInfo !== undefined) assertKnows(claims, issuer.person, passed, metadata);
    const alg = passed.find((one) => one.idTokenAlg !== undefined)?.idTokenAlg;
    const fetched = passed.some(({ path }) => path === pathOf(metadata['jwks_uri']));
    return `${alg}, signature ${fetched ? 'verified' : 'not verified, as OpenID Connect Core §3.1.3.7 allows'}`;
  },

  async userInfo({ app, browser, issuer, metadata, started }) {
    const claims = await app.profile(browser);
    assert.deepEqual([claims?.['name'], claims?.['email']], [issuer.person.displayName, issuer.person.email]);
    const read = issuer
      .since(started)
      .some(({ path, status }) => path === pathOf(metadata['userinfo_endpoint']) && status === 200);
    assert.ok(read, 'the app did not read UserInfo');
    const own = await app.idToken(browser);
    return own?.['email'] === issuer.person.email ? 'ID token, UserInfo' : 'UserInfo';
  },

  async refresh({ app, browser, issuer, metadata, running }) {
    const mark = issuer.mark();
    await app.refresh(browser, running);
    const refreshed = issuer
      .since(mark)
      .some(
        ({ path, grantType, status }) =>
          path === pathOf(metadata['token_endpoint']) && grantType === 'refresh_token' && status === 200,
      );
    assert.ok(refreshed, 'the app did not refresh');
    assert.ok(await app.signedIn(browser), 'the app signed the person out after a refresh');
    return '';
  },

  async signOut({ app, browser, client, logoutTokens, metadata, origin }) {
    const sent = await app.signOut(browser);
    assertSentTo(sent, metadata['end_session_endpoint']);
    const back = await browser.get(sent.location?.href ?? '');
    assert.equal(
      back.location?.href.split('?')[0],
      `${origin}/`,
      `the issuer answered ${back.status} ${back.text.slice(0, 500)}`,
    );
    await assertSignedOut(app, browser);
    const again = await app.begin(browser);
    assert.ok(await asksForPassword(browser, again.location?.href ?? ''), 'the session at the issuer goes on');
    // The app itself gets a logout token as well.
    if (client.backchannelLogout !== undefined) await logoutTokens.next();
    return '';
  },

  async backchannel(stage) {
    const { app, browser, issuer, logoutTokens, metadata } = stage;
    await signIn(stage);
    const mark = issuer.mark();
    const page = await browser.get(`${issuer.address}/account`);
    await browser.submit(issuer.address, page, {}, '/logout');
    const status = await logoutTokens.next();
    assert.ok(status >= 200 && status < 300, `the app answered ${status} to the logout token`);
    await assertSignedOut(app, browser);
    const asked = issuer.since(mark).filter(({ path }) => isAboutTokens(path, metadata));
    assert.deepEqual(asked, [], 'the app found out by asking the issuer, not by the logout token');
    return '';
  },

  async revocation(stage) {
    const { app, browser, client, clientId, issuer, metadata, running } = stage;
    // The app has to find out by itself.
    if (client.backchannelLogout !== undefined) await issuer.change(clientId, { backchannelLogoutUri: null });
    await signIn(stage);
    const page = await browser.get(`${issuer.address}/account/connections`);
    const revoked = await browser.submit(issuer.address, page, { client_id: clientId }, '/account/connections');
    assert.ok(revoked.status < 400, revoked.text.slice(0, 500));
    const mark = issuer.mark();
    await app.profile(browser);
    // An app that does not ask UserInfo every time finds out when it refreshes.
    if (await app.signedIn(browser)) await app.refresh(browser, running);
    await assertSignedOut(app, browser);
    assertSentTo(await app.begin(browser), metadata['authorization_endpoint']);
    const refusals = issuer.since(mark).filter(({ path, status }) => isAboutTokens(path, metadata) && status >= 400);
    assert.ok(refusals.length > 0, 'the issuer refused nothing');
    return refusals.map(named).join('; ');
  },
};

/** Asserts that the claims of the ID token say who the person is, and that UserInfo was not asked. */
function assertKnows(
  { name, preferred_username: username, email }: Claims = {},
  person: Issuer['person'],
  passed: readonly Exchange[],
  metadata: Stage['metadata'],
): void {
  // oauth2-proxy shows no name.
  assert.deepEqual(
    [name ?? username, email],
    [name === undefined ? person.username : person.displayName, person.email],
  );
  assert.ok(!passed.some(({ path }) => path === pathOf(metadata['userinfo_endpoint'])), 'the app read UserInfo');
}

async function signIn({ app, browser, issuer, metadata }: Stage): Promise<void> {
  const sent = await app.begin(browser);
  assertSentTo(sent, metadata['authorization_endpoint']);
  const end = await open(browser, sent.location?.href ?? '', issuer.person);
  assert.ok(await app.signedIn(browser), `the app answered ${end.status} ${end.text.slice(0, 1000)}`);
}

async function assertSignedOut(app: App, browser: Browser): Promise<void> {
  assert.ok(!(await app.signedIn(browser)), 'the person is still signed in to the app');
}

function assertSentTo(answer: Answer, address: string | undefined): void {
  const target = answer.location?.href ?? `${answer.status} ${answer.text.slice(0, 1000)}`;
  assert.ok(target.split('?')[0] === address, `expected a redirect to ${address}, got ${target}`);
}

const pathOf = (address: string | undefined): string => new URL(address ?? '').pathname;

const isAboutTokens = (path: string, metadata: Stage['metadata']): boolean =>
  [metadata['token_endpoint'], metadata['userinfo_endpoint']].some((address) => pathOf(address) === path);

/** Such as `refresh: 400 invalid_grant`. */
function named({ path, grantType, status, error }: Exchange): string {
  const what = grantType === 'refresh_token' ? 'refresh' : path.endsWith('/userinfo') ? 'UserInfo' : path;
  return `${what}: ${status}${error === undefined ? '' : ` ${error}`}`;
}

interface Receiver {
  /** What is registered as the back-channel logout address. */
  readonly uri: string;
  /** The app's answer to the next logout token. */
  next(): Promise<number>;
  close(): Promise<void>;
}

/** Passes logout tokens on to an app, so that it is known when one arrived. */
async function receiver(target: string): Promise<Receiver> {
  const arrived: number[] = [];
  let more = Promise.withResolvers<void>();
  const server = createServer(async (request, reply) => {
    let body = '';
    for await (const part of request) body += part;
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const status = await fetch(target, { method: 'POST', headers, body }).then(
      (answer) => answer.status,
      () => 502,
    );
    reply.writeHead(status).end();
    arrived.push(status);
    more.resolve();
  });
  const { port, close } = await listen(server);
  return {
    uri: `http://localhost:${port}/backchannel`,
    async next() {
      const late = setTimeout(() => more.reject(new Error('no further logout token came within 30 seconds')), 30_000);
      try {
        while (arrived.length === 0) {
          more = Promise.withResolvers();
          await more.promise;
        }
      } finally {
        clearTimeout(late);
      }
      return arrived.shift() as number;
    },
    close,
  };
}
