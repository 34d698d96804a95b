import { ENDPOINT_RULES, type EndpointSet } from '../../src/claims/endpoint-set.ts';
import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { consoleActs } from '../../src/console/acts.ts';
import { appActNames } from '../../src/console/apps/acts.ts';
import { actNames } from '../../src/console/people/acts.ts';
import { ASYMMETRIC_ALGS } from '../../src/keys/algorithms.ts';
import { isReference } from '../security/routes.ts';
import { cookieName, formOf } from '../support/agent.ts';
import { basic, FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import { ASSERTION_TYPE } from '../support/assertion.ts';
import { authorizeUrl, PASSWORD } from '../support/flow.ts';
import { METADATA } from '../support/registration.ts';
import { ACCESS_TOKENS_OF_UNREGISTERED, GOODBYE, TOKENS_OF_UNREGISTERED, type World } from './kinds.ts';

type Fields = Readonly<Record<string, string>>;

/** A place of a route that takes something as a proof. */
export interface Place {
  readonly name: string;
  /** Presents a text there, with everything else as it should be. Answers the outcome in few words. */
  present(world: World, credential: string): Promise<string>;
  /** What is taken there, and the outcome that shows it. */
  readonly right: Readonly<Record<string, string | RegExp>>;
  /** The outcome of everything else, but for what is told apart below. */
  readonly refused: string;
  readonly except?: Readonly<Record<string, string>>;
  /** Whether what is taken there changes something, so that it is presented in a world of its own. */
  readonly usesUp?: true;
}

/** Status and error code; for a page where it leads, for introspection what it says. */
async function outcomeOf(answer: Response): Promise<string> {
  const text = await answer.text();
  const location = answer.headers.get('location');
  if (location !== null) {
    const { pathname, searchParams, host } = new URL(location, answer.url);
    const error = searchParams.get('error');
    const code = searchParams.has('code') ? 'code' : undefined;
    const away = host === new URL(answer.url).host ? pathname : (error ?? code ?? 'away');
    return `${answer.status} ${away}`;
  }
  if (!/^application\/json/.test(answer.headers.get('content-type') ?? '')) return `${answer.status}`;
  const body = text === '' ? {} : JSON.parse(text);
  if (typeof body.active === 'boolean') return text === '{"active":false}' ? 'inactive' : `active: ${body.active}`;
  return body.error === undefined ? `${answer.status}` : `${answer.status} ${body.error}`;
}

const send = async ({ server }: World, method: string, path: string, headers: Fields = {}, body?: string) =>
  outcomeOf(
    await fetch(server.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: { accept: JSON_TYPE, ...(body !== undefined && { 'content-type': FORM_TYPE }), ...headers },
      ...(body !== undefined && { body }),
    }),
  );
const form = (fields: Fields): string => new URLSearchParams(fields).toString();
const bearer = (token: string): Fields => ({ authorization: `Bearer ${token}` });
const credentialsOf = ({ client }: World): Fields => ({
  client_id: client.clientId,
  client_secret: client.clientSecret,
});

/** Decisions §10: a standard token is accepted at the standard endpoint alone, a contract token at both. */
const accessTokens = (endpointSet: EndpointSet): Fields => ({
  'access token': '200',
  'access token of another client': '200',
  ...(endpointSet === 'oidc' && {
    'access token, oidc': '200',
    'access token, oidc, of another client': '200',
    ...Object.fromEntries(ACCESS_TOKENS_OF_UNREGISTERED.map((kind) => [kind, '200'])),
  }),
});

const asBearer = (endpointSet: EndpointSet, method: string, path: string, body?: string): Place => ({
  name: 'Authorization: Bearer',
  present: (world, credential) => send(world, method, path, bearer(credential), body),
  right: accessTokens(endpointSet),
  refused: '401 invalid_token',
});

/** Every place of a client's own authentication. */
function clientPlaces(
  path: string,
  more: (world: World) => Fields,
  right: string,
  ofService = right,
): readonly Place[] {
  const post = (world: World, fields: Fields, headers: Fields = {}) => send(world, 'POST', path, headers, form(fields));
  return [
    {
      name: 'client_secret',
      present: (world, credential) =>
        post(world, { ...more(world), client_id: world.client.clientId, client_secret: credential }),
      right: { 'client secret': right },
      refused: '401 invalid_client',
    },
    {
      name: 'client_id',
      present: (world, credential) => post(world, { ...more(world), ...credentialsOf(world), client_id: credential }),
      right: { 'client id': right },
      refused: '401 invalid_client',
    },
    {
      name: 'the password of Basic',
      present: (world, credential) => post(world, more(world), basic(world.client.clientId, credential)),
      right: { 'client secret': right },
      refused: '401 invalid_client',
    },
    {
      name: 'client_assertion',
      present: (world, credential) =>
        post(world, { ...more(world), client_assertion_type: ASSERTION_TYPE, client_assertion: credential }),
      right: { 'client assertion': ofService },
      refused: '401 invalid_client',
      usesUp: true,
    },
    {
      name: 'Bearer in the place of Basic',
      present: (world, credential) => post(world, more(world), bearer(credential)),
      right: {},
      refused: '401 invalid_client',
    },
  ];
}

