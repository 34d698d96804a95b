import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, OAuthError } from '../oauth-error.ts';
import { findJsonProblem } from '../validation/json-problem.ts';
import { addressBucket } from '../validation/origin.ts';
import { formParameters, type RepeatableParameters } from './parameters.ts';

/** The longest JSON document or form, in bytes. */
const LONGEST_BODY = 64 * 1024;

/** The most bytes that bodies may take while they arrive: from one address, and in total. */
const UNFINISHED_OF_ADDRESS = 8 * 1024 * 1024;
const unfinished = quota(64 * 1024 * 1024);
/** What a request takes beside its body: its connection, its header, and the objects made of them. */
const REQUEST_OVERHEAD = 48 * 1024;

/** Lets the routes of this context read JSON. */
export function acceptJson(app: FastifyInstance): void {
  // Some clients send a content type even without a body.
  addBodyParser(app, 'application/json', (body, request) => {
    if (!isUtf8(request)) throw otherCharset();
    return body.length === 0
      ? undefined
      : parseJsonBody(body, isAccepted(request, 'application/x-www-form-urlencoded'));
  });
}

/** Lets the routes of this context read forms; their body is then `RepeatableParameters`. */
export function acceptForms(app: FastifyInstance): void {
  addBodyParser(app, 'application/x-www-form-urlencoded', (body, request) => {
    const text = decodeUtf8(body);
    if (!isUtf8(request) && !isAsciiForm(request, text)) throw otherCharset();
    return parseForm(text, isAccepted(request, 'application/json'));
  });
}

/** The form of a request to a route that reads forms, without its file; empty if the request has no body. */
export function formOf(request: FastifyRequest): RepeatableParameters {
  const body = request.body as RepeatableParameters | { readonly fields: RepeatableParameters } | null | undefined;
  if (body === undefined || body === null) return formParameters('');
  return 'fields' in body ? body.fields : body;
}

/** Whether a route says that it reads bodies of a type. */
const isAccepted = ({ routeOptions: { schema } }: FastifyRequest, type: string): boolean =>
  schema?.consumes?.includes(type) ?? false;

function addBodyParser(
  app: FastifyInstance,
  type: string,
  parse: (body: Buffer, request: FastifyRequest) => unknown,
): void {
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: Readable) => {
    const release = await reserveMemory(request);
    try {
      // Never undefined: a body that is too large is refused.
      const body = (await receive(request, payload, LONGEST_BODY)) as Buffer;
      if (isCoded(request)) throw contentCoding(request);
      return parse(body, request);
    } finally {
      release();
    }
  });
}

const isCoded = ({ headers }: FastifyRequest): boolean => !/^(identity)?$/i.test(headers['content-encoding'] ?? '');

/** RFC 9110 §15.5.16: a body in a content coding, which the response says is not read. Only the name of a known one is repeated. */
function contentCoding({ headers }: FastifyRequest): OAuthError {
  const [coding = 'a content coding'] =
    /^(x-)?(gzip|compress|deflate|br|zstd)$/i.exec(headers['content-encoding'] ?? '') ?? [];
  return new OAuthError(
    415,
    'invalid_request',
    `The body is compressed (Content-Encoding: ${coding}), which is not read here. Send it as it is, without Content-Encoding.`,
    { 'accept-encoding': 'identity' },
    undefined,
    {
      expected: 'a body that is not compressed',
      received: `Content-Encoding: ${coding}`,
      remedy: 'Switch the compression of requests off in the HTTP library, or in the proxy that adds it.',
    },
  );
}

const charsetOf = ({ headers }: FastifyRequest): string | undefined =>
  /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase();

/** RFC 8259 §8.1: JSON is UTF-8. A body in another charset would be misread. */
const isUtf8 = (request: FastifyRequest): boolean => ['utf-8', 'utf8', undefined].includes(charsetOf(request));

/** Charsets in which ASCII text is the same as in UTF-8, as they are named by https://encoding.spec.whatwg.org/#names-and-labels */
const LIKE_ASCII = /^((us-)?ascii|(x-)?(cp|windows-)125[0-8]|(iso-?8859-?\d{1,2})|latin\d)$/;

