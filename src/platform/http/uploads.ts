import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, OAuthError } from '../oauth-error.ts';
import { addressBucket } from '../validation/address-bucket.ts';
import { formOf } from './bodies.ts';
import { formParameters, type RepeatableParameters } from './parameters.ts';
import { receive } from './receive.ts';
import { type Exhausted, type Share, shares } from './shares.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends a file, such as `account 1`: set by the guard of the route, before anything of the body is read. */
    uploader: string | null;
  }
}

/** A form that may bring a file. */
export interface Upload {
  readonly fields: RepeatableParameters;
  readonly file: Uint8Array | 'too large' | undefined;
}

/** What a form is beside its file: its fields, its boundaries, the names of its parts. */
const WRAPPING = 16 * 1024;
/** How many parts a form may have. */
const MOST_PARTS = 8;
/** How much of a body that is too large is still read, and dropped: a browser shows no answer before it has sent all. */
const PATIENCE = 64 * 1024 * 1024;

/** How many uploads are served at a time: with them the server holds so many MiB. */
const uploads = shares(64);
/** How many of them one address may have, and one person: fewer than the decoder of pictures has places. */
const OF_ADDRESS = 8;
const OF_PERSON = 4;

function tooMany(why: Exhausted): OAuthError {
  const headers = { 'retry-after': '5' };
  return why === 'share'
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

/** The shares of an upload: that of its address, and that of its sender where the route knows who that is. */
const sharesOf = ({ address, uploader }: FastifyRequest): readonly Share[] => [
  { sharer: `address ${addressBucket(address)}`, most: OF_ADDRESS },
  ...(uploader === null ? [] : [{ sharer: uploader, most: OF_PERSON }]),
];

/** On whose behalf an upload is worked on: see `BoundedPool.run`. */
export const sharersOf = (request: FastifyRequest): readonly string[] => sharesOf(request).map(({ sharer }) => sharer);

/** Bounds the uploads of this context from before their bodies are read until they are answered. */
function boundUploads(app: FastifyInstance): void {
  app.decorateRequest('uploader', null);
  app.addHook('preParsing', (request, { raw }, _payload, done) => {
    const taken = uploads.take(1, sharesOf(request));
    if (typeof taken === 'string') return done(tooMany(taken));
    raw.once('close', taken);
    // A caller that has hung up already closes nothing any more.
    if (raw.closed) taken();
    done();
  });
}

const malformed = () => invalidRequest('The body is not a form (multipart/form-data) with one file at most.');

/**
 * Lets the routes of this context read forms with a file (RFC 7578) as well; see {@link uploadOf}.
 * @param name the field of the file; other files are refused
 * @param largest how many bytes the file may have: of a larger one is only told that it was too large
 */
export function acceptUploads(app: FastifyInstance, name: string, largest: number): void {
  boundUploads(app);
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) => {
    const body = await receive(request, payload, largest + WRAPPING, PATIENCE);
    if (body === undefined) return { fields: formParameters(''), file: 'too large' } satisfies Upload;
    const boundary = boundaryOf(request.headers['content-type'] ?? '');
    if (boundary === undefined || hasTooManyParts(body, boundary)) throw malformed();
    // Named anew, so that the parts that are read are those that were counted.
    const type = `multipart/form-data; boundary="${boundary}"`;
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
      .formData()
      .catch(() => Promise.reject(malformed()));
    return readForm([...form], name, largest);
  });
}

/** RFC 2046 §5.1.1: what a boundary may be made of. */
const boundaryOf = (type: string): string | undefined =>
  /;\s*boundary="?([\w'()+,\-./:=? ]{1,70})"?\s*(?:;|$)/i.exec(type)?.[1];

/** Counted before anything is made of them. */
function hasTooManyParts(body: Buffer, boundary: string): boolean {
  let parts = 0;
  for (let at = body.indexOf(`--${boundary}`); at !== -1; at = body.indexOf(`--${boundary}`, at + 1)) {
    // The last one ends the form.
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
    else throw malformed();
  }
  const [file, ...more] = files;
  if (more.length > 0) throw malformed();
  const fields = formParameters(new URLSearchParams(texts).toString());
  // A browser sends an empty file without a name where none was chosen.
  if (file === undefined || (file.size === 0 && file.name === '')) return { fields, file: undefined };
  return { fields, file: file.size > largest ? 'too large' : new Uint8Array(await file.arrayBuffer()) };
}

/**
 * Lets the routes of this context read a file that is the whole body, and nothing else. The body is then its bytes, or
 * 'too large'.
 */
export function acceptFiles(app: FastifyInstance, types: readonly string[], largest: number): void {
  boundUploads(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [...types],
    async (request: FastifyRequest, payload: Readable) =>
      (await receive(request, payload, largest, PATIENCE)) ?? 'too large',
  );
}

/** The form of a request to a route that reads uploads; one that came without a file is a form, too. */
export function uploadOf(request: FastifyRequest): Upload {
  const body = request.body as Upload | RepeatableParameters | undefined;
  return body !== undefined && 'fields' in body ? body : { fields: formOf(request), file: undefined };
}