/** One of the two cookies, beside the right other one. */
const cookie =
  (name: 'session' | 'browser' | 'sign_in') =>
  ({ browser, server }: World, credential: string): Fields => {
    const values = {
      session: browser.cookie('tessera_session') ?? '',
      browser: browser.cookie('tessera_browser') ?? '',
      sign_in: '',
      [name]: encodeURIComponent(credential),
    };
    const pairs = Object.entries(values).filter(([, value]) => value !== '');
    const written = pairs.map(([key, value]) => `${cookieName(server.baseUrl, `tessera_${key}`)}=${value}`);
    return { cookie: written.join('; ') };
  };
const session = cookie('session');
const rightCookies = (world: World): Fields => session(world, world.browser.cookie('tessera_session') ?? '');

const accountPage = (path: string, right = '200'): readonly Place[] => [
  {
    name: 'the session cookie',
    present: (world, credential) => send(world, 'GET', path, session(world, credential)),
    right: { 'session cookie': right },
    refused: '302 /login',
  },
];

/** A page behind a link in a message. */
const mailedLink = (method: 'GET' | 'POST', path: string, refused: string): readonly Place[] => [
  {
    name: 'token',
    present: (world, token) =>
      method === 'GET'
        ? send(world, 'GET', `${path}?${form({ token })}`, rightCookies(world))
        : send(world, 'POST', path, rightCookies(world), form({ token })),
    right: {},
    refused,
  },
];

/** The forms of the account: the form's token, and the session. */
const accountForm = (path: string, fields: Fields, right: string, refused = '400'): readonly Place[] => {
  const token = async ({ browser }: World): Promise<string> => {
    const onSecurity = /\/account\/(password|sign-out-everywhere|security\/)/.test(path);
    const page = await browser.get(
      path === '/account/connections'
        ? path
        : /deletion|data\/export/.test(path)
          ? '/account/data'
          : `/account${onSecurity ? '/security' : ''}`,
    );
    // Where a person is signed in once there is nothing to end; one token serves every form.
    const isElsewhere =
      /\/account\/(sessions|confirm|email|trusted-browsers|passkey-offer|data|organization|connections\/|security\/)/.test(
        path,
      );
    return formOf(page.text, isElsewhere ? undefined : path).hidden['form_token'] ?? '';
  };
  return [
    {
      name: 'form_token',
      present: (world, credential) =>
        send(world, 'POST', path, rightCookies(world), form({ ...fields, form_token: credential })),
      // One token serves every form of the account, for one session.
      right: { 'form token': right },
      refused,
      usesUp: true,
    },
    {
      name: 'the session cookie',
      present: async (world, credential) =>
        send(world, 'POST', path, session(world, credential), form({ ...fields, form_token: await token(world) })),
      right: { 'session cookie': right },
      refused: '303 /login',
      usesUp: true,
    },
  ];
};

/** A page of the console: the person of the matrix is signed in, and no operator. */
const consolePage = (path: string): readonly Place[] => accountPage(`/console${path}`, '403');

/** A form of the console, which the person of the matrix never saw. */
const consoleForm = (path: string): readonly Place[] => [
  {
    name: 'form_token',
    present: (world, credential) =>
      send(world, 'POST', `/console${path}`, rightCookies(world), form({ form_token: credential })),
    right: {},
    refused: '403',
  },
  {
    name: 'the session cookie',
    present: (world, credential) =>
      send(world, 'POST', `/console${path}`, session(world, credential), form({ form_token: '' })),
    right: { 'session cookie': '403' },
    refused: '303 /login',
  },
];
const ofConsole = (method: 'GET' | 'POST', paths: readonly string[]) =>
  Object.fromEntries(
    paths.map((path) => {
      const asked = path.replace(/:\w+/, '1');
      return [`${method} /console${path}`, method === 'GET' ? consolePage(asked) : consoleForm(asked)];
    }),
  );

/** The acts of the console: each has a page that asks first. */
const CONSOLE_ACTS = [
  ...actNames.map((name) => `/people/${name}`),
  ...appActNames.map((name) => `/apps/${name}`),
  ...['/apps/new', '/groups/add-member', '/groups/remove-member'],
  ...consoleActs.map(({ address }) => address.slice('/console'.length)),
];

/** What a pending request is asked for by. */
const handleAt = (path: string, right: string): Place => ({
  name: 'request',
  present: (world, request) => send(world, 'GET', `${path}?${form({ request })}`, rightCookies(world)),
  right: { 'interaction handle': right },
  refused: '400 invalid_request',
});

const browserAlone = ({ browser, server }: World): Fields => ({
  cookie: `${cookieName(server.baseUrl, 'tessera_browser')}=${browser.cookie('tessera_browser')}`,
});