/** Whether a form in another charset reads like one in UTF-8: all of it is ASCII, also what is percent-encoded. */
const isAsciiForm = (request: FastifyRequest, text: string): boolean =>
  LIKE_ASCII.test(charsetOf(request) ?? '') && !/[^\0-\x7f]|%[89a-f]/i.test(text);

/** RFC 6749 §5.2: the description does not repeat the charset, which may contain characters that are not allowed there. */
const otherCharset = (): OAuthError =>
  new OAuthError(415, 'invalid_request', 'The body must be UTF-8: send charset=utf-8, or no charset.');

/**
 * Reserves the memory that a body needs while it arrives. A body that arrived together with its header is read even if there is
 * none left, since it is not kept waiting; most bodies are like that.
 * @returns a function that releases the memory
 */
async function reserveMemory({ raw, headers, address }: FastifyRequest): Promise<() => void> {
  const announced = Number(headers['content-length'] ?? LONGEST_BODY);
  const amount = REQUEST_OVERHEAD + Math.min(announced, LONGEST_BODY);
  const taken = unfinished.take(amount, [{ holder: `address ${addressBucket(address)}`, most: UNFINISHED_OF_ADDRESS }]);
  if (typeof taken !== 'string') return taken;
  await nextTurn();
  if (!raw.complete) throw tooManyUnfinished(taken);
  return () => {};
}

/** The connection is closed after the answer, so that the rest of the body takes no memory either. */
function tooManyUnfinished(exhausted: Exhausted): OAuthError {
  const headers = { 'retry-after': '5', connection: 'close' };
  return exhausted === 'holder'
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
 * Reads a whole body. Its chunks are copied into one buffer as they arrive: kept as they are, those of a body that is sent byte by
 * byte would take two hundred times its size.
 * @param longest the largest body that is returned, in bytes
 * @param mostRead the largest body that is read, in bytes; one that is larger than `longest` is discarded
 * @returns undefined if the body is larger than `longest`
 * @throws {OAuthError} 413 if it is larger than `mostRead`; 400 if it is incomplete
 */
export function receive(
  { headers }: FastifyRequest,
  payload: Readable,
  longest: number,
  mostRead = longest,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let body = Buffer.alloc(0);
    let size = 0;
    const refuse = () => {
      payload.off('data', append);
      reject(
        new OAuthError(
          413,
          'invalid_request',
          `The body is larger than ${mostRead / 1024} KiB, and no more is read here.`,
        ),
      );
    };
    const append = (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size > mostRead) refuse();
      else if (size > longest) body = Buffer.alloc(0);
      else {
        if (size > body.length) body = grow(body, Math.min(longest, Math.max(size, body.length * 2)));
        chunk.copy(body, before);
      }
    };
    const abort = () => reject(invalidRequest('The body did not arrive as a whole.'));
    if (Number(headers['content-length']) > mostRead) return refuse();
    // The caller hung up before the listeners were added, so no event will follow.
    if (payload.destroyed) return abort();
    payload.on('data', append);
    payload.on('error', abort);
    payload.on('close', abort);
    payload.on('end', () => {
      // `close` follows every `end`.
      payload.off('close', abort);
      resolve(size > longest ? undefined : body.subarray(0, size));
    });
  });
}

function grow(bytes: Buffer<ArrayBuffer>, length: number): Buffer<ArrayBuffer> {
  const copied = Buffer.allocUnsafe(length);
  bytes.copy(copied);
  return copied;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws {OAuthError} `invalid_request` if the body is not UTF-8 */
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidRequest('The body is not valid UTF-8.', 'Encode it as UTF-8.');
  }
}

