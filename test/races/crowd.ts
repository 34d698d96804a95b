import assert from 'node:assert/strict';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import { isBusy } from '../support/busy.ts';
import {
  authorizeUrl,
  codeFor,
  type JsonAnswer,
  redeem,
  refresh,
  type TestClient,
  type TestUser,
  type Tokens,
  userinfo,
} from '../support/flow.ts';
import type { TestServer } from '../support/server.ts';
import { WHOLE } from '../support/whole.ts';

/** A sample has several times as many as there are connections. */
const MOST = WHOLE ? 100 : 40;

/** How many requests run side by side. */
export const SIZES = [2, 10, MOST] as const;

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Where among the requests of a crowd the event that they race with is sent. */
export const PLACES = { first: 0, amid: 0.5, last: 1 } as const;

export interface Race<E> {
  /** Answered by when everything has come back. */
  readonly event: E;
  /** What was checked in the very moment at which the event's call had returned, the crowd perhaps still under way. */
  readonly atOnce: JsonAnswer;
}

/**
 * Sends a crowd of requests with an event among them, all before any is answered.
 * @param look a request that is sent the moment that the event's call returns
 */
export async function race<E>(
  crowd: readonly (() => Promise<unknown>)[],
  place: number,
  event: () => Promise<E>,
  look: () => Promise<JsonAnswer>,
): Promise<Race<E>> {
  const turn = Math.round(crowd.length * place);
  const before = crowd.slice(0, turn).map((send) => send());
  const happening = event().then(async (done) => ({ event: done, atOnce: await look() }));
  const after = crowd.slice(turn).map((send) => send());
  await Promise.all([...before, ...after]);
  return happening;
}

/** Sends a request, and once more as long as a busy machine keeps it from being answered: nothing was done. */
export async function answered<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503 || !isBusy()) return answer;
  }
}

/**
 * No answer is a fault of the server's: neither 500 nor 503. Where the machine is too busy for the database to answer in time, 503 is no
 * fault: it promises that nothing was done, and what the test asserts besides has to hold with it.
 */
export function noFault(answers: readonly { readonly status: number; readonly body?: unknown }[]): void {
  const mayRefuse = isBusy();
  assert.deepEqual(
    answers
      .filter(({ status }) => status >= 500 && !(mayRefuse && status === 503))
      .map(({ status, body }) => `${status} ${typeof body === 'object' ? JSON.stringify(body) : ''}`),
    [],
    'answers of 500 and above',
  );
}

/** How often each answer came: `200`, or the status with its error. */
export function tally(answers: readonly JsonAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status === 200 ? '200' : `${status} ${body.error}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The tokens of the answers that gave some. */
export const won = (answers: readonly JsonAnswer[]): Tokens[] =>
  answers.filter(({ status }) => status === 200).map(({ body }) => body as Tokens);

/** What comes before a race, a few at a time: a crowd that waits for one row is for the race itself. */
async function inTurns<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) {
    const turn = Math.min(10, count - made.length);
    made.push(...(await Promise.all(Array.from({ length: turn }, (_, n) => make(made.length + n)))));
  }
  return made;
}

/** As many codes as asked for, by one consent. */
export async function codesFor(
  server: TestServer,
  client: TestClient,
  user: TestUser,
  browser: Agent,
  count: number,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const first = await codeFor(server, client, user, parameters, { browser });
  return [first, ...(await inTurns(count - 1, () => codeFor(server, client, user, parameters, { browser })))];
}

/** As many token families as asked for, by one consent. */
export async function familiesFor(
  server: TestServer,
  client: TestClient,
  user: TestUser,
  browser: Agent,
  count: number,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Tokens[]> {
  const codes = await codesFor(server, client, user, browser, count, parameters);
  const families = won(await inTurns(count, (n) => redeem(server, client, codes[n] ?? '')));
  assert.equal(families.length, count);
  return families;
}

/** Consent pages of one browser, each with a request of its own behind it. */
export async function consentPages(
  browser: Agent,
  client: TestClient,
  count: number,
  scope = 'openid email',
): Promise<Answer[]> {
  return inTurns(count, async () => {
    const asked = await browser.get(authorizeUrl(client, { scope, prompt: 'consent' }));
    assert.equal(asked.location?.pathname, '/consent');
    return browser.get(asked.location.href);
  });
}

export const allow = (browser: Agent, page: Answer): Promise<Answer> =>
  browser.submit(page, { decision: 'allow', 'allow email': 'on' }, '/consent');

/** The code that a redirect to the client carries, if it does. */
export const codeOf = (answer: Answer): string | undefined => answer.location?.searchParams.get('code') ?? undefined;

/** A page's form, ready to be sent at once. */
export function ready(browser: Agent, page: Answer, action: string, fields: Readonly<Record<string, string>>) {
  const form = formOf(page.text, action);
  return () => browser.post(form.action, { ...form.hidden, ...fields });
}

export interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly description?: string;
}

export const REVOKED: Refusal = { status: 403, error: 'access_denied', description: 'Access revoked by user' };

/** No token of any of these works anywhere: UserInfo and the token endpoint refuse it in this way. */
export async function allRefused(
  server: TestServer,
  client: TestClient,
  families: readonly Tokens[],
  atUserInfo: Refusal,
  atRefresh: Refusal,
): Promise<void> {
  const [seen, refreshed] = await Promise.all([
    Promise.all(families.map(({ access_token }) => userinfo(server, access_token))),
    Promise.all(families.map(({ refresh_token }) => refresh(server, client, refresh_token))),
  ]);
  for (const answer of seen) refused(answer, atUserInfo);
  for (const answer of refreshed) refused(answer, atRefresh);
}

export function refused({ status, body }: JsonAnswer, { error, description, ...expected }: Refusal): void {
  assert.deepEqual(
    { status, error: body.error, description: description && body.error_description },
    { status: expected.status, error, description },
  );
}