/** The hidden fields of a page that this browser gets without a session. */
async function signedOutForm(world: World, path: string): Promise<Fields> {
  const page = await fetch(world.server.baseUrl + path, { headers: { accept: 'text/html', ...browserAlone(world) } });
  return formOf(await page.text()).hidden;
}

/** A complete form of a browser without a session, except for the pending request that it names. */
const handleIn = (path: string, fields: (world: World) => Fields, right: string): Place => ({
  name: 'request',
  present: async (world, request) => {
    const whole = { ...(await signedOutForm(world, path)), ...fields(world), request };
    return send(world, 'POST', path, browserAlone(world), form(whole));
  },
  right: { 'interaction handle': right },
  refused: '400 invalid_request',
  usesUp: true,
});

let newcomers = 0;
const newcomer = (): Fields => {
  const username = `newcomer${++newcomers}`;
  return { username, displayName: username, email: `${username}@example.com`, password: PASSWORD };
};

const authorize =
  (endpointSet: EndpointSet, more: Fields, headers?: (world: World, credential: string) => Fields) =>
  (world: World, credential: string, fields: Fields = {}) =>
    send(
      world,
      'GET',
      authorizeUrl({ ...world.client, endpointSet }, { ...more, ...fields }),
      headers?.(world, credential),
    );

const endSessionHint = (method: 'GET' | 'POST', right: string): Place => ({
  name: 'id_token_hint',
  present: (world, id_token_hint) => {
    const fields = form({ id_token_hint, post_logout_redirect_uri: GOODBYE });
    return method === 'GET'
      ? send(world, 'GET', `/oidc/logout?${fields}`, rightCookies(world))
      : send(world, 'POST', '/oidc/logout', rightCookies(world), fields);
  },
  right: Object.fromEntries([...ASYMMETRIC_ALGS, 'oidc'].map((of) => [`ID token, ${of}`, right])),
  // A page that asks, or says that nothing could be made of it.
  refused: '200',
  usesUp: true,
});

const handleOf = ({ credentials }: World): string => credentials['interaction handle'] ?? '';
const consentForm = async (world: World): Promise<Fields> => {
  const page = await world.browser.get(`/consent?${form({ request: handleOf(world) })}`);
  return { ...formOf(page.text, '/consent').hidden, decision: 'allow' };
};

/** The worlds whose browser has a visit to the playground. */
const begun = new WeakSet<World>();
async function beginVisit(world: World): Promise<void> {
  if (begun.has(world)) return;
  const { browser } = world;
  await browser.submit(await browser.get('/playground'), { action: 'start' });
  begun.add(world);
}

const parametersOf = ({ client }: World): Fields => ({
  response_type: 'code',
  client_id: client.clientId,
  redirect_uri: client.redirectUri,
});

const TOKEN = '/api/v2/oauth/token';
const STANDARD_TOKEN = '/oidc/token';
const REVOKE = '/oidc/revoke';
const INTROSPECT = '/oidc/introspect';

// The world's person has consented at both sets of endpoints.
const authorizePlaces = (endpointSet: EndpointSet): readonly Place[] => [
  {
    name: 'the session cookie',
    present: authorize(endpointSet, { prompt: 'none' }, session),
    right: { 'session cookie': '302 code' },
    refused: '302 login_required',
  },
  {
    name: 'id_token_hint, which does not sign a user in',
    present: (world, credential) =>
      authorize(endpointSet, { prompt: 'none' })(world, '', { id_token_hint: credential }),
    right: {},
    refused: '302 login_required',
  },
  {
    name: 'Authorization: Bearer',
    present: authorize(endpointSet, { prompt: 'none' }, (_world, credential) => bearer(credential)),
    right: {},
    refused: '302 login_required',
  },
  {
    name: 'client_id',
    present: (world, credential) => authorize(endpointSet, {})(world, '', { client_id: credential }),
    right: { 'client id': '302 /login' },
    refused: '400 invalid_request',
  },
];

const authorizeFormPlaces = (endpointSet: EndpointSet): readonly Place[] => [
  {
    name: 'id_token_hint, which does not sign a user in',
    present: async (world, id_token_hint) => {
      const fields = { ...parametersOf(world), prompt: 'none', id_token_hint };
      return send(world, 'POST', ENDPOINT_RULES[endpointSet].authorizationPath, {}, form(fields));
    },
    right: {},
    // The next step is asked for by a GET, which brings the cookies.
    refused: '303 /continue',
  },
  {
    name: 'client_id',
    present: (world, client_id) =>
      send(
        world,
        'POST',
        ENDPOINT_RULES[endpointSet].authorizationPath,
        {},
        form({ ...parametersOf(world), client_id }),
      ),
    right: { 'client id': '303 /continue' },
    refused: '400 invalid_request',
  },
];

/** The tokens of the world's app: revocation and introspection are one for both sets of endpoints. */
const OWN_TOKENS = [
  ...['access token', 'refresh token', 'access token, oidc', 'refresh token, oidc'],
  'client’s own token',
] as const;

