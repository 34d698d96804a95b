import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { type Agent, agent, type Answer as PageAnswer } from '../support/agent.ts';
import { claimsOf, newClient, newUser, PASSWORD, type TestUser } from '../support/flow.ts';
import { Random } from '../support/random.ts';
import { BEGINNING, startServer, type TestServer } from '../support/server.ts';
import { type Answer, liveSecrets, type Presenter, redeemOutcome, refreshOutcome, userInfoAnswer } from './model.ts';
import {
  type AccessToken,
  type Code,
  type EndpointSet,
  newState,
  type Pending,
  pick,
  type RefreshToken,
  type State,
} from './state.ts';
import { openWire, type Wire, type WireAnswer } from './wire.ts';

export const REDIRECTS = ['https://app.example.com/callback', 'https://app.example.com/other'] as const;
const ADDRESSES = {
  v2: { token: '/api/v2/oauth/token', userInfo: '/api/v2/oauth/userinfo' },
  oidc: { token: '/oidc/token', userInfo: '/oidc/userinfo' },
} as const;
/** The roles that people can have in each app. */
export const ROLES = ['viewer', 'editor'] as const;
const ENDPOINT_SETS: readonly EndpointSet[] = ['v2', 'oidc'];
export const otherEndpoints = (endpointSet: EndpointSet): EndpointSet => (endpointSet === 'v2' ? 'oidc' : 'v2');
/** The scopes that have a switch on the page of either set of endpoints. */
export const OPTIONAL = ['email', 'details', 'phone'] as const;
const VERIFIER = 'the-verifier-of-every-code-that-has-a-challenge';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

interface RealClient {
  readonly clientId: string;
  /** In the order of the model's secrets. */
  readonly secrets: string[];
}

/** What a person keeps who set up an authenticator app. */
export interface OwnFactor {
  readonly seed: string;
  readonly recoveryCodes: string[];
}

/** What a person knows. */
interface Person extends TestUser {
  email: string;
  password: string;
  factor: OwnFactor | undefined;
}

/** The service under test, with the texts of all that it ever gave. */
export interface World {
  /** Its base URL is any node's, another each time. */
  readonly server: TestServer;
  readonly wire: Wire;
  readonly users: Person[];
  readonly clients: RealClient[];
  readonly browsers: Agent[];
  /** A browser that was never here. */
  newBrowser(): Agent;
  readonly pages: Map<Pending, PageAnswer>;
  /** Codes and tokens, by their objects in the model. */
  readonly texts: Map<object, string>;
}

/** How many nodes share the database: one file has one. */
const { TESSERA_TEST_POSTGRES, TESSERA_TEST_NODES = TESSERA_TEST_POSTGRES === undefined ? '1' : '2' } = process.env;
const NODES = Number(TESSERA_TEST_NODES);

/** A standard claim without a value is left out, so every scope must have one. */
const FIELDS = { website: 'https://example.com/', phone: '+390612345' };

/** Browser 0 and 1 belong to the first person, browser 2 to the second. */
const OWNERS = [0, 0, 1];

export async function newWorld(): Promise<{ model: State; real: World }> {
  const limits = {
    TESSERA_LIMIT_CLIENT_AUTH: 'off',
    TESSERA_LIMIT_PENDING_ADDRESS: 'off',
    TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
    TESSERA_LIMIT_ADDRESS_ACCOUNT: 'off',
    TESSERA_LIMIT_GENERATION_ACCOUNT: 'off',
    TESSERA_MAILBOX: 'on',
    TESSERA_SIGN_IN_CODE: 'on',
  };
  const started = await startServer(limits, NODES);
  const { baseUrl, nodes } = started;
  // The same in every run: a seed gives the same requests at the same nodes.
  const random = new Random(1);
  const nodeOf = () => random.pick(nodes) ?? baseUrl;
  const server: TestServer = {
    ...started,
    get baseUrl() {
      return nodeOf();
    },
  };
  const users = await Promise.all([newUser(server, FIELDS), newUser(server, FIELDS)]);
  const clients = [];
  const roles = ROLES.map((name) => ({ name, description: null }));
  for (let count = 0; count < 2; count++) {
    // Both have the same redirect URIs, so that nothing but the client tells a code of one from a code of the other.
    const { clientId, clientSecret } = await newClient(server, { redirectUris: REDIRECTS, roles });
    clients.push({ clientId, secrets: [clientSecret] });
  }
  const real: World = {
    server,
    wire: openWire(nodeOf),
    users: users.map((user) => ({
      ...user,
      email: `${user.username}@example.com`,
      password: PASSWORD,
      factor: undefined,
    })),
    clients,
    browsers: OWNERS.map(() => agent(baseUrl, nodeOf)),
    newBrowser: () => agent(baseUrl, nodeOf),
    pages: new Map(),
    texts: new Map(),
  };
  return { model: newState(BEGINNING, users.length, clients.length, OWNERS), real };
}

/** Moves both clocks. */
export function advance(state: State, world: World, milliseconds: number): void {
  world.server.advance(milliseconds);
  state.now += milliseconds;
}

export function text(world: World, thing: object): string {
  const found = world.texts.get(thing);
  assert.ok(found !== undefined);
  return found;
}

/** The client of a request as it presents itself, with whatever secret. */
function credentials(world: World, { client, secret }: Presenter) {
  const real = pick(world.clients, client.index);
  const index = secret === undefined ? -1 : client.secrets.indexOf(secret);
  return { client_id: real.clientId, client_secret: real.secrets[index] ?? 'tcs_a-secret-that-never-was' };
}

