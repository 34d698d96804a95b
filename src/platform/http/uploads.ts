import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, OAuthError } from '../oauth-error.ts';
import { addressBucket } from '../validation/origin.ts';
import { type Exhausted, formOf, quota, receive, type Share } from './bodies.ts';
import { formParameters, type RepeatableParameters } from './parameters.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends a file, such as `account 1`: set by the guard of the route, before the body is read. */
    uploader: string | null;
  }
}

/** A form that may have a file. */
export interface Upload {
  readonly fields: RepeatableParameters;
  readonly file: Uint8Array | 'too large' | undefined;
}

/** The size of a form without its file, in bytes: its fields, its boundaries, the headers of its parts. */
const FORM_OVERHEAD = 16 * 1024;
const MOST_PARTS = 8;
/** How much of a body that is too large is read and discarded, in bytes: a browser shows no answer before it has sent everything. */
const MOST_READ = 64 * 1024 * 1024;

/** How many uploads are served at a time; each takes up to a MiB of memory. */
const uploads = quota(64);
/** The most for one address and for one person: fewer than the picture decoder serves at a time. */
const OF_ADDRESS = 8;
const OF_PERSON = 4;

function tooManyUploads(exhausted: Exhausted): OAuthError {
  const headers = { 'retry-after': '5' };
  return exhausted === 'holder'
    ? new OAuthError(
        429,
        'rate_limit_exceeded',
        'Too many files are being sent by you, or from your address. Try again in a moment.',
        headers,
        'uploads of the sender',
      )
    : new OAuthError(
        503,
        'temporarily_unavailable',
        'Too many files are being sent. Try again in a moment.',
        headers,
        'uploads',
      );
}

/** The shares of an upload: that of its address, and that of its sender if the route knows them. */
const sharesOf = ({ address, uploader }: FastifyRequest): readonly Share[] => [
  { holder: `address ${addressBucket(address)}`, most: OF_ADDRESS },
  ...(uploader === null ? [] : [{ holder: uploader, most: OF_PERSON }]),
];

/** The flows that the processing of an upload belongs to: see `BoundedPool.run`. */
export const uploadFlows = (request: FastifyRequest): readonly string[] =>
  sharesOf(request).map(({ holder }) => holder);

/** Limits the uploads of this context, from before their bodies are read until they are answered. */
function limitUploads(app: FastifyInstance): void {
  app.decorateRequest('uploader', null);
  app.addHook('preParsing', (request, { raw }, _payload, done) => {
    const taken = uploads.take(1, sharesOf(request));
    if (typeof taken === 'string') return done(tooManyUploads(taken));
    raw.once('close', taken);
    // No event follows if the caller has hung up already.
    if (raw.closed) taken();
    done();
  });
}

const malformedForm = () => invalidRequest('The body is not a form (multipart/form-data) with one file at most.');

/**
 * Lets the routes of this context read forms with a file (RFC 7578) as well; see {@link uploadOf}.
 * @param name the field of the file; other files are rejected
 * @param largest the largest file, in bytes; a larger one is read as 'too large'
 */
export function acceptUploads(app: FastifyInstance, name: string, largest: number): void {
  limitUploads(app);
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) => {
    const body = await receive(request, payload, largest + FORM_OVERHEAD, MOST_READ);
    if (body === undefined) return { fields: formParameters(''), file: 'too large' } satisfies Upload;
    const boundary = boundaryOf(request.headers['content-type'] ?? '');
    if (boundary === undefined || hasTooManyParts(body, boundary)) throw malformedForm();
    // Written again, so that the boundary that is parsed is the one whose parts were counted.
    const type = `multipart/form-data; boundary="${boundary}"`;
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
      .formData()
      .catch(() => Promise.reject(malformedForm()));
    return readForm([...form], name, largest);
  });
}

/** RFC 2046 §5.1.1: the characters of a boundary. */
const boundaryOf = (type: string): string | undefined =>
  /;\s*boundary="?([\w'()+,\-./:=? ]{1,70})"?\s*(?:;|$)/i.exec(type)?.[1];

/** Counts the parts before anything is allocated for them. */
function hasTooManyParts(body: Buffer, boundary: string): boolean {
  let parts = 0;
  for (let at = body.indexOf(`--${boundary}`); at !== -1; at = body.indexOf(`--${boundary}`, at + 1)) {
    // The last boundary ends the form.
    if (++parts > MOST_PARTS + 1) return true;
  }
  return false;
}

async function readForm(entries: readonly [string, string | File][], name: string, largest: number): Promise<Upload> {
  const texts: [string, string][] = [];
  const files: File[] = [];
  for (const [field, value] of entries) {
    if (typeof value === 'string') texts.push([field, value]);
    else if (field === name) files.push(value);
    else throw malformedForm();
  }
  const [file, ...more] = files;
  if (more.length > 0) throw malformedForm();
  const fields = formParameters(new URLSearchParams(texts).toString());
  // A browser sends an empty file without a name if none was chosen.
  if (file === undefined || (file.size === 0 && file.name === '')) return { fields, file: undefined };
  return { fields, file: file.size > largest ? 'too large' : new Uint8Array(await file.arrayBuffer()) };
}

/** Lets the routes of this context read a body that is a file, and no other body. The body is its bytes, or 'too large'. */
export function acceptFiles(app: FastifyInstance, types: readonly string[], largest: number): void {
  limitUploads(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [...types],
    async (request: FastifyRequest, payload: Readable) =>
      (await receive(request, payload, largest, MOST_READ)) ?? 'too large',
  );
}

/** The upload of a request to a route that reads uploads; a form without a file is one, too. */
export function uploadOf(request: FastifyRequest): Upload {
  const body = request.body as Upload | RepeatableParameters | undefined;
  return body !== undefined && 'fields' in body ? body : { fields: formOf(request), file: undefined };
}