/** @param own the kinds that were issued at the set of endpoints of the endpoint; those of the other are refused and unharmed */
const tokenPlaces = (
  path: string,
  own: { code: string; refreshToken: string; deviceCode?: string },
): readonly Place[] => [
  {
    name: 'code',
    present: (world, code) => {
      const redirect_uri = world.client.redirectUri;
      const fields = { grant_type: 'authorization_code', code, redirect_uri, ...credentialsOf(world) };
      return send(world, 'POST', path, {}, form(fields));
    },
    right: { [own.code]: '200' },
    refused: '400 invalid_grant',
    usesUp: true,
  },
  {
    name: 'refresh_token',
    present: (world, refresh_token) =>
      send(world, 'POST', path, {}, form({ grant_type: 'refresh_token', refresh_token, ...credentialsOf(world) })),
    right: { [own.refreshToken]: '200' },
    refused: '400 invalid_grant',
    usesUp: true,
  },
  {
    name: 'device_code',
    present: (world, device_code) =>
      send(world, 'POST', path, {}, form({ grant_type: DEVICE_GRANT, device_code, ...credentialsOf(world) })),
    right: own.deviceCode === undefined ? {} : { [own.deviceCode]: '200' },
    refused: own.deviceCode === undefined ? '400 unsupported_grant_type' : '400 invalid_grant',
    usesUp: true,
  },
  ...clientPlaces(path, () => ({ grant_type: 'client_credentials' }), '200'),
];

/** Of an app about itself. */
const ownRegistration = (method: 'GET' | 'PUT' | 'DELETE', right: string): Place => ({
  name: 'Authorization: Bearer',
  present: (world, credential) => {
    const { clientId } = world.selfRegistered;
    const body = method === 'PUT' ? JSON.stringify({ client_id: clientId, ...METADATA }) : undefined;
    const headers = { ...bearer(credential), ...(body !== undefined && { 'content-type': JSON_TYPE }) };
    return send(world, method, `/oidc/register/${clientId}`, headers, body);
  },
  right: { 'registration access token': right },
  refused: '401 invalid_token',
  usesUp: true,
});

