// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, cookieName, formOf } from '../support/agent.ts';
import { BANNED, codeBody, FORM_TYPE, JSON_TYPE, refreshBody, SUSPENDED } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { authorize, press } from '../support/playground.ts';
import { isForPeople, type Route, startRouted } from './routes.ts';

/** What a person and the apps of that person hold. */
interface Belongings {
  readonly user: TestUser;
  readonly client: TestClient;
  readonly cookies: string;
  readonly tokens: Tokens;
  readonly code: string;
  /** The same of the OIDC endpoints. */
  readonly ofStandard: { readonly tokens: Tokens; readonly code: string };
  /** The fields of the forms that were on the screen, for each address that they are sent to. */
  readonly forms: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

interface Request {
  readonly address: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, string>>;
  /** Whether the client authenticates in the body, and so by nothing else. */
  readonly bare?: boolean;
  /** The access token in the header, where it is not that of the v2 endpoints. */
  readonly bearer?: string;
}

const server = await startRouted({ TESSERA_LIMIT_PLAYGROUND_ADDRESS: 'off', TESSERA_LIMIT_PENDING_ADDRESS: 'off' });
after(() => server.close());

const SECRET_TEXT = 'Perpetua of the Canaries';

/** @param visits whether that is also a visit to the playground, with tokens and what they say of the person */
async function belongings(visits = true): Promise<Belongings> {
  const client = await newClient(server);
  const user = await newUser(server, { displayName: SECRET_TEXT });
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
  const code = await codeFor(server, client, user, {}, { browser });
  const ofStandard = {
    tokens: await tokensFor(server, standard(client), user, { scope: 'openid profile' }, { browser }),
    code: await codeFor(server, standard(client), user, {}, { browser }),
  };
  const consent = await browser.get(authorizeUrl(client, { prompt: 'consent' }));
  const choice = await browser.get(authorizeUrl(client, { prompt: 'select_account' }));
  if (visits) await authorize(browser, await press(browser, 'start'), user);
  const shown = [
    ...(visits ? [await press(browser, 'tokens')] : []),
    await browser.get('/account'),
    await browser.get('/account'),
    await browser.get('/account/security'),
    await browser.get('/account/data'),
    await browser.get('/account/connections'),
    await browser.get('/account/sessions'),
    await browser.get(consent.location?.href ?? ''),
    await browser.get(choice.location?.href ?? ''),
    await stranger(browser).get('/login'),
    await stranger(browser).get('/signup'),
  ];
  const forms = new Map<string, Record<string, string>>();
  for (const { text } of shown) {
    for (const [, action = ''] of text.matchAll(/<form[^>]* method="post" action="([^"]+)"/g)) {
      const { hidden } = formOf(text, action);
      forms.set(new URL(action, server.baseUrl).pathname, hidden);
    }
  }
  return { user, client, cookies: cookiesOf(browser), tokens, code, ofStandard, forms };
}

const COOKIES = ['tessera_browser', 'tessera_session'] as const;
const cookiesOf = (browser: Agent): string =>
  COOKIES.map((name) => `${cookieName(server.baseUrl, name)}=${browser.cookie(name)}`).join('; ');

