import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { type Agent, agent, type Answer as PageAnswer } from '../support/agent.ts';
import { claimsOf, newClient, newUser, PASSWORD, type TestUser } from '../support/flow.ts';
import { Random } from '../support/random.ts';
import { BEGINNING, startServer, type TestServer } from '../support/server.ts';
import { type Answer, liveSecrets, type Presenter, redeemOutcome, refreshOutcome, userInfoAnswer } from './model.ts';
import { type AccessToken, type Code, newState, type Pending, pick, type RefreshToken, type State } from './state.ts';
import { openWire, type Wire, type WireAnswer } from './wire.ts';

export const REDIRECTS = ['https://app.example.com/callback', 'https://app.example.com/other'] as const;
export const OPTIONAL = ['email', 'details', 'phone'] as const;
const VERIFIER = 'the-verifier-of-every-code-that-has-a-challenge';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

interface RealClient {
  readonly clientId: string;
  /** In the order of the model's secrets. */
  readonly secrets: string[];
}

/** The service under test, with the texts of all that it ever gave. */
export interface World {
  /** Its base URL is any node's, another each time. */
  readonly server: TestServer;
  readonly wire: Wire;
  readonly users: (TestUser & { password: string })[];
  readonly clients: RealClient[];
  readonly browsers: Agent[];
  readonly pages: Map<Pending, PageAnswer>;
  /** Codes and tokens, by their objects in the model. */
  readonly texts: Map<object, string>;
}

/** How many nodes share the database: one file has one. */
const { TESSERA_TEST_POSTGRES, TESSERA_TEST_NODES = TESSERA_TEST_POSTGRES === undefined ? '1' : '2' } = process.env;
const NODES = Number(TESSERA_TEST_NODES);

/** Browser 0 and 1 belong to the first person, browser 2 to the second. */
const OWNERS = [0, 0, 1];

export async function newWorld(): Promise<{ model: State; real: World }> {
  const limits = { TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_LIMIT_PENDING_ADDRESS: 'off' };
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
  const users = await Promise.all([newUser(server), newUser(server)]);
  const clients = [];
  for (let count = 0; count < 2; count++) {
    // Both have the same redirect URIs, so that nothing but the client tells a code of one from a code of the other.
    const { clientId, clientSecret } = await newClient(server, { redirectUris: REDIRECTS });
    clients.push({ clientId, secrets: [clientSecret] });
  }
  const real: World = {
    server,
    wire: openWire(nodeOf),
    users: users.map((user) => ({ ...user, password: PASSWORD })),
    clients,
    browsers: OWNERS.map(() => agent(baseUrl, nodeOf)),
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
  world.wire.post('/api/v2/oauth/token', {
    grant_type: 'authorization_code',
    ...credentials(world, presenter),
    code: text(world, code),
    redirect_uri: pick(REDIRECTS, code.redirect + (right.redirect ? 0 : 1)),
    ...verifier(code, right.verifier),
  });

export const refreshNow = (world: World, token: RefreshToken, presenter: Presenter, scope?: string) =>
  world.wire.post('/api/v2/oauth/token', {
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

/** The ID token is signed with the secret that the request presented: decisions §1. */
export function checkIdToken(world: World, answer: WireAnswer, presenter: Presenter, subject: number): void {
  const [head, body, signature] = String(answer.body.id_token).split('.');
  const { client_secret: key } = credentials(world, presenter);
  assert.equal(
    signature,
    createHmac('sha256', key).update(`${head}.${body}`).digest('base64url'),
    'id_token signature',
  );
  assert.equal(claimsOf(answer.body.id_token).sub, pick(world.users, subject).id);
}

const gives = ({ scopes, family }: AccessToken, scope: string): boolean =>
  scopes.includes(scope) && family.scopes.includes(scope);

/** After every step: whatever the run ever got is answered as the model says. */
export async function observe(state: State, world: World): Promise<void> {
  const own = (client: Code['client']): Presenter => ({ client, secret: liveSecrets(client, state.now).at(-1) });
  const right = { redirect: true, verifier: true };
  const checks: Promise<void>[] = [];
  for (const [index, token] of state.access.entries()) {
    checks.push(
      world.wire.get('/api/v2/oauth/userinfo', text(world, token)).then((answer) => {
        same(answer, userInfoAnswer(state, token), `UserInfo with access token ${index}`);
        if (answer.status !== 200) return;
        const { id, user } = answer.body;
        const shown = { email: 'email' in user, details: 'website' in user, phone: 'phone' in user };
        const granted = OPTIONAL.map((scope) => [scope, gives(token, scope)]);
        assert.deepEqual(
          { id, ...shown },
          { id: pick(world.users, token.family.user.index).id, ...Object.fromEntries(granted) },
        );
      }),
    );
  }
  // Refresh tokens and codes only where presenting them changes nothing: what is still good is not used up by looking.
  for (const [index, token] of state.refresh.entries()) {
    const presenter = own(token.family.client);
    const { answer: expected, move } = refreshOutcome(state, token, presenter, undefined);
    if (move !== 'none') continue;
    const what = `refresh with refresh token ${index}`;
    checks.push(refreshNow(world, token, presenter).then((answer) => same(answer, expected, what)));
  }
  for (const [index, code] of state.codes.entries()) {
    const presenter = own(code.client);
    const { answer: expected, move } = redeemOutcome(state, code, presenter, right);
    if (move !== 'none') continue;
    checks.push(
      redeemNow(world, code, presenter).then((answer) => same(answer, expected, `redemption of code ${index}`)),
    );
  }
  await Promise.all(checks);
}
