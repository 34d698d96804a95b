import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, type JWTVerifyResult, jwtVerify } from 'jose';
import type { TestServer } from './server.ts';

/** What came to a receiver. */
export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly contentType: string | undefined;
  readonly traceparent: string | undefined;
  readonly body: string;
}

/** An app's back-channel logout address, on a real server. */
export interface Receiver {
  readonly uri: string;
  readonly received: readonly Received[];
  /** How the next requests are answered, one after the other; after these with 200. `hang`: never. `cut`: not at all. */
  answer(...answers: (number | 'hang' | 'cut')[]): void;
  /** Settles when another request has come. */
  next(): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: (number | 'hang' | 'cut')[] = [];
  let arrived = Promise.withResolvers<void>();
  async function take(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    const traceparent = [headers['traceparent']].flat()[0];
    received.push({ method, url, contentType: headers['content-type'], traceparent, body });
    const answer = answers.shift() ?? 200;
    if (answer === 'cut') request.socket.destroy();
    else if (answer !== 'hang') reply.writeHead(answer, { location: '/elsewhere' }).end();
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
  }
  const server = createServer((request, reply) => void take(request, reply));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/backchannel?tenant=7`,
    received,
    answer: (...more) => void answers.push(...more),
    next: () => arrived.promise,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The logout token of a request, as it was sent. */
export function tokenOf(received: Received | undefined): string {
  const token = new URLSearchParams(received?.body ?? '').get('logout_token');
  assert.ok(token !== null, JSON.stringify(received));
  return token;
}

/** Verifies a logout token as an app does: OpenID Connect Back-Channel Logout 1.0 §2.6. */
export async function verifyLogoutToken(
  server: TestServer,
  token: string,
  { clientId, alg }: { readonly clientId: string; readonly alg: string },
): Promise<JWTVerifyResult> {
  const keys = await (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json();
  return jwtVerify(token, createLocalJWKSet(keys as never), {
    issuer: server.baseUrl,
    audience: clientId,
    algorithms: [alg],
    typ: 'logout+jwt',
    requiredClaims: ['iat', 'exp', 'jti'],
    currentDate: new Date(server.now()),
  });
}