/** The same browser, signed out: its forms are those of the same browser. */
function stranger(browser: Agent): Agent {
  const id = browser.cookie('tessera_browser') ?? '';
  return {
    ...browser,
    get: async (address) => {
      const answer = await fetch(new URL(address, server.baseUrl), {
        headers: { cookie: `${cookieName(server.baseUrl, 'tessera_browser')}=${id}` },
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text(), location: undefined };
    },
  };
}

const exchanges = (address: string, client: TestClient, { code, tokens }: Belongings['ofStandard']): Request[] => [
  { address, json: codeBody(client, code) },
  { address, json: refreshBody(client, tokens.refresh_token) },
  { address, form: refreshBody(client, tokens.refresh_token) },
];

/** What a person, or an app with that person's tokens, would send to a route; for a route unknown here: everything. */
function requestsTo({ method, url }: Route, own: Belongings): Request[] {
  const { user, client, tokens, code, ofStandard, forms } = own;
  const address = url.replace(':file', `${user.id}.svg`).replaceAll(/:\w+/g, user.id);
  const form = (fields: Readonly<Record<string, string>> = {}): Request[] => [
    { address, form: { ...forms.get(address), ...fields } },
  ];
  switch (`${method} ${url}`) {
    case 'GET /api/v2/oauth/authorize':
    case 'GET /oidc/authorize': {
      const app = url.startsWith('/oidc/') ? standard(client) : client;
      return [{}, { prompt: 'none' }, { scope: 'openid email' }].map((more) => ({ address: authorizeUrl(app, more) }));
    }
    case 'POST /api/v2/oauth/authorize':
    case 'POST /oidc/authorize':
      return form(Object.fromEntries(new URL(authorizeUrl(client), server.baseUrl).searchParams));
    case 'GET /continue':
      return [{ address: `/continue?request=${forms.get('/continue')?.['request']}` }];
    // What belongs to the other endpoints is sent first, and is unharmed by it.
    case 'POST /api/v2/oauth/token':
      return [...exchanges(address, client, ofStandard), ...exchanges(address, client, { code, tokens })];
    case 'POST /oidc/token':
      return [...exchanges(address, client, { code, tokens }), ...exchanges(address, client, ofStandard)];
    case 'GET /api/v2/oauth/userinfo':
    case 'GET /oidc/userinfo':
      return [{ address }, { address, bearer: ofStandard.tokens.access_token }];
    case 'POST /oidc/userinfo':
      return [
        { address, form: {} },
        { address, form: {}, bearer: ofStandard.tokens.access_token },
      ];
    case 'POST /oidc/introspect':
      return [tokens, ofStandard.tokens].map(({ access_token: token, refresh_token }) => ({
        address,
        form: { ...refreshBody(client, refresh_token), token },
        bare: true,
      }));
    case 'POST /login':
      return form({ identifier: user.username, password: PASSWORD });
    case 'POST /signup':
      return form({ username: user.username, displayName: 'A', email: 'a@b.example', password: PASSWORD });
    case 'GET /consent':
      return [{ address: `/consent?request=${forms.get('/consent')?.['request']}` }];
    case 'POST /consent':
      return form({ decision: 'allow' });
    case 'POST /account/password':
      return form({ current: PASSWORD, password: 'another good password' });
    case 'POST /account/sessions':
      return form({ session: 'others' });
    case 'POST /account/picture':
      return form({ action: 'remove' });
    case 'POST /account/connections':
      return form({ client_id: client.clientId });
    default:
      return method === 'GET'
        ? [{ address }]
        : form({ ...codeBody(client, code), refresh_token: tokens.refresh_token });
  }
}

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  readonly session: string | undefined;
}

/** Sends a request with every credential that the person has, or with none. */
async function send(method: string, request: Request, own: Belongings | undefined): Promise<Sent> {
  const { address, form, json, bare = json !== undefined, bearer = own?.tokens.access_token } = request;
  const type = json === undefined ? FORM_TYPE : JSON_TYPE;
  const body = json === undefined ? new URLSearchParams(form).toString() : JSON.stringify(json);
  const response = await fetch(server.baseUrl + address, {
    method,
    redirect: 'manual',
    headers: {
      accept: 'text/html, application/json',
      ...(own !== undefined && { cookie: own.cookies }),
      // At the token endpoint the client authenticates in the body, and only there.
      ...(own !== undefined && !bare && { authorization: `Bearer ${bearer}` }),
      ...(method !== 'GET' && method !== 'HEAD' && { 'content-type': type }),
    },
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
  });
  const session = response.headers
    .getSetCookie()
    .map((line) => /^tessera_session[^=]*=([^;]+)/.exec(line)?.[1])
    .find((value) => value !== undefined);
  return { status: response.status, text: await response.text(), location: response.headers.get('location'), session };
}

