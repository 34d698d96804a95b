import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../oauth-error.ts';
import { addressBucket } from '../validation/address-bucket.ts';
import { decodeFormBody, parseJsonBody } from './json-body.ts';
import { formParameters, type RepeatableParameters } from './parameters.ts';
import { receive } from './receive.ts';
import { type Exhausted, shares } from './shares.ts';

/** JSON and forms have up to 64 KiB. */
const LONGEST = 64 * 1024;

/** How many bytes the bodies take that have not arrived as a whole: of all callers, and of one address. */
const unfinished = shares(64 * 1024 * 1024);
const OF_ADDRESS = 8 * 1024 * 1024;
/** What a request takes beside its body: its connection, its header, what was made of them. */
const BESIDE = 48 * 1024;

/** The connection ends with the answer, so that nothing of the request is held any longer. */
function tooMany(why: Exhausted): OAuthError {
  const headers = { 'retry-after': '5', connection: 'close' };
  return why === 'share'
    ? new OAuthError(
        429,
        'rate_limit_exceeded',
        'Too many requests from this address have sent only a part of their bodies. Send each as a whole, and try again in a moment.',
        headers,
        'unfinished bodies of the address',
      )
    : new OAuthError(
        503,
        'temporarily_unavailable',
        'Too many requests have sent only a part of their bodies. Try again in a moment.',
        headers,
        'unfinished bodies',
      );
}

/**
 * Takes the room that a body needs while it arrives. Where there is none, a body that came together with its header is read all
 * the same: it holds nothing, and most bodies are such.
 * @returns what gives it back, if there is anything
 */
async function makeRoom({ raw, headers, address }: FastifyRequest): Promise<() => void> {
  const announced = Number(headers['content-length'] ?? LONGEST);
  const sharer = `address ${addressBucket(address)}`;
  const taken = unfinished.take(BESIDE + Math.min(announced, LONGEST), [{ sharer, most: OF_ADDRESS }]);
  if (typeof taken !== 'string') return taken;
  await nextTurn();
  if (!raw.complete) throw tooMany(taken);
  return () => {};
}

/** RFC 8259 §8.1: JSON is UTF-8. Another charset would be read as something else than was meant. */
function requireUtf8(request: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
    // RFC 6749 §5.2: no description repeats what came, for it may hold characters that none may have.
    throw new OAuthError(415, 'invalid_request', 'The body must be UTF-8: send charset=utf-8, or no charset.');
  }
}

/** Lets the routes of this context read bodies of a type. */
function accept(app: FastifyInstance, type: string, read: (body: Buffer) => unknown): void {
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: Readable) => {
    requireUtf8(request);
    const leaveRoom = await makeRoom(request);
    try {
      // Of what is longer nothing is handed on.
      return read((await receive(request, payload, LONGEST)) as Buffer);
    } finally {
      leaveRoom();
    }
  });
}

/** Lets the routes of this context read JSON. */
export function acceptJson(app: FastifyInstance): void {
  // Some clients name a content type also where they send nothing.
  accept(app, 'application/json', (body) => (body.length === 0 ? undefined : parseJsonBody(body)));
}

/** Lets the routes of this context read forms; their body is then `RepeatableParameters`. */
export function acceptForms(app: FastifyInstance): void {
  accept(app, 'application/x-www-form-urlencoded', (body) => formParameters(decodeFormBody(body)));
}

/** The form of a request to a route that reads forms; without a body it is an empty one. */
export const formOf = (request: FastifyRequest): RepeatableParameters =>
  (request.body as RepeatableParameters | undefined) ?? formParameters('');
