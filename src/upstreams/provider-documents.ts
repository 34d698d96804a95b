import type { AuthorizationServer } from 'oauth4webapi';
import { fetchKeys } from '../keys/fetch-keys.ts';
import { ASSERTION_ALGS, type AssertionAlg, type ClientKey, chooseKey } from '../keys/rules/jwks.ts';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import { guardedFetch, quoted, RESPONSE_TIMEOUT, reasonOf } from './guarded-fetch.ts';
import { KeptCopies } from './kept-copy.ts';
import { UpstreamRefusal } from './refusal.ts';
import { metadataIssuerOf } from './rules/issuer.ts';

const METADATA = { fresh: HOUR, usable: DAY, pause: 30 * SECOND };
/** So long a key may work after its owner has removed it. */
const KEYS = { fresh: 10 * MINUTE, usable: 10 * MINUTE, pause: MINUTE };

const LONGEST_METADATA = 128 * 1024;
const KEY_BOUNDS = { longestBody: 128 * 1024, timeoutMs: RESPONSE_TIMEOUT };

/** What a provider says of itself, with the endpoints that a sign-in needs. */
export interface ProviderMetadata extends AuthorizationServer {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
}

/** The metadata and the keys of OpenID Providers, with copies of what was fetched in this process. */
export interface ProviderDocuments {
  /** @throws {UpstreamRefusal} */
  metadata(issuer: string): Promise<ProviderMetadata>;
  /**
   * The key that a token names; undefined where the provider has none such. An unknown one makes it fetch the keys again.
   * @throws {UpstreamRefusal}
   */
  key(metadata: ProviderMetadata, alg: AssertionAlg, kid: string | undefined): Promise<ClientKey | undefined>;
  /**
   * How many keys can verify tokens.
   * @throws {UpstreamRefusal}
   */
  usableKeys(metadata: ProviderMetadata): Promise<number>;
}

/** @param local whether this installation runs on a developer's machine, where `http` is allowed */
export function createProviderDocuments(ask: Outgoing, clock: Clock, local: boolean): ProviderDocuments {
  const metadata = new KeptCopies((issuer) => readMetadata(ask, issuer, local), clock, METADATA);
  const keySets = new KeptCopies((uri) => readKeys(ask, uri), clock, KEYS);
  return {
    metadata: (issuer) => metadata.get(issuer),
    async key({ jwks_uri: uri }, alg, kid) {
      const known = chooseKey(await keySets.get(uri), alg, kid);
      return known ?? chooseKey(await keySets.get(uri, true), alg, kid);
    },
    usableKeys: async ({ jwks_uri: uri }) => (await keySets.get(uri)).length,
  };
}

async function readMetadata(ask: Outgoing, issuer: string, local: boolean): Promise<ProviderMetadata> {
  const oauth = await import('oauth4webapi');
  const refuse = (reason: string): UpstreamRefusal => new UpstreamRefusal('metadata', `The metadata: ${reason}.`);
  const expected = metadataIssuerOf(issuer);
  let found: AuthorizationServer;
  try {
    const options = {
      [oauth.customFetch]: guardedFetch(ask, LONGEST_METADATA),
      [oauth.allowInsecureRequests]: local,
    };
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, options);
    if (response.status !== 200) throw refuse(otherStatus(issuer, response.status));
    const named = await issuerIn(response.clone());
    // OpenID Connect Discovery 1.0 §4.3: exactly. The library compares URLs, of which several are written differently.
    if (named !== undefined && named !== expected) throw refuse(otherIssuer(named, expected));
    found = await oauth.processDiscoveryResponse(new URL(expected), response);
  } catch (error) {
    throw error instanceof UpstreamRefusal ? error : refuse(await reasonOf(error));
  }
  const endpoint = (name: 'authorization_endpoint' | 'token_endpoint' | 'jwks_uri'): string => {
    const value: unknown = found[name];
    if (typeof value !== 'string' || !isEndpoint(value, local)) throw refuse(`${name} must be an https URL`);
    return value;
  };
  requireSupport(found, refuse);
  return {
    ...found,
    authorization_endpoint: endpoint('authorization_endpoint'),
    token_endpoint: endpoint('token_endpoint'),
    jwks_uri: endpoint('jwks_uri'),
  };
}

/** The issuer in a discovery document; undefined where it has none, which the library refuses. */
async function issuerIn(response: Response): Promise<string | undefined> {
  const document: unknown = await response.json().catch(() => undefined);
  const isNamed = typeof document === 'object' && document !== null && 'issuer' in document;
  return isNamed && typeof document.issuer === 'string' ? document.issuer : undefined;
}

const otherStatus = (issuer: string, status: number): string =>
  `${quoted(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)} answered with the status ${status}, not 200. Check the issuer: it is the URL to which the provider adds this path`;

const otherIssuer = (named: string, expected: string): string =>
  `it names the issuer ${quoted(named)}, and ${JSON.stringify(expected)} is configured here. If it is the right provider, register the issuer as it is named there`;

/** Lists that are left out have defaults that suffice (OpenID Connect Discovery 1.0 §3). */
function requireSupport(found: AuthorizationServer, refuse: (reason: string) => UpstreamRefusal): void {
  const lists = (value: unknown, ...some: readonly string[]): boolean =>
    value === undefined || (Array.isArray(value) && some.some((one) => value.includes(one)));
  if (!lists(found.response_types_supported, 'code')) throw refuse('response_types_supported must have code');
  if (!lists(found['id_token_signing_alg_values_supported'], ...ASSERTION_ALGS)) {
    throw refuse(`id_token_signing_alg_values_supported must have one of ${ASSERTION_ALGS.join(', ')}`);
  }
  const methods = ['client_secret_basic', 'client_secret_post', 'none'];
  if (!lists(found.token_endpoint_auth_methods_supported, ...methods)) {
    throw refuse(`token_endpoint_auth_methods_supported must have one of ${methods.join(', ')}`);
  }
}

function isEndpoint(value: string, local: boolean): boolean {
  const url = URL.parse(value);
  const isAllowed = url?.protocol === 'https:' || (local && url?.protocol === 'http:');
  return url !== null && isAllowed && url.username === '' && url.password === '' && url.hash === '';
}

async function readKeys(ask: Outgoing, uri: string): Promise<readonly ClientKey[]> {
  const found = await fetchKeys(ask, uri, KEY_BOUNDS);
  if ('problem' in found) throw new UpstreamRefusal('keys', `The keys: ${found.problem}.`);
  return found;
}
