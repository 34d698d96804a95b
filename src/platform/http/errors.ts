import type { FastifyReply, FastifyRequest } from 'fastify';
import { WrongClock } from '../clock.ts';
import { StoreUnavailable } from '../database/database.ts';
import { Failure, type FailureKind, unavailable } from '../failure.ts';
import { logLine } from '../log.ts';
import { NOTHING_HERE, OAuthError, type RefusalDetail } from '../oauth-error.ts';
import { describeUnreadable } from './cors.ts';
import { FORM_TYPE, JSON_TYPE } from './operation.ts';
import { type Outages, STORE_UNAVAILABLE } from './outages.ts';
import { requestIds } from './request-tracing.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly outages: Outages;
  }
  interface FastifyRequest {
    /** Why the request was refused, for the log, the metrics and the traces. */
    refusal: RequestRefusal | null;
    /** Whom and what the request is about, as far as its route has found out: for the log and the traces. */
    subject: RequestSubject | undefined;
  }
}

/** Whom and what a request is about. */
export interface RequestSubject {
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  /** Whether the client authenticated, or a token of its was verified, which its users have, too: anyone can name a client. */
  readonly proof?: 'client' | 'token' | undefined;
  /** The digest of the pending request, code or token family: see src/traces. */
  readonly flow?: string | undefined;
}

/** Why a request was refused. */
export interface RequestRefusal {
  readonly code: string;
  /** From a bounded set. */
  readonly reason?: string | undefined;
  /** The description that the caller got. */
  readonly description: string;
  readonly detail?: RefusalDetail | undefined;
  /** The parts in which a redirect URI differs from the closest registered one. */
  readonly differs?: readonly string[] | undefined;
}

/** An error of the API as the refusal of its request. */
export const refusalOf = ({ code, reason, message, detail }: OAuthError): RequestRefusal => ({
  code,
  reason,
  description: message,
  detail,
});

/** A route in the API document declares its media types; the others read forms. */
function unsupportedMediaType({ headers, routeOptions: { schema } }: FastifyRequest): OAuthError {
  const { operationId, consumes = [operationId === undefined ? FORM_TYPE : JSON_TYPE] } = schema ?? {};
  const encoding = consumes.some((type) => type.startsWith('application/')) ? ', in UTF-8' : '';
  const remedy = `Send ${consumes.join(' or ')}${encoding}.`;
  const text = `${describeContentType(headers['content-type'])} ${remedy}`;
  return new OAuthError(415, 'invalid_request', text, {}, undefined, { remedy });
}

/** Names the media type that came, if it is well-formed, and how it usually gets there. */
function describeContentType(header: string | undefined): string {
  const type = /^\s*([a-z]+\/[a-z0-9.+-]{1,64})\s*(?:;|$)/i.exec(header ?? '')?.[1]?.toLowerCase();
  if (header === undefined || header === '') return 'The request has a body and no Content-Type.';
  if (type === undefined) return 'The Content-Type is malformed.';
  const cause: Readonly<Record<string, string>> = {
    'text/plain': ' Programs send it for a string if no other is set.',
    'multipart/form-data': ' Programs send it for FormData: send URLSearchParams.',
  };
  return `This endpoint does not accept ${type}.${cause[type] ?? ''}`;
}

const MEDIA_TYPE_ERRORS = ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'FST_ERR_CTP_INVALID_TYPE'];

/** Status and description of the errors that Fastify throws by itself. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [number, string]>> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'The body is empty: send a JSON object, or no Content-Type.'],
  FST_ERR_BAD_URL: [400, 'The address is not well-formed.'],
  FST_ERR_MAX_PARAM_LENGTH: [404, NOTHING_HERE],
};

/** The reason of a refusal because a clock is wrong, in the log and the metrics. */
const CLOCK_WRONG = 'a clock is wrong';

/**
 * Turns any error into one that the client may see. An unexpected error is logged, and the client only gets a correlation id.
 */
export function toOAuthError(error: unknown, request: FastifyRequest): OAuthError {
  const refusal = convert(error, request);
  request.refusal = refusalOf(refusal);
  return refusal;
}

/** What each kind of failure is over HTTP. */
const STATUSES: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  'too large': 413,
  'unsupported format': 415,
  'not found': 404,
  conflict: 409,
  'session ended': 403,
  'insufficient permission': 403,
  limited: 429,
  unavailable: 503,
};

/** What the operator can do about a failure that is none of the caller's. */
const REMEDIES: Readonly<Partial<Record<FailureKind, string>>> = {
  limited: 'Wait for the seconds in Retry-After. The limits are set by TESSERA_LIMIT_….',
  unavailable: 'Run on the server: tessera doctor. The client tries again after the seconds in Retry-After.',
};

function answerOf({ kind, code, message, retryAfter, reason, expected }: Failure): OAuthError {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const remedy = REMEDIES[kind];
  const detail = remedy === undefined && expected === undefined ? undefined : { expected, remedy };
  return new OAuthError(STATUSES[kind], code, message, headers, reason, detail);
}

function convert(error: unknown, request: FastifyRequest): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof Failure) return answerOf(error);
  if (error instanceof StoreUnavailable) {
    // The outage is logged as a whole.
    request.server.outages.failed(error, true);
    logLine(request.log, 'debug', STORE_UNAVAILABLE, { ...requestIds(request), err: error });
    return answerOf(unavailable(STORE_UNAVAILABLE));
  }
  if (error instanceof WrongClock) {
    logLine(request.log, 'debug', CLOCK_WRONG, { ...requestIds(request), err: error });
    return answerOf(unavailable(CLOCK_WRONG));
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (MEDIA_TYPE_ERRORS.includes(code)) return unsupportedMediaType(request);
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return new OAuthError(known[0], 'invalid_request', known[1]);
  logLine(request.log, 'error', 'internal error', { ...requestIds(request), err: error });
  const text = `Something went wrong on our side. Correlation id: ${request.id}`;
  const remedy = 'Look in the log for the line with this reqId: it has the cause.';
  return new OAuthError(500, 'server_error', text, {}, undefined, { remedy });
}

/**
 * Answers with an error as JSON: decisions §4. Where a page cannot read it, the description says so as well, except in the contract's
 * messages: clients may compare those, and they are no sentences.
 */
export function sendError(reply: FastifyReply, error: OAuthError): FastifyReply {
  const { unreadable } = reply.request;
  const isSentence = error.message.endsWith('.') || error.message.endsWith('?');
  const description =
    unreadable !== undefined && isSentence ? `${error.message} ${describeUnreadable(unreadable)}` : error.message;
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('cache-control', 'no-store')
    .type('application/json')
    .send(JSON.stringify({ error: error.code, error_description: description }));
}
