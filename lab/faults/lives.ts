import assert from 'node:assert/strict';
import { type Agent, type Answer, agent } from '../../test/support/agent.ts';
import { authorizeUrl, PASSWORD, redeem, type TestClient, type Tokens, userinfo } from '../../test/support/flow.ts';
import { answered, insist, operate, Unanswered } from './answers.ts';
import { change, check, hold, type Ledger, liveOf, type Person, renew } from './ledger.ts';
import type { Random } from './random.ts';
import type { Service } from './service.ts';

/** People who live on the service at the same time: each one's changes come one after another, as they would. */
export interface Load {
  readonly clients: readonly TestClient[];
  /** Lets everybody finish what they began. */
  stop(): Promise<void>;
}

export async function newClients(service: Service, count: number): Promise<TestClient[]> {
  const redirectUri = 'https://app.example.com/callback';
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { status, body } = await operate(service, 'POST', '/clients', {
        name: `App ${n}`,
        redirectUris: [redirectUri],
      });
      assert.equal(status, 201);
      return { clientId: body.clientId, clientSecret: body.clientSecret, redirectUri };
    }),
  );
}

/** The changes that operators make. */
const OPERATIONS = ['an edit', 'a revocation', 'a ban', 'a suspension', 'the end of a ban'] as const;
type Operation = (typeof OPERATIONS)[number];

/** All the changes that a load makes. */
export const CHANGES = ['a sign-up', 'a consent', 'an exchange of a code', 'a refresh', ...OPERATIONS] as const;

let names = 0;

/** Signs up on the page. Without an answer the same form is sent again, which then signs in (decision 5). */
export async function signUp(service: Service, ledger: Ledger, client: TestClient): Promise<Person> {
  const username = `person${++names}`;
  const browser = agent(service.baseUrl);
  const fields = { displayName: 'Person', username, email: `${username}@example.com`, password: PASSWORD };
  await change(service, ledger, 'a sign-up', async () => {
    const page = await answered(browser.get('/signup'));
    const answer = await answered(browser.submit(page, fields));
    assert.equal(answer.status, 303, `sign-up: ${answer.status}`);
  });
  const found = await insist(service, () => operate(service, 'GET', `/users?q=${username}`));
  const id = found.body.items.find((user: { username: string }) => user.username === username)?.id;
  assert.ok(id !== undefined, `the account of ${username} is lost`);
  const person: Person = {
    ...{ username, browser, client, id, about: '', standing: 'active', granted: false, held: [] },
    checked: service.faults,
  };
  ledger.people.push(person);
  return person;
}

/** Walks through the pages to a code. */
export async function authorize(browser: Agent, client: TestClient): Promise<string> {
  let answer: Answer = await answered(browser.get(authorizeUrl(client, { scope: 'openid email' })));
  for (let hop = 0; hop < 6; hop++) {
    const { location } = answer;
    if (location === undefined) {
      assert.match(answer.text, /action="[^"]*\/consent"/, `no consent page (${answer.status})`);
      answer = await answered(browser.submit(answer, { decision: 'allow', 'allow email': 'on' }, '/consent'));
    } else if (location.href.startsWith(client.redirectUri)) {
      const [code, error] = [location.searchParams.get('code'), location.searchParams.get('error')];
      if (error === 'temporarily_unavailable') throw new Unanswered(503);
      assert.ok(code !== null, `authorization: ${location}`);
      return code;
    } else {
      answer = await answered(browser.get(location.href));
    }
  }
  throw new assert.AssertionError({ message: `the authorization did not end: ${answer.status}` });
}

/** Exchanges a code. A code whose exchange was done without an answer is dead at the second attempt, with its tokens. */
export async function exchange(service: Service, ledger: Ledger, person: Person, code: string): Promise<void> {
  const tokens = await change(service, ledger, 'an exchange of a code', async (since) => {
    const answer = await answered(redeem(service, person.client, code));
    if (answer.status === 200) return answer.body as Tokens;
    assert.ok(since !== undefined && answer.body.error === 'invalid_grant', `exchange: ${JSON.stringify(answer.body)}`);
    return undefined;
  });
  if (tokens === undefined) ledger.refused++;
  else person.held.push(hold(tokens));
}