/** Every route that takes a proof of something, with its places. */
export const PLACES: Readonly<Record<string, readonly Place[]>> = {
  'GET /api/v2/oauth/authorize': authorizePlaces('v2'),
  'POST /api/v2/oauth/authorize': authorizeFormPlaces('v2'),
  'GET /oidc/authorize': authorizePlaces('oidc'),
  'POST /oidc/authorize': authorizeFormPlaces('oidc'),
  'GET /continue': [handleAt('/continue', '302 /consent')],
  'POST /continue': [
    {
      name: 'request',
      present: (world, request) => send(world, 'POST', '/continue', rightCookies(world), form({ request })),
      right: { 'interaction handle': '303 /consent' },
      refused: '400 invalid_request',
    },
  ],
  [`POST ${TOKEN}`]: tokenPlaces(TOKEN, { code: 'authorization code', refreshToken: 'refresh token' }),
  [`POST ${STANDARD_TOKEN}`]: tokenPlaces(STANDARD_TOKEN, {
    code: 'authorization code, oidc',
    refreshToken: 'refresh token, oidc',
    deviceCode: 'device code',
  }),
  'GET /api/v2/oauth/userinfo': [
    asBearer('v2', 'GET', '/api/v2/oauth/userinfo'),
    {
      name: 'access_token in the address',
      present: (world, access_token) => send(world, 'GET', `/api/v2/oauth/userinfo?${form({ access_token })}`),
      right: {},
      refused: '401 invalid_token',
    },
  ],
  'GET /oidc/userinfo': [
    asBearer('oidc', 'GET', '/oidc/userinfo'),
    {
      name: 'access_token in the address',
      present: (world, access_token) => send(world, 'GET', `/oidc/userinfo?${form({ access_token })}`),
      right: {},
      refused: '400 invalid_request',
    },
  ],
  'POST /oidc/userinfo': [
    asBearer('oidc', 'POST', '/oidc/userinfo', ''),
    {
      name: 'access_token in the form',
      present: (world, access_token) => send(world, 'POST', '/oidc/userinfo', {}, form({ access_token })),
      right: accessTokens('oidc'),
      refused: '401 invalid_token',
    },
  ],
  [`POST ${REVOKE}`]: [
    {
      name: 'token',
      present: (world, token) => send(world, 'POST', REVOKE, {}, form({ token, ...credentialsOf(world) })),
      // RFC 7009 §2.2: rubbish is answered as a token that was ended. That nothing else ended is shown below.
      right: Object.fromEntries(OWN_TOKENS.map((kind) => [kind, '200'])),
      refused: '200',
      except: {
        'access token of another client': '400 invalid_grant',
        'refresh token of another client': '400 invalid_grant',
        'access token, oidc, of another client': '400 invalid_grant',
        'refresh token, oidc, of another client': '400 invalid_grant',
        ...Object.fromEntries(TOKENS_OF_UNREGISTERED.map((kind) => [kind, '400 invalid_grant'])),
      },
      usesUp: true,
    },
    ...clientPlaces(REVOKE, () => ({ token: 'x' }), '200'),
  ],
  [`POST ${INTROSPECT}`]: [
    {
      name: 'token',
      present: (world, token) => send(world, 'POST', INTROSPECT, {}, form({ token, ...credentialsOf(world) })),
      right: Object.fromEntries(OWN_TOKENS.map((kind) => [kind, 'active: true'])),
      refused: 'inactive',
    },
    ...clientPlaces(INTROSPECT, ({ tokens }) => ({ token: tokens.access_token }), 'active: true', 'inactive'),
  ],
  'POST /oidc/register': [
    {
      name: 'Authorization: Bearer',
      present: (world, credential) =>
        send(
          world,
          'POST',
          '/oidc/register',
          { ...bearer(credential), 'content-type': JSON_TYPE },
          JSON.stringify(METADATA),
        ),
      right: { 'initial access token': '201' },
      refused: '401 invalid_token',
      usesUp: true,
    },
  ],
  'GET /oidc/register/:clientId': [ownRegistration('GET', '200')],
  'PUT /oidc/register/:clientId': [ownRegistration('PUT', '200')],
  'DELETE /oidc/register/:clientId': [ownRegistration('DELETE', '204')],
  // Every app of the world but one is registered for the grant.
  'POST /oidc/device_authorization': clientPlaces(
    '/oidc/device_authorization',
    () => ({}),
    '200',
    '400 unauthorized_client',
  ),
  'GET /device': [],
  'POST /device': [
    {
      name: 'user_code',
      present: async (world, user_code) => {
        const fields = { ...(await signedOutForm(world, '/device')), user_code };
        return send(world, 'POST', '/device', browserAlone(world), form(fields));
      },
      right: { 'user code': '303 /continue' },
      refused: '400',
    },
    {
      name: 'form_token',
      present: (world, form_token) => {
        const user_code = world.credentials['user code'] ?? '';
        return send(world, 'POST', '/device', browserAlone(world), form({ user_code, form_token }));
      },
      right: {},
      refused: '400',
    },
  ],
  'GET /login': [handleAt('/login', '302 /consent')],
  'POST /login': [
    {
      name: 'password',
      present: async (world, password) => {
        const fields = { ...(await signedOutForm(world, '/login')), identifier: world.user.username, password };
        return send(world, 'POST', '/login', browserAlone(world), form(fields));
      },
      right: { password: '303 /account' },
      refused: '401',
    },
    {
      name: 'form_token',
      present: (world, form_token) => {
        const fields = { form_token, identifier: world.user.username, password: PASSWORD };
        return send(world, 'POST', '/login', browserAlone(world), form(fields));
      },
      right: {},
      refused: '400',
    },
    handleIn('/login', ({ user }) => ({ identifier: user.username, password: PASSWORD }), '303 /consent'),
  ],
  // Without a pending sign-in there is nothing to verify.
  'GET /login/verify': [handleAt('/login/verify', '302 /login')],
  // It shows how many codes are left only after a sign-in with one, and else goes on.
  'GET /login/verify/used': [handleAt('/login/verify/used', '302 /continue')],
  // Without codes that wait to be kept, it leads to the account.
  'GET /recovery-codes': [handleAt('/recovery-codes', '302 /account/security')],
  'POST /recovery-codes': [
    {
      name: 'request',
      present: (world, request) => send(world, 'POST', '/recovery-codes', rightCookies(world), form({ request })),
      right: { 'interaction handle': '303 /recovery-codes' },
      refused: '400 invalid_request',
    },
  ],
  // Nothing is required of the person.
  'GET /login/enroll': [handleAt('/login/enroll', '302 /consent')],
  'GET /login/enroll/passkey': [handleAt('/login/enroll/passkey', '404 not_found')],
  'POST /login/enroll': [
    {
      ...handleAt('/login/enroll', '303 /consent'),
      present: (world, request) =>
        send(world, 'POST', '/login/enroll', rightCookies(world), form({ request, code: '000000' })),
    },
  ],
  'GET /login/come-back': [handleAt('/login/come-back', '302 /login')],
  'POST /login/come-back': [
    {
      name: 'the cookie of the pending sign-in',
      present: (world, credential) =>
        send(world, 'POST', '/login/come-back', cookie('sign_in')(world, credential), form({})),
      right: {},
      refused: '303 /login',
    },
  ],
  'POST /login/verify': [
    {
      name: 'the cookie of the pending sign-in',
      present: (world, credential) =>
        send(world, 'POST', '/login/verify', cookie('sign_in')(world, credential), form({ code: '000000' })),
      right: {},
      refused: '409',
    },
  ],
  // Without a pending sign-in there is nothing to verify.
  'GET /login/verify/passkey': [
    {
      name: 'the cookie of the pending sign-in',
      present: (world, credential) => send(world, 'GET', '/login/verify/passkey', cookie('sign_in')(world, credential)),
      right: {},
      refused: '404 not_found',
    },
  ],
  // Gives everybody a challenge.
  'GET /login/passkey': [
    {
      name: 'the browser cookie',
      present: (world, credential) => send(world, 'GET', '/login/passkey', cookie('browser')(world, credential)),
      right: {},
      refused: '200',
    },
  ],
  'POST /login/passkey': [
    {
      name: 'passkey',
      present: async (world, passkey) => {
        const fields = { ...(await signedOutForm(world, '/login')), passkey };
        return send(world, 'POST', '/login/passkey', browserAlone(world), form(fields));
      },
      right: {},
      refused: '401',
    },
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/login/passkey', browserAlone(world), form({ form_token, passkey: '{}' })),
      right: {},
      refused: '400',
    },
  ],
  // The state is taken, and the provider refuses the code.
  'GET /login/with/:name': [handleAt('/login/with/provider', '302 /consent')],
  'GET /login/with/:name/callback': [
    {
      name: 'state and code',
      present: (world, state) => {
        const back = form({ state, code: state, iss: world.provider });
        return send(world, 'GET', `/login/with/provider/callback?${back}`, rightCookies(world));
      },
      right: { 'state at another provider': '502' },
      refused: '400',
    },
  ],
  'POST /login/with/:name/callback': [
    {
      name: 'state and code',
      present: (world, state) =>
        send(world, 'POST', '/login/with/provider/callback', rightCookies(world), form({ state, code: state })),
      right: {},
      refused: '303 /login/with/provider/callback',
    },
  ],
  'GET /login/with/:name/new': [handleAt('/login/with/provider/new', '302 /consent')],
  'POST /login/with/:name/new': [
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/login/with/provider/new', browserAlone(world), form({ ...newcomer(), form_token })),
      right: {},
      refused: '400',
    },
  ],
  'POST /upstreams/:name/backchannel-logout': [
    {
      name: 'logout_token',
      present: (world, logout_token) =>
        send(world, 'POST', '/upstreams/provider/backchannel-logout', {}, form({ logout_token })),
      right: { 'logout token of another provider': '200' },
      usesUp: true,
      refused: '400 invalid_request',
    },
  ],
  'GET /account/security/connect': accountPage('/account/security/connect', '302 /account/security'),
  'GET /account/security/connect/:name': accountPage('/account/security/connect/provider', '302 away'),
  'GET /account/security/connect/:name/confirm': accountPage('/account/security/connect/provider/confirm', '400'),
  'POST /account/security/connect/:name/confirm': accountForm('/account/security/connect/provider/confirm', {}, '400'),
  'POST /account/security/disconnect': accountForm('/account/security/disconnect', {}, '409'),
  'GET /signup': [handleAt('/signup', '302 /consent')],
  'POST /signup': [
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/signup', browserAlone(world), form({ ...newcomer(), form_token })),
      right: {},
      refused: '400',
    },
    handleIn('/signup', newcomer, '303 /consent'),
  ],
  'GET /invitation': [],
  'POST /invitation': [
    {
      name: 'the session cookie',
      present: (world, credential) =>
        send(world, 'POST', '/invitation', session(world, credential), form({ link: 'none' })),
      // The form has a token, too: the page is shown again.
      right: { 'session cookie': '303 /invitation' },
      refused: '303 /login',
    },
  ],
  'GET /recover': [],
  'POST /recover': [
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/recover', browserAlone(world), form({ identifier: 'ada', form_token })),
      right: {},
      // This server sends no mail, and the page says so.
      refused: '303 /recover',
    },
  ],
  'GET /recover/code': [],
  'POST /recover/code': [
    {
      name: 'sent_code',
      present: async (world, sent_code) => {
        const fields = { ...(await signedOutForm(world, '/recover/code')), sent_code };
        return send(world, 'POST', '/recover/code', browserAlone(world), form(fields));
      },
      right: {},
      refused: '400',
    },
  ],
  'GET /recover/link': [
    {
      name: 'token',
      present: (world, token) => send(world, 'GET', `/recover/link?${form({ token })}`),
      right: {},
      refused: '410 not_found',
    },
  ],
  'GET /recover/passkey': [
    {
      name: 'token',
      present: (world, token) => send(world, 'GET', `/recover/passkey?${form({ token })}`),
      right: {},
      refused: '410 not_found',
    },
  ],
  'POST /recover/link': [
    {
      name: 'token',
      present: (world, token) =>
        send(world, 'POST', '/recover/link', browserAlone(world), form({ token, password: 'some passphrase' })),
      right: {},
      refused: '410 not_found',
    },
  ],
  'POST /logout': [
    {
      name: 'form_token',
      present: (world, form_token) => send(world, 'POST', '/logout', rightCookies(world), form({ form_token })),
      right: {},
      refused: '303 /account',
    },
  ],
  // OpenID Connect RP-Initiated Logout 1.0: only a hint that we signed, about this very session, leads away unasked.
  'GET /oidc/logout': [endSessionHint('GET', '302 away')],
  'POST /oidc/logout': [endSessionHint('POST', '303 away')],
  'POST /oidc/logout/confirm': [
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/oidc/logout/confirm', rightCookies(world), form({ form_token, account: world.user.id })),
      right: {},
      refused: '303 /oidc/logout',
    },
  ],
  'GET /consent': [
    handleAt('/consent', '200'),
    {
      name: 'the browser cookie',
      present: (world, credential) =>
        send(world, 'GET', `/consent?${form({ request: handleOf(world) })}`, cookie('browser')(world, credential)),
      right: { 'browser cookie': '200' },
      refused: '400 invalid_request',
    },
  ],
  // The app is open to everyone.
  'GET /no-access': [handleAt('/no-access', '302 /consent')],
  'POST /no-access': [
    {
      ...handleAt('/no-access', '303 /consent'),
      present: (world, request) => send(world, 'POST', '/no-access', rightCookies(world), form({ request })),
    },
  ],
  'POST /consent': [
    {
      name: 'request',
      present: async (world, request) => {
        const fields = { ...(await consentForm(world)), request };
        return send(world, 'POST', '/consent', rightCookies(world), form(fields));
      },
      right: { 'interaction handle': '303 code' },
      refused: '400 invalid_request',
      usesUp: true,
    },
    {
      name: 'form_token',
      present: async (world, form_token) => {
        const fields = { ...(await consentForm(world)), form_token };
        return send(world, 'POST', '/consent', rightCookies(world), form(fields));
      },
      right: {},
      refused: '409',
    },
  ],
  'GET /setup': [
    {
      name: 'link',
      present: async (world, link) => send(world, 'GET', `/setup?${form({ link })}`),
      right: {},
      refused: '410 not_found',
    },
  ],
  'GET /setup/done': [
    {
      name: 'the session cookie',
      present: async (world, credential) => send(world, 'GET', '/setup/done', cookie('session')(world, credential)),
      // Nobody of the world owns the installation.
      right: {},
      refused: '302 /account',
    },
  ],
  'POST /setup': [
    {
      name: 'link',
      present: async (world, link) =>
        send(world, 'POST', '/setup', rightCookies(world), form({ form_token: 'x'.repeat(43), link })),
      right: {},
      refused: '410 not_found',
    },
  ],
  'GET /playground': [
    {
      name: 'the browser cookie',
      present: async (world, credential) => {
        await beginVisit(world);
        const headers = { accept: 'text/html', ...cookie('browser')(world, credential) };
        const page = await fetch(`${world.server.baseUrl}/playground`, { headers });
        return (await page.text()).includes('tcs_') ? 'a visit' : 'no visit';
      },
      right: { 'browser cookie': 'a visit' },
      refused: 'no visit',
    },
  ],
  'POST /playground': [
    {
      name: 'form_token',
      present: (world, form_token) =>
        send(world, 'POST', '/playground', rightCookies(world), form({ form_token, action: 'start', endpoints: 'v2' })),
      right: {},
      refused: '400',
    },
  ],
  'GET /playground/callback': [
    {
      name: 'state and code',
      present: (world, state) =>
        send(
          world,
          'GET',
          `/playground/callback?${form({ state, code: state, iss: world.server.baseUrl })}`,
          rightCookies(world),
        ),
      right: {},
      refused: '400 invalid_request',
    },
  ],
  'GET /secure-account': mailedLink('GET', '/secure-account', '410 not_found'),
  'POST /secure-account': mailedLink('POST', '/secure-account', '303 /secure-account'),
  'GET /verify': mailedLink('GET', '/verify', '410 not_found'),
  'POST /verify': mailedLink('POST', '/verify', '303 /verify'),
  'GET /undo-address-change': mailedLink('GET', '/undo-address-change', '410 not_found'),
  'GET /undo-address-change/passkey': mailedLink('GET', '/undo-address-change/passkey', '410 not_found'),
  'POST /undo-address-change': mailedLink('POST', '/undo-address-change', '303 /undo-address-change'),
  'GET /account/email': accountPage('/account/email'),
  'POST /account/email': accountForm('/account/email', { email: 'new@example.com' }, '200'),
  'POST /account/email/verify': accountForm('/account/email/verify', {}, '200'),
  'POST /account/email/earlier': accountForm('/account/email/earlier', { address: 'former@example.com' }, '403'),
  'POST /account/email/code': accountForm('/account/email/code', {}, '400'),
  ...ofConsole('GET', [
    ...['', '/people', '/people/:id', '/people/:id/sessions', '/people/:id/apps', '/people/:id/memberships'],
    ...['/groups', '/groups/:id', '/apps', '/apps/:clientId', '/explain', '/events'],
    ...['/apps/:clientId/log', '/apps/:clientId/log/live', '/apps/:clientId/try', '/apps/scope-requests'],
    ...['', '/:id', '/:id/groups', '/:id/apps', '/:id/roles', '/:id/invitations'].map(
      (part) => `/organizations${part}`,
    ),
    ...['/people/export', '/events/export'],
    ...['/people/bulk', '/people/bulk/new', '/people/bulk/lists/:id'],
    ...['/search', '/events/live', '/explain/live', '/overview', '/system', '/system/mail', '/system/settings'],
    ...[
      '/operators',
      '/keys',
      '/keys/:id',
      '/keys/:id/made',
      '/invitations',
      '/upstreams',
      '/upstreams/:id',
      '/upstreams/new',
    ],
    ...CONSOLE_ACTS,
  ]),
  // It leads to the page that the browser remembers, and that one asks who it is.
  'GET /console/back': [
    {
      name: 'the session cookie',
      present: (world, credential) => send(world, 'GET', '/console/back', session(world, credential)),
      right: {},
      refused: '302 /console',
    },
  ],
  ...ofConsole('POST', [
    ...CONSOLE_ACTS,
    '/people/bulk/new',
    '/people/bulk/start',
    '/people/bulk/stop',
    '/people/export',
    '/events/export',
  ]),
  'GET /account': accountPage('/account'),
  'GET /account/confirm': accountPage('/account/confirm', '302 /account'),
  'POST /account/confirm': accountForm('/account/confirm', {}, '303 /account/security'),
  'GET /account/confirm/again': accountPage('/account/confirm/again', '302 /account'),
  'GET /account/confirm/with/:name': accountPage('/account/confirm/with/provider', '302 /account'),
  'GET /account/confirm/passkey': accountPage('/account/confirm/passkey'),
  'GET /account/security/passkeys/new': accountPage('/account/security/passkeys/new'),
  'POST /account/security/remove-password': accountForm('/account/security/remove-password', {}, '409 conflict'),
  'POST /account/security/passkeys': accountForm('/account/security/passkeys', { action: 'rename', name: 'A' }, '409'),
  'GET /account/connections': accountPage('/account/connections'),
  'GET /account/sessions': accountPage('/account/sessions'),
  'POST /account/sessions': accountForm('/account/sessions', { session: 'others' }, '200'),
  'GET /account/organization': accountPage('/account/organization'),
  'POST /account/organization/leave': accountForm('/account/organization/leave', {}, '409'),
  'GET /account/security': accountPage('/account/security'),
  // Without an authenticator app there is nothing to remove, and nothing that a recovery code would stand in for.
  'GET /account/security/authenticator': accountPage('/account/security/authenticator'),
  'POST /account/security/authenticator': accountForm('/account/security/authenticator', {}, '409'),
  'POST /account/security/authenticator/remove': accountForm('/account/security/authenticator/remove', {}, '409'),
  'POST /account/security/recovery-codes': accountForm('/account/security/recovery-codes', {}, '409 conflict'),
  'POST /account/passkey-offer': accountForm('/account/passkey-offer', {}, '303 /account'),
  'POST /account/security/recovery': accountForm('/account/security/recovery', { require: 'no' }, '200'),
  'POST /account/trusted-browsers': accountForm('/account/trusted-browsers', {}, '303 /account/sessions'),
  'GET /account/activity': accountPage('/account/activity'),
  'GET /account/data': accountPage('/account/data'),
  'POST /account/username': accountForm(
    '/account/username',
    {
      // Another one for each form: a name that was given up is held.
      get username() {
        return `renamed${++newcomers}`;
      },
    },
    '200',
  ),
  'GET /account/data/export': accountPage('/account/data/export'),
  'POST /account/data/export': accountForm('/account/data/export', {}, '303 /account/data/export'),
  // Nothing was asked for.
  'POST /account/data/export/download': accountForm('/account/data/export/download', {}, '409'),
  'POST /account/deletion': accountForm('/account/deletion', { confirm: 'yes' }, '200'),
  'POST /account/profile': accountForm('/account/profile', {}, '200'),
  'POST /account/picture': accountForm('/account/picture', { action: 'remove' }, '200'),
  'POST /account/password': accountForm('/account/password', { current: PASSWORD, password: PASSWORD }, '200'),
  'POST /account/sign-out-everywhere': accountForm('/account/sign-out-everywhere', {}, '200'),
  // The person has no such app.
  'GET /account/connections/:clientId': accountPage('/account/connections/1', '302 /account/connections'),
  'POST /account/connections/:clientId': accountForm('/account/connections/1', {}, '303 /account/connections'),
  'POST /account/connections': accountForm('/account/connections', { client_id: '1' }, '200'),
};

/** Routes of operators: each takes an admin key, in one place. */
export const adminPlace = (method: string, url: string): Place => ({
  name: 'Authorization: Bearer',
  present: (world, credential) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : '{}';
    const headers = { ...bearer(credential), ...(body !== undefined && { 'content-type': JSON_TYPE }) };
    return send(world, method, url.replaceAll(/:\w+/g, '1'), headers, body);
  },
  // An unknown id: the request has passed the guard.
  right: { 'admin key': /^(20\d|400 invalid_request|404 not_found|415 invalid_request)$/ },
  refused: '401 invalid_token',
});

/** Routes that look at no proof: they answer everybody alike. */
export const takesNothing = (url: string): boolean =>
  url === '/' ||
  ['/health/', '/.well-known/', '/openapi.json', '/assets/', '/avatars/', '/app-pictures/'].some((start) =>
    url.startsWith(start),
  ) ||
  isReference(url);
