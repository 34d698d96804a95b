// store: PostgreSQL, SQLite with --all
/** Keys rotated and dropped by a command beside nodes that answer all the while: JW-15. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dropSigningKey, rotateSigningKey } from '../../src/keys/signing-keys.ts';
import {
  newClient,
  newUser,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { startServer, type TestServer } from '../support/server.ts';

const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const ASKING = 8;

let server: TestServer;
let client: TestClient;
before(async () => {
  server = await startServer({}, nodes);
  client = await newClient(server);
});
after(() => server.close());

const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
const rotate = () =>
  withData(server, ({ database, secret, clock }) => rotateSigningKey(database, secret, origin, clock()));
const drop = (kid: string) =>
  withData(server, ({ database, secret, clock }) => dropSigningKey(database, secret, kid, origin, clock()));
const kidOf = (token: string): string => String(parts(token).header['kid']);
/** One node after the other. */
const at = (turn: number) => ({ baseUrl: server.nodes[turn % nodes] ?? server.baseUrl });

async function hold(count: number): Promise<Tokens[]> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  return Promise.all(Array.from({ length: count }, () => tokensFor(server, client, user, {}, { browser })));
}

/** Asks again and again, side by side, until what happens meanwhile has happened, and a while longer. */
async function beside(
  ask: (turn: number, worker: number) => Promise<void>,
  happen: () => Promise<void>,
): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  const workers = Array.from({ length: ASKING }, async (_, worker) => {
    for (let turn = worker; left > 0; turn++) {
      left--;
      await ask(turn, worker);
    }
  });
  try {
    await happen();
  } finally {
    left = 10 * ASKING;
    await Promise.all(workers);
  }
}

test('a rotation under load: no token is refused, and the new key signs from the next request on, at every node', async () => {
  const held = await hold(ASKING);
  const first = held.map(({ access_token }) => access_token);
  const refused: unknown[] = [];
  await beside(
    async (turn, worker) => {
      const answer =
        turn % 3 === 0
          ? await refresh(at(turn), client, held[worker]?.refresh_token ?? '')
          : await userinfo(at(turn), (turn % 3 === 1 ? first[worker] : held[worker]?.access_token) ?? '');
      if (answer.status !== 200) refused.push([answer.status, answer.body]);
      else if (turn % 3 === 0) held[worker] = answer.body;
    },
    async () => {
      const [idle] = await hold(1);
      let token = idle?.refresh_token ?? '';
      for (let round = 0; round < 4; round++) {
        const kid = await rotate();
        for (let node = 0; node < nodes; node++) {
          const { body } = await refresh(at(node), client, token);
          assert.deepEqual([kidOf(body.access_token), kidOf(body.refresh_token)], [kid, kid]);
          token = body.refresh_token;
        }
      }
    },
  );
  assert.deepEqual(refused, []);
});

test('a drop under load: from its return on no node takes a token of the key, and none of another key is refused', async () => {
  const doomed = await hold(ASKING);
  const kid = kidOf(doomed[0]?.access_token ?? '');
  await rotate();
  const kept = await hold(ASKING);
  let dropped = false;
  const after: number[] = [];
  const others: number[] = [];
  await beside(
    async (turn, worker) => {
      const begunAfter = dropped;
      const { access_token = '', refresh_token = '' } = doomed[worker] ?? {};
      const answer =
        turn % 4 === 0 && begunAfter ? refresh(at(turn), client, refresh_token) : userinfo(at(turn), access_token);
      const other = userinfo(at(turn + 1), kept[worker]?.access_token);
      const { status } = await answer;
      if (begunAfter) after.push(status);
      others.push((await other).status);
    },
    async () => {
      assert.equal(await drop(kid), true);
      dropped = true;
    },
  );
  assert.ok(after.length >= ASKING, 'requests came after it');
  assert.deepEqual(
    after.filter((status) => status !== 401 && status !== 400),
    [],
  );
  assert.deepEqual(new Set(others), new Set([200]));
});
