import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Agent } from '../../test/support/agent.ts';
import {
  authorizeUrl,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type TestClient,
  tokensFor,
  userinfo,
} from '../../test/support/flow.ts';
import type { TestServer } from '../../test/support/server.ts';

/** A request that was not answered as it must be. */
export interface Failure {
  readonly at: string;
  readonly request: string;
  /** What came instead, and from which node. */
  readonly found: string;
}

/** What was sent and what failed. */
export interface Counts {
  readonly requests: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
  /** The time that answers took, in milliseconds: the median and the 99th percentile. */
  readonly median: number;
  readonly p99: number;
  /** Requests a second. */
  readonly rate: number;
}

/** A person with an app, whose requests follow one after the other. */
interface Person {
  readonly client: TestClient;
  readonly browser: Agent;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly revokedToken: string;
  access: string;
  renewal: string;
}

/** Makes people with everything that the load needs. */
export async function makePeople(server: TestServer, size: number): Promise<Person[]> {
  const [client, other] = [await newClient(server), await newClient(server)];
  const people: Person[] = [];
  for (let n = 0; n < size; n++) {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const revoked = await tokensFor(server, other, user, {}, { browser });
    await revokeOnPage(browser, other);
    const tokens = await tokensFor(server, client, user, {}, { browser });
    const { body } = await userinfo(server, tokens.access_token);
    people.push({
      client,
      browser,
      profile: body,
      revokedToken: revoked.access_token,
      access: tokens.access_token,
      renewal: tokens.refresh_token,
    });
  }
  return people;
}

const MIX = ['userinfo', 'userinfo', 'userinfo', 'refresh', 'userinfo', 'revoked', 'userinfo', 'exchange'] as const;

/** A load that goes on until it is stopped. */
export interface Load {
  sent(): number;
  stop(): Promise<Counts>;
}

/** Sends requests at a rate. None is sent again. */
export function startLoad(server: TestServer, people: readonly Person[], rate: number): Load {
  const requests: Record<string, number> = {};
  const failures: Failure[] = [];
  const times: number[] = [];
  const idle = [...people];
  const began = performance.now();
  let stopped = false;
  let total = 0;

  async function ask<T>(
    name: string,
    send: () => Promise<T>,
    problem: (answer: T) => string | undefined,
  ): Promise<T | undefined> {
    const since = performance.now();
    requests[name] = (requests[name] ?? 0) + 1;
    total++;
    let found: string | undefined;
    try {
      const answer = await send();
      times.push(performance.now() - since);
      found = problem(answer);
      if (found === undefined) return answer;
    } catch (error) {
      found = `no answer: ${String(error)} ${error instanceof Error ? String(error.cause ?? '') : ''}`;
    }
    failures.push({ at: new Date().toISOString(), request: name, found });
    return undefined;
  }

  const expect =
    (status: number) =>
    ({ status: found, headers, body }: JsonAnswer): string | undefined =>
      found === status ? undefined : describe(found, headers, JSON.stringify(body));

  async function act(person: Person, kind: (typeof MIX)[number]): Promise<void> {
    const { client, browser } = person;
    if (kind === 'userinfo') {
      await ask(
        'UserInfo',
        () => userinfo(server, person.access),
        (answer) => {
          const wrong = expect(200)(answer);
          if (wrong !== undefined) return wrong;
          const shared = Object.keys(person.profile).filter((name) => name in answer.body);
          const same =
            shared.length > 0 && shared.every((name) => isDeepStrictEqual(answer.body[name], person.profile[name]));
          return same ? undefined : `of another person: ${JSON.stringify(answer.body)}`;
        },
      );
    } else if (kind === 'revoked') {
      await ask('UserInfo with a revoked token', () => userinfo(server, person.revokedToken), expect(403));
    } else if (kind === 'refresh') {
      const answer = await ask('refresh', () => refresh(server, client, person.renewal), expect(200));
      if (answer !== undefined) hold(person, answer);
    } else {
      const redirect = await ask(
        'authorization',
        () => browser.get(authorizeUrl(client)),
        ({ status, headers, location, text }) =>
          location?.searchParams.has('code') ? undefined : describe(status, headers, text.slice(0, 300)),
      );
      const code = redirect?.location?.searchParams.get('code');
      if (code === null || code === undefined) return;
      const answer = await ask('code exchange', () => redeem(server, client, code), expect(200));
      if (answer !== undefined) hold(person, answer);
    }
  }

  const acting = new Set<Promise<void>>();
  async function run(): Promise<void> {
    for (let turn = 0; !stopped; turn++) {
      await wait(Math.max(0, began + (total * 1000) / rate - performance.now()));
      const person = idle.shift();
      if (person === undefined) {
        turn--;
        await wait(1);
        continue;
      }
      const acted = act(person, MIX[turn % MIX.length] ?? 'userinfo').then(() => {
        idle.push(person);
        acting.delete(acted);
      });
      acting.add(acted);
    }
  }
  const running = run();

  return {
    sent: () => total,
    async stop() {
      stopped = true;
      await running;
      await Promise.all(acting);
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
      const seconds = (performance.now() - began) / 1000;
      return { requests, failures, median: at(0.5), p99: at(0.99), rate: total / seconds };
    },
  };
}

function hold(person: Person, { body }: JsonAnswer): void {
  person.access = body.access_token;
  person.renewal = body.refresh_token;
}

const describe = (status: number, headers: Headers, text: string): string =>
  `${status} from ${headers.get('x-node') ?? 'the proxy'} ${headers.get('x-proxy-failure') ?? ''} ${text}`;
