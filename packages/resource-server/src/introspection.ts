/** The response to an introspection: RFC 7662 §2.2. */
export interface IntrospectedToken {
  readonly active: boolean;
  readonly iss?: string;
  readonly sub?: string;
  readonly client_id?: string;
  readonly scope?: string;
  readonly aud?: string | readonly string[];
  readonly exp?: number;
  readonly token_type?: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
  /** In seconds. */
  readonly auth_time?: number;
  readonly [claim: string]: unknown;
}

/** The authorization server gave no usable answer, so nothing is known of the token. The message is for the log. */
export class IntrospectionFailed extends Error {
  override readonly name = 'IntrospectionFailed';
}

/** Introspects a token. */
export type Introspect = (token: string) => Promise<IntrospectedToken>;

export interface IntrospectionSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
}

/** Introspects tokens by the endpoint that the discovery document names, which is read once. */
export function introspection({ issuer, clientId, clientSecret, timeoutMs, fetch }: IntrospectionSettings): Introspect {
  // RFC 6749 §2.3.1: both parts are form-encoded before they are put together.
  const credentials = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
  let endpoint: Promise<string> | undefined;

  async function ask(url: string, options: RequestInit): Promise<unknown> {
    try {
      const response = await fetch(url, { ...options, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      if (response.status === 200) return await response.json();
      throw new Error(`the answer was ${response.status}`);
    } catch (error) {
      throw new IntrospectionFailed(`${url}: ${error instanceof Error ? error.message : error}`);
    }
  }

  async function discover(): Promise<string> {
    const metadata = await ask(`${issuer}/.well-known/openid-configuration`, {});
    const found = metadata as { readonly issuer?: unknown; readonly introspection_endpoint?: unknown } | null;
    // RFC 8414 §3.3.
    if (found?.issuer !== issuer) throw new IntrospectionFailed(`${issuer} is not the issuer of its own metadata`);
    if (typeof found.introspection_endpoint !== 'string') throw new IntrospectionFailed('no introspection_endpoint');
    return found.introspection_endpoint;
  }

  return async (token) => {
    endpoint ??= discover().catch((error) => {
      endpoint = undefined;
      throw error;
    });
    const answer = await ask(await endpoint, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ token }),
    });
    if (typeof answer !== 'object' || answer === null || !('active' in answer) || typeof answer.active !== 'boolean') {
      throw new IntrospectionFailed('the answer is no introspection response');
    }
    return answer as IntrospectedToken;
  };
}

/**
 * Shares introspections of the same token without weakening revocation: a caller gets the answer to a request that was sent after the
 * caller had come. So at most one request for a token is under way, and one waits behind it for all who came meanwhile.
 */
export function coalesced(introspect: Introspect): Introspect {
  const underWay = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<IntrospectedToken>>();

  function send(token: string): Promise<IntrospectedToken> {
    const request = introspect(token);
    const ended = request
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        if (underWay.get(token) === ended) underWay.delete(token);
      });
    underWay.set(token, ended);
    return request;
  }

  return (token) => {
    const before = underWay.get(token);
    if (before === undefined) return send(token);
    const joined = waiting.get(token);
    if (joined !== undefined) return joined;
    const next = before.then(() => {
      waiting.delete(token);
      return send(token);
    });
    waiting.set(token, next);
    return next;
  };
}
