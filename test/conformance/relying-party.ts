import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser, PASSWORD, type TestUser, type Tokens } from '../support/flow.ts';
import { newInitialToken } from '../support/registration.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** How the suite's two plans for the code flow want the answer. */
export type Mode = 'query' | 'form_post';

/** Who registered the client: an operator, or the client itself, with an initial access token or openly (RFC 7591). */
export type Registrar = 'an operator' | 'itself, with a token' | 'itself, openly';

type Parameters = Readonly<Record<string, string>>;

/** A client as the OpenID Foundation's suite is one: registered with defaults, form-encoded requests, everything else from discovery. */
export interface RelyingParty {
  readonly server: TestServer;
  readonly user: TestUser;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly discovery: Readonly<Record<string, unknown>>;
  /** Deletes the registration, as the suite does at the end of each module: RFC 7592 §2.3. */
  leave(): Promise<void>;
  newBrowser(): Agent;
  /** The address of a request; what is undefined is left out. */
  request(parameters?: Readonly<Record<string, string | undefined>>): string;
  /** Sends the browser with a request and through whatever pages come, and gives the parameters that reach the client. */
  authorize(browser: Agent, parameters?: Readonly<Record<string, string | undefined>>): Promise<Parameters>;
  /** The same from the first answer on. */
  arrive(browser: Agent, answer: Answer): Promise<Parameters>;
  /** Exchanges a code with client_secret_basic. */
  exchange(
    code: string | undefined,
    more?: Parameters,
  ): Promise<{ status: number; body: Tokens & Parameters; headers: Headers }>;
  token(
    form: Parameters,
    authorization?: string | null,
  ): Promise<{ status: number; body: Tokens & Parameters; headers: Headers }>;
  /** The claims of an ID token, verified by the key set. */
  verify(idToken: string): Promise<JWTPayload & { readonly kid: string | undefined }>;
  /** A whole sign-in: the verified ID token, and the tokens. */
  signIn(
    browser: Agent,
    parameters?: Readonly<Record<string, string | undefined>>,
  ): Promise<{ claims: JWTPayload; tokens: Tokens }>;
  userInfo(init: RequestInit): Promise<{ status: number; body: Parameters }>;
  close(): Promise<void>;
}

/** The sign-in pages that a browser was shown. */
const signIns = new WeakMap<Agent, number>();

/** The registration of the suite’s client, with everything else by default: OpenID Connect Registration 1.0 §3.1. */
async function registered(
  server: TestServer,
  registrar: Registrar,
  fields: Readonly<Record<string, unknown>>,
): Promise<Pick<RelyingParty, 'clientId' | 'clientSecret' | 'leave'>> {
  const redirectUris = [REDIRECT_URI];
  if (registrar === 'an operator') {
    const { status, body } = await admin(server, 'POST', '/clients', { name: 'Suite', redirectUris, ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    const { clientId, clientSecret } = body as { clientId: string; clientSecret: string };
    return { clientId, clientSecret, leave: async () => {} };
  }
  const read = await fetch(`${server.baseUrl}/.well-known/openid-configuration`);
  const { registration_endpoint: endpoint } = (await read.json()) as Parameters;
  const token = registrar === 'itself, openly' ? undefined : (await newInitialToken(server)).initialAccessToken;
  const answer = await fetch(String(endpoint), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      client_name: 'Suite',
      redirect_uris: redirectUris,
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      ...fields,
    }),
  });
  const body = (await answer.json()) as Parameters;
  assert.equal(answer.status, 201, JSON.stringify(body));
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  const { client_id, client_secret, registration_client_uri, registration_access_token } = body;
  // RFC 7591 §3.2.1: the suite requires it with any secret, and the two of RFC 7592 together.
  assert.equal(body['client_secret_expires_at'], 0);
  assert.ok(registration_client_uri !== undefined && registration_access_token !== undefined);
  return {
    clientId: String(client_id),
    clientSecret: String(client_secret),
    async leave() {
      const headers = { authorization: `Bearer ${registration_access_token}` };
      const left = await fetch(registration_client_uri, { method: 'DELETE', headers });
      assert.equal(left.status, 204);
    },
  };
}

const REDIRECT_URI = 'https://suite.example.com/test/a/tessera/callback';