/** The verifier that goes with a code, or one that does not: another, or any where none was asked for. */
const verifier = ({ pkce }: Code, right: boolean): { code_verifier?: string } =>
  right ? (pkce ? { code_verifier: VERIFIER } : {}) : { code_verifier: `not-${VERIFIER}` };

export const redeemNow = (world: World, code: Code, presenter: Presenter, right = { redirect: true, verifier: true }) =>
  world.wire.post(ADDRESSES[presenter.at].token, {
    grant_type: 'authorization_code',
    ...credentials(world, presenter),
    code: text(world, code),
    redirect_uri: pick(REDIRECTS, code.redirect + (right.redirect ? 0 : 1)),
    ...verifier(code, right.verifier),
  });

export const refreshNow = (world: World, token: RefreshToken, presenter: Presenter, scope?: string) =>
  world.wire.post(ADDRESSES[presenter.at].token, {
    grant_type: 'refresh_token',
    ...credentials(world, presenter),
    refresh_token: text(world, token),
    ...(scope !== undefined && { scope }),
  });

export function same(answer: WireAnswer, expected: Answer, what: string): void {
  const { error, error_description: description } = answer.status === 200 ? {} : answer.body;
  assert.deepEqual(
    { status: answer.status, error, ...(expected.description !== undefined && { description }) },
    { error: undefined, ...expected },
    what,
  );
}

/**
 * Decisions §§1 and 10: at the v2 endpoints the ID token is signed with the secret that the request presented. On the standard
 * endpoints it is signed with RS256, has the claims of the granted scopes, and is there only for the scope `openid`.
 */
export function checkIdToken(world: World, answer: WireAnswer, presenter: Presenter, token: AccessToken): void {
  const { id_token: idToken } = answer.body;
  assert.equal(idToken !== undefined, token.fixed.includes('openid'), 'an ID token, with the scope openid');
  if (idToken === undefined) return;
  const claims = claimsOf(idToken);
  assert.equal(claims.sub, pick(world.users, token.family.user.index).id);
  const [head = '', body, signature] = String(idToken).split('.');
  if (token.family.endpointSet === 'oidc') {
    assert.equal(JSON.parse(Buffer.from(head, 'base64url').toString()).alg, 'RS256');
    const has = ['name' in claims, 'email' in claims];
    assert.deepEqual(has, [gives(token, 'profile'), gives(token, 'email')], 'claims of the granted scopes');
    return;
  }
  const { client_secret: key } = credentials(world, presenter);
  const expected = createHmac('sha256', key).update(`${head}.${body}`).digest('base64url');
  assert.equal(signature, expected, 'id_token signature');
}

const gives = ({ scopes, family }: AccessToken, scope: string): boolean =>
  scopes.includes(scope) && family.scopes.includes(scope);

/** What UserInfo shows, at the address of a set of endpoints. The data goes by the endpoints that issued the token. */
function shownTo(token: AccessToken, at: EndpointSet): Readonly<Record<string, boolean>> {
  const granted = Object.fromEntries(OPTIONAL.map((scope) => [scope, gives(token, scope)]));
  return at === 'v2' ? granted : { ...granted, profile: token.family.endpointSet === 'v2' || gives(token, 'profile') };
}

function checkUserInfo(world: World, token: AccessToken, at: EndpointSet, { body }: WireAnswer): void {
  const { id } = pick(world.users, token.family.user.index);
  const shown =
    at === 'v2'
      ? { id: body.id, email: 'email' in body.user, details: 'website' in body.user, phone: 'phone' in body.user }
      : {
          id: body.sub,
          email: 'email' in body,
          details: 'website' in body,
          phone: 'phone_number' in body,
          profile: 'name' in body,
        };
  assert.deepEqual(shown, { id, ...shownTo(token, at) });
}

/** After every step: whatever the run ever got is answered as the model says. */
export async function observe(state: State, world: World): Promise<void> {
  const owner = ({ client, endpointSet: at }: Pick<Code, 'client' | 'endpointSet'>): Presenter => ({
    at,
    client,
    secret: liveSecrets(client, state.now).at(-1),
  });
  const right = { redirect: true, verifier: true };
  const checks: Promise<void>[] = [];
  for (const [index, token] of state.access.entries()) {
    for (const at of ENDPOINT_SETS) {
      checks.push(
        world.wire.get(ADDRESSES[at].userInfo, text(world, token)).then((answer) => {
          same(answer, userInfoAnswer(state, token, at), `UserInfo of the ${at} endpoints with access token ${index}`);
          if (answer.status === 200) checkUserInfo(world, token, at, answer);
        }),
      );
    }
  }
  // What is still good is not used up by looking: it is presented at the other endpoints, which neither accepts nor harms it.
  const harmless = <Look extends { move: string }>(owned: Presenter, look: (presenter: Presenter) => Look) => {
    const presenter = look(owned).move === 'none' ? owned : { ...owned, at: otherEndpoints(owned.at) };
    return { presenter, expected: look(presenter) };
  };
  for (const [index, token] of state.refresh.entries()) {
    const { presenter, expected } = harmless(owner(token.family), (by) => refreshOutcome(state, token, by, undefined));
    const what = `refresh with refresh token ${index} at the ${presenter.at} endpointSet`;
    checks.push(refreshNow(world, token, presenter).then((answer) => same(answer, expected.answer, what)));
  }
  for (const [index, code] of state.codes.entries()) {
    const { presenter, expected } = harmless(owner(code), (by) => redeemOutcome(state, code, by, right));
    const what = `redemption of code ${index} at the ${presenter.at} endpointSet`;
    checks.push(redeemNow(world, code, presenter).then((answer) => same(answer, expected.answer, what)));
  }
  await Promise.all(checks);
}
