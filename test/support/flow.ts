import assert from 'node:assert/strict';
import { ENDPOINT_RULES, type EndpointSet } from '../../src/claims/endpoint-set.ts';
import { type Agent, type Answer, agent } from './agent.ts';
import { ADMIN_KEY, type TestServer } from './server.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
  readonly body: any;
}

/** What it takes to send a request. */
type At = Pick<TestServer, 'baseUrl' | 'nodeInTurn'>;
const addressOf = ({ baseUrl, nodeInTurn }: At): string => nodeInTurn?.() ?? baseUrl;

async function json(response: Response): Promise<JsonAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** A call of the admin API. */
export async function admin(
  server: At,
  method: string,
  path: string,
  body?: unknown,
  key = ADMIN_KEY,
): Promise<JsonAnswer> {
  return json(
    await fetch(`${addressOf(server)}/api/v2/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
}

export const PASSWORD = 'correct horse battery';

export interface TestUser {
  readonly id: string;
  readonly username: string;
}

let counter = 0;

/** A person with a password, made through the admin API. */
export async function newUser(server: TestServer, fields: Readonly<Record<string, unknown>> = {}): Promise<TestUser> {
  const username = `user${++counter}`;
  const answer = await admin(server, 'POST', '/users', {
    username,
    displayName: `User ${counter}`,
    email: `${username}@example.com`,
    password: PASSWORD,
    ...fields,
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return { id: answer.body.id, username: answer.body.username };
}

export interface TestClient {
  /** The set of endpoints whose endpoints it uses; the contract's where it is left out. */
  readonly endpointSet?: EndpointSet;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** A registered client. */
export async function newClient(
  server: TestServer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<TestClient> {
  const redirectUri = 'https://app.example.com/callback';
  const answer = await admin(server, 'POST', '/clients', {
    name: `App ${++counter}`,
    redirectUris: [redirectUri],
    ...fields,
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return {
    clientId: answer.body.clientId,
    clientSecret: answer.body.clientSecret,
    redirectUri: answer.body.redirectUris[0],
  };
}

/** The client at the endpoints of the OIDC endpoints. */
export const standard = <Client extends TestClient>(client: Client) => ({ ...client, endpointSet: 'oidc' }) as const;

const rulesOf = ({ endpointSet = 'v2' }: Pick<TestClient, 'endpointSet'>) => ENDPOINT_RULES[endpointSet];

/** The address of an authorization request. */
export function authorizeUrl(client: TestClient, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    state: 'st4te',
    ...parameters,
  });
  return `${rulesOf(client).authorizationPath}?${query}`;
}

/** A browser with a session. */
export async function signedIn(server: TestServer, user: TestUser, password = PASSWORD): Promise<Agent> {
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const answer = await browser.submit(await browser.get('/login'), { identifier: user.username, password });
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

/** A new user, and a browser with a session of that user. */
export async function newSignedInUser(
  server: TestServer,
): Promise<{ readonly user: TestUser; readonly browser: Agent }> {
  const user = await newUser(server);
  return { user, browser: await signedIn(server, user) };
}

/** Walks from an authorization request to the redirect to the client, through whatever pages come. */
export async function walk(
  browser: Agent,
  address: string,
  choice: { user?: TestUser; password?: string; allow?: readonly string[] | 'all'; decision?: 'allow' | 'deny' } = {},
): Promise<URL> {
  let answer: Answer = await browser.get(address);
  for (let hop = 0; hop < 8; hop++) {
    if (answer.location === undefined) {
      const form = /action="([^"]*\/(login|consent))"/.exec(answer.text);
      assert.ok(form !== null, `neither a redirect nor a form (${answer.status}): ${answer.text.slice(0, 1500)}`);
      if (form[2] === 'login') {
        assert.ok(choice.user !== undefined, 'a sign-in page came, and no user was given');
        answer = await browser.submit(
          answer,
          { identifier: choice.user.username, password: choice.password ?? PASSWORD },
          form[1],
        );
      } else {
        const all = [...answer.text.matchAll(/name="allow ([a-z0-9.]+)"/g)].map((match) => match[1] as string);
        const allowed = choice.allow === undefined || choice.allow === 'all' ? all : choice.allow;
        const switches = Object.fromEntries(allowed.map((scope) => [`allow ${scope}`, 'on']));
        answer = await browser.submit(answer, { decision: choice.decision ?? 'allow', ...switches }, form[1]);
      }
      continue;
    }
    if (/\/(login|consent|account)(\?|$)/.test(answer.location.pathname + answer.location.search)) {
      answer = await browser.get(answer.location.href);
      continue;
    }
    return answer.location;
  }
  throw new Error(`the walk did not end: ${answer.status} ${answer.text.slice(0, 500)}`);
}

/** A code for a person, through the pages. */
export async function codeFor(
  server: TestServer,
  client: TestClient,
  user: TestUser,
  parameters: Readonly<Record<string, string>> = {},
  choice: { allow?: readonly string[] | 'all'; browser?: Agent } = {},
): Promise<string> {
  const browser = choice.browser ?? (await signedIn(server, user));
  const target = await walk(browser, authorizeUrl(client, parameters), { user, ...choice });
  const code = target.searchParams.get('code');
  assert.ok(code, `no code in ${target}`);
  return code;
}

/** A call of the token endpoint with a JSON body. */
export async function tokenCall(
  server: At,
  body: unknown,
  client: Pick<TestClient, 'endpointSet'> = {},
): Promise<JsonAnswer> {
  return json(
    await fetch(addressOf(server) + rulesOf(client).tokenPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );
}

export const redeem = (server: At, client: TestClient, code: string, change: Readonly<Record<string, unknown>> = {}) =>
  tokenCall(
    server,
    {
      grant_type: 'authorization_code',
      code,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uri: client.redirectUri,
      ...change,
    },
    client,
  );

export const refresh = (
  server: At,
  client: TestClient,
  refreshToken: string,
  change: Readonly<Record<string, unknown>> = {},
) =>
  tokenCall(
    server,
    {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      ...change,
    },
    client,
  );

/** A call of UserInfo. */
export async function userinfo(
  server: At,
  accessToken: string | undefined,
  path = '/api/v2/oauth/userinfo',
): Promise<JsonAnswer> {
  return json(
    await fetch(`${addressOf(server)}${path}`, {
      headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` },
    }),
  );
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly expires_in: number;
  readonly scope?: string;
}

/** Tokens for a person, through the whole flow. */
export async function tokensFor(
  server: TestServer,
  client: TestClient,
  user: TestUser,
  parameters: Readonly<Record<string, string>> = {},
  choice: { allow?: readonly string[] | 'all'; browser?: Agent } = {},
): Promise<Tokens> {
  const answer = await redeem(server, client, await codeFor(server, client, user, parameters, choice));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/** The claims of a JWT, unverified. */
// biome-ignore lint/suspicious/noExplicitAny: tests read claims as they come
export const claimsOf = (token: string): any =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Takes a client's access away on the page of connected apps. */
export async function revokeOnPage(browser: Agent, client: TestClient): Promise<Answer> {
  const page = await browser.get('/account/connections');
  return browser.submit(page, { client_id: client.clientId }, '/account/connections');
}