/** @throws {OAuthError} `invalid_request` for JSON, which would be read as a form with one odd name */
function parseForm(text: string, acceptsJson: boolean): RepeatableParameters {
  if (OBJECT_TEXT.test(text)) throw objectAsText('Encode it first, with new URLSearchParams(object).');
  if (/^\s*(?:\{|%7B)\s*(?:"|%22)/i.test(text)) {
    throw invalidRequest(
      'The body is JSON, but its Content-Type is application/x-www-form-urlencoded.',
      acceptsJson ? 'Send a form, or set Content-Type: application/json.' : 'Send a form: this address reads no JSON.',
    );
  }
  return formParameters(text);
}

/** What JavaScript makes of an object where a text belongs. */
const OBJECT_TEXT = /^\s*\[object \w{1,40}\]\s*$/;

const objectAsText = (remedy: string): OAuthError =>
  invalidRequest('The body is [object Object], which JavaScript makes of an object that was not encoded.', remedy);

/** Every string of a JSON document, and whether it is a member name. Takes time linear in the length of the document. */
const JSON_STRINGS = /"(?:[^"\\]|\\.)*"\s*(:?)/gs;

/** Deeper than any body that the service reads. */
const DEEPEST_JSON = 16;

/**
 * Parses a JSON body (RFC 8259), and is stricter where JSON.parse is lenient: no duplicate members, escaped or not, and none that
 * could reach a prototype.
 * @throws {OAuthError} `invalid_request`
 */
export function parseJsonBody(bytes: Buffer, acceptsForms = false): unknown {
  const text = decodeUtf8(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(text, acceptsForms);
  }
  // JSON.parse keeps the last of duplicate members: the value then has fewer members than the text.
  let written = 0;
  for (const match of text.matchAll(JSON_STRINGS)) if (match[1] === ':') written++;
  if (countMembers(value, 0) !== written)
    throw invalidRequest('The body names a member twice.', 'Send each member once.');
  return value;
}

/** Where the text stops being JSON. Nothing of it is repeated: it may hold secrets. */
function notJson(text: string, acceptsForms: boolean): OAuthError {
  if (OBJECT_TEXT.test(text)) return objectAsText('Encode it first, with JSON.stringify(object).');
  if (/^[\w.~%+-]+=/.test(text)) {
    return invalidRequest(
      'The body looks like a form, but its Content-Type is application/json.',
      acceptsForms
        ? 'Send JSON, or set Content-Type: application/x-www-form-urlencoded.'
        : 'Send JSON: this address reads no forms.',
    );
  }
  const problem = findJsonProblem(text);
  if (problem === undefined) return invalidRequest('The body is not valid JSON.');
  const { line, column, expected, found, remedy } = problem;
  const place = `line ${line}, column ${column}`;
  const parts = [`The body is not valid JSON at ${place}: expected ${expected}, found ${found}.`, remedy];
  const error = invalidRequest(parts.filter((part) => part !== undefined).join(' '));
  return error.withDetail({ expected, received: `${found} at ${place}`, remedy });
}

function countMembers(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= DEEPEST_JSON) {
    throw invalidRequest(`The body is nested deeper than ${DEEPEST_JSON} levels. Send a flatter one.`);
  }
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, depth + 1);
    return count;
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw invalidRequest('The body has a member named __proto__.', 'Remove it.');
    count += 1 + countMembers((value as Record<string, unknown>)[name], depth + 1);
  }
  return count;
}

/** The most that one holder, such as `address 192.0.2.1`, may have at a time. */
export interface Share {
  readonly holder: string;
  readonly most: number;
}

/** Why nothing was taken: a holder has its whole share, or the total is taken. */
export type Exhausted = 'holder' | 'total';

/** A bounded resource of the process, of which each holder may have only a share. */
export interface Quota {
  /** @returns a function that releases what was taken, which may be called more than once; or why nothing was taken */
  take(amount: number, shares: readonly Share[]): (() => void) | Exhausted;
}

export function quota(total: number): Quota {
  let taken = 0;
  const byHolder = new Map<string, number>();

  function add(amount: number, shares: readonly Share[]): void {
    taken += amount;
    for (const { holder } of shares) {
      const sum = (byHolder.get(holder) ?? 0) + amount;
      if (sum === 0) byHolder.delete(holder);
      else byHolder.set(holder, sum);
    }
  }

  return {
    take(amount, shares) {
      if (shares.some(({ holder, most }) => (byHolder.get(holder) ?? 0) + amount > most)) return 'holder';
      if (taken + amount > total) return 'total';
      add(amount, shares);
      let held = amount;
      return () => {
        if (held !== 0) add(-held, shares);
        held = 0;
      };
    },
  };
}
