import { coalesced, type IntrospectedToken, IntrospectionFailed, introspection } from './introspection.ts';

export interface ResourceServerOptions {
  /** The base URL of the authorization server, exactly as its discovery document names it. */
  readonly issuer: string;
  /** The identifier of this API, as it is registered: RFC 8707. */
  readonly resource: string;
  /** The credentials of this API's registration, for introspection. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The scopes that the metadata of this API lists. */
  readonly scopes?: readonly string[];
  /** What people call this API. */
  readonly resourceName?: string;
  /** How long an introspection may take, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number;
  /** Is told why a token could not be introspected; the caller of the API is not. */
  readonly onFailure?: (error: Error) => void;
  readonly fetch?: typeof globalThis.fetch;
}

/** What an operation of the API requires. */
export interface Requirement {
  /** Every one of these scopes. */
  readonly scopes?: readonly string[];
  /** RFC 9470: one of these classes of authentication. */
  readonly acrValues?: readonly string[];
  /** RFC 9470: a sign-in at most this many seconds ago. */
  readonly maxAge?: number;
}

/** Whoever calls, by a token that is valid now. */
export interface Caller extends IntrospectedToken {
  readonly sub: string;
  readonly scopes: ReadonlySet<string>;
}

/** How a request is refused: RFC 6750 §3. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  /** Absent where the request had no token. */
  readonly error?:
    | 'invalid_token'
    | 'insufficient_scope'
    | 'insufficient_user_authentication'
    | 'temporarily_unavailable';
  readonly headers: Readonly<Record<string, string>>;
}

/** An API that accepts access tokens. */
export interface ResourceServer {
  /** Judges a request by its Authorization header. */
  check(authorization: string | null | undefined, requirement?: Requirement): Promise<Caller | Refusal>;
  /** RFC 9728 §2. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The paths of the metadata: with the path of the resource, and without, where some clients look. */
  readonly metadataPaths: readonly string[];
}

const NO_STORE = { 'cache-control': 'no-store' } as const;
const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i;

export function createResourceServer(options: ResourceServerOptions): ResourceServer {
  const { issuer, resource, scopes, resourceName, timeoutMs = 5000, fetch = globalThis.fetch } = options;
  const { origin, pathname } = new URL(resource);
  const path = pathname === '/' ? '' : pathname;
  const metadataUrl = `${origin}/.well-known/oauth-protected-resource${path}`;
  const introspect = coalesced(introspection({ ...options, timeoutMs, fetch }));

  const challenged = (
    status: 401 | 403,
    error?: Refusal['error'],
    more: Readonly<Record<string, string>> = {},
  ): Refusal => {
    const parts = { ...(error && { error }), ...more, resource_metadata: metadataUrl };
    const text = Object.entries(parts).map(([name, value]) => `${name}="${value}"`);
    return {
      status,
      ...(error && { error }),
      headers: { ...NO_STORE, 'www-authenticate': `Bearer ${text.join(', ')}` },
    };
  };

  async function check(
    authorization: string | null | undefined,
    requirement: Requirement = {},
  ): Promise<Caller | Refusal> {
    const { scopes: required = [], acrValues, maxAge } = requirement;
    const scope = required.length === 0 ? {} : { scope: required.join(' ') };
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) return challenged(401, undefined, scope);
    let found: IntrospectedToken;
    try {
      found = await introspect(token);
    } catch (error) {
      if (!(error instanceof IntrospectionFailed)) throw error;
      options.onFailure?.(error);
      return { status: 503, error: 'temporarily_unavailable', headers: { ...NO_STORE, 'retry-after': '5' } };
    }
    const audience = typeof found.aud === 'string' ? [found.aud] : (found.aud ?? []);
    // A refresh token has no token_type.
    const isForThis =
      found.active && found.token_type === 'Bearer' && found.iss === issuer && audience.includes(resource);
    if (!isForThis || typeof found.sub !== 'string') return challenged(401, 'invalid_token', scope);
    const granted = new Set(found.scope?.split(' ') ?? []);
    if (!required.every((name) => granted.has(name))) return challenged(403, 'insufficient_scope', scope);
    const isStrong = acrValues === undefined || (found.acr !== undefined && acrValues.includes(found.acr));
    const isRecent =
      maxAge === undefined || (found.auth_time !== undefined && Date.now() / 1000 - found.auth_time <= maxAge);
    if (!isStrong || !isRecent) {
      return challenged(401, 'insufficient_user_authentication', {
        ...(acrValues !== undefined && { acr_values: acrValues.join(' ') }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
      });
    }
    return { ...found, sub: found.sub, scopes: granted };
  }

  return {
    check,
    metadata: {
      resource,
      authorization_servers: [issuer],
      ...(scopes !== undefined && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      ...(resourceName !== undefined && { resource_name: resourceName }),
    },
    metadataPaths: [
      ...new Set([`/.well-known/oauth-protected-resource${path}`, '/.well-known/oauth-protected-resource']),
    ],
  };
}

/** Whether a request is refused. */
export const isRefusal = (result: Caller | Refusal): result is Refusal => 'headers' in result && 'status' in result;

/** The body of a refusal. */
export const bodyOf = ({ error }: Refusal): { readonly error: string } => ({ error: error ?? 'missing_token' });

/** The headers of the metadata: any page may read it. */
export const METADATA_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=3600',
  'access-control-allow-origin': '*',
} as const;
