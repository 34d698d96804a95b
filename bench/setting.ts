/** What the load and all that it meets agree on. It imports nothing: the peer's memory is its own. */

/** The address by which everybody is called, wherever they listen. */
export const BASE_URL = 'http://localhost:8080';
export const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'openid email';
export const PASSWORD = 'correct horse battery staple';

/** Load is spread over so many clients, as it would be: what counts for a client counts for each of them. */
export const CLIENTS = 100;

export interface Spread {
  /** How many of the people are asked for. */
  readonly sample: number;
  /** How many of those are signed in in a browser. */
  readonly sessions: number;
  /** Which of all people one of the sample is: they lie evenly among them. */
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
