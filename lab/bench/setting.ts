/** Constants shared by the load generator and the servers. Imports nothing, so that the peer's process loads nothing of ours. */

/** The base URL of every server, wherever it listens. */
export const BASE_URL = 'http://localhost:8080';
export const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'openid email';
export const PASSWORD = 'correct horse battery staple';

/** The load is spread over this many clients, because limits and counters are per client. */
export const CLIENTS = 100;

export interface Spread {
  /** How many of the users get requests. */
  readonly sample: number;
  /** How many of those have a browser session. */
  readonly sessions: number;
  /** The index of a sampled user among all users; the sample is evenly spread. */
  numberOf(person: number): number;
}

export function spread(people: number): Spread {
  const sample = Math.min(100_000, people);
  const sessions = Math.min(10_000, sample);
  return { sample, sessions, numberOf: (person) => Math.floor((person * people) / sample) };
}

export const authorizationQuery = (clientId: string): string =>
  new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: 'af0ifjsldkj',
    nonce: 'n-0S6_WzA2Mj',
  }).toString();
