import { type Clock, MINUTE, SECOND } from '../../platform/clock.ts';
import { type Outgoing, OutgoingFailed } from '../../platform/http/outgoing.ts';
import type { ReadAssertion } from '../rules/assertion.ts';
import { type ClientKey, chooseKey, usableKeys } from '../rules/jwks.ts';
import type { Client } from '../store.ts';

/** How long a set that was fetched is used: a key that a client took out of it is good for nothing after that. */
const KEYS_MAX_AGE = 5 * MINUTE;
/** An assertion with an unknown key fetches the set again before its time, but not more often than this. */
const UNKNOWN_KEY_PAUSE = MINUTE;
/** After a failure, this long nobody asks again. */
const FAILURE_PAUSE = 10 * SECOND;
const TIMEOUT = 3 * SECOND;
const LONGEST_SET = 64 * 1024;
/** Clients whose fetched sets are kept at a time. */
const MOST_SETS = 1000;

/** The keys of a client could not be read where its registration says that they are. */
export class ClientKeysUnreadable extends Error {
  override readonly name = 'ClientKeysUnreadable';
}

/** The public keys of clients, from their registration or from where it says. */
export interface ClientKeys {
  /**
   * The key that an assertion names, or undefined where the client has no such key.
   * @throws {ClientKeysUnreadable}
   */
  find(
    client: Pick<Client, 'jwks' | 'jwksUri'>,
    named: Pick<ReadAssertion, 'alg' | 'kid'>,
  ): Promise<ClientKey | undefined>;
}

/** What came of the last requests to one address. */
interface Fetched {
  readonly keys: readonly ClientKey[];
  readonly readAt: number | undefined;
  /** When a set was last asked for before its time. */
  readonly forcedAt: number | undefined;
  readonly failure: { readonly at: number; readonly reason: string } | undefined;
}

const NOTHING: Fetched = { keys: [], readAt: undefined, forcedAt: undefined, failure: undefined };

/**
 * Finds keys of clients. Sets behind a `jwks_uri` are kept for a while by each node; whoever sends assertions can make it
 * ask for a set once a minute beyond that, and no more often.
 */
export function createClientKeys(ask: Outgoing, clock: Clock): ClientKeys {
  const kept = new Map<string, Fetched>();
  const running = new Map<string, Promise<Fetched>>();

  function keep(uri: string, fetched: Fetched): Fetched {
    kept.delete(uri);
    kept.set(uri, fetched);
    const [oldest] = kept.keys();
    if (kept.size > MOST_SETS && oldest !== undefined) kept.delete(oldest);
    return fetched;
  }

  /** One request at a time for an address, whoever waits for it. */
  function fetchSet(uri: string, before: Fetched, forced: boolean): Promise<Fetched> {
    const started = running.get(uri);
    if (started !== undefined) return started;
    const now = clock();
    const forcedAt = forced ? now : before.forcedAt;
    const fetching = readSet(ask, uri)
      .then((keys) => keep(uri, { keys, readAt: now, forcedAt, failure: undefined }))
      .catch((error: unknown) => {
        if (!(error instanceof ClientKeysUnreadable)) throw error;
        return keep(uri, { ...before, forcedAt, failure: { at: now, reason: error.message } });
      })
      .finally(() => running.delete(uri));
    running.set(uri, fetching);
    return fetching;
  }

  const isWithin = (span: number, instant: number | undefined): boolean =>
    instant !== undefined && Math.abs(clock() - instant) < span;
  const isFresh = ({ readAt }: Fetched): boolean => isWithin(KEYS_MAX_AGE, readAt);

  return {
    async find({ jwks, jwksUri }, { alg, kid }) {
      if (jwksUri === null) return chooseKey(usableKeys(jwks) ?? [], alg, kid);
      let fetched = kept.get(jwksUri) ?? NOTHING;
      const known = isFresh(fetched) ? chooseKey(fetched.keys, alg, kid) : undefined;
      if (known !== undefined) return known;
      const forced = isFresh(fetched);
      const paused = forced
        ? isWithin(UNKNOWN_KEY_PAUSE, fetched.forcedAt)
        : isWithin(FAILURE_PAUSE, fetched.failure?.at);
      if (!paused) fetched = await fetchSet(jwksUri, fetched, forced);
      if (fetched.failure !== undefined && !(paused && forced)) throw new ClientKeysUnreadable(fetched.failure.reason);
      return isFresh(fetched) ? chooseKey(fetched.keys, alg, kid) : undefined;
    },
  };
}

async function readSet(ask: Outgoing, uri: string): Promise<readonly ClientKey[]> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  const answer = await ask({ method: 'GET', url: uri, headers, longestBody: LONGEST_SET, timeoutMs: TIMEOUT }).catch(
    (error: unknown) => {
      throw error instanceof OutgoingFailed ? new ClientKeysUnreadable(error.message) : error;
    },
  );
  if (answer.status !== 200) throw new ClientKeysUnreadable(`the answer had the status ${answer.status}`);
  const keys = usableKeys(parse(answer.body));
  if (keys === undefined) throw new ClientKeysUnreadable('the answer is no JSON Web Key Set of at most 20 keys');
  return keys;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
