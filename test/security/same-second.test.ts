// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { assertForbidden, assertInvalidGrant, assertInvalidToken, BANNED, REVOKED } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type TestClient,
  userinfo,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

/** What the model knows of a grant: until when its tokens work. */
interface Grant {
  revoked: boolean;
}
/** Tokens of one family, or a code that was not redeemed yet. */
interface Issued {
  readonly grant: Grant;
  readonly generation: number;
  readonly access: string[];
  leaf: string;
  readonly code: string;
}
interface World {
  readonly client: TestClient;
  /** The model. */
  grant: Grant;
  generation: number;
  readonly issued: Issued[];
}

let browser: Agent | undefined;
const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off', TESSERA_LIMIT_PENDING_ADDRESS: 'off' });
after(() => server.close());
const user = await newUser(server);

/** One session serves until a ban ends it: every sign-in hashes a password. */
async function atBrowser(): Promise<Agent> {
  browser ??= await signedIn(server, user);
  return browser;
}

async function code(world: World, parameters: Readonly<Record<string, string>> = {}): Promise<string> {
  const target = await walk(await atBrowser(), authorizeUrl(world.client, parameters));
  return target.searchParams.get('code') ?? '';
}

/** A family of tokens and, of the same consent, a code that is kept for the end. */
async function issue(world: World, parameters: Readonly<Record<string, string>> = {}): Promise<void> {
  const answer = await redeem(server, world.client, await code(world, parameters));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  // After a revocation the person was asked again, and a new grant began.
  if (world.grant.revoked) world.grant = { revoked: false };
  const { grant, generation } = world;
  const { access_token: access, refresh_token: leaf } = answer.body;
  world.issued.push({ grant, generation, access: [access], leaf, code: await code(world) });
}

const isLive = (world: World, { grant, generation }: Issued): boolean =>
  !grant.revoked && generation === world.generation;

/** Decisions §5: consent revoked goes before a generation that differs. */
function expectVerdict(world: World, issued: Issued, answer: JsonAnswer, at: 'userinfo' | 'token'): void {
  if (issued.grant.revoked) assertForbidden(answer, REVOKED);
  else if (issued.generation === world.generation) assert.equal(answer.status, 200, JSON.stringify(answer.body));
  else if (at === 'userinfo') assertInvalidToken(answer);
  else assertInvalidGrant(answer);
}

const steps: Readonly<Record<string, (world: World) => Promise<void>>> = {
  issue: (world) => issue(world),
  'consent anew': (world) => issue(world, { prompt: 'consent' }),
  async refresh(world) {
    for (const issued of world.issued) {
      const answer = await refresh(server, world.client, issued.leaf);
      expectVerdict(world, issued, answer, 'token');
      if (answer.status !== 200) continue;
      issued.access.push(answer.body.access_token);
      issued.leaf = answer.body.refresh_token;
    }
  },
  async revoke(world) {
    assert.equal((await revokeOnPage(await atBrowser(), world.client)).status, 200);
    world.grant.revoked = true;
  },
  async 'ban and lift'(world) {
    assert.equal((await admin(server, 'PUT', `/users/${user.id}/ban`, {})).status, 200);
    for (const issued of world.issued) {
      for (const token of issued.access) assertForbidden(await userinfo(server, token), BANNED);
      assertForbidden(await refresh(server, world.client, issued.leaf), BANNED);
    }
    assert.equal((await admin(server, 'DELETE', `/users/${user.id}/ban`)).status, 200);
    const page = await browser?.get('/account');
    assert.ok(page === undefined || page.location?.pathname === '/login', 'the session is dead');
    browser = undefined;
    world.generation++;
  },
};

/** Every access token so far is what the model says it is; so is every refresh token that must be dead. */
async function observe(world: World): Promise<void> {
  for (const issued of world.issued) {
    for (const token of issued.access) expectVerdict(world, issued, await userinfo(server, token), 'userinfo');
    // A live one would be rotated by being asked about.
    if (!isLive(world, issued)) {
      expectVerdict(world, issued, await refresh(server, world.client, issued.leaf), 'token');
    }
  }
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, n) => permutations(items.toSpliced(n, 1)).map((rest) => [item, ...rest]));
}

// Every order of the five has every shorter order as its beginning, and each is observed after each step.
const orders = permutations(Object.keys(steps));
for (const first of Object.keys(steps)) {
  test(`RC-06: within one millisecond, every order that begins with: ${first}`, async () => {
    const now = server.now();
    const observed = new Set<string>();
    for (const order of orders.filter(([name]) => name === first)) {
      const world: World = { client: await newClient(server), grant: { revoked: false }, generation: 0, issued: [] };
      try {
        await issue(world);
        for (const [at, name] of order.entries()) {
          await steps[name]?.(world);
          const beginning = order.slice(0, at + 1).join();
          if (!observed.has(beginning)) await observe(world);
          observed.add(beginning);
        }
        for (const issued of world.issued) {
          expectVerdict(world, issued, await redeem(server, world.client, issued.code), 'token');
          expectVerdict(world, issued, await refresh(server, world.client, issued.leaf), 'token');
        }
      } catch (error) {
        throw new Error(`in the order ${order.join(', ')}: ${String(error)}`, { cause: error });
      }
    }
    assert.equal(server.now(), now);
  });
}
