import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonAnswer } from '../../test/support/flow.ts';
import { admin } from '../../test/support/flow.ts';

/** A request that the service could not answer: the connection broke, or the answer was 503. It may have been done. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly status: 503 | undefined;
  constructor(status: 503 | undefined, options?: ErrorOptions) {
    super(status === undefined ? 'the connection broke' : 'the answer was 503', options);
    this.status = status;
  }
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
}

/**
 * An answer that is one. Decisions §4: 503 says when to come again.
 * @throws {Unanswered} for any other
 */
export async function answered<T extends Answered>(sent: Promise<T>): Promise<T> {
  let answer: T;
  try {
    answer = await sent;
  } catch (error) {
    // What `fetch` throws where no whole answer came: https://fetch.spec.whatwg.org/#concept-network-error
    if (error instanceof TypeError) throw new Unanswered(undefined, { cause: error });
    throw error;
  }
  if (answer.status !== 503) return answer;
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/, '503 without Retry-After');
  throw new Unanswered(503);
}

/** A call of the admin API that the service answered. */
export const operate = (
  service: { readonly baseUrl: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<JsonAnswer> => answered(admin(service, method, path, body));

/** Whatever has callers: they come again when it can be reached. */
export interface Reachable {
  readonly baseUrl: string;
  reachable(): Promise<void>;
}

/**
 * Sends a request until it is answered, as a client does.
 * @param send gets the moment at which the first attempt without an answer began
 * @param unanswered is told of each
 */
export async function insist<T>(
  service: Reachable,
  send: (since: number | undefined) => Promise<T>,
  unanswered: () => void = () => {},
): Promise<T> {
  let since: number | undefined;
  for (;;) {
    const begun = performance.now();
    try {
      return await send(since);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      since ??= begun;
      unanswered();
      await service.reachable();
      await pause(50);
    }
  }
}