async function connect(service: Service, ledger: Ledger, person: Person): Promise<void> {
  while (liveOf(person) === undefined) {
    const code = await change(service, ledger, 'a consent', () => authorize(person.browser, person.client));
    person.granted = true;
    await exchange(service, ledger, person, code);
  }
}

async function operation(
  service: Service,
  ledger: Ledger,
  what: Operation,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
): Promise<void> {
  await change(service, ledger, what, async () => {
    const answer = await operate(service, method, path, body);
    assert.ok(answer.status === 200 || answer.status === 204, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  });
}

export async function revoke(service: Service, ledger: Ledger, person: Person): Promise<void> {
  await operation(service, ledger, 'a revocation', [
    'DELETE',
    `/users/${person.id}/connections/${person.client.clientId}`,
  ]);
  person.granted = false;
  for (const held of person.held) held.revoked = true;
}

type Act = (service: Service, ledger: Ledger, person: Person) => Promise<void>;

const acts: Readonly<Record<string, Act>> = {
  async refresh(service, ledger, person) {
    const held = liveOf(person);
    if (held !== undefined) await renew(service, ledger, person, held);
  },
  async edit(service, ledger, person) {
    const about = `${ledger.acknowledged}`;
    await operation(service, ledger, 'an edit', ['PATCH', `/users/${person.id}`, { about }]);
    person.about = about;
  },
  async read(service, ledger, person) {
    const held = liveOf(person);
    if (held === undefined) return;
    const me = await insist(
      service,
      () => answered(userinfo(service, held.access)),
      () => ledger.leaveUnanswered('a read'),
    );
    assert.equal(me.status, 200, `a live token is refused: ${JSON.stringify(me.body)}`);
  },
  revoke,
};

const ends: Readonly<Record<string, Act>> = {
  async ban(service, ledger, person) {
    await operation(service, ledger, 'a ban', ['PUT', `/users/${person.id}/ban`, {}]);
    person.standing = 'banned';
  },
  async suspend(service, ledger, person) {
    await operation(service, ledger, 'a suspension', ['PUT', `/users/${person.id}/suspension`, {}]);
    person.standing = 'suspended';
  },
  async unban(service, ledger, person) {
    await ends['ban']?.(service, ledger, person);
    await operation(service, ledger, 'the end of a ban', ['DELETE', `/users/${person.id}/ban`]);
    person.standing = 'secured';
  },
  revoke,
  async stay() {},
};

const DAYS = ['refresh', 'refresh', 'refresh', 'refresh', 'edit', 'edit', 'read', 'read', 'revoke'];

/**
 * Begins a load of so many people side by side; one that has ended is followed by another.
 * @param days how many changes a life has at most, or a few more
 */
export async function beginLoad(
  service: Service,
  ledger: Ledger,
  random: Random,
  { people, days }: { readonly people: number; readonly days: number },
): Promise<Load> {
  const clients = await newClients(service, 3);
  let stopping = false;

  async function life(): Promise<void> {
    const client = clients[random(clients.length)] as TestClient;
    const person = await signUp(service, ledger, client);
    try {
      for (let day = 3 + random(days); day > 0 && !stopping; day--) {
        await connect(service, ledger, person);
        await acts[DAYS[random(DAYS.length)] as string]?.(service, ledger, person);
        if (person.checked !== service.faults) await check(service, ledger, person);
      }
      const names = Object.keys(ends);
      if (!stopping) await ends[names[random(names.length)] as string]?.(service, ledger, person);
      ledger.ended.push(person);
    } catch (error) {
      ledger.people.splice(ledger.people.indexOf(person), 1);
      throw error;
    }
  }

  const workers = Array.from({ length: people }, async () => {
    while (!stopping && !service.givenUp) {
      await life().catch((error: unknown) => ledger.violated('a life', error));
    }
  });
  return {
    clients,
    async stop() {
      stopping = true;
      await Promise.all(workers);
    },
  };
}
