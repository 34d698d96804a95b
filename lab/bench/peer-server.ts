import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { accessTokenOf, grantOf, type PeerOrder, peerClient, refreshTokenOf, sessionOf } from './peer-people.ts';
import { memoryStore, type Payload, sqliteStore } from './peer-store.ts';
import { BASE_URL, CLIENTS, REDIRECT_URI, SCOPE, type Spread, spread } from './setting.ts';

/** node-oidc-provider, configured for the same workloads: see `peer-store.ts` for where it keeps its data. */

const WEEK = 7 * 24 * 60 * 60;

const [port, databaseFile] = process.argv.slice(2);
const store = databaseFile === undefined ? memoryStore() : sqliteStore(databaseFile);

interface Person {
  readonly id: string;
  readonly number: number;
  readonly createdAt: string;
}

const people = new Map<string, Person>();
const idOf = (person: number): string => String(383_000_000_000_000_000n + 4n * BigInt(person));

/** The members of Tessera's response, with the same number of bytes. */
function userInfo({ id, number, createdAt }: Person) {
  return {
    sub: id,
    id,
    user: {
      displayName: `Person ${number}`,
      username: `person${number}`,
      avatar: { baseUrl: `${BASE_URL}/avatars`, path: `/${id}.svg`, color: '#5b2a86' },
      about: '',
      email: { username: `person${number}`, domain: 'example.com', isVerified: false },
    },
    language: 'en',
    theme: null,
    createdAt,
  };
}

/** The members of Tessera's ID token that the peer does not write by itself. */
function idToken({ id, number }: Person) {
  const picture = `${BASE_URL}/avatars/${id}.svg`;
  const [name, username] = [`Person ${number}`, `person${number}`];
  const email = { email: `${username}@example.com`, email_verified: false };
  return { sub: id, name, preferred_username: username, ...email, picture, avatarUrl: picture };
}

const provider = new Provider(BASE_URL, {
  adapter: store.adapter,
  clients: Array.from({ length: CLIENTS }, (_, index) => ({
    client_id: peerClient(index).id,
    client_secret: peerClient(index).secret,
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_post',
    id_token_signed_response_alg: 'HS256',
  })),
  enabledJWA: { idTokenSigningAlgValues: ['HS256'] },
  pkce: { required: () => false },
  features: { devInteractions: { enabled: false } },
  interactions: { url: () => '/interaction' },
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  expiresWithSession: () => false,
  claims: {
    openid: [
      ...['sub', 'id', 'user', 'language', 'theme', 'createdAt'],
      ...['name', 'preferred_username', 'email', 'email_verified', 'picture', 'avatarUrl'],
    ],
    email: ['email', 'email_verified'],
  },
  routes: { authorization: '/authorize', token: '/token', userinfo: '/userinfo' },
  ttl: {
    AccessToken: WEEK,
    AuthorizationCode: 60,
    Grant: WEEK,
    IdToken: 1800,
    Interaction: 3600,
    RefreshToken: WEEK,
    Session: WEEK,
  },
  findAccount(_ctx: unknown, id: string) {
    const person = people.get(id);
    if (person === undefined) return undefined;
    return { accountId: id, claims: (use: string) => (use === 'id_token' ? idToken(person) : userInfo(person)) };
  },
});

// Pads the token response to the size of Tessera's.
let tokenAnswerBytes = 0;
let padding = '';
provider.use(async (ctx, next) => {
  await next();
  if (ctx.path !== '/token' || typeof ctx.body !== 'object') return;
  if (padding === '') {
    const own = JSON.stringify({ ...ctx.body, padding: '' }).length;
    padding = '-'.repeat(Math.max(1, tokenAnswerBytes - own));
  }
  (ctx.body as Payload)['padding'] = padding;
});

const clientOf = (person: number): string => peerClient(person % CLIENTS).id;

/** What the provider stores for one user; the others get copies with their own names. */
async function models(expiresAt: number) {
  const shared = { accountId: idOf(0), clientId: clientOf(0), grantId: grantOf(0) };
  const token = { ...shared, gty: 'authorization_code', scope: SCOPE };
  const authorizations = { [clientOf(0)]: { sid: grantOf(0), grantId: grantOf(0) } };
  const made = {
    Grant: new provider.Grant({ jti: grantOf(0), ...shared, openid: { scope: SCOPE }, exp: expiresAt }),
    AccessToken: new provider.AccessToken({ jti: accessTokenOf(0, 0), ...token }),
    RefreshToken: new provider.RefreshToken({
      ...{ jti: refreshTokenOf(0), ...token, authTime: expiresAt - WEEK },
    }),
    Session: new provider.Session({
      ...{ jti: sessionOf(0), uid: sessionOf(0), accountId: idOf(0), loginTs: expiresAt - WEEK, authorizations },
    }),
  };
  for (const [name, model] of Object.entries(made)) {
    // An id is given here where the provider would make one: an access token is told its format by that.
    if (name === 'AccessToken') Object.assign(model, { format: 'opaque' });
    await model.save(WEEK);
  }
  return (model: keyof typeof made): Payload => {
    const payload = store.first(model);
    if (payload === undefined) throw new Error(`the peer kept no ${model}`);
    return payload;
  };
}

let modelOf: Awaited<ReturnType<typeof models>>;

const keep = (model: string, id: string, payload: Payload): Promise<void> =>
  new store.adapter(model).upsert(id, payload, WEEK);

let among: Spread = spread(0);

async function addTokens(set: number, count: number): Promise<void> {
  const template = modelOf('AccessToken');
  for (let index = 0; index < count; index++) {
    const person = among.numberOf(index % among.sample);
    const [jti, grantId] = [accessTokenOf(set, index), grantOf(person)];
    await keep('AccessToken', jti, {
      ...template,
      ...{ jti, grantId, accountId: idOf(person), clientId: clientOf(person) },
    });
  }
}

async function carryOut(order: PeerOrder): Promise<void> {
  if (order.kind === 'tokens') return addTokens(order.set, order.count);
  const expiresAt = Math.floor(Date.now() / 1000) + WEEK;
  tokenAnswerBytes = order.tokenAnswerBytes;
  modelOf = await models(expiresAt);
  const [grant, refresh, session] = [modelOf('Grant'), modelOf('RefreshToken'), modelOf('Session')];
  const createdAt = new Date().toISOString();
  among = spread(order.people);
  for (let number = 0; number < order.people; number++) {
    const [accountId, grantId, clientId] = [idOf(number), grantOf(number), clientOf(number)];
    people.set(accountId, { id: accountId, number, createdAt });
    const whose = { accountId, clientId, grantId };
    await keep('Grant', grantId, { ...grant, ...{ jti: grantId, accountId, clientId } });
    const jti = refreshTokenOf(number);
    await keep('RefreshToken', jti, { ...refresh, ...whose, jti });
  }
  for (let index = 0; index < among.sessions; index++) {
    const number = among.numberOf(index);
    const [jti, grantId] = [sessionOf(index), grantOf(number)];
    const authorizations = { [clientOf(number)]: { sid: grantId, grantId } };
    await keep('Session', jti, { ...session, ...{ jti, uid: jti, accountId: idOf(number), authorizations } });
  }
}

const server = createServer(provider.callback());
// Same as Tessera: connections stay open between rounds.
server.keepAliveTimeout = 65_000;
server.listen(Number(port ?? 0), '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (order: PeerOrder) => {
  store
    .atOnce(() => carryOut(order))
    .then(
      () => process.send?.({ done: true }),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
});
