// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { ENDPOINT_RULES, ENDPOINT_SETS } from '../../src/claims/endpoint-set.ts';
import type { Agent } from '../support/agent.ts';
import { basic, call, codeBody, FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh as refreshed,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

// The mistakes that developers of apps make, and the words that they need: what is wrong, and what to do.

/** A mistake, and what the description of the answer must say: the cause first, then the remedy. */
type Mistake = readonly [name: string, make: () => Promise<string>, cause: RegExp, remedy: RegExp];

/** RFC 6749 §5.2 and RFC 6750 §3: the characters of a description. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

function described({ body }: JsonAnswer): string {
  const description = String(body?.error_description);
  assert.match(description, DESCRIPTION);
  return description;
}

function explained(mistakes: readonly Mistake[]): void {
  for (const [name, make, cause, remedy] of mistakes) {
    test(name, async () => {
      const description = await make();
      assert.match(description, cause);
      assert.match(description, remedy);
    });
  }
}

for (const endpointSet of ENDPOINT_SETS) {
  describe(`the ${endpointSet} endpointSet`, () => {
    const rules = ENDPOINT_RULES[endpointSet];
    const { tokenPath: TOKEN, userinfoPath: USERINFO } = rules;
    let server: TestServer;
    let client: TestClient;
    /** With ID tokens under RS256. */
    let other: TestClient;
    let spa: TestClient;
    let posting: TestClient;
    let narrow: TestClient;
    let user: TestUser;
    let browser: Agent;
    let tokens: Tokens;
    let signed: Tokens;
    before(async () => {
      server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
      client = await register({ idTokenSignedResponseAlg: 'HS256' });
      other = await register({ idTokenSignedResponseAlg: 'RS256' });
      spa = await register({ type: 'public' });
      posting = await register({ tokenEndpointAuthMethod: 'client_secret_post' });
      narrow = await register({ scopes: ['email'] });
      user = await newUser(server);
      await renew();
    });

    const register = async (fields: Readonly<Record<string, unknown>>): Promise<TestClient> => ({
      ...(await newClient(server, fields)),
      endpointSet,
    });

    /** A new session and new tokens, after a test moved the clock. */
    async function renew(): Promise<void> {
      browser = await signedIn(server, user);
      tokens = await tokensFor(server, client, user, {}, { browser });
      signed = await tokensFor(server, other, user, {}, { browser });
    }

    after(() => server.close());

    describe('bodies', () => {
      const post = async (body: string, type = JSON_TYPE): Promise<string> =>
        described(await call(server, 'POST', TOKEN, { ...(type !== '' && { 'content-type': type }) }, body));
      const json = () => JSON.stringify(codeBody(client, 'x'));
      const form = () => new URLSearchParams(codeBody(client, 'x')).toString();

      explained([
        [
          'a form as JSON',
          () => post(form()),
          /looks like a form/,
          /set Content-Type: application\/x-www-form-urlencoded/,
        ],
        ['JSON as a form', () => post(json(), FORM_TYPE), /is JSON/, /set Content-Type: application\/json/],
        ['JSON as text/plain', () => post(json(), 'text/plain'), /not accept text\/plain/, /Send application\/json or/],
        [
          'multipart',
          () => post('x', 'multipart/form-data; boundary=x'),
          /not accept multipart/,
          /send URLSearchParams/,
        ],
        ['no body', () => post(''), /body is empty/, /Send the parameters/],
        ['a byte order mark', () => post(`\ufeff${json()}`), /line 1, column 1.*byte order mark/, /without a byte/],
        ['a trailing comma', () => post(`${json().slice(0, -1)},}`), /\} after a comma/, /Remove the comma/],
        ['single quotes', () => post(json().replaceAll('"', "'")), /column 2: .*single quote/, /double quotes/],
        ['cut off JSON', () => post(json().slice(0, -4)), /the end of the body/, /cut off/],
        ['an object as text', () => post('[object Object]'), /object Object/, /JSON\.stringify/],
        ['JSON encoded twice', () => post(JSON.stringify(json())), /is a string/, /encoded as JSON twice/],
        ['a number', () => post('{"grant_type":1}'), /grant_type must be a text.*is a number/, /double quotes/],
        ['an undefined', () => post('{"code": undefined}'), /the word undefined/, /true, false and null/],
      ]);

      test('no answer repeats a part of a body that could not be read', async () => {
        for (const body of [
          "{'client_secret':'tcs_hidden'}",
          '{"client_secret":tcs_hidden}',
          'client_secret=tcs_hidden',
        ]) {
          assert.doesNotMatch(await post(body), /tcs_|hidden/);
        }
      });
    });

    describe('client authentication', () => {
      const exchange = async (change: object, headers = {}): Promise<string> => {
        const body = JSON.stringify({ ...codeBody(client, 'x'), ...change });
        return described(await call(server, 'POST', TOKEN, { 'content-type': JSON_TYPE, ...headers }, body));
      };
      const none = { client_id: undefined, client_secret: undefined };
      const basicOnly = (id: string, secret: string) => exchange(none, basic(id, secret));

      explained([
        ['a wrong secret', () => exchange({ client_secret: 'tcs_x' }), /is not whole/, /Copy it again/],
        [
          'the id of another server',
          () => exchange({ client_id: '1' }),
          /no active app here has this client_id/,
          /Compare client_id and client_secret/,
        ],
        [
          'the secret of another app',
          () => basicOnly(client.clientId, other.clientSecret),
          /belong to another app/,
          /Compare client_id and client_secret/,
        ],
        [
          'no secret',
          () => exchange({ client_secret: undefined }),
          /client_secret is missing\. Only a public app has none, .* Send client_secret/,
          /client_secret is missing/,
        ],
        ['no client_id', () => exchange(none), /client_id is missing\. /, /A public app sends client_id alone/],
        [
          'camelCase',
          () => exchange({ ...none, clientId: client.clientId }),
          /client_id is missing, and clientId was sent\. Rename the parameter clientId to client_id/,
          /Rename the parameter clientId to client_id/,
        ],
        [
          'a secret in camelCase',
          () => exchange({ client_secret: undefined, clientSecret: client.clientSecret }),
          /client_secret is missing, and clientSecret was sent/,
          /client_secret is missing/,
        ],
        [
          'both ways at once',
          () => exchange({}, basic(client.clientId, client.clientSecret)),
          /credentials once/,
          /not in both/,
        ],
        [
          'another client_id in the body',
          () => exchange({ client_id: '1', client_secret: undefined }, basic(client.clientId, client.clientSecret)),
          /differs from the one in the Authorization header/,
          /Send it once/,
        ],
        ['Bearer for Basic', () => exchange(none, { authorization: 'Bearer x' }), /must be Basic/, /in base64/],
        [
          'a secret of a public client',
          () => exchange({ client_id: spa.clientId }),
          /public and has no secret/,
          /no client_secret/,
        ],
        [
          'Basic, where client_secret_post is registered',
          () => basicOnly(posting.clientId, posting.clientSecret),
          /registered for client_secret_post/,
          /Authenticate in that way/,
        ],
      ]);

      test('a disabled app, after the right secret alone', async () => {
        const app = await register({});
        await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' });
        const right = await basicOnly(app.clientId, app.clientSecret);
        const wrong = await basicOnly(app.clientId, `tcs_${'w'.repeat(43)}`);
        assert.match(wrong, /no active app here has this client_id and this client_secret/);
        // Decisions §4: the contract's answer is the same for both.
        if (rules.reportsDisabledClient)
          assert.match(right, /is disabled.*PATCH \/api\/v2\/admin\/clients.*tessera client enable/);
        else assert.equal(right, wrong);
      });

      test('the registered method is told only to a caller with the secret', async () => {
        assert.doesNotMatch(await basicOnly(posting.clientId, 'tcs_wrong'), /client_secret_post/);
      });
    });

    describe('the exchange of a code', () => {
      const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
      const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
      const withPkce = { code_challenge: challenge, code_challenge_method: 'S256' };
      const exchange = async (
        change: Readonly<Record<string, unknown>>,
        parameters = {},
        by = client,
      ): Promise<string> => {
        const code = await codeFor(server, client, user, parameters, { browser });
        return described(await redeem(server, by, code, change));
      };

      explained([
        [
          'another path',
          () => exchange({ redirect_uri: `${client.redirectUri}2` }),
          /differ in: path/,
          /same one in both/,
        ],
        [
          'a slash',
          () => exchange({ redirect_uri: `${client.redirectUri}/` }),
          /differ in: slash at the end/,
          /same one/,
        ],
        [
          'another port',
          () => exchange({ redirect_uri: 'https://app.example.com:8443/callback' }),
          /in: port/,
          /same one/,
        ],
        [
          'no verifier',
          () => exchange({}, withPkce),
          /code_verifier is missing/,
          /the verifier that you used to create code_challenge/,
        ],
        ['no challenge', () => exchange({ code_verifier: verifier }), /no code_challenge/, /S256 in the authorization/],
        [
          'the challenge as verifier',
          () => exchange({ code_verifier: challenge }, withPkce),
          /code_challenge and code_verifier are equal/,
          /BASE64URL/,
        ],
        [
          'the verifier of another request',
          () => exchange({ code_verifier: 'x'.repeat(43) }, withPkce),
          /does not match code_challenge/,
          /second tab/,
        ],
        [
          'a short verifier',
          () => exchange({ code_verifier: 'x' }, withPkce),
          /43 to 128/,
          /the verifier that you used/,
        ],
        [
          'a challenge of decoded bytes',
          () => {
            const code_challenge = hash('sha256', Buffer.from(verifier, 'base64url'), 'base64url');
            return exchange({ code_verifier: verifier }, { ...withPkce, code_challenge });
          },
          /decoded bytes/,
          /hash its characters/,
        ],
        [
          'the code of another client',
          () => exchange({}, {}, { ...other, redirectUri: client.redirectUri }),
          /is unknown/,
          /another client_id/,
        ],
        ['undefined', () => exchange({ code: 'undefined' }), /the word undefined/, /has no value/],
        [
          'a whole query',
          () => exchange({ code: 'code=x&state=y' }),
          /more of the address/,
          /code of the redirect alone/,
        ],
        ['a code with spaces', () => exchange({ code: ' x ' }), /white space/, /decoded once/],
        ['half a code', () => exchange({ code: 'x'.repeat(20) }), /43 characters/, /whole/],
        ['a token as code', () => exchange({ code: tokens.refresh_token }), /is a JWT/, /grant_type=refresh_token/],
      ]);

      test('a code exchanged twice', async () => {
        const code = await codeFor(server, client, user, {}, { browser });
        assert.equal((await redeem(server, client, code)).status, 200);
        const description = String((await redeem(server, client, code)).body.error_description);
        assert.match(description, /was exchanged before, and the tokens from it are revoked/);
        assert.match(description, /double callback.*React StrictMode/);
        const foreign = String(
          (await redeem(server, { ...other, redirectUri: client.redirectUri }, code)).body.error_description,
        );
        assert.doesNotMatch(foreign, /exchanged before/, 'another client learns nothing of it');
      });

      test('the operator sees in the trace what was expected and what came', async () => {
        const facts = async ({ headers }: JsonAnswer) => {
          const { body } = await admin(server, 'GET', `/traces/${headers.get('x-request-id')}`);
          return JSON.stringify(body);
        };
        const code = await codeFor(server, client, user, {}, { browser });
        const wrong = await facts(await redeem(server, client, code, { redirect_uri: `${client.redirectUri}/` }));
        assert.match(wrong, /RFC 6749 §4\.1\.3/);
        assert.ok(wrong.includes(`"${client.redirectUri}"`) && wrong.includes(`"${client.redirectUri}/"`), wrong);
        assert.match(await facts(await refreshed(server, client, tokens.access_token)), /"received":"an access token"/);
        assert.match(
          await facts(await userinfo(server, tokens.refresh_token, USERINFO)),
          /"received":"a refresh token"/,
        );
      });

      test('an expired code', async () => {
        const code = await codeFor(server, client, user, {}, { browser });
        server.advance(61_000);
        assert.match(String((await redeem(server, client, code)).body.error_description), /has expired.*60 seconds/);
      });
    });

    describe('the endpoints of the other endpoints', () => {
      const elsewhere = ENDPOINT_RULES[endpointSet === 'v2' ? 'oidc' : 'v2'];

      test('a code and a refresh token', async () => {
        const code = await codeFor(server, client, user, {}, { browser });
        const crossed = { ...client, endpointSet: elsewhere.endpointSet };
        const description = described(await redeem(server, crossed, code));
        assert.ok(
          description.includes(`it was issued at ${rules.authorizationPath}. Exchange it at ${TOKEN}.`),
          description,
        );
        assert.ok(described(await refreshed(server, crossed, tokens.refresh_token)).includes(TOKEN));
      });

      test('an access token of the OIDC endpoints', async () => {
        const answer = await call(server, 'GET', elsewhere.userinfoPath, {
          authorization: `Bearer ${tokens.access_token}`,
        });
        if (endpointSet === 'v2') assert.equal(answer.status, 200);
        else
          assert.match(
            described(answer),
            /This access token was issued at \/oidc\/token\. Send it to \/oidc\/userinfo\./,
          );
      });
    });

    describe('grants', () => {
      const send = async (body: object, by = client): Promise<string> =>
        described(await tokenCall(server, { client_id: by.clientId, client_secret: by.clientSecret, ...body }, by));

      explained([
        ['no grant_type', () => send({}), /grant_type is missing/, /send one of authorization_code/],
        ['camelCase', () => send({ grantType: 'x' }), /grant_type is missing, and grantType was sent/, /Rename/],
        ['a password', () => send({ grant_type: 'password' }), /password is not/, /one of authorization_code/],
        [
          'response_type as grant',
          () => send({ grant_type: 'code' }),
          /code is a response_type/,
          /one of authorization/,
        ],
        [
          'an unregistered grant',
          () => send({ grant_type: 'client_credentials' }),
          /not registered for/,
          /Add it to grantTypes/,
        ],
        ['no code', () => send({ grant_type: 'authorization_code' }), /code is missing/, /code from the redirect/],
        [
          'no redirect_uri',
          () => send({ grant_type: 'authorization_code', code: 'x' }),
          /redirect_uri is missing/,
          /repeat/,
        ],
        [
          'camelCase',
          () => send({ grant_type: 'refresh_token', refreshToken: 'x' }),
          /refreshToken was sent/,
          /Rename/,
        ],
        [
          'a wider scope',
          () => send({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, scope: 'openid email phone' }),
          /beyond what was granted/,
          /ask for less.*authorization/,
        ],
      ]);

      test('parameters in the address', async () => {
        const answer = await call(server, 'POST', `${TOKEN}?grant_type=authorization_code`);
        assert.match(described(answer), /body is empty.*not in the address/);
      });
    });

    describe('signing out', () => {
      const leave = async (fields: Readonly<Record<string, string>>): Promise<string> =>
        (await browser.get(`/oidc/logout?${new URLSearchParams(fields)}`)).text.replaceAll(/<[^>]*>/g, ' ');
      const back = 'https://app.example.com/bye';

      explained([
        [
          'an unregistered address',
          () => leave({ client_id: client.clientId, post_logout_redirect_uri: back }),
          /is not one of those that are registered/,
          /postLogoutRedirectUris/,
        ],
        [
          'no client',
          () => leave({ post_logout_redirect_uri: back }),
          /was ignored/,
          /Send id_token_hint or client_id/,
        ],
        [
          'an unknown client',
          () => leave({ client_id: '1', post_logout_redirect_uri: back }),
          /No active client/,
          /Send the clientId/,
        ],
        [
          'an access token as hint',
          () => leave({ id_token_hint: tokens.access_token }),
          /is an access token/,
          /Send the id_token/,
        ],
      ]);
    });

    describe('refreshing', () => {
      const send = async (token: string, by = client): Promise<string> => described(await refreshed(server, by, token));

      explained([
        ['an access token', () => send(tokens.access_token), /is an access token/, /Send the refresh_token/],
        ['an ID token under RS256', () => send(signed.id_token, other), /is an ID token/, /Send the refresh_token/],
        ['an ID token under HS256', () => send(tokens.id_token), /looks like an ID token/, /Send the refresh_token/],
        ['a code', () => send('x'.repeat(43)), /looks like an authorization code/, /grant_type=authorization_code/],
        ['undefined', () => send('undefined'), /the word undefined/, /has no value/],
        ['a part of a token', () => send(tokens.refresh_token.slice(0, -5)), /cut off/, /whole/],
        [
          'the token of another client',
          () => send(tokens.refresh_token, other),
          /another client/,
          /Send the client_id that it was issued to/,
        ],
      ]);

      test('a refresh token that was used before, and one after a revocation', async () => {
        const { refresh_token: first } = await tokensFor(server, client, user, {}, { browser });
        const { refresh_token: second } = (await refreshed(server, client, first)).body;
        await refreshed(server, client, second);
        assert.match(await send(first), /used before.*all tokens of its sign-in are revoked.*Store each new/);
        assert.match(
          await send(second),
          /has ended\. The person signed out, for example, or the app revoked .*\. Send the user through authorization again/,
        );
      });

      test('an expired refresh token says when it expired', async () => {
        const { refresh_token } = await tokensFor(server, client, user, {}, { browser: await signedIn(server, user) });
        server.advance(8 * 24 * 3_600_000);
        assert.match(await send(refresh_token), /expired at \d{4}-\d\d-\d\dT[\d:]+Z\. Send the user/);
        await renew();
      });
    });

    describe('the authorization request', () => {
      const ask = async (parameters: Readonly<Record<string, string>>, by = client): Promise<string> => {
        const { location } = await browser.get(authorizeUrl(by, parameters));
        const description = location?.searchParams.get('error_description') ?? '';
        assert.match(description, DESCRIPTION);
        return description;
      };

      explained([
        [
          'a scope in part',
          () => ask({ scope: 'organization' }),
          /unknown scope organization/,
          /mean organization\.read/,
        ],
        ['commas', () => ask({ scope: 'openid,email' }), /unknown scope openid,email/, /by spaces, not by commas/],
        ['a plus sign encoded twice', () => ask({ scope: 'openid+email' }), /encoded twice/, /encode it once/],
        ['a space encoded twice', () => ask({ scope: 'openid%20email' }), /encoded twice/, /encode it once/],
        ['a scope of others', () => ask({ scope: 'calendar' }), /unknown scope calendar/, /Available scopes: openid/],
        ['JSON', () => ask({ scope: '["openid"]' }), /quotes or brackets/, /single spaces/],
        ['two spaces', () => ask({ scope: 'openid  email' }), /a space too many/, /single spaces/],
        [
          'an unregistered scope',
          () => ask({ scope: 'phone' }, narrow),
          /not registered for the scope phone/,
          /scopes of the reg/,
        ],
        ['implicit flow', () => ask({ response_type: 'token' }), /response_type must be code/, /exchange a code/],
        ['hybrid flow', () => ask({ response_type: 'code id_token' }), /response_type must be code/, /exchange a code/],
        ['no response_type', () => ask({ response_type: '' }), /response_type is missing/, /send response_type=code/],
        ['a fragment', () => ask({ response_mode: 'fragment' }), /response_mode must be/, /query or form_post/],
        ['no PKCE', () => ask({}, spa), /code_challenge is missing/, /must use PKCE/],
        ['plain', () => pkce('x'.repeat(43), 'plain'), /plain is not supported/, /with S256/],
        ['a method in lower case', () => pkce('x'.repeat(43), 's256'), /it is spelled differently/, /must be S256/],
        ['another method', () => pkce('x'.repeat(43), 'S512'), /another value was sent/, /with S256/],
        ['no method', () => pkce('x'.repeat(43), ''), /missing, which means plain/, /with S256/],
        ['a hexadecimal challenge', () => pkce('ab'.repeat(32)), /hexadecimal/, /as base64url/],
        ['a base64 challenge', () => pkce(`${'x'.repeat(42)}+=`), /it is base64/, /use - for \+/],
        ['max_age in words', () => ask({ max_age: '1h' }), /max_age must be a whole number/, /digits only/],
        ['claims in single quotes', () => ask({ claims: "{'userinfo':{}}" }), /single quote/, /double quotes/],
        ['no page', () => ask({ prompt: 'none', max_age: '0' }), /the user must sign in again/, /remove prompt=none/],
        ['none with another prompt', () => ask({ prompt: 'none login' }), /goes with no other/, /send none alone/],
        [
          'an unknown resource',
          () => ask({ resource: 'https://api.example/x' }),
          /unknown resource https:\/\/api\.example\/x/,
          /match the registered one exactly/,
        ],
        ['a prompt of others', () => ask({ prompt: 'signup' }), /prompt must be/, /made of none, login/],
      ]);
      const pkce = (code_challenge: string, code_challenge_method = 'S256') =>
        ask({ code_challenge, code_challenge_method });

      test('a misspelled redirect_uri, and a secret that is never shown', async () => {
        const send = async (query: string) =>
          described(await call(server, 'GET', `${rules.authorizationPath}?${query}`, { accept: 'application/json' }));
        for (const name of ['redirect_url', 'redirectUri', 'callback']) {
          const description = await send(`client_id=${client.clientId}&${name}=x`);
          assert.match(description, new RegExp(`redirect_uri is missing, and ${name} was sent.*Rename`));
        }
        assert.match(await send('clientId=1'), /client_id is missing, and clientId was sent/);
        assert.doesNotMatch(await send('client_secret=tcs_hidden'), /hidden/);
      });

      test('prompt=none in a frame: the person seems signed out, because no cookie comes', async () => {
        const frame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' };
        const silent = authorizeUrl(client, { prompt: 'none' });
        const { headers } = await call(server, 'GET', silent, frame);
        const framed = new URL(headers.get('location') ?? '').searchParams;
        assert.equal(framed.get('error'), 'login_required');
        assert.match(
          framed.get('error_description') ?? '',
          /in a frame.*no cookies.*top-level window or a popup.*refresh token/,
        );
        const top = new URL((await call(server, 'GET', silent)).headers.get('location') ?? '').searchParams;
        assert.doesNotMatch(top.get('error_description') ?? '', /frame/);
        const page = await call(server, 'GET', '/login?request=x', { ...frame, accept: 'application/json' });
        assert.match(described(page), /sent no cookie.*in a frame.*popup/);
      });
    });

    describe('UserInfo', () => {
      const read = async (headers: Readonly<Record<string, string>>, path = USERINFO): Promise<string> => {
        const answer = await call(server, 'GET', path, headers);
        const description = described(answer);
        const told = /error_description="([^"]*)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
        assert.ok(told === undefined || told === description, 'the challenge says the same');
        return description;
      };
      const bearer = (token: string) => read({ authorization: `Bearer ${token}` });

      explained([
        ['no header', () => read({}), /no Authorization header/, /Send Authorization: Bearer/],
        ['undefined', () => bearer('undefined'), /the word undefined/, /has no value/],
        ['null', () => bearer('null'), /the word null/, /has no value/],
        ['an object', () => bearer('[object Object]'), /object Object/, /its member access_token/],
        ['quotes', () => bearer('"x"'), /in quotes/, /without quotes/],
        ['Bearer twice', () => bearer('Bearer x'), /Bearer twice/, /Send Authorization: Bearer/],
        ['Basic', () => read(basic(client.clientId, client.clientSecret)), /Basic/, /Bearer ACCESS/],
        [
          'no scheme',
          () => read({ authorization: tokens.access_token }),
          /Bearer is missing/,
          /Add Bearer and a space/,
        ],
        [
          `in the address`,
          () => read({}, `${USERINFO}?access_token=x`),
          /in the address/,
          /in the Authorization header/,
        ],
        ['a part of a token', () => bearer(tokens.access_token.slice(0, -5)), /cut off/, /whole/],
        ['an opaque text', () => bearer('opaque'), /JWTs: three parts/, /Send the access_token/],
        [`a refresh token`, () => bearer(tokens.refresh_token), /is a refresh token/, /Send the access_token/],
        [`an ID token (HS256)`, () => bearer(tokens.id_token), /looks like an ID token/, /Send the access_/],
        [`an ID token (RS256)`, () => bearer(signed.id_token), /is an ID token/, /Send the access_token/],
        ['a code', () => bearer('x'.repeat(43)), /authorization code/, /token endpoint/],
        ['the secret', () => bearer(client.clientSecret), /client secret/, /Send the access_token/],
      ]);

      test('the token of a client itself', async () => {
        const app = await register({ grantTypes: ['client_credentials'] });
        const proof = { client_id: app.clientId, client_secret: app.clientSecret };
        const { body } = await tokenCall(server, { grant_type: 'client_credentials', ...proof }, app);
        assert.match(
          await bearer(body.access_token),
          /issued to the app itself.*Use one from the authorization code flow/,
        );
      });

      test('an expired access token says when it expired; a forged one does not', async () => {
        const { access_token } = await tokensFor(server, client, user, {}, { browser });
        server.advance(1_800_000);
        assert.match(
          await bearer(access_token),
          /expired at \d{4}-\d\d-\d\dT[\d:]+Z\. Get a new one with the refresh token/,
        );
        const [header, payload, signature = ''] = access_token.split('.');
        const forged = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
        assert.doesNotMatch(await bearer(forged), /expired/);
        await renew();
      });
    });

    describe('addresses', () => {
      const send = async (method: string, path: string, headers = {}): Promise<string> =>
        described(await call(server, method, path, headers));

      explained([
        ['GET at the token endpoint', () => send('GET', TOKEN), /the method was GET/, /answers POST/],
        ['PUT at UserInfo', () => send('PUT', USERINFO), /the method was PUT/, /answers GET/],
        [
          'a slash at the end',
          () => send('POST', `${TOKEN}/`),
          /nothing at this address/,
          new RegExp(`mean ${TOKEN}.?$`),
        ],
        [
          'two slashes',
          () => send('GET', '//.well-known/openid-configuration'),
          /nothing at/,
          /mean \/\.well-known\/openid/,
        ],
        ['capital letters', () => send('GET', '/OIDC/UserInfo'), /nothing at this address/, /mean \/oidc\/userinfo\?/],
        ['another folder', () => send('POST', '/oauth2/token'), /nothing at this address/, /\/api\/v2\/oauth\/token/],
        [
          'discovery below an endpoint',
          () => send('GET', '/oidc/.well-known/openid-configuration'),
          /nothing/,
          /mean \/\.well-/,
        ],
        ['registration', () => send('POST', '/oidc/register'), /cannot register themselves/, /register the app/],
        [
          'a device',
          () => send('POST', '/oidc/device/code'),
          /begins at \/oidc\/device_authorization/,
          /the code at \/device/,
        ],
        ['PAR', () => send('POST', '/oidc/par/'), /no pushed authorization requests/, /to the authorization endpoint/],
        ['the key set', () => send('GET', '/oidc/jwks'), /nothing at this address/, /mean \/\.well-known\/jwks\.json/],
      ]);

      test('a path that is like no other is not guessed, and nothing of it is repeated', async () => {
        for (const path of [
          '/nothing',
          '/api/v2/admin/nothing',
          `/${'x'.repeat(300)}/token`,
          '/api/v2/admin/users/%22x/token%22',
        ]) {
          assert.doesNotMatch(await send('GET', path), /mean|x/);
        }
      });
    });

    describe('pages of other origins', () => {
      const origin = 'http://localhost:4321';
      const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
      const send = async (method: string, path: string, headers = {}): Promise<string> =>
        described(await call(server, method, path, { origin, ...headers }));

      explained([
        [
          'a preflight',
          () => send('OPTIONS', TOKEN, asking),
          /not granted.*CORS blocked: no active public app has a redirect URI at http:\/\/localhost:4321/,
          /redirectUris/,
        ],
        [
          'a preflight of a closed endpoint',
          () => send('OPTIONS', '/oidc/introspect', asking),
          /not granted/,
          /pages of other origins/,
        ],
        [
          'a request',
          () => send('GET', USERINFO),
          /CORS blocked: no active public app has a redirect URI at/,
          /make this call from your server/,
        ],
        [
          'no origin',
          () => send('GET', USERINFO, { origin: 'null' }),
          /CORS blocked: the page has no origin \(Origin: null\)/,
          /Serve the page over http or https: it is a file, a data: URL, or in a sandboxed frame/,
        ],
      ]);

      test('the contract’s messages stay to the letter', async () => {
        const person = await newUser(server);
        const { access_token } = await tokensFor(server, client, person);
        await admin(server, 'PUT', `/users/${person.id}/ban`, {});
        assert.equal(await send('GET', USERINFO, { authorization: `Bearer ${access_token}` }), 'Account banned');
      });
    });
  });
}

test('outside a clone npx would fetch a stranger’s package: only the command line itself may suggest it', async () => {
  const sources = await readdir(new URL('../../src/', import.meta.url), { recursive: true });
  for (const file of sources.filter((name) => /\.(ts|js)$/.test(name) && !name.startsWith('cli/'))) {
    const text = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    assert.doesNotMatch(text, /\bnpx /, file);
  }
});
