import type { CustomFetchOptions } from 'oauth4webapi';
import { SECOND } from '../platform/clock.ts';
import { type Outgoing, OutgoingFailed } from '../platform/http/outgoing.ts';

/** How long an upstream may take for a response. */
export const RESPONSE_TIMEOUT = 5 * SECOND;

/** Responses without a body (Fetch §2.2.6), which `Response` refuses to be given one. */
const WITHOUT_BODY: readonly number[] = [101, 103, 204, 205, 304];

type Method = 'GET' | 'POST';
type Body = URLSearchParams | undefined;

/**
 * The guarded fetch as the library calls it: no private network, no redirect, no body beyond a length, no waiting beyond a time.
 */
export function guardedFetch(ask: Outgoing, longestBody: number) {
  return async (url: string, { method, headers, body }: CustomFetchOptions<Method, Body>): Promise<Response> => {
    const sent = body === undefined ? {} : { body: body.toString() };
    const answer = await ask({ method, url, headers, ...sent, longestBody, timeoutMs: RESPONSE_TIMEOUT });
    if (answer.status < 200 || answer.status > 599) throw new OutgoingFailed(`the status ${answer.status} is none`);
    const contentType = answer.headers['content-type'];
    return new Response(WITHOUT_BODY.includes(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: typeof contentType === 'string' ? { 'content-type': contentType } : {},
    });
  };
}

/** The longest text of an upstream that is repeated to operators. */
const LONGEST_TEXT = 200;

/** What an upstream says, for operators: one short line. */
export const quoted = (text: string): string =>
  JSON.stringify(text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, LONGEST_TEXT));

/** Why a request failed, or a response was refused, in words for operators. It repeats no code, token or secret. */
export async function reasonOf(error: unknown): Promise<string> {
  if (error instanceof OutgoingFailed) return error.message;
  const oauth = await import('oauth4webapi');
  if (error instanceof oauth.ResponseBodyError) {
    const about = error.error_description === undefined ? '' : `, ${quoted(error.error_description)}`;
    return `the response is the error ${quoted(error.error)}${about}`;
  }
  if (error instanceof oauth.OperationProcessingError) return error.message;
  if (error instanceof oauth.UnsupportedOperationError) return error.message;
  // The library parses what must be a URL, and lets the error of that through.
  if (error instanceof TypeError && 'code' in error && error.code === 'ERR_INVALID_URL') {
    return 'a value that must be a URL is none';
  }
  throw error;
}
