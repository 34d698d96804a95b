import type { ReadAssertion } from '../../clients/rules/assertion.ts';
import { isStrangersAddress } from '../../clients/rules/own-networks.ts';
import type { Client } from '../../clients/store.ts';
import { fetchKeys } from '../../keys/fetch-keys.ts';
import { type ClientKey, chooseKey, usableKeys } from '../../keys/rules/jwks.ts';
import { type Clock, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { BOUNDS_FOR_STRANGERS, sharedFetches } from '../../platform/http/shared-fetches.ts';

/** How long a fetched key set is used: so long a key may work after its client has removed it. */
const MAX_AGE = 5 * MINUTE;
/** An assertion with an unknown key refreshes the set before that, but at most once in this time. */
const REFRESH_PAUSE = MINUTE;
/** After a failed request, none is made for this long. */
const FAILURE_PAUSE = 10 * SECOND;
const BOUNDS = { longestBody: 64 * 1024, timeoutMs: 3 * SECOND };
const MAX_CACHED_SETS = 1000;

/** The keys of a client cannot be read from its `jwks_uri`. */
export class ClientKeysUnreadable extends Error {
  override readonly name = 'ClientKeysUnreadable';
}

/** The public keys of clients, from their registration or from their `jwks_uri`. */
export interface ClientKeys {
  /**
   * The key that an assertion names; undefined if the client has no such key.
   * @throws {ClientKeysUnreadable}
   */
  find(
    client: Pick<Client, 'jwks' | 'jwksUri' | 'registeredBy' | 'acceptedAt'>,
    named: Pick<ReadAssertion, 'alg' | 'kid'>,
  ): Promise<ClientKey | undefined>;
}

/** The results of the last requests to a `jwks_uri`. */
interface CachedSet {
  readonly keys: readonly ClientKey[];
  readonly fetchedAt: number | undefined;
  /** When the set was last refreshed while it was still fresh. */
  readonly refreshedAt: number | undefined;
  readonly failure: { readonly at: number; readonly reason: string } | undefined;
}

const NOT_FETCHED: CachedSet = { keys: [], fetchedAt: undefined, refreshedAt: undefined, failure: undefined };

/**
 * Finds the keys of clients, with a cache of the sets behind each `jwks_uri`. Apps whose addresses strangers chose have a cache and bounds of
 * their own, so that whatever they do, the keys of other apps are read as before.
 * @param listed the domains of TESSERA_CLIENT_METADATA_DOMAINS
 */
export function createClientKeys(ask: Outgoing, clock: Clock, listed: readonly string[]): ClientKeys {
  const ofOperators = createKeySets(ask, clock, 'operators');
  const ofStrangers = createKeySets((request) => ask({ ...request, publicOnly: true }), clock, 'strangers');
  return {
    async find(client, named) {
      const { jwks, jwksUri } = client;
      if (jwksUri === null) return chooseKey(usableKeys(jwks) ?? [], named.alg, named.kid);
      const isStrangers = isStrangersAddress(client, jwksUri, listed);
      return (isStrangers ? ofStrangers : ofOperators).find(jwksUri, named);
    },
  };
}

interface KeySets {
  /** @throws {ClientKeysUnreadable} */
  find(uri: string, named: Pick<ReadAssertion, 'alg' | 'kid'>): Promise<ClientKey | undefined>;
}

function createKeySets(ask: Outgoing, clock: Clock, chosenBy: 'operators' | 'strangers'): KeySets {
  const cache = new Map<string, CachedSet>();
  const fetches = sharedFetches<CachedSet>(chosenBy === 'strangers' ? BOUNDS_FOR_STRANGERS : undefined);

  function store(uri: string, set: CachedSet): CachedSet {
    cache.delete(uri);
    cache.set(uri, set);
    const [oldest] = cache.keys();
    if (cache.size > MAX_CACHED_SETS && oldest !== undefined) cache.delete(oldest);
    return set;
  }

  /** Callers that need a set while it is being fetched share the request. */
  function fetchSet(uri: string, before: CachedSet, isRefresh: boolean): Promise<CachedSet> {
    const now = clock();
    const refreshedAt = isRefresh ? now : before.refreshedAt;
    const read = () =>
      readSet(ask, uri)
        .then((keys) => store(uri, { keys, fetchedAt: now, refreshedAt, failure: undefined }))
        .catch((error: unknown) => {
          if (!(error instanceof ClientKeysUnreadable)) throw error;
          return store(uri, { ...before, refreshedAt, failure: { at: now, reason: error.message } });
        });
    const fetched = fetches.fetch(uri, read);
    if (fetched === undefined) throw new ClientKeysUnreadable('too many key sets are being fetched');
    return fetched;
  }

  const isWithin = (span: number, instant: number | undefined): boolean =>
    instant !== undefined && Math.abs(clock() - instant) < span;
  const isFresh = ({ fetchedAt }: CachedSet): boolean => isWithin(MAX_AGE, fetchedAt);

  return {
    async find(uri, { alg, kid }) {
      let set = cache.get(uri) ?? NOT_FETCHED;
      const isRefresh = isFresh(set);
      const known = isRefresh ? chooseKey(set.keys, alg, kid) : undefined;
      if (known !== undefined) return known;
      const isPaused = isRefresh ? isWithin(REFRESH_PAUSE, set.refreshedAt) : isWithin(FAILURE_PAUSE, set.failure?.at);
      if (!isPaused) set = await fetchSet(uri, set, isRefresh);
      // A set that is fresh and must not be refreshed yet tells that the key is unknown, whatever its last refresh met.
      if (set.failure !== undefined && !(isPaused && isRefresh)) throw new ClientKeysUnreadable(set.failure.reason);
      return isFresh(set) ? chooseKey(set.keys, alg, kid) : undefined;
    },
  };
}

async function readSet(ask: Outgoing, uri: string): Promise<readonly ClientKey[]> {
  const found = await fetchKeys(ask, uri, BOUNDS);
  if ('problem' in found) throw new ClientKeysUnreadable(found.problem);
  return found;
}
