import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../oauth-error.ts';
import { decodeFormBody, parseJsonBody } from './json-body.ts';
import { formParameters, type RepeatableParameters } from './parameters.ts';
import { receive } from './receive.ts';

/** JSON and forms have up to 64 KiB. */
const LONGEST = 64 * 1024;

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
    // Of what is longer nothing is handed on.
    return read((await receive(request, payload, LONGEST)) as Buffer);
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
