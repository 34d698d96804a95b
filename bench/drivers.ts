import type { Answer, Driver } from './load.ts';
import type { Requests } from './requests.ts';
import type { Subject } from './subject.ts';

/**
 * Requests that were written before, picked at random, over and over.
 * @param count how many are sent at the most
 */
export function anyOf(requests: Requests, { status = 200, count = Number.POSITIVE_INFINITY } = {}): Driver {
  let left = count;
  return {
    next: () => (left-- > 0 ? requests.at(Math.floor(Math.random() * requests.length)) : undefined),
    answered: (_connection, answer) => answer.status === status,
  };
}

/** Requests that were written before, each sent once, until there are no more. */
export function eachOf(requests: Requests): Driver {
  let sent = 0;
  return {
    next: () => (sent < requests.length ? requests.at(sent++) : undefined),
    answered: (_connection, answer) => answer.status === 200,
  };
}

/**
 * A connection's people one at a time, picked at random; each person belongs to one connection alone, so nobody's token is used
 * twice at once.
 */
function people(sample: number, connections: number, request: (person: number) => string) {
  const own = Math.max(1, Math.floor(sample / connections));
  const current: number[] = [];
  return {
    whoOf: (connection: number) => current[connection] ?? 0,
    next(connection: number) {
      const person = connection + connections * Math.floor(Math.random() * own);
      current[connection] = person;
      return request(person);
    },
  };
}

type Refresher = Pick<Subject, 'sample' | 'refresh' | 'refreshed'>;

/** Refresh with rotation: each connection follows the chain of one person, from token to token. */
export function following({ sample, refresh, refreshed }: Refresher, connections: number): Driver {
  // Evenly among the people, and not of one app: a step alone may be a multiple of how many apps there are.
  const step = Math.floor(sample / connections);
  const whoOf = (connection: number) => connection * step + (connection % step);
  return {
    next: (connection) => refresh(whoOf(connection)),
    answered: (connection, answer) => refreshed(whoOf(connection), answer),
  };
}

/** The same with another person's chain each time. */
export function refreshing(subject: Refresher, connections: number): Driver {
  const { next, whoOf } = people(subject.sample, connections, subject.refresh);
  return { next, answered: (connection, answer) => subject.refreshed(whoOf(connection), answer) };
}

/** The redirect for people who are signed in and gave their consent before. @param exchanges takes what redeems the codes */
export function authorizing(subject: Subject, connections: number, exchanges: string[]): Driver {
  const { next, whoOf } = people(subject.sessions, connections, subject.authorize);
  return {
    next,
    answered(connection, answer) {
      const exchange = subject.exchange(whoOf(connection), answer);
      if (exchange !== undefined) exchanges.push(exchange);
      return exchange !== undefined;
    },
  };
}

/** Sign-ins with a password, which end with a session and another address. */
export const signingIn = (next: (browser: number) => string): Driver => ({
  next,
  answered: (_connection, { status, head }: Answer) => status === 303 && /\r\nset-cookie: [^\r]*session=/i.test(head),
});
