import assert from 'node:assert/strict';
import { redeem, refresh, type Tokens, userinfo } from '../../test/support/flow.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { answered, operate } from './answers.ts';
import { hold, type Person } from './ledger.ts';
import { authorize, newClients, signUp } from './lives.ts';
import { SPECIAL, startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

const SHIFT = 5000;

/** Two nodes on one database, of which the second one's clock is five seconds ahead; requests go to either. */
export async function shiftClock(server: PostgresServer, options: Options): Promise<Outcome> {
  const setting = { fault: 'two nodes whose clocks differ by 5 s', server };
  return trial(setting, options, async (one) => {
    const { service, ledger, over } = one;
    const { settings, front } = service;
    const right = await startNode({ settings });
    const ahead = await startNode({ settings: { ...settings, TEST_CLOCK_SHIFT: String(SHIFT) }, script: SPECIAL });
    const nodes = [right, ahead].map(({ port }) => ({ baseUrl: `http://127.0.0.1:${port}` }));
    front.targets = [right.port, ahead.port];
    return {
      async faults() {
        for (let time = 1; time <= options.times; time++) {
          const [from, to] = time % 2 === 1 ? nodes : [...nodes].reverse();
          assert.ok(from !== undefined && to !== undefined);
          await across(one, from, to).catch((error: unknown) => ledger.violated('across the nodes', error));
          await ledger.more(20);
          await over();
          options.progress(time);
        }
        return [];
      },
      async end() {
        await right.stop();
        await ahead.stop();
      },
    };
  });
}

type At = { readonly baseUrl: string };

/** What one node did holds on the other from the next request on, and a retry there ends as it would here. */
async function across({ service, ledger }: Trial, from: At, to: At): Promise<void> {
  const [client] = await newClients(service, 1);
  assert.ok(client !== undefined);
  const person: Person = await signUp(service, ledger, client);
  const [code, revoked] = [await authorize(person.browser, client), await authorize(person.browser, client)];
  person.granted = true;

  const first = await answered(redeem(from, client, code));
  assert.equal(first.status, 200, 'a code of either node');
  const tokens = first.body as Tokens;
  assert.equal((await answered(userinfo(to, tokens.access_token))).status, 200, 'a token from the other node');
  const next = await answered(refresh(to, client, tokens.refresh_token));
  assert.equal(next.status, 200, 'a refresh at the other node');
  const again = await answered(refresh(from, client, tokens.refresh_token));
  assert.equal(again.status, 200, 'a retry within the grace, at the first node');
  assert.equal(again.body.refresh_token, next.body.refresh_token, 'a retry gets the same successor');
  person.held.push(hold(again.body));

  const second = await answered(redeem(to, client, revoked));
  assert.equal(second.status, 200);
  const replayed = await answered(redeem(from, client, revoked));
  assert.deepEqual([replayed.status, replayed.body.error], [400, 'invalid_grant'], 'a code is used once on all nodes');
  const dead = await answered(userinfo(from, second.body.access_token));
  assert.equal(dead.status, 401, 'the tokens of a replayed code are dead on all nodes');

  const ban = await operate(from, 'PUT', `/users/${person.id}/ban`, {});
  assert.equal(ban.status, 200);
  person.standing = 'banned';
  const banned = await answered(userinfo(to, again.body.access_token));
  assert.deepEqual([banned.status, banned.body.error_description], [403, 'Account banned'], 'a ban holds at once');
}
