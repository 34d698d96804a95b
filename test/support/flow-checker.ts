import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { afterEach } from 'node:test';
import type { FastifyInstance } from 'fastify';

/** An answer of any route, known or unknown. */
export interface AnyAnswer {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Clients authenticate here, and get tokens or learn of them. */
const TOKEN_ENDPOINTS = ['/api/v2/oauth/token', '/oidc/revoke', '/oidc/introspect'];
const LIFETIME = 1800;

/** What an answer does that no answer may do; undefined where it does nothing of the kind. */
export function forbidden(answer: AnyAnswer): string | undefined {
  const { method, path, status, headers } = answer;
  // RFC 9700 §4.12: only 303 keeps a browser from sending the form, and the password in it, to the next address.
  if (method === 'POST' && status >= 300 && status < 400 && status !== 303) return `a POST is redirected by ${status}`;
  if (!TOKEN_ENDPOINTS.includes(path) || method === 'OPTIONS') return undefined;
  // RFC 6749 §5.1 and §5.2.
  if (headers['cache-control'] !== 'no-store') return `cache-control is ${headers['cache-control']}`;
  if (!/^application\/json\b/.test(String(headers['content-type']))) return `the type is ${headers['content-type']}`;
  return path === TOKEN_ENDPOINTS[0] && status === 200 ? wrongTokens(JSON.parse(answer.text)) : undefined;
}

function wrongTokens(body: Readonly<Record<string, unknown>>): string | undefined {
  const { exp, iat, scope = '' } = claimsOf(body['access_token']);
  if (body['token_type'] !== 'Bearer') return `token_type is ${body['token_type']}`;
  if (body['expires_in'] !== LIFETIME || exp - iat !== LIFETIME) {
    return `expires_in is ${body['expires_in']}, and exp − iat ${exp - iat}`;
  }
  const isOpenid = scope.split(' ').includes('openid');
  return 'id_token' in body === isOpenid ? undefined : `id_token with the scope "${scope}"`;
}

const claimsOf = (token: unknown): { exp: number; iat: number; scope?: string } =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());

// As answer-checker.ts: every server of the process, and the test during which it happened fails.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const found: string[] = [];
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const [path = ''] = request.url.split('?', 1);
      const problem = forbidden({
        method: request.method,
        path,
        status: reply.statusCode,
        headers: reply.getHeaders(),
        text: typeof payload === 'string' ? payload : '',
      });
      if (problem !== undefined) found.push(`${request.method} ${path}: ${problem}`);
      done();
    });
  });
  afterEach(() => assert.deepEqual(found.splice(0), [], 'answers that no request may get'));
}
