import type { Answer, Driver } from './load.ts';
import type { Requests } from './requests.ts';
import { CLIENTS } from './setting.ts';
import type { Subject } from './subject.ts';

/**
 * Sends prepared requests in random order, repeatedly.
 * @param count the maximum number of requests
 */
export function anyOf(requests: Requests, { status = 200, count = Number.POSITIVE_INFINITY } = {}): Driver {
  let left = count;
  return {
    next: () => (left-- > 0 ? requests.at(Math.floor(Math.random() * requests.length)) : undefined),
    answered: (_connection, answer) => answer.status === status,
  };
}

/** Sends each prepared request once. */
export function eachOf(requests: Requests): Driver {
  let sent = 0;
  return {
    next: () => (sent < requests.length ? requests.at(sent++) : undefined),
    answered: (_connection, answer) => answer.status === 200,
  };
}

/**
 * Picks a random user of the connection. Each user belongs to one connection, so no token is used twice at the same time.
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

/** Refresh with rotation: each connection uses the refresh tokens of one user, one after another. */
export function following(subject: Refresher, connections: number): Driver {
  // Evenly among the people, and not of one app: a step alone may be a multiple of how many apps there are.
  const step = Math.floor(subject.sample / connections);
  return chains(subject, (connection) => connection * step + (connection % step));
}

/** The same with users who all gave the same app access. There must be {@link CLIENTS} users for each connection. */
export const followingOneClient = (subject: Refresher): Driver => chains(subject, (connection) => connection * CLIENTS);

const chains = ({ refresh, refreshed }: Refresher, whoOf: (connection: number) => number): Driver => ({
  next: (connection) => refresh(whoOf(connection)),
  answered: (connection, answer) => refreshed(whoOf(connection), answer),
});

/** The same with a random user for each request. */
export function refreshing(subject: Refresher, connections: number): Driver {
  const { next, whoOf } = people(subject.sample, connections, subject.refresh);
  return { next, answered: (connection, answer) => subject.refreshed(whoOf(connection), answer) };
}

/** Authorization requests of signed-in users with remembered consent. @param exchanges receives the token requests for the codes */
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

/** Password sign-ins. Each returns a session and a redirect. */
export const signingIn = (next: (browser: number) => string): Driver => ({
  next,
  answered: (_connection, { status, head }: Answer) => status === 303 && /\r\nset-cookie: [^\r]*session=/i.test(head),
});
