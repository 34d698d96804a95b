// store: SQLite
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { formatTrace } from '../../src/cli/explain.ts';
import { ConfigError } from '../../src/platform/config/config-error.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Agent, agent } from '../support/agent.ts';
import { basic, call, FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../support/server.ts';

/**
 * Mistakes of app developers: what the answer says, and what `tessera explain` says to the operator by the correlation id. Both must name
 * the cause, and one of them what to do.
 */
type Mistake = readonly [name: string, make: () => Promise<Told>, answer: RegExp, explained: RegExp];

/** What came back, to the developer. */
interface Told {
  readonly headers: Headers;
  readonly text: string;
}

const NOTES = 'https://api.example.com/notes';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const VERIFIER = 'a'.repeat(43);
const CHALLENGE = 'ZtNPunH49FD35FWYhT5T' + 'v8I7vRKQJ8uxMaL0_9eHjNA';

let server: TestServer;
let user: TestUser;
let app: TestClient;
let other: TestClient;
let spa: TestClient;
let mobile: TestClient;
let native: TestClient;
let narrow: TestClient;
let posting: TestClient;
let rotated: TestClient;
let disabled: TestClient;
let keyed: TestClient;
let v2Only: TestClient;
let machine: TestClient;
let job: TestClient;
let codeOnly: TestClient;
let device: TestClient;
let otherDevice: TestClient;
/** The session of another person. */
let visitor: Agent;
let api: TestClient;
let plainApi: TestClient;
let tokens: Tokens;
let oidcTokens: Tokens;

before(async () => {
  server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_REGISTRATION: 'open' });
  user = await newUser(server);
  app = await newClient(server);
  other = await newClient(server);
  spa = await newClient(server, { type: 'public', redirectUris: ['http://localhost:8080/callback'] });
  mobile = await newClient(server, { type: 'public' });
  narrow = await newClient(server, { scopes: ['email'] });
  posting = await newClient(server, { tokenEndpointAuthMethod: 'client_secret_basic' });
  rotated = await newClient(server);
  disabled = await newClient(server);
  v2Only = await newClient(server, { endpoints: ['v2'] });
  machine = await newClient(server, { grantTypes: ['client_credentials'] });
  keyed = await newClient(server, {
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwksUri: 'https://app.example.com/jwks.json',
  });
  job = await newClient(server, { grantTypes: ['client_credentials'], redirectUris: undefined });
  codeOnly = await newClient(server, { grantTypes: ['authorization_code'] });
  const ofDevices = { type: 'public', grantTypes: [DEVICE_GRANT], redirectUris: undefined };
  device = await newClient(server, ofDevices);
  otherDevice = await newClient(server, ofDevices);
  native = await newClient(server, { type: 'public', redirectUris: ['http://127.0.0.1/cb'] });
  await newClient(server, { type: 'public', redirectUris: ['https://spa.example.com/callback'] });
  const resourceScopes = [{ name: 'notes.read', descriptions: { en: 'Read your notes' } }];
  api = await newClient(server, { resource: NOTES, resourceScopes });
  plainApi = await newClient(server);
  await admin(server, 'POST', `/clients/${rotated.clientId}/secrets`, { expirePreviousIn: 0 });
  await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
  const browser = await signedIn(server, user);
  visitor = await signedIn(server, await newUser(server));
  tokens = await tokensFor(server, app, user, {}, { browser });
  oidcTokens = await tokensFor(server, standard(app), user, { scope: 'openid email' }, { browser });
});
after(() => server.close());

const standard = (client: TestClient): TestClient => ({ ...client, endpointSet: 'oidc' });

const told = ({ headers, body }: JsonAnswer): Told => ({
  headers,
  text: body?.error_description ?? JSON.stringify(body),
});

/** An authorization request, of a visitor who is not signed in. */
async function ask(
  parameters: Readonly<Record<string, string>>,
  client: TestClient = standard(app),
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const answer = await call(server, 'GET', authorizeUrl(client, parameters), {
    accept: 'application/json',
    ...headers,
  });
  const location = answer.headers.get('location');
  const description =
    location === null ? null : new URL(location, server.baseUrl).searchParams.get('error_description');
  return { headers: answer.headers, text: description ?? told(answer).text };
}

/** An authorization request of a person who is signed in. */
async function askSignedIn(parameters: Readonly<Record<string, string>>): Promise<Told> {
  const answer = await visitor.get(authorizeUrl(standard(app), parameters));
  const location = new URL(answer.headers.get('location') ?? '', server.baseUrl);
  return { headers: answer.headers, text: location.searchParams.get('error_description') ?? answer.text };
}

const askRaw = async (query: string): Promise<Told> =>
  told(await call(server, 'GET', `/oidc/authorize?${query}`, { accept: 'application/json' }));

const form = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString();
const post = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
  told(await call(server, 'POST', path, { 'content-type': FORM_TYPE, ...headers }, body));

/** A token request of a client with a secret. */
const withSecret = (clientSecret: string, client = app): Promise<Told> =>
  post(
    '/oidc/token',
    form({ grant_type: 'authorization_code', code: 'x', client_id: client.clientId, client_secret: clientSecret }),
  );
/** A call of another endpoint of clients. */
const grantless = (path: string, fields: Readonly<Record<string, string>>): Promise<Told> =>
  post(path, form(fields), basic(app.clientId, app.clientSecret));
const grant = (fields: Readonly<Record<string, string>>, client = app): Promise<Told> =>
  post('/oidc/token', form(fields), basic(client.clientId, client.clientSecret));

async function exchange(
  change: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, string>> = {},
  client = app,
): Promise<Told> {
  const code = await codeFor(server, client, user, parameters);
  return told(await redeem(server, client, code, change));
}
const withPkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

const userinfo = async (headers: Readonly<Record<string, string>>, path = '/oidc/userinfo'): Promise<Told> =>
  told(await call(server, 'GET', path, headers));
const bearer = (token: string, path?: string) => userinfo({ authorization: `Bearer ${token}` }, path);