/** @param fields more of the registration, in the words of the registrar */
export async function relyingParty(
  mode: Mode,
  registrar: Registrar = 'an operator',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<RelyingParty> {
  const registration = { 'an operator': 'off', 'itself, with a token': 'token', 'itself, openly': 'open' }[registrar];
  const server = await startServer({ TESSERA_REGISTRATION: registration });
  const user = await newUser(server, {
    email: 'ada@example.com',
    emailVerified: true,
    website: 'https://ada.example',
    birthDate: '1990-12-10',
    phone: '+905551234567',
  });
  const redirectUri = REDIRECT_URI;
  const { clientId, clientSecret, leave } = await registered(server, registrar, fields);
  const read = await fetch(`${server.baseUrl}/.well-known/openid-configuration`);
  const discovery = (await read.json()) as Record<string, unknown>;
  const at = (name: string) => String(discovery[name]);
  const keys = createRemoteJWKSet(new URL(at('jwks_uri')));
  const basic = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`;

  const party: RelyingParty = {
    server,
    user,
    clientId,
    clientSecret,
    redirectUri,
    discovery,
    leave,
    newBrowser: () => agent(server.baseUrl),
    request(parameters = {}) {
      const all: Record<string, string | undefined> = {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid',
        state: randomBytes(8).toString('hex'),
        nonce: randomBytes(8).toString('hex'),
        response_type: 'code',
        ...(mode === 'form_post' && { response_mode: mode }),
        ...parameters,
      };
      const sent = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
      return `${at('authorization_endpoint')}?${new URLSearchParams(sent)}`;
    },
    authorize: async (browser, parameters) => party.arrive(browser, await browser.get(party.request(parameters))),
    async arrive(browser, first) {
      let answer = first;
      for (let hop = 0; hop < 8; hop++) {
        if (answer.location?.href.startsWith(redirectUri)) {
          assert.equal(mode, 'query');
          return Object.fromEntries(answer.location.searchParams);
        }
        // RFC 9700 §4.11.2: the browser step that an error takes to an app that nobody answers for, before a sign-in.
        const warns = registrar === 'itself, openly' && answer.status === 400;
        const link = warns
          ? /<a href="([^"]+)" rel="noreferrer">/.exec(answer.text)?.[1]?.replaceAll('&amp;', '&')
          : '';
        if (link?.startsWith(redirectUri)) {
          assert.equal(mode, 'query');
          return Object.fromEntries(new URL(link).searchParams);
        }
        if (answer.location !== undefined) answer = await browser.get(answer.location.href);
        else if (answer.text.includes(`action="${redirectUri}"`)) {
          assert.equal(mode, 'form_post');
          assert.equal(answer.status, warns ? 400 : 200);
          assert.equal(answer.headers.get('cache-control'), 'no-store');
          return formOf(answer.text, redirectUri).hidden;
        } else if (answer.text.includes('action="/login"')) {
          signIns.set(browser, (signIns.get(browser) ?? 0) + 1);
          answer = await browser.submit(answer, { identifier: user.username, password: PASSWORD }, '/login');
        } else {
          const switches = [...answer.text.matchAll(/name="(allow [a-z.]+)"/g)].map(([, name]) => [name, 'on']);
          answer = await browser.submit(answer, { decision: 'allow', ...Object.fromEntries(switches) }, '/consent');
        }
      }
      throw new Error(`the client was not reached: ${answer.status} ${answer.text.slice(0, 800)}`);
    },
    exchange: (code, more = {}) =>
      party.token({ grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri, ...more }),
    async token(form, authorization = basic) {
      const answer = await fetch(at('token_endpoint'), {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
          ...(authorization !== null && { authorization }),
        },
        body: new URLSearchParams(form).toString(),
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never };
    },
    async verify(idToken) {
      const currentDate = new Date(server.now());
      const expected = { issuer: server.baseUrl, audience: clientId, algorithms: ['RS256'], currentDate };
      const { payload, protectedHeader } = await jwtVerify(idToken, keys, expected);
      return { ...payload, kid: protectedHeader.kid };
    },
    async signIn(browser, parameters = {}) {
      const answer = await party.authorize(browser, parameters);
      assert.equal(answer['error'], undefined, JSON.stringify(answer));
      assert.equal(answer['iss'], server.baseUrl, 'RFC 9207');
      const { status, body } = await party.exchange(answer['code']);
      assert.equal(status, 200, JSON.stringify(body));
      const claims = await party.verify(body.id_token);
      assert.equal(claims.sub, user.id);
      return { claims, tokens: body };
    },
    async userInfo(init) {
      const answer = await fetch(at('userinfo_endpoint'), init);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      return { status: answer.status, body: (await answer.json()) as Parameters };
    },
    close: () => server.close(),
  };
  return party;
}

/** How many sign-in pages a browser was shown. */
export const signInsOf = (browser: Agent): number => signIns.get(browser) ?? 0;