/** What of an answer serves a person: data, a code, tokens or a session. */
function gains({ text, location, session }: Sent): string[] {
  return [
    ...(text.includes(SECRET_TEXT) || /action="\/(account\/|logout)/.test(text) ? ['data'] : []),
    ...(/"(access|refresh|id)_token"/.test(text) ? ['tokens'] : []),
    ...(text.includes('"active":true') ? ['a live token'] : []),
    ...(/[?&]code=/.test(location ?? '') || text.includes('name="code"') ? ['a code'] : []),
    ...(session === undefined ? [] : ['a session']),
  ];
}

const bars = { banned: ['ban', BANNED], suspended: ['suspension', SUSPENDED] } as const;

test('AC-01: of an active account the matrix gets data, codes, tokens and sessions: it could fail', async () => {
  const gained = new Map<string, readonly string[]>();
  for (const route of server.routes.filter(isForPeople)) {
    const own = await belongings(route.url.startsWith('/playground'));
    const name = `${route.method} ${route.url}`;
    const found: string[] = [];
    for (const request of requestsTo(route, own)) found.push(...gains(await send(route.method, request, own)));
    gained.set(name, found);
  }
  const expected: Readonly<Record<string, string>> = {
    'GET /api/v2/oauth/authorize': 'a code',
    'POST /api/v2/oauth/token': 'tokens',
    'GET /api/v2/oauth/userinfo': 'data',
    'GET /oidc/authorize': 'a code',
    'POST /oidc/token': 'tokens',
    'GET /oidc/userinfo': 'data',
    'POST /oidc/userinfo': 'data',
    'POST /oidc/introspect': 'a live token',
    'POST /login': 'a session',
    'POST /signup': 'a session',
    'GET /consent': 'data',
    'POST /continue': 'a code',
    'POST /consent': 'a code',
    'GET /account': 'data',
    'GET /account/organization': 'data',
    'GET /account/security': 'data',
    'GET /account/data': 'data',
    'POST /account/profile': 'data',
    'POST /account/picture': 'data',
    'GET /playground': 'data',
    'POST /account/password': 'a session',
    'GET /account/connections': 'data',
    'GET /account/sessions': 'data',
    'POST /account/connections': 'data',
    'POST /account/sessions': 'data',
  };
  for (const [name, gain] of Object.entries(expected)) assert.ok(gained.get(name)?.includes(gain), `${name}: ${gain}`);
});

for (const [state, [path, message]] of Object.entries(bars)) {
  test(`AC-01: a ${state} person gets neither data nor code nor token nor session from any route`, async () => {
    const own = await belongings();
    assert.equal((await admin(server, 'PUT', `/users/${own.user.id}/${path}`, {})).status, 200);
    const routes = server.routes.filter(isForPeople);
    assert.ok(routes.length > 12);
    for (const route of routes) {
      for (const request of requestsTo(route, own)) {
        const name = `${route.method} ${request.address}`;
        const answer = await send(route.method, request, own);
        assert.deepEqual(gains(answer), [], `${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
        assert.ok(answer.status < 500, `${name}: ${answer.status}`);
        if (answer.status >= 200 && answer.status < 300) {
          // The app that holds a token may ask about it, and is told that it is dead.
          if (route.url === '/oidc/introspect') continue;
          // Only public pages: the sign-in page, the sign-up page, a picture.
          assert.equal(route.method, 'GET', name);
          const anonymous = await send(route.method, request, undefined);
          assert.equal(anonymous.status, answer.status, `${name} answers ${answer.status} to a ${state} person`);
        }
      }
    }
    for (const [method, request] of [
      ['GET', { address: '/api/v2/oauth/userinfo' }],
      ['POST', { address: '/api/v2/oauth/token', json: refreshBody(own.client, own.tokens.refresh_token) }],
    ] as const) {
      const answer = await send(method, request, own);
      assert.equal(answer.status, 403, request.address);
      assert.equal(JSON.parse(answer.text).error_description, message, request.address);
    }
    const { tokens } = own.ofStandard;
    for (const [method, request, status] of [
      ['GET', { address: '/oidc/userinfo' }, 401],
      ['GET', { address: '/oidc/userinfo', bearer: tokens.access_token }, 401],
      ['POST', { address: '/oidc/token', json: refreshBody(own.client, tokens.refresh_token) }, 400],
    ] as const) {
      const answer = await send(method, request, own);
      assert.deepEqual([answer.status, JSON.parse(answer.text).error_description], [status, message], request.address);
    }
  });

  test(`AC-09: a ${state} person comes out of it by no way of their own`, async () => {
    const own = await belongings();
    const { user } = own;
    const before = await admin(server, 'GET', `/users/${user.id}`);
    await admin(server, 'PUT', `/users/${user.id}/${path}`, {});
    const email = before.body.email as string;
    const signUp = { displayName: 'Anew', password: PASSWORD };
    const forms: [string, Record<string, string>][] = [
      ['/login', { identifier: email, password: PASSWORD }],
      ['/login', { identifier: email.toUpperCase(), password: PASSWORD }],
      ['/login', { identifier: user.username.toUpperCase(), password: PASSWORD }],
      ['/signup', { ...signUp, username: user.username, email }],
      ['/signup', { ...signUp, username: user.username.toUpperCase(), email: 'other@elsewhere.example' }],
      ['/signup', { ...signUp, username: `${user.username}-anew`, email: email.toUpperCase() }],
      ['/account/password', { current: PASSWORD, password: 'another good password' }],
      ['/account/sign-out-everywhere', {}],
      ['/account/connections', { client_id: own.client.clientId }],
      ['/account/sessions', { session: 'others' }],
      ['/account/profile', { displayName: 'Anew' }],
      ['/account/email', { email: 'anew@elsewhere.example' }],
      ['/account/picture', { action: 'remove' }],
      ['/playground', {}],
      ['/logout', {}],
      ['/continue', {}],
      ['/consent', { decision: 'deny' }],
      ['/consent', { decision: 'allow' }],
    ];
    for (const [address, fields] of forms) {
      const form = { ...own.forms.get(address), ...fields };
      for (const sender of [own, { ...own, cookies: own.cookies.replace(/; tessera_session.*/, '') }]) {
        const answer = await send('POST', { address, form }, sender);
        const what = `${address} ${JSON.stringify(fields)}: ${answer.status}`;
        assert.deepEqual(gains(answer), [], what);
        assert.ok(answer.status >= 300 && answer.status < 500, what);
      }
    }
    // A password that an operator sets opens nothing either.
    const set = await admin(server, 'PATCH', `/users/${user.id}`, { password: 'set by an operator' });
    assert.equal(set.body.status, state);
    // Beyond the limit of tries, which the forms above used up, the page does not tell.
    server.advance(60_000);
    await assert.rejects(signedIn(server, user, 'set by an operator'), /403/);
    const after = await admin(server, 'GET', `/users/${user.id}`);
    assert.equal(after.body.status, state);
    assert.equal(after.body.email, email);
    const people = await admin(server, 'GET', `/users?q=${encodeURIComponent('Anew')}`);
    assert.deepEqual(people.body.items, [], 'no second account was made with the name or the address of the first');
  });
}

type Step = readonly [method: string, body?: object];
const endings: Readonly<Record<string, readonly Step[]>> = {
  disabled: [['PATCH', { status: 'disabled' }]],
  deleted: [['DELETE']],
  'disabled, and enabled again': [
    ['PATCH', { status: 'disabled' }],
    ['PATCH', { status: 'active' }],
  ],
};
/** What people do without any app. */
const OWN_AFFAIRS = /^\/(account|signup|logout|oidc\/logout)/;

for (const [state, steps] of Object.entries(endings)) {
  test(`decisions §5: an app that was ${state} gets nothing from any route with what it held before`, async () => {
    const own = await belongings();
    for (const [method, body] of steps) {
      const answer = await admin(server, method, `/clients/${own.client.clientId}`, body);
      assert.ok(answer.status === 200 || answer.status === 204, JSON.stringify(answer.body));
    }
    const routes = server.routes.filter((route) => isForPeople(route) && !OWN_AFFAIRS.test(route.url));
    assert.ok(routes.length > 12);
    for (const route of routes) {
      // A request that begins anew is one that an enabled app may make.
      if (state === 'disabled, and enabled again' && route.url.endsWith('/authorize')) continue;
      for (const request of requestsTo(route, own)) {
        const answer = await send(route.method, request, own);
        const name = `${route.method} ${request.address}: ${answer.status}`;
        // The person who is signed in sees their own name on our own pages.
        const isPage = !route.url.includes('userinfo');
        const gained = gains(answer).filter((gain) => gain !== 'a session' && !(isPage && gain === 'data'));
        assert.deepEqual(gained, [], `${name} ${answer.text.slice(0, 300)}`);
        const away = answer.location !== null && new URL(answer.location, server.baseUrl).origin !== server.baseUrl;
        assert.ok(!away, `${name} leads to the app: ${answer.location}`);
        assert.ok(answer.status < 500, name);
        if (!isPage) assert.equal(answer.status, 401, name);
      }
    }
  });
}
