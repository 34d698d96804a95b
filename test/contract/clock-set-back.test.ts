// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { basic, refreshBody, tokenBytes, tokenForm } from '../support/api-call.ts';
import {
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { HOUR, MINUTE, query, SECOND } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// A clock that was an hour ahead is set right. What was issued meanwhile lies in the future, by no fault of those who hold it.

let server: TestServer;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_TOKEN: '3/m' });
});
after(() => server.close());

function assertTryAgain(
  { status, headers, body }: Pick<JsonAnswer, 'status' | 'headers' | 'body'>,
  what: string,
): void {
  assert.equal(status, 503, `${what}: ${JSON.stringify(body)}`);
  assert.equal(body.error, 'temporarily_unavailable');
  assert.match(headers.get('retry-after') ?? '', /^[1-9]$/);
}

const answered = async (sent: Promise<Response>): Promise<Pick<JsonAnswer, 'status' | 'headers' | 'body'>> => {
  const response = await sent;
  return { status: response.status, headers: response.headers, body: await response.json() };
};

const about = (path: string, client: TestClient, token: string): Promise<Response> =>
  fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { ...basic(client.clientId, client.clientSecret), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token }),
  });

test('RC-11: tokens of an hour to come are answered 503 everywhere, and live on once that hour has come', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const first = await tokensFor(server, client, user);
  const second = (await refresh(server, client, first.refresh_token)).body;
  const families = await query(server, 'SELECT id, dead_at, leaf_jti FROM token_family');
  server.setBack(HOUR);
  assertTryAgain(await userinfo(server, second.access_token), 'UserInfo');
  assertTryAgain(await refresh(server, client, second.refresh_token), 'a refresh');
  assertTryAgain(await refresh(server, client, first.refresh_token), 'a refresh with the predecessor');
  assertTryAgain(await answered(about('/oidc/introspect', client, second.access_token)), 'introspection');
  assertTryAgain(await answered(about('/oidc/revoke', client, second.refresh_token)), 'revocation');
  assert.deepEqual(await query(server, 'SELECT id, dead_at, leaf_jti FROM token_family'), families, 'as it was');
  server.advance(HOUR - MINUTE);
  assert.equal((await userinfo(server, second.access_token)).status, 200, 'a minute is the tolerance');
  server.advance(MINUTE);
  assert.equal((await refresh(server, client, second.refresh_token)).status, 200);
});

test('RC-11: a code of an hour to come is neither redeemed nor used up', async () => {
  const client = await newClient(server);
  const code = await codeFor(server, client, await newUser(server));
  server.setBack(HOUR);
  assertTryAgain(await redeem(server, client, code), 'a code');
  server.advance(HOUR);
  assert.equal((await redeem(server, client, code)).status, 200);
});

test('a limit that was reached an hour ahead stands for its own length and a minute, which clocks may differ by', async () => {
  const client = await newClient(server);
  const once = () => tokenBytes(server, JSON.stringify(refreshBody(client, 'x')), 'application/json');
  const statuses = async () => [await once(), await once(), await once(), await once()].map(({ status }) => status);
  assert.deepEqual(await statuses(), [400, 400, 400, 429]);
  server.setBack(HOUR);
  assert.deepEqual(await statuses(), [429, 429, 429, 429], 'nothing is forgotten');
  server.advance(2 * MINUTE - 1);
  assert.equal((await once()).status, 429);
  server.advance(1);
  assert.deepEqual(await statuses(), [400, 400, 400, 429]);
  server.advance(HOUR);
});

test('failed client authentications of an hour ahead keep the right secret out for two minutes at most', async () => {
  const client = await newClient(server);
  const wrong = () => tokenForm(server, {}, basic(client.clientId, 'A'.repeat(43)));
  const right = async () => (await tokenForm(server, {}, basic(client.clientId, client.clientSecret))).status;
  for (let count = 0; count < 20; count++) assert.equal((await wrong()).status, 401);
  assert.equal((await wrong()).status, 429);
  assert.equal(await right(), 429);
  server.setBack(HOUR);
  assert.equal(await right(), 400, 'the failures are of no time that can be');
  assert.equal((await wrong()).status, 429, 'one more failure, and the count goes on');
  assert.equal(await right(), 429);
  server.advance(2 * MINUTE - SECOND);
  assert.equal(await right(), 429);
  server.advance(SECOND);
  assert.equal(await right(), 400);
  server.advance(HOUR);
});
