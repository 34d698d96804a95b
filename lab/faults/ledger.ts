import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Agent } from '../../test/support/agent.ts';
import { claimsOf, type JsonAnswer, refresh, type TestClient, type Tokens, userinfo } from '../../test/support/flow.ts';
import { answered, insist, operate } from './answers.ts';
import type { Service } from './service.ts';

/** Tokens that a client holds. */
export interface Held {
  access: string;
  refresh: string;
  readonly family: string;
  /** Whether the service has acknowledged that the person took the app's access away. */
  revoked: boolean;
}

/** A person, with all that the service has acknowledged about them. */
export interface Person {
  readonly username: string;
  readonly browser: Agent;
  readonly client: TestClient;
  readonly id: string;
  about: string;
  /** `secured`: free again after a ban, which ended everything from before. */
  standing: 'active' | 'banned' | 'suspended' | 'secured';
  granted: boolean;
  readonly held: Held[];
  /** How many faults were over when this was last checked. */
  checked: number;
}

export const hold = (tokens: Tokens): Held => ({
  access: tokens.access_token,
  refresh: tokens.refresh_token,
  family: String(claimsOf(tokens.refresh_token).family),
  revoked: false,
});

/** The tokens that must work now. */
export const liveOf = (person: Person): Held | undefined =>
  person.standing === 'active' ? person.held.find(({ revoked }) => !revoked) : undefined;

/** What the service has acknowledged. */
export class Ledger {
  readonly people: Person[] = [];
  /** Those at rest that were not checked since the last fault. */
  ended: Person[] = [];
  readonly violations: string[] = [];
  acknowledged = 0;
  /** Requests without an answer, each sent again, by what they asked for. */
  readonly unanswered = new Map<string, number>();
  /** Codes and refresh tokens whose exchange was done, but not answered in time for a retry to get it. */
  refused = 0;
  readonly #events = new EventEmitter();

  constructor() {
    this.#events.setMaxListeners(0);
  }

  acknowledge(): void {
    this.acknowledged++;
    this.#events.emit('acknowledged');
  }

  leaveUnanswered(what: string): void {
    this.unanswered.set(what, (this.unanswered.get(what) ?? 0) + 1);
    this.#events.emit('unanswered');
  }

  /** How many requests were left without an answer. */
  get left(): number {
    return [...this.unanswered.values()].reduce((sum, n) => sum + n, 0);
  }

  /** Waits until so many changes more are acknowledged, for at most this many milliseconds each. */
  async more(count: number, patience?: number): Promise<void> {
    const goal = this.acknowledged + count;
    while (this.acknowledged < goal) await this.#next('acknowledged', patience);
  }

  /** Waits until so many requests more are left without an answer. */
  async less(count: number): Promise<void> {
    const goal = this.left + count;
    while (this.left < goal) await this.#next('unanswered');
  }

  /** The guard is for a service that hangs: it would never be answered again. A loaded machine must not meet it. */
  async #next(event: string, patience = 600_000): Promise<void> {
    await once(this.#events, event, { signal: AbortSignal.timeout(patience) });
  }

  violated(who: string, error: unknown): void {
    const text = `${who}: ${error instanceof Error ? error.message : String(error)}`;
    if (this.violations.length < 100 && !this.violations.includes(text)) this.violations.push(text);
  }
}

/** Does something until it is answered, and writes down that it was. */
export async function change<T>(
  service: Service,
  ledger: Ledger,
  what: string,
  send: (since: number | undefined) => Promise<T>,
): Promise<T> {
  const result = await insist(service, send, () => ledger.leaveUnanswered(what));
  ledger.acknowledge();
  return result;
}

/** Decisions §3: for how long a retry gets the successor that the first attempt was not told. */
const GRACE = 30_000;

/** Exchanges a refresh token for its successor, whose answer may have to be asked for again. */
export async function renew(service: Service, ledger: Ledger, person: Person, held: Held): Promise<void> {
  const tokens = await change(service, ledger, 'a refresh', async (since) => {
    const answer = await answered(refresh(service, person.client, held.refresh));
    if (answer.status === 200) return answer.body as Tokens;
    const late = since !== undefined && performance.now() - since > GRACE;
    assert.ok(late && answer.body.error === 'invalid_grant', `refresh: ${JSON.stringify(answer.body)}`);
    return undefined;
  });
  if (tokens === undefined) {
    // Too late for the grace: the family is dead, and the person signs in again.
    ledger.refused++;
    person.held.splice(person.held.indexOf(held), 1);
    return;
  }
  assert.equal(claimsOf(tokens.refresh_token).family, held.family);
  held.access = tokens.access_token;
  held.refresh = tokens.refresh_token;
}

const REFUSALS = {
  banned: [403, 'access_denied', 'Account banned'],
  suspended: [403, 'access_denied', 'Account is suspended'],
  revoked: [403, 'access_denied', 'Access revoked by user'],
} as const;

function refusalOf({ standing }: Person, held: Held): readonly [number, string, string] | 'dead' | undefined {
  if (standing === 'banned' || standing === 'suspended') return REFUSALS[standing];
  if (held.revoked) return REFUSALS.revoked;
  return standing === 'secured' ? 'dead' : undefined;
}

function assertRefusal(answer: JsonAnswer, refusal: readonly [number, string, string], what: string): void {
  const { error, error_description: description } = answer.body;
  assert.deepEqual([answer.status, error, description], [...refusal], what);
}

/** Checks that all that was acknowledged about a person is so. */
export async function check(service: Service, ledger: Ledger, person: Person): Promise<void> {
  const { faults } = service;
  const ask = <T>(send: () => Promise<T>) => insist(service, send, () => ledger.leaveUnanswered('a read'));
  const user = await ask(() => operate(service, 'GET', `/users/${person.id}`));
  assert.equal(user.status, 200, 'the account is lost');
  assert.equal(user.body.about, person.about, 'a change of the profile is lost');
  assert.equal(
    user.body.status,
    person.standing === 'secured' ? 'active' : person.standing,
    'a ban or its end is lost',
  );
  const connections = await ask(() => operate(service, 'GET', `/users/${person.id}/connections`));
  assert.equal(connections.status, 200, JSON.stringify(connections.body));
  const ids = connections.body.items.map(({ clientId }: { clientId: string }) => clientId);
  assert.deepEqual(ids, person.granted ? [person.client.clientId] : [], 'a consent or its revocation is lost');
  for (const held of [...person.held]) {
    const refusal = refusalOf(person, held);
    const me = await ask(() => answered(userinfo(service, held.access)));
    if (refusal === undefined) {
      assert.equal(me.status, 200, `a live token is refused: ${JSON.stringify(me.body)}`);
      assert.equal(me.body.id, person.id);
      await renew(service, ledger, person, held);
      continue;
    }
    const again = await ask(() => answered(refresh(service, person.client, held.refresh)));
    if (refusal === 'dead') {
      assert.equal(me.status, 401, 'an ended token is accepted');
      assert.deepEqual([again.status, again.body.error], [400, 'invalid_grant'], 'an ended token is refreshed');
    } else {
      assertRefusal(me, refusal, 'a dead token at UserInfo');
      assertRefusal(again, refusal, 'a dead token at the token endpoint');
    }
  }
  person.checked = faults;
}