const SELF_REGISTERED = '{"client_name":"A","redirect_uris":["https://app.example.com/callback"]}';
const registerApp = async (
  members: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> =>
  told(
    await call(
      server,
      'POST',
      '/oidc/register',
      { 'content-type': JSON_TYPE, ...headers },
      JSON.stringify({ ...JSON.parse(SELF_REGISTERED), ...members }),
    ),
  );

const basicText = (client: TestClient): string => basic(client.clientId, client.clientSecret)['authorization'] ?? '';

/** A request with several Authorization headers, which `fetch` would join. */
async function rawCall(method: string, path: string, authorizations: readonly string[]): Promise<JsonAnswer> {
  const sent = request(new URL(path, server.baseUrl), { method });
  sent.setHeader('authorization', [...authorizations]);
  if (method === 'POST') sent.setHeader('content-type', FORM_TYPE);
  sent.end(method === 'POST' ? 'grant_type=x' : undefined);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const headers = new Headers({ 'x-request-id': String(answer.headers['x-request-id']) });
  return { status: answer.statusCode ?? 0, headers, body: await json(answer) };
}

/** What a device gets when it begins. */
const startedDevice = async () =>
  (
    await call(
      server,
      'POST',
      '/oidc/device_authorization',
      { 'content-type': FORM_TYPE },
      form({ client_id: device.clientId }),
    )
  ).body;
const pollWith = (code: string, by: TestClient = device): Promise<Told> =>
  post('/oidc/token', form({ grant_type: DEVICE_GRANT, device_code: code, client_id: by.clientId }));

/** The page of a device, with a code that somebody types there. */
async function typedUserCode(code: string): Promise<Told> {
  const browser = agent(server.baseUrl);
  return browser.submit(await browser.get('/device'), { user_code: code });
}

const introspect = (token: string, by: TestClient): Promise<Told> =>
  post('/oidc/introspect', form({ token }), basic(by.clientId, by.clientSecret));

async function leave(
  fields: Readonly<Record<string, string>>,
  browser: Agent | Promise<Agent> = agent(server.baseUrl),
): Promise<Told> {
  const { headers, text } = await (await browser).get(`/oidc/logout?${form(fields)}`);
  return { headers, text: text.replaceAll(/<[^>]*>/g, ' ').replaceAll('&#39;', "'") };
}

async function explained({ headers }: Told): Promise<string> {
  const { status, body } = await admin(server, 'GET', `/traces/${headers.get('x-request-id')}`);
  assert.equal(status, 200, JSON.stringify(body));
  const own = body.steps.filter(({ requestId }: { requestId: string }) => requestId === body.requestId);
  return formatTrace({ ...body, steps: own });
}

/** Facts of a trace in the order in which they are printed. */
const facts = (...parts: readonly string[]): RegExp => new RegExp(parts.join('[^]*'), 'i');

const mistakes: readonly Mistake[] = [
  // The authorization request: client and redirect URI.
  [
    'http for https',
    () => ask({ redirect_uri: 'http://app.example.com/callback' }),
    /differs in: scheme/,
    facts('expected +https://app', 'received +redirect_uri = http:', 'remedy +Send the registered one'),
  ],
  [
    'a slash at the end',
    () => ask({ redirect_uri: 'https://app.example.com/callback/' }),
    /slash at the end/,
    facts('expected +https://app', 'remedy +Send the registered one'),
  ],
  [
    'another path',
    () => ask({ redirect_uri: 'https://app.example.com/other' }),
    /not one of those that are registered.*add this one/,
    facts('expected +https://app', 'remedy .*--add-redirect-uri'),
  ],
  [
    'letter case',
    () => ask({ redirect_uri: 'https://app.example.com/Callback' }),
    /letter case/,
    facts('expected +https://app'),
  ],
  [
    '127.0.0.1 for localhost',
    () => ask({ redirect_uri: 'http://127.0.0.1:8080/callback' }, standard(spa)),
    /differs in: host/,
    facts('expected +http://localhost:8080'),
  ],
  [
    'redirect_url',
    () => askRaw(`client_id=${app.clientId}&redirect_url=x`),
    /redirect_uri is missing, and redirect_url was sent/,
    facts('redirect_uri is missing', 'remedy +Rename the parameter'),
  ],
  [
    'the id of another server',
    () => askRaw('client_id=1'),
    /No app is registered here under this client_id/,
    facts('received +client_id = 1', 'remedy +An app of another server'),
  ],
  [
    'a blank beside the id',
    () => askRaw(`client_id=${app.clientId}%20`),
    /white space around it/,
    facts('expected +a client_id of digits only', 'remedy +Send the number alone'),
  ],
  [
    'the secret as id',
    () => askRaw(`client_id=${app.clientSecret}`),
    /looks like a client secret.*give the app another/,
    facts('remedy +Send the clientId', 'rotate-secret'),
  ],
  [
    'clientId',
    () => askRaw(`clientId=${app.clientId}`),
    /client_id is missing, and clientId was sent/,
    facts('client_id is missing', 'remedy'),
  ],
  [
    'a disabled app',
    () => ask({}, standard(disabled)),
    /disabled.*tessera client enable/,
    facts('expected +the client_id of an active app', 'remedy .*tessera client enable'),
  ],
  // Its other parameters.
  [
    'a misspelled scope',
    () => ask({ scope: 'openid emial' }, app),
    /unknown scope emial: did you mean email\?/,
    facts('received +emial', 'remedy +did you mean email'),
  ],
  [
    'commas',
    () => ask({ scope: 'openid,email' }),
    /separate the scopes by spaces/,
    facts('remedy +separate the scopes by spaces'),
  ],
  [
    'JSON as scope',
    () => ask({ scope: '["openid"]' }),
    /quotes or brackets/,
    facts('remedy +separate the scopes by single spaces'),
  ],
  [
    'a scope encoded twice',
    () => ask({ scope: 'openid%20email' }),
    /encoded twice/,
    facts('remedy +it was percent-encoded twice'),
  ],
  [
    'a scope that is not registered',
    () => ask({ scope: 'phone' }, narrow),
    /not registered for the scope phone/,
    facts('received +phone', 'remedy .*tessera client update \\d+ --scope'),
  ],
  [
    'groups at the v2 endpoints',
    () => ask({ scope: 'openid groups' }, app),
    /only the OIDC endpoints have it/,
    facts('remedy +only the OIDC endpoints'),
  ],
  [
    'the implicit flow',
    () => ask({ response_type: 'token' }),
    /must be code: tokens are not sent in redirects/,
    facts('expected +response_type=code', 'remedy'),
  ],
  [
    'response_mode without response_type',
    () => ask({ response_type: '', response_mode: 'query' }),
    /response_type is missing: send response_type=code/,
    facts('remedy +send response_type=code'),
  ],
  [
    'no response_type',
    () => ask({ response_type: '' }),
    /send response_type=code/,
    facts('remedy +send response_type=code'),
  ],
  [
    'a fragment',
    () => ask({ response_mode: 'fragment' }),
    /response_mode must be query or form_post/,
    facts('received +response_mode=fragment', 'remedy +leave response_mode out'),
  ],
  ['no PKCE', () => ask({}, standard(mobile)), /must use PKCE.*switch PKCE on/, facts('remedy +switch PKCE on')],
  [
    'plain',
    () => ask({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }),
    /plain is not supported/,
    facts('remedy +send BASE64URL'),
  ],
  [
    'a hexadecimal challenge',
    () => ask({ ...withPkce, code_challenge: 'ab'.repeat(32) }),
    /hexadecimal/,
    facts('remedy +it is hexadecimal'),
  ],
  [
    'prompt=none',
    () => ask({ prompt: 'none' }),
    /not signed in: remove prompt=none/,
    facts('remedy +remove prompt=none'),
  ],
  [
    'prompt=none in a frame',
    () => ask({ prompt: 'none' }, standard(app), { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' }),
    /in a frame/,
    facts('remedy +use the top-level window'),
  ],
  [
    'none with login',
    () => ask({ prompt: 'none login' }),
    /goes with no other value/,
    facts('remedy +send none alone'),
  ],
  [
    'prompt=signup',
    () => ask({ prompt: 'signup' }),
    /prompt must be made of/,
    facts('received +prompt=signup', 'remedy'),
  ],
  [
    'a comma between the values of prompt',
    () => ask({ prompt: 'login,consent' }),
    /separate the values by spaces, as in prompt=login consent/,
    facts('remedy +separate the values by spaces'),
  ],
  [
    'a request object alone',
    () => askRaw(`client_id=${app.clientId}&request=eyJhbGciOiJub25lIn0.e30.`),
    /redirect_uri is missing, and request was sent, which is not supported.*switch request objects \(JAR\)/,
    facts('remedy +Send each parameter by itself'),
  ],
  [
    'prompt=none with the sub of another user',
    () => askSignedIn({ prompt: 'none', claims: '{"id_token":{"sub":{"value":"123"}}}' }),
    /signed-in user is not the one whom the sub in claims names/,
    facts('remedy +leave sub out of claims'),
  ],
  [
    'prompt=none with the ID token of another user',
    () => askSignedIn({ prompt: 'none', id_token_hint: oidcTokens.id_token ?? '' }),
    /signed-in user is not the one whom id_token_hint names/,
    facts('remedy +leave the hint out'),
  ],
  [
    'max_age=1h',
    () => ask({ max_age: '1h' }),
    /digits only: send max_age=3600/,
    facts('received +max_age=1h', 'remedy'),
  ],
  [
    'claims in single quotes',
    () => ask({ claims: "{'userinfo':{}}" }),
    /single quote.*double quotes/,
    facts('remedy +send JSON with double quotes'),
  ],
  [
    'an acr that is not offered',
    () => ask({ claims: '{"id_token":{"acr":{"essential":true,"value":"x"}}}' }),
    /not offered: request one of/,
    facts('remedy +Have the app request one of'),
  ],
  [
    'a slash after the resource',
    () => ask({ resource: `${NOTES}/` }),
    /unknown resource .*did you mean https:\/\/api\.example\.com\/notes\?/,
    facts('received +resource=.*notes/', 'remedy +Have the app send resource=https://api.example.com/notes\n'),
  ],
  [
    'an unknown resource',
    () => ask({ resource: 'https://api.example.com/else' }),
    /unknown resource.*registered API/,
    facts('remedy .*register the API'),
  ],
  ['a resource with a fragment', () => ask({ resource: `${NOTES}#a` }), /without a fragment/, facts('remedy')],
  ['data in state', () => ask({ state: 'x'.repeat(5000) }), /shorten state/, facts('remedy +shorten state')],
  [
    'an app of the v2 endpoints only',
    () => ask({}, standard(v2Only)),
    /registered for \/api\/v2\/oauth\/authorize only: send the user to/,
    facts('remedy +send the user to'),
  ],
  [
    'state twice',
    () =>
      askRaw(
        `client_id=${app.clientId}&redirect_uri=https://app.example.com/callback&response_type=code&state=1&state=2`,
      ).then(({ headers }) => ({ headers, text: headers.get('location') ?? '' })),
    /state\+was\+sent\+more\+than\+once/,
    facts('remedy +send state once'),
  ],
  [
    'form_post to a private scheme',
    () =>
      ask(
        { response_mode: 'form_post', redirect_uri: 'http://localhost:8080/callback', state: 'a\r\n', ...withPkce },
        standard(spa),
      ),
    /form_post state must have no line ends/,
    facts('remedy +Leave response_mode out, or change redirect_uri or state'),
  ],
  [
    'fetch() on the authorization endpoint',
    () =>
      ask({}, standard(app), {
        'sec-fetch-dest': 'empty',
        'sec-fetch-mode': 'cors',
        'sec-fetch-site': 'cross-site',
        origin: 'http://localhost:4321',
      }),
    /called by a script.*set window\.location/,
    facts('called by a script', 'remedy +Navigate to it'),
  ],
  // Client authentication. Which kind of wrong secret it is, only the operator may know.
  [
    'a secret of another app',
    () => withSecret(other.clientSecret),
    /no active app here has this client_id and this client_secret\. Compare client_id and client_secret/,
    facts('a secret of another app: \\d+', 'remedy +Set client_id and secret of one app'),
  ],
  [
    'an old secret',
    () => withSecret(rotated.clientSecret, rotated),
    /the secret may have ended/,
    facts('a secret of this app that was ended at 20', 'remedy +Set the newest secret'),
  ],
  [
    'a secret whose time was over after a newer one was added',
    async () => {
      const client = await newClient(server);
      await admin(server, 'POST', `/clients/${client.clientId}/secrets`, { expirePreviousIn: 1 });
      server.advance(1000);
      return withSecret(client.clientSecret, client);
    },
    /the secret may have ended/,
    facts(
      'a secret of this app that expired at 20.*, after a newer one was added',
      'remedy +Set the newest secret.*tessera events --client \\d+ --type client\\.secret_added',
    ),
  ],
  [
    'white space',
    () => withSecret(`${app.clientSecret}\n`),
    /has white space around it\. Send it without/,
    facts('white space around it', 'remedy +Remove'),
  ],
  [
    'quotes',
    () => withSecret(`"${app.clientSecret}"`),
    /has quotes around it\. Send it without/,
    facts('quotes around it', 'remedy +Remove'),
  ],
  [
    'the word undefined',
    () => withSecret('undefined'),
    /is the word undefined\. Set the variable that should hold it: it has no value/,
    facts('the word undefined', 'remedy +Set the variable'),
  ],
  [
    'a part of the secret',
    () => withSecret(app.clientSecret.slice(0, 20)),
    /is not whole/,
    facts('cut off', 'remedy +Copy the secret'),
  ],
  [
    'an invented secret',
    () => withSecret('changeme'),
    /does not begin with tcs_/,
    facts('does not begin with tcs_', 'remedy +Copy the secret'),
  ],
  [
    'no secret',
    () => post('/oidc/token', form({ grant_type: 'authorization_code', client_id: app.clientId })),
    /client_secret is missing\. Only a public app has none, .* Send client_secret/,
    facts('received +client_id alone', 'remedy +Set the client secret'),
  ],
  [
    'an unknown client',
    () => withSecret(app.clientSecret, { ...app, clientId: '1' }),
    /no active app here has this client_id/,
    facts('which no app here has', 'remedy .*tessera client list'),
  ],
  [
    'a disabled client',
    () => withSecret(disabled.clientSecret, disabled),
    /is disabled.*tessera client enable/,
    facts('remedy +Enable the app: tessera client enable'),
  ],
  [
    'a secret of a public app',
    () => withSecret('x', spa),
    /public and has no secret/,
    facts('remedy +Have the app send client_id alone'),
  ],
  [
    'another method',
    () => withSecret(posting.clientSecret, posting),
    /registered for client_secret_basic/,
    facts('received +client_secret_post', 'remedy +Have the app use client_secret_basic'),
  ],
  [
    'a Basic header without base64',
    () => post('/oidc/token', form({ grant_type: 'x' }), { authorization: 'Basic %%' }),
    /must be Basic, with client_id:client_secret in base64/,
    facts('not base64', 'remedy +Encode'),
  ],
  [
    'the secret twice',
    () => post('/oidc/token', form({ client_secret: 'x' }), basic(app.clientId, app.clientSecret)),
    /Send the client credentials once/,
    facts('remedy +Send the client credentials once'),
  ],
  [
    'an assertion that is no JWT',
    () =>
      post(
        '/oidc/token',
        form({
          client_id: app.clientId,
          client_assertion: 'x',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        }),
      ),
    /the request has a text that is no JWT.*\. Send client_assertion as a JWT/,
    facts('remedy +Send a JWT'),
  ],
  // The body.
  [
    'JSON as a form',
    () => post('/oidc/token', '{"a":1}'),
    /is JSON.*set Content-Type: application\/json/,
    facts('remedy +Send a form'),
  ],
  [
    'a form as JSON',
    () => post('/oidc/token', 'a=1&b=2', { 'content-type': JSON_TYPE }),
    /looks like a form/,
    facts('remedy +Send JSON'),
  ],
  [
    'text/plain',
    () => post('/oidc/token', 'x', { 'content-type': 'text/plain' }),
    /does not accept text\/plain/,
    facts('remedy +Send application/json'),
  ],
  [
    'multipart',
    () => post('/oidc/token', 'x', { 'content-type': 'multipart/form-data; boundary=x' }),
    /URLSearchParams/,
    facts('remedy +Send application/json'),
  ],
  [
    'a trailing comma',
    () => post('/api/v2/oauth/token', '{"a":"b",}', { 'content-type': JSON_TYPE }),
    /Remove the comma/,
    facts('Remove the comma'),
  ],
  [
    'no body',
    () => post('/oidc/token?grant_type=x', '', basic(app.clientId, app.clientSecret)),
    /body is empty|grant_type is missing/,
    facts('remedy +send'),
  ],
  [
    'GET',
    async () => told(await call(server, 'GET', '/oidc/token')),
    /the method was GET. Use POST/,
    facts('remedy +Use POST'),
  ],
  // The grant.
  [
    'the password grant',
    () => grant({ grant_type: 'password', username: 'a', password: PASSWORD }),
    /password is not/,
    facts('grant_type must be one of'),
  ],
  ['no grant_type', () => grant({ code: 'x' }), /grant_type is missing: send one of/, facts('remedy +send one of')],
  ['grantType', () => grant({ grantType: 'authorization_code' }), /grantType was sent/, facts('grantType was sent')],
  [
    'a grant that is not registered',
    () => grant({ grant_type: 'client_credentials' }),
    /not registered for the grant client_credentials\. Add it/,
    facts('Add it to grantTypes'),
  ],
  [
    'a client without the code flow',
    () => grant({ grant_type: 'authorization_code', code: 'x' }, machine),
    /not registered for the grant authorization_code/,
    facts('Add it to grantTypes'),
  ],
  [
    'a made-up code',
    () => grant({ grant_type: 'authorization_code', code: 'abc', redirect_uri: app.redirectUri }),
    /A code has 43 characters/,
    facts('remedy +A code has 43 characters'),
  ],
  [
    'no code',
    () => grant({ grant_type: 'authorization_code', code: 'undefined', redirect_uri: app.redirectUri }),
    /the word undefined/,
    facts('remedy +It is the word undefined'),
  ],
  [
    'no redirect_uri',
    () => grant({ grant_type: 'authorization_code', code: 'x' }),
    /redirect_uri is missing: repeat the one/,
    facts('remedy +repeat the one'),
  ],
  [
    'a code of another client',
    async () => told(await redeem(server, other, await codeFor(server, app, user))),
    /unknown or was used before.*another client_id/,
    facts('issued to another client', 'remedy +Have the app send the client_id'),
  ],
  [
    'another redirect_uri',
    () => exchange({ redirect_uri: `${app.redirectUri}/` }),
    /slash at the end. Send the same one/,
    facts('expected +https://app', 'remedy +They differ in'),
  ],
  [
    'no verifier',
    () => exchange({}, withPkce),
    /Send the verifier that you used to create code_challenge/,
    facts('remedy +Send the verifier'),
  ],
  [
    'a verifier of another sign-in',
    () => exchange({ code_verifier: 'b'.repeat(43) }, withPkce),
    /does not match code_challenge.*second tab/,
    facts('remedy +Use the verifier saved'),
  ],
  [
    'the challenge as verifier',
    () => exchange({ code_verifier: CHALLENGE }, withPkce),
    /code_challenge and code_verifier are equal/,
    facts('remedy +code_challenge and code_verifier are equal'),
  ],
  ['a short verifier', () => exchange({ code_verifier: 'x' }, withPkce), /43 to 128/, facts('remedy +Use letters')],
  [
    'a verifier without a challenge',
    () => exchange({ code_verifier: VERIFIER }),
    /had no code_challenge/,
    facts('remedy +Send code_challenge'),
  ],
  [
    'a code at the other endpoints',
    async () => told(await redeem(server, standard(app), await codeFor(server, app, user))),
    /Exchange it at \/api\/v2\/oauth\/token/,
    facts('remedy +Exchange it at'),
  ],
  [
    'a code twice',
    async () => {
      const code = await codeFor(server, app, user);
      await redeem(server, app, code);
      return told(await redeem(server, app, code));
    },
    /double callback/,
    facts('remedy +Look for a double callback'),
  ],
  [
    'an access token as refresh token',
    async () => told(await refresh(server, app, tokens.access_token)),
    /is an access token. Send the refresh_token/,
    facts('remedy +It is an access token'),
  ],
  [
    'a refresh token of another client',
    async () => told(await refresh(server, other, tokens.refresh_token)),
    /issued to another client\. Send the client_id that it was issued to/,
    facts('issued to the app \\d+', 'remedy +Have the app send the client_id'),
  ],
  [
    'a refresh token at the other endpoints',
    async () => told(await refresh(server, standard(app), tokens.refresh_token)),
    /issued at \/api\/v2\/oauth\/token: send it there/,
    facts('remedy +Send it to /api/v2'),
  ],
  [
    'a wider scope',
    async () => told(await refresh(server, app, tokens.refresh_token, { scope: 'openid phone' })),
    /beyond what was granted/,
    facts('remedy +Leave scope out'),
  ],
  [
    'a resource that was not in the authorization',
    () => exchange({ resource: NOTES }, {}, standard(app)),
    /not part of the authorization request. Add resource/,
    facts('received +resource=', 'remedy +Have the app add resource'),
  ],
  [
    'a device without client_id',
    () => post('/oidc/device_authorization', form({ scope: 'openid' })),
    /Send client_id and client_secret, .* A public app sends client_id alone/,
    facts('remedy +Send client_id and client_secret, in the body or by HTTP Basic. A public app sends client_id alone'),
  ],
  [
    'an assertion in the Authorization header',
    () => post('/oidc/token', form({ grant_type: 'x' }), { authorization: `Bearer ${oidcTokens.id_token}` }),
    /has a JWT\..*sends it in the body, as client_assertion, with client_assertion_type urn:ietf/,
    facts('received +an Authorization header with a JWT', 'remedy +An app that signs assertions'),
  ],
  [
    'a secret alone in the Authorization header',
    () => post('/oidc/token', form({ grant_type: 'x' }), { authorization: `Bearer ${app.clientSecret}` }),
    /must be Basic, with client_id:client_secret in base64, and it has a client secret alone/,
    facts('received +an Authorization header with a client secret alone', 'remedy +Encode client_id'),
  ],
  [
    'a scope of Entra',
    () => grant({ grant_type: 'client_credentials', scope: 'https://api.example.com/.default' }, machine),
    /\/\.default, which another service has\. Send the names of the scopes/,
    facts('remedy .*tessera client api-scopes \\d+'),
  ],
  [
    'an admin key at the registration endpoint',
    async () => {
      const { body } = await admin(server, 'POST', '/admin-keys', { name: 'Developer', role: 'developer' });
      return registerApp({}, { authorization: `Bearer ${body.adminKey}` });
    },
    /is an admin key \(it begins with tak_\).*initial access token/,
    facts('received +an admin key', 'remedy +Send an initial access token'),
  ],
  [
    'a registration that is replaced in part',
    async () => {
      const { body } = await call(server, 'POST', '/oidc/register', { 'content-type': JSON_TYPE }, SELF_REGISTERED);
      const path = new URL(body.registration_client_uri).pathname;
      const headers = { 'content-type': JSON_TYPE, authorization: `Bearer ${body.registration_access_token}` };
      return told(await call(server, 'PUT', path, headers, '{"client_name":"B"}'));
    },
    /client_id is missing\. Send client_id, and everything else.*PUT replaces all/,
    facts('received +client_id is missing', 'remedy +Send client_id, and everything else'),
  ],
  [
    'metadata below the path of the v2 endpoints',
    async () => told(await call(server, 'GET', '/.well-known/oauth-authorization-server/api/v2')),
    /The issuer is the base URL itself.*\/\.well-known\/oauth-authorization-server\./,
    facts('The issuer is the base URL itself'),
  ],
  // UserInfo.
  [
    'the whole token response as token',
    () => userinfo({ authorization: `Bearer ${JSON.stringify({ access_token: 'x', token_type: 'Bearer' })}` }),
    /is JSON, such as the whole token response\. Send only its member access_token/,
    facts('remedy .*Send only its member access_token'),
  ],
  ['no header', () => userinfo({}), /no Authorization header. Send/, facts('remedy +Send Authorization')],
  [
    'no Bearer',
    () => userinfo({ authorization: tokens.access_token }),
    /Bearer is missing before the token. Add Bearer/,
    facts('received +The word Bearer is missing', 'remedy +Add Bearer'),
  ],
  ['undefined as token', () => bearer('undefined'), /the word undefined/, facts('remedy +it is the word undefined')],
  [
    'an ID token',
    () => bearer(oidcTokens.id_token),
    /ID token.*Send the access_token/,
    facts('received +an ID token', 'remedy'),
  ],
  [
    'a refresh token',
    () => bearer(tokens.refresh_token),
    /is a refresh token. Send the access_token/,
    facts('remedy +it is a refresh token'),
  ],
  ['a part of a token', () => bearer(tokens.access_token.slice(0, -5)), /cut off/, facts('remedy .*whole')],
  [
    'a token of the OIDC endpoints at v2',
    () => bearer(oidcTokens.access_token, '/api/v2/oauth/userinfo'),
    /issued at \/oidc\/token\. Send it to \/oidc\/userinfo/,
    facts('remedy +Send it to /oidc/userinfo'),
  ],
  [
    'the token in the address',
    () => userinfo({}, '/oidc/userinfo?access_token=x'),
    /in the address/,
    facts('remedy +Send the token in the Authorization header'),
  ],
  // Introspection and revocation: the answer is active: false, whatever the reason.
  [
    'a token for another audience',
    () => introspect(oidcTokens.access_token, api),
    /"active":false/,
    facts(
      'expected +an access token for https://api.example.com/notes',
      'received +an access token for .*userinfo',
      'remedy +Have the app send resource=https://api.example.com/notes',
    ),
  ],
  [
    'an API without a resource',
    () => introspect(oidcTokens.access_token, plainApi),
    /"active":false/,
    facts('remedy +Register the resource of this API: tessera client update'),
  ],
  [
    'an ID token at introspection',
    () => introspect(oidcTokens.id_token, api),
    /"active":false/,
    facts('received +an ID token', 'remedy .*Send the access_token'),
  ],
  [
    'a refresh token at introspection',
    () => introspect(oidcTokens.refresh_token, api),
    /"active":false/,
    facts('a refresh token of another client', 'remedy'),
  ],
  [
    'introspection by a public client',
    () => post('/oidc/introspect', form({ token: 'x', client_id: spa.clientId })),
    /public client may not introspect.*confidential/,
    facts('remedy +Register the API'),
  ],
  [
    'a revocation by another client',
    () => post('/oidc/revoke', form({ token: tokens.refresh_token }), basic(other.clientId, other.clientSecret)),
    /issued to another client/,
    facts('issued to the app \\d+', 'remedy'),
  ],
  // Signing out.
  [
    'an unregistered address after signing out',
    () => leave({ client_id: app.clientId, post_logout_redirect_uri: 'https://app.example.com/bye' }),
    /not one of those that are registered/,
    facts('post_logout_redirect_uri is not registered', 'remedy .*--add-post-logout-redirect-uri'),
  ],
  [
    'signing out without a client',
    () => leave({ post_logout_redirect_uri: 'https://app.example.com/bye' }),
    /identifies no app/,
    facts('remedy +Send id_token_hint or client_id'),
  ],
  [
    'an access token as hint',
    () => leave({ id_token_hint: tokens.access_token }),
    /is an access token/,
    facts('remedy +Send the id_token'),
  ],
  [
    'a client_id of another app than that of the hint',
    () => leave({ id_token_hint: oidcTokens.id_token, client_id: other.clientId }),
    /client_id is not the app that id_token_hint was issued to/,
    facts('remedy +Send the client_id of that app'),
  ],
  [
    'the name of another service for the address to return to',
    () => leave({ redirect_uri: 'https://app.example.com/bye' }, signedIn(server, user)),
    /Sign out/,
    facts('received +post_logout_redirect_uri is missing, and redirect_uri was sent', 'remedy +Rename the parameter'),
  ],
  [
    'a script that signs out',
    async () => told(await call(server, 'GET', '/oidc/logout', { 'sec-fetch-dest': 'empty' })),
    /called by a script/,
    facts('remedy +Navigate to it'),
  ],
  // Pages of other origins, other addresses, the admin API.
  [
    'a header that an interceptor adds',
    async () =>
      told(
        await call(server, 'OPTIONS', '/oidc/token', {
          origin: new URL(spa.redirectUri).origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type, x-csrf-token',
        }),
      ),
    /the request header x-csrf-token is not allowed here/,
    facts('remedy +Leave x-csrf-token out'),
  ],
  [
    'an address that was copied from HTML',
    () => askRaw(`response_type=code&amp;client_id=${app.clientId}`),
    /client_id is missing, and amp;client_id was sent/,
    facts('remedy +The address has &amp; \\(HTML\\)'),
  ],
  [
    'client_id and client_secret swapped',
    () =>
      post(
        '/oidc/token',
        form({ grant_type: 'refresh_token', refresh_token: 'x' }),
        basic(app.clientSecret, app.clientId),
      ),
    /client_id begins with tcs_.* may be swapped: exchange them/,
    facts('received +a client_id that begins with tcs_', 'remedy +client_id and client_secret may be swapped'),
  ],
  [
    'the token to revoke under the name of the token response',
    () => post('/oidc/revoke', form({ access_token: 'x' }), basic(app.clientId, app.clientSecret)),
    /token is missing, and access_token was sent\. Rename/,
    facts('remedy +Rename the parameter access_token to token'),
  ],
  [
    'a page of an unknown origin',
    () => userinfo({ origin: 'http://localhost:4321' }),
    /CORS blocked: no active public app has a redirect URI at http:\/\/localhost:4321/,
    facts('received +Origin', 'remedy +Add a redirect URI'),
  ],
  [
    'a confidential app in a browser',
    () =>
      post('/oidc/token', form({ grant_type: 'authorization_code', code: 'x', redirect_uri: app.redirectUri }), {
        ...basic(app.clientId, app.clientSecret),
        origin: 'http://localhost:8080',
      }),
    /its secret must not be in a browser/,
    facts('the app is not public', 'remedy'),
  ],
  [
    'discovery below /oidc',
    async () => told(await call(server, 'GET', '/oidc/.well-known/openid-configuration')),
    /Did you mean \/\.well-known/,
    facts('Did you mean'),
  ],
  [
    'a misspelled endpoint',
    async () => told(await call(server, 'GET', '/oidc/authorise')),
    /Did you mean .*\/oidc\/authorize/,
    facts('Did you mean'),
  ],
  [
    'end_session',
    async () => told(await call(server, 'GET', '/oidc/end_session')),
    /Did you mean \/oidc\/logout/,
    facts('Did you mean'),
  ],
  [
    'a slash after the token endpoint',
    async () => told(await call(server, 'POST', '/oidc/token/')),
    /Did you mean \/oidc\/token\?/,
    facts('Did you mean'),
  ],
  [
    'an admin field in snake case',
    async () => told(await admin(server, 'POST', '/clients', { name: 'A', redirect_uris: [] })),
    /redirect_uris is not a field here\. Did you mean redirectUris\?/,
    facts('received +a field named redirect_uris', 'remedy +Send redirectUris instead'),
  ],
  [
    'a redirect URI that is encoded twice',
    () => ask({ redirect_uri: encodeURIComponent('https://app.example.com/callback') }),
    /percent-encoding/,
    facts('remedy +redirect_uri was percent-encoded twice: encode it once'),
  ],
  [
    'a parameter in the value of state',
    () =>
      askRaw(
        `client_id=${app.clientId}&redirect_uri=https://app.example.com/callback&response_type=code&scope=openid&state=/search?q=1&scope=all`,
      ).then(({ headers }) => ({ headers, text: headers.get('location') ?? '' })),
    /percent-encode\+the\+values\+of\+other\+parameters/,
    facts('remedy +Send scope once, and percent-encode'),
  ],
  [
    'client_secret_jwt',
    () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const assertion = `${part({ alg: 'HS256' })}.${part({ iss: app.clientId, sub: app.clientId })}.${'A'.repeat(43)}`;
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      return post('/oidc/token', form({ client_assertion: assertion, client_assertion_type: type }));
    },
    /with the algorithm HS256, as for client_secret_jwt, which is not offered\. Send client_assertion as a JWT whose alg is RS256/,
    facts('received +an assertion with the algorithm HS256, as for client_secret_jwt'),
  ],
  [
    'openid in a token of the app itself',
    () => grant({ grant_type: 'client_credentials', scope: 'openid' }, machine),
    /leave scope out/,
    facts('remedy +Have the app leave scope out'),
  ],
  [
    'a metadata document where none is read',
    () => ask({ client_id: 'https://agent.example/client.json' }),
    /does not read metadata documents.*TESSERA_CLIENT_METADATA/,
    facts('remedy .*TESSERA_CLIENT_METADATA=listed or open'),
  ],
  [
    'an If-Match without quotes',
    async () =>
      told(
        await call(
          server,
          'PATCH',
          `/api/v2/admin/clients/${app.clientId}`,
          { 'content-type': JSON_TYPE, authorization: `Bearer ${ADMIN_KEY}`, 'if-match': '1' },
          '{"description":"x"}',
        ),
      ),
    /in double quotes/,
    facts('received +If-Match with something else', 'remedy +Send the ETag'),
  ],
  [
    'a job at the authorization endpoint',
    () => ask({}, standard(job)),
    /no redirect URI: it is registered for client_credentials only/,
    facts('remedy +Register another app with the grant authorization_code'),
  ],
  [
    'a client_assertion of another type',
    () => post('/oidc/token', form({ client_assertion: 'a.b.c', client_assertion_type: 'jwt-bearer' })),
    /the request has another client_assertion_type\. Send .* with client_assertion_type urn:ietf:params:oauth:client-assertion-type:jwt-bearer/,
    facts('received +another client_assertion_type', 'remedy .*client_assertion_type urn:ietf'),
  ],
  [
    'the URL of a metadata document at a v2 endpoint',
    () => ask({ client_id: 'https://agent.example/client.json' }, app),
    /v2 endpoints know registered apps only/,
    facts('remedy +Send the user to /oidc/authorize'),
  ],
  [
    'a client secret as admin key',
    async () => told(await admin(server, 'GET', '/users', undefined, app.clientSecret)),
    /begins with tcs_, as client secrets do, and admin keys with tak_/,
    facts('description .*begins with tcs_'),
  ],
  [
    'a type that an app is to change to',
    async () => told(await admin(server, 'PATCH', `/clients/${app.clientId}`, { type: 'public' })),
    /type cannot be changed\. An app keeps its type\. Register another app instead\./,
    facts('received +type, which cannot be changed', 'remedy +Leave it out'),
  ],
  [
    'an id that JavaScript has rounded',
    async () => told(await admin(server, 'GET', '/clients/384609393557114900')),
    /It looks rounded: JavaScript rounds numbers of this size, so keep ids as texts\./,
    facts('remedy +Take the id from the list'),
  ],
  [
    'a limit beyond the largest',
    async () => told(await admin(server, 'GET', '/clients?limit=1000')),
    /limit must be a whole number from 1 to 200; got a larger one/,
    facts('received +a value of limit that was refused'),
  ],
  [
    'a missing field of the admin API',
    async () => told(await admin(server, 'POST', '/clients', {})),
    /name is missing/,
    facts('received +no name', 'remedy +Send name as well'),
  ],
  [
    'a wildcard for the port in a redirect URI',
    async () => told(await admin(server, 'POST', '/clients', { name: 'A', redirectUris: ['http://localhost:*/cb'] })),
    /no wildcard/,
    facts('received +a value of redirectUris'),
  ],
  [
    'a wildcard in a redirect URI',
    async () =>
      told(await admin(server, 'POST', '/clients', { name: 'A', redirectUris: ['https://*.example.com/cb'] })),
    /no wildcard: register each host and port by itself/,
    facts('received +a value of redirectUris'),
  ],
  [
    'a person whom a role does not reach',
    async () => {
      const { body } = await admin(server, 'POST', '/admin-keys', { name: 'Developer', role: 'developer' });
      return told(await admin(server, 'DELETE', `/users/${user.id}`, undefined, body.adminKey));
    },
    /There is no user/,
    facts('reason +not visible without users.read'),
  ],
  [
    'an id that nothing has',
    async () => told(await admin(server, 'GET', '/clients/1')),
    /There is no client with the id 1/,
    facts('received +an id that nothing here has', 'remedy .*tessera client list'),
  ],
  [
    'the number of a page',
    async () => told(await admin(server, 'GET', '/users?page=2')),
    /page is not a parameter here.*Pages are read with cursor: send the nextCursor/,
    facts('received +a parameter named page', 'remedy +Pages are read with cursor'),
  ],
  [
    'PUT of a record that PATCH changes',
    async () => told(await admin(server, 'PUT', `/clients/${app.clientId}`, {})),
    /the method was PUT\. Use PATCH to change fields/,
    facts('remedy +Use PATCH'),
  ],
  [
    'an admin key whose role lacks a permission',
    async () => {
      const { body } = await admin(server, 'POST', '/admin-keys', { name: 'Auditor', role: 'auditor' });
      return told(await admin(server, 'POST', '/clients', { name: 'A' }, body.adminKey));
    },
    /Missing permission: apps\.create/,
    facts('description .*Missing permission: apps\\.create'),
  ],
  [
    'a wrong admin key',
    async () => told(await admin(server, 'GET', '/users', undefined, 'wrong')),
    /admin key/i,
    facts('description .*admin key'),
  ],
  [
    'a page whose address is misspelt',
    async () => told(await call(server, 'GET', '/account/connection')),
    /Did you mean \/account\/connections\?/,
    facts('Did you mean /account/connections'),
  ],
  [
    'a call of the admin API whose address is misspelt',
    async () => told(await call(server, 'GET', '/api/v2/admin/client')),
    /Did you mean \/api\/v2\/admin\/clients/,
    facts('Did you mean /api/v2/admin/clients'),
  ],
  [
    'a misspelt word behind an id',
    async () => told(await call(server, 'POST', '/api/v2/admin/clients/1/secret')),
    /Did you mean \/api\/v2\/admin\/clients\/:clientId\/secrets/,
    facts('Did you mean /api/v2/admin/clients/:clientId/secrets'),
  ],
  [
    'a device code of another server',
    () => pollWith('x'.repeat(43)),
    /device code was refused: it is unknown/,
    facts('expected +the device_code that this client got', 'received +a device code that this server has not issued'),
  ],
  [
    'the user code as device code',
    async () => pollWith((await startedDevice()).user_code),
    /Send the device_code of the same response/,
    facts('received +the user_code', 'remedy +Send the member device_code'),
  ],
  [
    'a device code of another client',
    async () => pollWith((await startedDevice()).device_code, otherDevice),
    /device code was refused: it is unknown/,
    facts('received +a device code that was issued to another client', 'remedy +Use the client_id'),
  ],
  // Of a second list, which an outsider might make.
  [
    'another port',
    () => ask({ redirect_uri: 'http://localhost:8081/callback', ...withPkce }, standard(spa)),
    /differs in: port/,
    facts('expected +http://localhost:8080', 'remedy .*PATCH /api/v2/admin/clients/\\d+, or: tessera client update'),
  ],
  [
    'a redirect_uri that was encoded twice',
    () => ask({ redirect_uri: encodeURIComponent('https://app.example.com/callback') }),
    /differs in: percent-encoding\. redirect_uri was percent-encoded twice: encode it once/,
    facts('remedy +redirect_uri was percent-encoded twice'),
  ],
  [
    'a client_id that was read as a number',
    () => askRaw(`client_id=${app.clientId.slice(0, -3)}000`),
    /It may have been rounded: keep client_id as text, not as a number/,
    facts('remedy +It may have been rounded: keep client_id as text'),
  ],
  [
    'a client_id with an exponent',
    () => askRaw('client_id=3.848204948781138e%2B17'),
    /It may have been rounded: keep client_id as text/,
    facts('expected +the client_id of an active app', 'remedy +It may have been rounded'),
  ],
  [
    'prompt in capitals',
    () => ask({ prompt: 'LOGIN' }),
    /write the values in lower case, as in prompt=login/,
    facts('received +prompt=LOGIN', 'remedy +Write the values in lower case'),
  ],
  [
    'a hybrid flow',
    () => ask({ response_type: 'code id_token' }),
    /response_type must be code: tokens are not sent in redirects/,
    facts('received +response_type="code id_token"', 'remedy +Tokens are not sent in redirects'),
  ],
  [
    'a challenge with padding',
    () => ask({ ...withPkce, code_challenge: `${CHALLENGE}=` }),
    /it is base64, so use - for \+, _ for \/ and no = at the end/,
    facts('remedy +It is base64'),
  ],
  [
    'the code with the rest of the address',
    () => exchange({ code: 'https://app.example.com/callback?code=abc&state=xyz' }),
    /It has more of the address in it than the code/,
    facts('remedy +It has more of the address in it'),
  ],
  [
    'the challenge as verifier',
    () => exchange({ code_verifier: CHALLENGE }, withPkce, standard(app)),
    /code_challenge and code_verifier are equal/,
    facts('expected +the verifier that was used', 'remedy +code_challenge and code_verifier are equal'),
  ],
  [
    'a refresh with commas in scope',
    () => grant({ grant_type: 'refresh_token', refresh_token: oidcTokens.refresh_token, scope: 'openid,email' }),
    /separate the scopes by spaces, not by commas/,
    facts('received +scope="openid,email"', 'remedy +.*separate the scopes by spaces, not by commas'),
  ],
  [
    'the credentials in the address of a token request',
    () =>
      post(
        `/oidc/token?${form({ client_id: app.clientId, client_secret: app.clientSecret })}`,
        form({ grant_type: 'authorization_code', code: 'x' }),
      ),
    /client_id is missing in the body, and the address has it\. Send all parameters in the body, as a form/,
    facts(
      'received +a request without client_id in the body, and the address has it',
      'remedy +Send all parameters in the body',
    ),
  ],
  [
    'the secret alone in the address',
    () =>
      post(
        `/oidc/token?${form({ client_secret: app.clientSecret })}`,
        form({ grant_type: 'authorization_code', code: 'x', client_id: app.clientId }),
      ),
    /client_secret is missing in the body, and the address has it.*replace a client_secret that was in one/,
    facts('received +client_id alone in the body, and the address has it', 'remedy +Send all parameters in the body'),
  ],
  [
    'a page without an origin',
    async () => told(await call(server, 'GET', '/oidc/userinfo', { origin: 'null' })),
    /the page has no origin \(Origin: null\).*Serve the page over http or https/,
    facts('received +Origin: null', 'remedy +Serve the page over http or https'),
  ],
  [
    'registration at another address',
    async () => told(await call(server, 'POST', '/register', { 'content-type': JSON_TYPE }, '{}')),
    /Apps register themselves at \/oidc\/register/,
    facts('description .*Apps register themselves at /oidc/register'),
  ],
  [
    'version 1 of the API',
    async () => told(await call(server, 'GET', '/api/v1/admin/users')),
    /This is version 2 of the API: send the request to the same address below \/api\/v2/,
    facts('description .*This is version 2 of the API'),
  ],
  [
    'a list as the body of an admin request',
    async () =>
      told(
        await call(
          server,
          'POST',
          '/api/v2/admin/users',
          { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': JSON_TYPE },
          '[]',
        ),
      ),
    /the body must be a JSON object/,
    facts('expected +a JSON object', 'received +a body of another form', 'remedy +Send a JSON object as the body'),
  ],
  [
    'a username that is taken',
    async () =>
      told(
        await admin(server, 'POST', '/users', {
          username: user.username,
          displayName: 'A',
          email: 'taken@example.com',
        }),
      ),
    /username is taken: another account has it/,
    facts('received +a value of username that another record has', 'remedy +Choose another username'),
  ],
  [
    'a single key for a key set',
    async () =>
      told(
        await admin(server, 'POST', '/clients', {
          name: 'A',
          grantTypes: ['client_credentials'],
          tokenEndpointAuthMethod: 'private_key_jwt',
          jwks: { kty: 'RSA' },
        }),
      ),
    /jwks must be \{"keys": \[…\]\} with 1 to 20 public keys/,
    facts('description jwks must be', 'received +a value of jwks that was refused', 'remedy +Correct jwks'),
  ],
  [
    'private_key_jwt without keys',
    async () =>
      told(
        await admin(server, 'POST', '/clients', {
          name: 'A',
          grantTypes: ['client_credentials'],
          tokenEndpointAuthMethod: 'private_key_jwt',
        }),
      ),
    /needs the public keys of the client: give jwks or jwksUri/,
    facts('description tokenEndpointAuthMethod private_key_jwt needs the public keys'),
  ],
  [
    'a user code that no device shows',
    () => typedUserCode('WDJB-MJHT'),
    /No device is waiting with this code/,
    facts(
      'expected +the user_code of a device that is waiting',
      'received +a code that was mistyped',
      'remedy +Compare',
    ),
  ],
  [
    'the device code typed as user code',
    () => typedUserCode('x'.repeat(40)),
    /A code has eight letters and no vowels/,
    facts('received +a text of another form', 'remedy +Have the device show user_code, and not device_code'),
  ],
  [
    'a refresh after the app revoked its own token',
    async () => {
      const own = await tokensFor(server, standard(app), user);
      await grantless('/oidc/revoke', { token: own.access_token });
      return grant({ grant_type: 'refresh_token', refresh_token: own.refresh_token });
    },
    /The refresh token is no longer valid: the sign-in that it came from has ended/,
    facts(
      'received +a token of a sign-in that the app itself revoked: .*RFC 7009\\), at 20.* with the request [0-9a-f-]{36}',
      'remedy +Delete the stored tokens when the app revokes one',
    ),
  ],
  [
    'UserInfo after the app revoked its own token',
    async () => {
      const own = await tokensFor(server, standard(app), user);
      await grantless('/oidc/revoke', { token: own.refresh_token });
      return bearer(own.access_token);
    },
    /The access token is no longer valid: the sign-in that it came from has ended/,
    facts('received +a token of a sign-in that the app itself revoked: .* with the request [0-9a-f-]{36}', 'remedy'),
  ],
  [
    'introspection after the app revoked its own token',
    async () => {
      const own = await tokensFor(server, standard(app), user);
      await grantless('/oidc/revoke', { token: own.refresh_token });
      return introspect(own.access_token, app);
    },
    /"active":false/,
    facts('received +a token of a sign-in that the app itself revoked: .* at 20', 'remedy +Delete the stored tokens'),
  ],
  [
    'UserInfo after the code was sent twice',
    async () => {
      const code = await codeFor(server, app, user);
      const { body } = await redeem(server, app, code);
      await redeem(server, app, code);
      return bearer(body.access_token, '/api/v2/oauth/userinfo');
    },
    /the sign-in that it came from has ended/,
    facts(
      'received +a token of a sign-in that was ended because its code was sent twice',
      'remedy +Exchange each code once',
    ),
  ],
  [
    'a form whose cookies were cleared',
    async () => {
      const browser = agent(server.baseUrl);
      const page = await browser.get((await browser.get(authorizeUrl(app))).headers.get('location') ?? '');
      const fields = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const sent = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
      const { headers, text } = await agent(server.baseUrl).post('/login', { ...sent, identifier: 'x', password: 'x' });
      return { headers, text };
    },
    /Your browser sent no cookies with this form.*They were cleared, or are blocked: allow cookies for this site.*Correlation ID: [0-9a-f-]{36}/s,
    facts('received +a form without cookies', 'remedy +Allow cookies for this site'),
  ],
  [
    'a resource without a scheme',
    async () =>
      told(
        await admin(server, 'POST', '/clients', {
          name: 'A',
          redirectUris: [app.redirectUri],
          resource: 'api.example.com',
        }),
      ),
    /resource must be an absolute URI: write https:\/\/ before it/,
    facts('received +a value of resource'),
  ],
  [
    'the name of a record for its id',
    async () => told(await admin(server, 'GET', '/organizations/acme')),
    /Use the id that the list shows, which is a number, and not the name/,
    facts('remedy .*tessera org list'),
  ],
  [
    'a ban that ends in the past',
    async () => told(await admin(server, 'PUT', `/users/${user.id}/ban`, { until: '2020-01-01T00:00:00Z' })),
    /To end the ban now, remove it: DELETE on the same path, or tessera user unban/,
    facts('received +a value of until'),
  ],
  [
    'pairwise subjects at registration',
    () => registerApp({ subject_type: 'pairwise' }),
    /subject_type is not supported with this value\. Send public, or leave it out/,
    facts('remedy +Send public, or leave it out'),
  ],
  [
    'a scope of an API at the v2 endpoints',
    () => ask({ scope: 'openid notes.read', resource: NOTES }, app),
    /unknown scope notes\.read: leave it out; scopes of APIs are requested at \/oidc\/authorize\./,
    facts('received +notes\\.read', 'remedy .*requested at /oidc/authorize'),
  ],
  [
    'a scope of an API that does not let the app request it',
    () => ask({ scope: 'notes.read', resource: NOTES }),
    /unknown scope notes\.read/,
    facts(
      'reason +scope of an API that the client may not request',
      'remedy .*tessera client allow-scopes \\d+ --api \\d+ --scope notes\\.read',
    ),
  ],
  [
    'a role that does not exist',
    async () => told(await admin(server, 'PUT', `/users/${user.id}/roles/superuser`, {})),
    /role must be one of owner, admin, support, auditor, developer/,
    facts('expected +one of owner, admin', 'received +a value of role', 'remedy'),
  ],
  [
    'localhost where a native app has 127.0.0.1',
    () => ask({ redirect_uri: 'http://localhost:51004/cb', ...withPkce }, standard(native)),
    /Use 127\.0\.0\.1 in redirect_uri, not localhost; its port may differ for public apps/,
    facts('received +redirect_uri = http://localhost:51004', 'remedy +Use 127.0.0.1'),
  ],
  [
    'a page of another scheme than that of its app',
    async () =>
      told(
        await call(server, 'OPTIONS', '/oidc/token', {
          origin: 'http://spa.example.com',
          'access-control-request-method': 'POST',
        }),
      ),
    /a public app has this host with https/,
    facts('reason +.*a public app has this host with https', 'expected .*https://spa.example.com', 'remedy'),
  ],
  [
    'redirectUris at registration',
    () => registerApp({ redirect_uris: undefined, redirectUris: ['https://app.example.com/callback'] }),
    /redirectUris was found: write redirect_uris/,
    facts('remedy .*redirectUris was found'),
  ],
  [
    'an object for the scopes of an API',
    async () =>
      told(
        await admin(server, 'POST', '/clients', {
          name: 'A',
          redirectUris: [app.redirectUri],
          resourceScopes: { 'notes.read': 'Read notes' },
        }),
      ),
    /resourceScopes must be a list of .*each an object with name and descriptions.*got an object/,
    facts('expected .*each an object with name and descriptions', 'received +a value of resourceScopes'),
  ],
  [
    'the names of another API for the fields',
    async () => told(await admin(server, 'POST', '/upstreams', { name: 'acme', client_id: 'x', display_name: 'Acme' })),
    /client_id is not a field here\. Did you mean clientId\?/,
    facts('received +a field named client_id', 'remedy +Send clientId instead'),
  ],
  [
    'openid in a token of the client itself',
    () => grant({ grant_type: 'client_credentials', scope: 'openid' }, machine),
    /has no user, so scopes about a user, such as openid .*leave scope out\. Scopes of APIs are granted at \/oidc\/token only/,
    facts('remedy +Have the app leave scope out'),
  ],
  [
    'a date without a time for the end of a ban',
    async () => told(await admin(server, 'PUT', `/users/${user.id}/ban`, { until: '2026-12-01' })),
    /until must be .*2027-01-31T|until must be/,
    facts('expected +.*such as 20', 'received +a value of until', 'remedy'),
  ],
  [
    'a trailing comma for the admin API',
    async () => {
      const headers = { 'content-type': JSON_TYPE, authorization: `Bearer ${ADMIN_KEY}` };
      return told(await call(server, 'POST', '/api/v2/admin/clients', headers, '{"name":"A",}'));
    },
    /line 1, column 13/,
    facts('received +.*at line 1, column 13', 'remedy +Remove the comma'),
  ],
  // What an outsider met.
  [
    'the access token in place of the credentials of the API, at introspection',
    () =>
      post('/oidc/introspect', form({ token: oidcTokens.access_token }), {
        authorization: `Bearer ${oidcTokens.access_token}`,
      }),
    /has an access token, .*Send the client_id and client_secret of the API by HTTP Basic, and the token in the form field token/,
    facts(
      'received +an Authorization header with an access token',
      'remedy +Send the client_id and client_secret of the API',
    ),
  ],
  [
    'introspection without credentials',
    () => post('/oidc/introspect', form({ token: oidcTokens.access_token })),
    /client_id is missing\. Send the client_id and client_secret of the API .*A public app is refused here/,
    facts('remedy +Send the client_id and client_secret of the API'),
  ],
  [
    'an admin key at the token endpoint',
    () => post('/oidc/token', form({ grant_type: 'x' }), { authorization: `Bearer ${ADMIN_KEY}` }),
    /must be Basic|has an admin key/,
    facts('remedy'),
  ],
  [
    'an encoded colon',
    () =>
      post('/oidc/token', form({ grant_type: 'x' }), {
        authorization: `Basic ${Buffer.from(`${app.clientId}%3A${app.clientSecret}`).toString('base64')}`,
      }),
    /the colon between client_id and client_secret is encoded as %3A/,
    facts('received +Basic, with the colon .* encoded as %3A', 'remedy +Encode each of the two by itself'),
  ],
  [
    'Basic without base64',
    () =>
      post('/oidc/token', form({ grant_type: 'x' }), { authorization: `Basic ${app.clientId}:${app.clientSecret}` }),
    /in base64, and it has them as plain text\. Encode client_id, a colon/,
    facts('received +Basic, with client_id:client_secret as plain text', 'remedy'),
  ],
  [
    'a blank before client_id in the body',
    () => withSecret(app.clientSecret, { ...app, clientId: ` ${app.clientId}` }),
    /client_id has white space around it\. Send the number alone/,
    facts('received +a client_id that has white space around it', 'remedy +Send the number alone'),
  ],
  [
    'a blank after client_id in Basic',
    () => grant({ grant_type: 'x' }, { ...app, clientId: `${app.clientId} ` }),
    /client_id has white space around it/,
    facts('remedy +Send the number alone'),
  ],
  [
    'client_id in quotes, in JSON',
    () =>
      post('/api/v2/oauth/token', JSON.stringify({ client_id: `"${app.clientId}"`, client_secret: app.clientSecret }), {
        'content-type': JSON_TYPE,
      }),
    /client_id has quotes around it/,
    facts('remedy +Send the number alone'),
  ],
  [
    'a secret that was ended at once',
    async () => {
      const client = await newClient(server);
      const path = `/clients/${client.clientId}`;
      await admin(server, 'POST', `${path}/secrets`, {});
      const { body } = await admin(server, 'GET', path);
      await admin(server, 'DELETE', `${path}/secrets/${body.secrets[0].id}`);
      return withSecret(client.clientSecret, client);
    },
    /no active app here has this client_id and this client_secret\..* the secret may have ended/,
    facts('received +a secret of this app that was ended at 20', 'remedy +Set the newest secret'),
  ],
  [
    'offline_access alone, of an app without refresh tokens',
    () => ask({ scope: 'offline_access' }, standard(codeOnly)),
    /offline_access asks for a refresh token, and the client is not registered for the grant refresh_token/,
    facts('remedy .*update \\d+ --grant-type authorization_code --grant-type refresh_token'),
  ],
  [
    'a compressed body',
    () =>
      post('/oidc/token', form({ grant_type: 'authorization_code' }), {
        ...basic(app.clientId, app.clientSecret),
        'content-encoding': 'gzip',
      }),
    /The body is compressed \(Content-Encoding: gzip\), which is not read here\. Send it as it is/,
    facts('received +Content-Encoding: gzip', 'remedy +Switch the compression'),
  ],
  [
    'client_assertion without client_assertion_type',
    () => post('/oidc/token', form({ grant_type: 'authorization_code', client_assertion: 'x' })),
    /client_assertion was sent without client_assertion_type\. Send client_assertion_type as well: urn:/,
    facts('remedy +Send client_assertion_type as well: urn:'),
  ],
  [
    'client_assertion_type without client_assertion',
    () => post('/oidc/token', form({ grant_type: 'authorization_code', client_assertion_type: 'x' })),
    /client_assertion_type was sent without client_assertion\. Send the signed JWT/,
    facts('remedy +Send the signed JWT'),
  ],
  [
    'grant_type in capitals',
    () => grant({ grant_type: 'AUTHORIZATION_CODE' }),
    /It is case-sensitive: send grant_type=authorization_code\./,
    facts('received +grant_type=AUTHORIZATION_CODE', 'remedy +It is case-sensitive'),
  ],
  [
    'a token request at the authorization endpoint',
    () =>
      post(
        '/oidc/authorize',
        form({ grant_type: 'authorization_code', code: 'x', client_id: app.clientId, redirect_uri: app.redirectUri }),
      ).then(({ headers }) => ({
        headers,
        text: decodeURIComponent(headers.get('location') ?? '').replaceAll('+', ' '),
      })),
    /this is the authorization endpoint, .*POST it to the token endpoint, \/oidc\/token/,
    facts('received +grant_type, and no response_type', 'remedy +POST it to the token endpoint, /oidc/token'),
  ],
  [
    'a refresh at the authorization endpoint of the v2 endpoints',
    () =>
      post('/api/v2/oauth/authorize', form({ grant_type: 'refresh_token', refresh_token: 'x' }), {
        ...basic(app.clientId, app.clientSecret),
        accept: 'application/json',
      }),
    /This is the authorization endpoint, .*POST it to the token endpoint: .*\/oidc\/token/,
    facts('remedy +POST it to the token endpoint'),
  ],
  [
    'POST to the discovery document',
    () => post('/.well-known/openid-configuration', form({})),
    /This address answers GET, HEAD, and the method was POST\. Use GET or HEAD/,
    facts('openid-configuration 405', 'remedy +Use GET or HEAD'),
  ],
  [
    'the id of a secret',
    async () => {
      const { body } = await admin(server, 'GET', `/clients/${app.clientId}`);
      return withSecret(body.secrets[0].id);
    },
    /client_secret does not begin with tcs_, as every secret of this service does/,
    facts('received +the id of a secret', 'remedy +Set the secret itself'),
  ],
  [
    'an admin key as secret',
    () => withSecret(`tak_${'a'.repeat(43)}`),
    /client_secret does not begin with tcs_, as every secret of this service does/,
    facts('received +an admin key', 'remedy +Take the admin key out of the app'),
  ],
  [
    'the word undefined as grant_type',
    () => grant({ grant_type: 'undefined' }),
    /grant_type is the word undefined: the variable that should hold it has no value/,
    facts('received +grant_type: the word undefined', 'remedy +Set the variable that should hold grant_type'),
  ],
  [
    'the word null as redirect_uri, in JSON',
    async () => {
      const code = await codeFor(server, standard(app), user, {});
      const body = { grant_type: 'authorization_code', code, redirect_uri: 'null' };
      return post('/oidc/token', JSON.stringify(body), {
        'content-type': JSON_TYPE,
        ...basic(app.clientId, app.clientSecret),
      });
    },
    /redirect_uri is the word null: the variable that should hold it has no value/,
    facts('received +redirect_uri: the word null', 'remedy +Set the variable that should hold redirect_uri'),
  ],
  [
    'two Authorization headers',
    async () => told(await rawCall('GET', '/oidc/userinfo', [basicText(app), `Bearer ${oidcTokens.access_token}`])),
    /has two Authorization headers, and the first has no access token\. Send one/,
    facts('received +The request has two Authorization headers', 'remedy +Send one'),
  ],
  [
    'two Authorization headers at the token endpoint',
    async () => told(await rawCall('POST', '/oidc/token', ['Bearer x', basicText(app)])),
    /has two Authorization headers, and the first is not Basic\. Send one/,
    facts('received +two Authorization headers', 'remedy +Send one'),
  ],
  [
    'two Authorization headers at the token endpoint, of which the first is Basic',
    async () => told(await rawCall('POST', '/oidc/token', [`Basic ${app.clientId}:x`, 'Bearer x'])),
    /must be Basic, with client_id:client_secret in base64, and it has them as plain text/,
    facts('received +Basic, with client_id:client_secret as plain text'),
  ],
  [
    'a grant at the other set of endpoints than that of the app',
    async () => {
      const { clientId, clientSecret } = await newClient(server, { endpoints: ['v2'] });
      return post(
        '/oidc/token',
        form({ grant_type: 'refresh_token', refresh_token: 'x' }),
        basic(clientId, clientSecret),
      );
    },
    /registered for \/api\/v2\/oauth\/token only/,
    facts('remedy .*tessera client update \\d+ --endpoints v2 --endpoints oidc'),
  ],
  [
    'an object as body',
    () => post('/oidc/token', '[object Object]'),
    /The body is \[object Object\].*Encode it first, with new URLSearchParams/,
    facts('description +The body is \\[object Object\\]', 'remedy +Encode it first'),
  ],
  [
    'an object as JSON',
    () => post('/api/v2/oauth/token', '[object Object]', { 'content-type': JSON_TYPE }),
    /The body is \[object Object\].*JSON\.stringify/,
    facts('remedy +Encode it first'),
  ],
  [
    'JSON that was encoded twice',
    () =>
      post('/api/v2/oauth/token', JSON.stringify(JSON.stringify({ client_id: '1' })), { 'content-type': JSON_TYPE }),
    /encoded as JSON twice.*Encode the object as JSON once/,
    facts('remedy +Encode the object as JSON once'),
  ],
  [
    'client_id as a number in JSON',
    () => post('/api/v2/oauth/token', `{"client_id":${app.clientId}}`, { 'content-type': JSON_TYPE }),
    /must be a text in double quotes, and is a number\. Put it in double quotes/,
    facts('remedy +Put it in double quotes'),
  ],
  [
    'scope as a list in JSON',
    () => post('/api/v2/oauth/token', '{"scope":["openid","email"]}', { 'content-type': JSON_TYPE }),
    /and is an array\. Send its values in one text, separated by spaces/,
    facts('remedy +Send its values in one text, separated by spaces'),
  ],
  [
    'the token of another issuer',
    () =>
      bearer(
        [{ alg: 'ES256', typ: 'JWT' }, { iss: 'https://accounts.google.com', sub: '1' }, 'x']
          .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
          .join('.'),
      ),
    /was issued by https:\/\/accounts\.google\.com, and this service is http/,
    facts('received +the token of another service', 'remedy .*was issued by https://accounts\\.google\\.com'),
  ],
  [
    'an access token in base64',
    () => bearer(Buffer.from(oidcTokens.access_token).toString('base64')),
    /is a token that was encoded in base64 once more\. Send the access_token of the token response as it came/,
    facts('received +a token in base64', 'remedy'),
  ],
  [
    'JSON in the header',
    () => userinfo({ authorization: `Bearer {"access_token": "${oidcTokens.access_token}"}` }),
    /Send only its member access_token after the word Bearer/,
    facts('remedy +Send only its member access_token after the word Bearer'),
  ],
  [
    'token exchange',
    () => grant({ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' }),
    /To call an API for a person, send its resource in the authorization request/,
    facts('received +grant_type=urn:ietf:params:oauth:grant-type:token-exchange', 'remedy .*To call an API'),
  ],
  [
    'a grant that is not registered',
    () => grant({ grant_type: 'client_credentials' }),
    /not registered for the grant client_credentials/,
    facts(
      'received +client_credentials',
      'remedy +Add the grant: tessera client update \\d+ --grant-type .*client_credentials',
    ),
  ],
  [
    'a device code at the v2 endpoint',
    async () =>
      post(
        '/api/v2/oauth/token',
        form({
          grant_type: DEVICE_GRANT,
          device_code: (await startedDevice()).device_code,
          client_id: device.clientId,
        }),
      ),
    /Device codes are exchanged at \/oidc\/token/,
    facts('remedy +Send the request to /oidc/token'),
  ],
  [
    'a device code that was cut off',
    async () => pollWith((await startedDevice()).device_code.slice(0, 12)),
    /was cut off or changed: a device code has 43 characters/,
    facts('received +a text that is no device code', 'remedy +Send the member device_code of the response whole'),
  ],
  [
    'an assertion for another audience, of nobody',
    () =>
      post(
        '/oidc/token',
        form({
          grant_type: 'x',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: [{ alg: 'ES256' }, { iss: '1', sub: '1', aud: 'https://other.example.com' }, 'x']
            .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
            .join('.'),
        }),
      ),
    /the assertion is for another audience\. Send http:\/\/localhost:\d+ as aud/,
    facts('reason +unknown client'),
  ],
  [
    'the word undefined as client_id, at the authorization endpoint',
    () => askRaw('client_id=undefined'),
    /client_id is the word undefined: the variable that should hold it has no value/,
    facts('remedy +Set that variable'),
  ],
  [
    'an empty client_id',
    () => askRaw('client_id='),
    /client_id is empty: the variable that should hold it has no value/,
    facts('remedy'),
  ],
  [
    'a redirect URI with a query that is not encoded',
    () =>
      askRaw(
        `client_id=${app.clientId}&redirect_uri=https://app.example.com/callback?tenant=1&mode=2&response_type=code`,
      ),
    /ends before its first &: the rest came as the parameter mode, because redirect_uri was not encoded\. Encode the whole redirect_uri/,
    facts('remedy +Encode the whole redirect_uri'),
  ],
  [
    'an unregistered redirect URI with a query, and another parameter elsewhere',
    () =>
      askRaw(
        `tenant=1&client_id=${app.clientId}&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback%3Fa%3D1&response_type=code&mode=2`,
      ),
    /^(?!.*ends before its first &)/s,
    facts('received +redirect_uri = https://app.example.com/callback\\?a=1', 'remedy'),
  ],
  [
    'a misspelt code_challenge',
    () => ask({ code_challange: CHALLENGE, code_challenge_method: 'S256' }),
    /code_challenge is missing, and code_challange was sent: rename the parameter code_challange to code_challenge/,
    facts('remedy +Rename the parameter code_challange'),
  ],
  [
    'a misspelt redirect_uri',
    () => askRaw(`client_id=${app.clientId}&redirekt_uri=https://app.example.com/callback`),
    /redirect_uri is missing, and redirekt_uri was sent/,
    facts('remedy +Rename the parameter redirekt_uri'),
  ],
  [
    'a misspelt grant_type',
    () => grant({ grant_tipe: 'authorization_code' }),
    /grant_type is missing, and grant_tipe was sent\. Rename/,
    facts('remedy +Rename the parameter grant_tipe'),
  ],
  [
    'a private scheme that no app can have',
    () => ask({ redirect_uri: 'myapp://callback' }, standard(spa)),
    /Send one that is registered\. This one cannot be registered, because it must use https.*com\.example\.myapp:/,
    facts('remedy +Send one that is registered'),
  ],
  [
    'returnTo at sign-out',
    () => leave({ client_id: app.clientId, returnTo: 'https://app.example.com/bye' }),
    /post_logout_redirect_uri is missing, and returnTo was sent\. .*Rename the parameter returnTo to post_logout_redirect_uri|post_logout_redirect_uri is missing, and returnTo was sent/,
    facts('remedy +Rename the parameter returnTo to post_logout_redirect_uri'),
  ],
  [
    'the access token as hint at sign-out',
    () => leave({ id_token_hint: oidcTokens.access_token, post_logout_redirect_uri: 'https://app.example.com/bye' }),
    /id_token_hint is an access token, so this service ignored it and post_logout_redirect_uri\. Send the id_token/,
    facts('remedy +Send the id_token of a token response as it came'),
  ],
  [
    'the admin API without v2',
    async () => told(await call(server, 'GET', '/api/admin/clients', { authorization: `Bearer ${ADMIN_KEY}` })),
    /Did you mean \/api\/v2\/admin\/clients\?/,
    facts('description +.*Did you mean /api/v2/admin/clients'),
  ],
  [
    'UserInfo at the path of another service',
    async () => told(await call(server, 'GET', '/userinfo', {})),
    /Did you mean \/api\/v2\/oauth\/userinfo or \/oidc\/userinfo\?/,
    facts('description'),
  ],
  [
    'an admin key without Bearer',
    async () => told(await call(server, 'GET', '/api/v2/admin/clients', { authorization: `tak_${'a'.repeat(43)}` })),
    /The word Bearer is missing before the admin key\. Add Bearer/,
    facts('received +The word Bearer is missing', 'remedy +Add Bearer'),
  ],
  [
    'an admin key that was revoked',
    async () => {
      const { body } = await admin(server, 'POST', '/admin-keys', { name: 'short', role: 'auditor' });
      await admin(server, 'DELETE', `/admin-keys/${body.id}`);
      return told(await call(server, 'GET', '/api/v2/admin/clients', { authorization: `Bearer ${body.adminKey}` }));
    },
    /it is unknown, was revoked or has ended/,
    facts('reason +revoked admin key', 'received +a key that was revoked'),
  ],
  [
    'a public app with client_credentials',
    async () =>
      told(await admin(server, 'POST', '/clients', { name: 'x', type: 'public', grantTypes: ['client_credentials'] })),
    /grantTypes must not hold client_credentials for a public client/,
    facts(
      'description grantTypes must not hold client_credentials',
      'remedy +Correct grantTypes: it must not hold client_credentials for a public client, which cannot prove who it is\\.',
    ),
  ],
  [
    'a registration without redirectUris',
    async () => told(await admin(server, 'POST', '/clients', { name: 'x' })),
    /redirectUris is missing/,
    facts('received +no redirectUris', 'remedy +Send redirectUris as well'),
  ],
  [
    'a form of another site',
    async () =>
      told(
        await call(
          server,
          'POST',
          '/login',
          { 'content-type': FORM_TYPE, origin: 'http://127.0.0.1:1', accept: 'application/json' },
          'identifier=a',
        ),
      ),
    /must be sent from/,
    facts('received +Origin: http://127\\.0\\.0\\.1:1', 'remedy'),
  ],
  // Before anything of the request is known.
  [
    'a percent sign without digits in a form',
    () => post('/oidc/token', 'grant_type=refresh_token&client_id=%zz'),
    /not valid form encoding at client_id: % must be followed by two hexadecimal digits\. Encode the values once/,
    facts('remedy +Encode the values once'),
  ],
  [
    'the name of the app as client_id, from a browser',
    () => post('/oidc/token', form({ client_id: 'my-spa' }), { origin: 'http://localhost:8080' }),
    /client_id is not an id of this service: they are numbers\. Send the clientId of the registration\./,
    facts('received +a client_id that is not an id', 'remedy +Send the clientId .*tessera client list'),
  ],
  [
    'the name of the app as client_id, with a secret',
    () => withSecret(app.clientSecret, { ...app, clientId: 'Example App' }),
    /client_id is not an id of this service: they are numbers/,
    facts('remedy +Send the clientId of the registration'),
  ],
  [
    'an app with a secret in a browser',
    () => post('/oidc/token', form({ client_id: app.clientId }), { origin: 'http://localhost:8080' }),
    /client_secret is missing\..* An app in a browser has no secret: use one of --type public/,
    facts('remedy .*--type public'),
  ],
  [
    'an id that no app has, in a browser',
    () => post('/oidc/token', form({ client_id: '1' }), { origin: 'http://localhost:8080' }),
    /client_secret is missing\..* An app in a browser has no secret: use one of --type public/,
    facts('received +client_id=1, which no app here has'),
  ],
  [
    'an assertion with the name of the app as iss and sub',
    () =>
      post(
        '/oidc/token',
        form({
          grant_type: 'client_credentials',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: [{ alg: 'ES256' }, { iss: 'my-app', sub: 'my-app' }, 'x']
            .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
            .join('.'),
        }),
      ),
    /iss and sub of client_assertion must be the client_id, which is a number here/,
    facts('received +an assertion whose iss and sub are no id', 'remedy +Sign both with the clientId'),
  ],
  [
    'an assertion as a grant',
    () => post('/oidc/token', form({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'x' })),
    /This grant is not offered\. To sign in an app by a key, send grant_type=client_credentials with client_assertion/,
    facts('received +grant_type=urn:ietf', 'remedy +This grant is not offered'),
  ],
  [
    'a part of a secret, of an app with a key',
    () => withSecret('tcs_short', keyed),
    /Copy it again\. An app that signs assertions \(private_key_jwt\) has none/,
    facts('expected +private_key_jwt.*: the app has no secret', 'remedy +Have the app use private_key_jwt'),
  ],
  [
    'client credentials for a scope of an API that is not allowed',
    () => grant({ grant_type: 'client_credentials', scope: 'notes.read' }, machine),
    /any of these scopes \(notes\.read\)/,
    facts(
      'received +scope="notes\\.read"',
      'remedy +Allow it: tessera client allow-scopes \\d+ --api \\d+ --scope notes\\.read',
    ),
  ],
  [
    'the resource of another client',
    async () => told(await admin(server, 'PATCH', `/clients/${plainApi.clientId}`, { resource: NOTES })),
    /resource is that of another client, \d+\. Send another one, or take it from that client first\./,
    facts('received +resource is that of another client', 'remedy +Send another one'),
  ],
  [
    'a secret for a public client',
    async () => told(await admin(server, 'POST', `/clients/${spa.clientId}/secrets`, {})),
    /It sends client_id alone, with PKCE\. For an app with a secret, register another with type confidential\./,
    facts('received +A public client has no secret', 'remedy +It sends client_id alone'),
  ],
  [
    'an access token that was edited',
    () => bearer(oidcTokens.access_token.replace(/[^.]{8}$/, 'AAAAAAAA')),
    /as it came\. Compare iss with this issuer, and get a new one\./,
    facts('received +no key verifies it', 'remedy .*get a new one'),
  ],
  [
    'prompt=none with a class that the user cannot reach',
    () => askSignedIn({ prompt: 'none', acr_values: 'https://refeds.org/profile/mfa', scope: 'openid' }),
    /the user has set up no factor.*on the Security page.*as an essential claim, without prompt=none/,
    facts('error +login_required', 'remedy +have them do it on the Security page'),
  ],
  [
    'an address that nothing has',
    () => post('/oidc/tokn', 'a=b'),
    /Every call is listed at \/api of this server\./,
    facts('remedy'),
  ],
];

test('a secret that is wrong again and again: the trace names the cause, the remedy and the limit', async () => {
  const limited = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: '2/m' });
  try {
    const client = await newClient(limited);
    const fields = { grant_type: 'authorization_code', code: 'x', client_id: client.clientId, client_secret: 'x' };
    const send = () => call(limited, 'POST', '/oidc/token', { 'content-type': FORM_TYPE }, form(fields));
    await send();
    await send();
    const { headers, status } = await send();
    assert.equal(status, 429);
    const { body } = await admin(limited, 'GET', `/traces/${headers.get('x-request-id')}`);
    assert.match(
      formatTrace(body),
      facts('received +failed client authentications', 'remedy +Correct the secret .*TESSERA_LIMIT_CLIENT_AUTH'),
    );
  } finally {
    await limited.close();
  }
});

test('scopes that an API does not declare: the trace does not keep the name of that API', async () => {
  const named = await newClient(server, { name: 'Ledger of Grace', resource: 'https://api.example.com/ledger' });
  const path = `/clients/${named.clientId}/allowed-clients/${app.clientId}`;
  const answer = await admin(server, 'PUT', path, { scopes: ['ledger.close'] });
  assert.match(answer.body.error_description, /that Ledger of Grace declares/);
  assert.doesNotMatch(await explained(told(answer)), /Ledger/);
});

test('no ID token without openid: the trace says so, and what to send', async () => {
  const code = await codeFor(server, standard(app), user, { scope: 'email profile' });
  const came = await redeem(server, standard(app), code, {});
  assert.match(
    await explained(told(came)),
    facts('without an ID token: openid was not requested', 'remedy .*openid in scope'),
  );
});

test('a person who declines: the trace says that nothing is wrong', async () => {
  const own = await newClient(server);
  const browser = await signedIn(server, await newUser(server));
  const page = await browser.get((await browser.get(authorizeUrl(standard(own)))).headers.get('location') ?? '');
  const fields = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const sent = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
  const { headers, text } = await browser.post('/consent', { ...sent, decision: 'deny' });
  assert.match(headers.get('location') ?? '', /access_denied/);
  assert.match(
    await explained({ headers, text }),
    facts('received +The person declined on the consent page', 'remedy +Nothing is wrong'),
  );
});

/** Requests that succeed: what of them is ignored, and what to do instead. */
const ignoredInPart: readonly (readonly [string, () => Promise<Told>, RegExp])[] = [
  [
    'a scope of an API that does not let the app request it',
    () => ask({ scope: 'openid notes.read' }),
    facts(
      'ignored +scope notes.read \\(of an API .*allow it: tessera client allow-scopes \\d+ --api \\d+ --scope notes.read',
    ),
  ],
  [
    'a scope that no API declares',
    () => ask({ scope: 'openid ledger.close' }),
    facts('ignored +scope ledger.close \\(unknown: no API declares it'),
  ],
  [
    'the secret in the authorization URL',
    () => ask({ client_secret: app.clientSecret }),
    facts('ignored +parameter client_secret \\(it belongs in the token request alone.*rotate'),
  ],
  [
    'a parameter in camel case',
    () => ask({ codeChallenge: CHALLENGE }),
    facts('ignored +parameter codeChallenge \\(did you mean code_challenge'),
  ],
  [
    'a class of authentication that is not offered',
    () => ask({ acr_values: 'mfa' }),
    facts(
      'ignored +parameter acr_values \\(none of its values is offered: those are [^ ]*:PasswordProtectedTransport,',
    ),
  ],
  ['a misspelled parameter', () => ask({ promt: 'login' }), facts('ignored +parameter promt \\(did you mean prompt')],
  [
    'a scope that is not registered',
    () => ask({ scope: 'openid phone' }, standard(narrow)),
    facts('ignored +scope phone \\(not registered for this app; add it: tessera client update \\d+ .*--scope phone'),
  ],
  [
    'claims outside of userinfo and id_token',
    () => ask({ claims: '{"email":null}' }),
    facts('ignored +member email of claims \\(put it into userinfo or id_token'),
  ],
  [
    'commas and spaces between scopes',
    () => ask({ scope: 'openid, email' }),
    facts('ignored +scope "openid," \\(separate the scopes by spaces, not by commas'),
  ],
  [
    'a scope that is encoded twice beside others',
    () => ask({ scope: 'openid email%20phone' }),
    facts('ignored +scope "email%20phone" \\(it was percent-encoded twice'),
  ],
  [
    'max_age in milliseconds',
    () => ask({ max_age: '3600000' }),
    facts('ignored +max_age=3600000 \\(in seconds that is 41 days.*: send 3600'),
  ],
  [
    'a claim that is not offered',
    () => ask({ claims: '{"userinfo":{"given_name":null,"emial":null}}' }),
    facts('ignored +claim given_name \\(not offered; name is\\), claim emial \\(not offered; email is'),
  ],
  [
    'a provider that is not offered',
    () => ask({ upstream: 'googel' }),
    facts('ignored +upstream googel \\(no other provider is offered: tessera upstream create'),
  ],
  [
    'a provider by the parameter of another service',
    () => ask({ connection: 'google-oauth2', kc_idp_hint: 'google' }),
    facts('ignored +parameter connection \\(send upstream.*kc_idp_hint \\(send upstream'),
  ],
  [
    'the sign-in page in a frame',
    () => ask({}, standard(app), { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' }),
    facts('ignored +the frame \\(.*use the top-level window or a popup'),
  ],
  [
    'offline_access without the grant refresh_token',
    () => ask({ scope: 'openid offline_access' }, standard(codeOnly)),
    facts('ignored +scope offline_access .*update \\d+ --grant-type authorization_code --grant-type refresh_token'),
  ],
  [
    'offline_access without the grant refresh_token on a device',
    () => post('/oidc/device_authorization', form({ client_id: device.clientId, scope: 'openid offline_access' })),
    facts('ignored +scope offline_access .*--grant-type refresh_token'),
  ],
  [
    'a language that the pages do not have',
    () => ask({ ui_locales: 'tr' }),
    facts('ignored +parameter ui_locales \\(the pages are in English only'),
  ],
  [
    'DPoP at the token endpoint',
    () =>
      post('/oidc/token', form({ grant_type: 'client_credentials' }), {
        ...basic(machine.clientId, machine.clientSecret),
        dpop: 'x',
      }),
    facts('ignored +header DPoP, which is not supported: the token is a Bearer token'),
  ],
  [
    'a software statement at the registration endpoint',
    () => registerApp({ software_statement: 'a.b.c', logo_uri: 'https://app.example.com/logo.png' }),
    facts(
      'ignored +parameter logo_uri \\(an operator.*parameter software_statement \\(not supported: send its members',
    ),
  ],
  [
    'the audience of a token for the app itself',
    () => grant({ grant_type: 'client_credentials', audience: NOTES }, machine),
    facts('issued to the app itself', 'ignored +parameter audience \\(send resource'),
  ],
];

test('an ID token at the revocation endpoint: nothing is revoked, and the trace says so', async () => {
  const came = await grantless('/oidc/revoke', { token: tokens.id_token ?? '' });
  assert.equal(came.text, '{}');
  assert.match(
    await explained(came),
    facts('received +an ID token', 'remedy +It .*an ID token.*Send the refresh_token'),
  );
});

for (const [name, make, explanation] of ignoredInPart) {
  test(`${name}: the trace says what was ignored`, async () =>
    assert.match(await explained(await make()), explanation));
}

for (const [name, make, answer, explanation] of mistakes) {
  test(name, async () => {
    const came = await make();
    assert.match(came.text, answer);
    const explanationText = await explained(came);
    assert.match(explanationText, explanation);
    assert.doesNotMatch(explanationText, /\[masked\]/);
  });
}

test('there are eighty mistakes at least', () => assert.ok(mistakes.length >= 80, String(mistakes.length)));

test('tokens that ended: expired, revoked, of a suspended account', async () => {
  const person = await newUser(server);
  const own = await tokensFor(server, standard(app), person, { scope: 'openid' });
  await admin(server, 'PUT', `/users/${person.id}/suspension`, {});
  const suspended = await bearer(own.access_token);
  assert.equal(suspended.text, 'Account is suspended');
  assert.match(await explained(suspended), facts('remedy .*tessera user reinstate'));
  assert.match(await explained(await introspect(own.access_token, app)), facts('reason +suspended'));
  await admin(server, 'DELETE', `/users/${person.id}/suspension`);
  const again = await tokensFor(server, standard(app), person, { scope: 'openid' });
  await admin(server, 'DELETE', `/users/${person.id}/connections/${app.clientId}`);
  const revoked = await bearer(again.access_token);
  assert.equal(revoked.text, 'Access revoked by user');
  assert.match(await explained(revoked), facts('remedy +Delete the tokens'));
  const late = await tokensFor(server, standard(app), person, { scope: 'openid' });
  server.advance(1_800_000);
  const expired = await bearer(late.access_token);
  assert.match(expired.text, /expired at .*Get a new one with the refresh token/);
  assert.match(await explained(expired), facts('remedy .*Get a new one'));
  assert.match(await explained(await introspect(late.access_token, app)), facts('received +expired'));
});

test('a request that is ignored in part, and is traced as it was sent', async () => {
  const came = await ask({ scope: 'openid emial', audience: 'https://api.example.com', utm_source: 'mail' });
  assert.equal(came.headers.get('location')?.includes('error'), false);
  assert.match(
    await explained(came),
    facts(
      'sent +.*scope="openid emial".*audience=https://api.example.com',
      'ignored +scope emial \\(did you mean email\\?\\), parameter audience \\(send resource',
    ),
  );
});

const settings: readonly (readonly [name: string, variables: Readonly<Record<string, string>>, words: RegExp])[] = [
  ['a port that is no number', { TESSERA_PORT: 'eighty' }, /TESSERA_PORT must be/],
  ['a base URL without a scheme', { TESSERA_BASE_URL: 'id.example.com' }, /TESSERA_BASE_URL must be/],
  ['another database', { TESSERA_DATABASE_URL: 'mysql://localhost/x' }, /TESSERA_DATABASE_URL must be/],
  ['a short secret', { TESSERA_SECRET: 'short' }, /TESSERA_SECRET/],
  ['a limit in words', { TESSERA_LIMIT_TOKEN: 'many' }, /TESSERA_LIMIT_TOKEN must be/],
];
for (const [name, variables, words] of settings) {
  test(`settings: ${name}`, () => {
    assert.throws(
      () => readConfig(variables),
      (error) => error instanceof ConfigError && words.test(error.problems.join('\n')),
    );
  });
}

test('discovery at another name of this machine: the trace names the issuer', async () => {
  const { port } = new URL(server.baseUrl);
  const { headers } = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`);
  assert.match(
    await explained({ headers, text: '' }),
    facts(`received +http://127\\.0\\.0\\.1:${port}`, `remedy +Use ${server.baseUrl} as the issuer.*TESSERA_BASE_URL`),
  );
});

test('an ID token of the v2 endpoints for a library: the trace names the algorithm, and how to get another', async () => {
  const code = await codeFor(server, app, user);
  const came = await post(
    '/api/v2/oauth/token',
    form({ grant_type: 'authorization_code', code, redirect_uri: app.redirectUri }),
    basic(app.clientId, app.clientSecret),
  );
  assert.match(
    await explained(came),
    facts(
      'reason +The ID token is signed with HS256',
      'remedy +If the library expects RS256, .*/oidc/token.*-alg RS256',
    ),
  );
});

test('a refresh at the v2 endpoints for a library: the trace names the algorithm as well', async () => {
  const { refresh_token } = await tokensFor(server, app, user);
  const { headers } = await refresh(server, app, refresh_token);
  assert.match(
    await explained({ headers, text: '' }),
    facts('reason +The ID token is signed with HS256', 'remedy +If the library expects RS256, .*-alg RS256'),
  );
});

test('a device code that expired: the trace says when it does, and leads back to the request of the device', async () => {
  const { device_code } = await startedDevice();
  server.advance(601_000);
  const came = await pollWith(device_code);
  assert.match(came.text, /has expired: the user has ten minutes/);
  assert.match(await explained(came), facts('received +a device code that is more than ten minutes old', 'remedy'));
  const { body } = await admin(server, 'GET', `/traces/${came.headers.get('x-request-id')}`);
  assert.match(JSON.stringify(body.steps[0]), /A device asked for access/);
});
