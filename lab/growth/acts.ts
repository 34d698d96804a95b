import assert from 'node:assert/strict';
import { type Agent, agent } from '../../test/support/agent.ts';
import {
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokenCall,
  tokensFor,
  walk,
} from '../../test/support/flow.ts';
import type { TestServer } from '../../test/support/server.ts';
import { revoke } from '../../test/support/token-services.ts';

/** What people and apps do all day. Each call does it once. */
export type Acts = Readonly<Record<ActName, () => Promise<void>>>;

export const ACT_NAMES = ['sign-in', 'authorization', 'refresh', 'revocation', 'client token'] as const;
export type ActName = (typeof ACT_NAMES)[number];

/** Enough that no person has more sessions than are kept. */
const PEOPLE = 40;

interface Member {
  readonly user: TestUser;
  /** A browser in which the person is signed in. */
  readonly browser: Agent;
}

/** People who have given an app their consent, so that what they do afterwards is what they do every day. */
export async function prepareActs(server: TestServer): Promise<Acts> {
  const client = await newClient(server);
  const machine = await newClient(server, { grantTypes: ['client_credentials'] });
  const members: Member[] = [];
  const refreshTokens: string[] = [];
  for (let count = 0; count < PEOPLE; count++) {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    await tokensFor(server, client, user, { scope: 'openid profile' }, { browser });
    members.push({ user, browser });
  }
  let turn = 0;
  const nextMember = (): Member => members[turn++ % members.length] ?? assert.fail();
  async function authorize(browser: Agent, user: TestUser): Promise<void> {
    const target = await walk(browser, authorizeUrl(client, { scope: 'openid profile' }), { user });
    const { status, body } = await redeem(server, client, target.searchParams.get('code') ?? '');
    assert.equal(status, 200, JSON.stringify(body));
    refreshTokens.push(body.refresh_token);
  }
  return {
    'sign-in': () => authorize(agent(server.baseUrl), nextMember().user),
    authorization() {
      const { user, browser } = nextMember();
      return authorize(browser, user);
    },
    async refresh() {
      const { status, body } = await refresh(server, client, refreshTokens.shift() ?? '');
      assert.equal(status, 200, JSON.stringify(body));
      refreshTokens.push(body.refresh_token);
    },
    async revocation() {
      assert.equal((await revoke(server, client, refreshTokens.shift() ?? '')).status, 200);
    },
    'client token': () => clientToken(server, machine),
  };
}

async function clientToken(server: TestServer, { clientId, clientSecret }: TestClient): Promise<void> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  assert.equal((await tokenCall(server, form)).status, 200);
}
