import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import { request as requestHttp } from '../../platform/http/node-http.ts';

/** The result of a request: a response, or why there is none. */
export type ProbeResult = ProbeResponse | NoResponse;

export interface ProbeResponse {
  readonly kind: 'answer';
  readonly status: number;
  readonly location: string | undefined;
  /** The `Date` header, in milliseconds. */
  readonly date: number | undefined;
  readonly setCookies: readonly string[];
  readonly text: string;
  readonly tls: Tls | undefined;
}

export interface NoResponse {
  readonly kind: 'silence';
  /** The system's code, or a message. */
  readonly reason: string;
}

export interface Tls {
  /** Why the certificate is not trusted; undefined if it is. */
  readonly trouble: string | undefined;
  readonly validTo: number;
}

const PATIENCE = 5000;

/** More than any page that is requested. */
const LONGEST = 256 * 1024;

/** Sends one request on a new connection. It follows no redirects, and reports an invalid certificate instead of failing. */
export function sendProbe(address: URL, headers: Readonly<Record<string, string>> = {}): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const give = (reason: string): void => resolve({ kind: 'silence', reason });
    const options = {
      headers,
      agent: false,
      signal: AbortSignal.timeout(PATIENCE),
      rejectUnauthorized: false,
    } as const;
    const send = address.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = send(address, options, (response) => {
      const { socket } = response;
      const tls = socket instanceof TLSSocket ? certificateOf(socket) : undefined;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > LONGEST) response.destroy(new Error('the response is too large'));
      });
      response.on('error', (error) => give(error.message));
      response.on('end', () => {
        const date = Date.parse(response.headers.date ?? '');
        resolve({
          kind: 'answer',
          status: response.statusCode ?? 0,
          location: response.headers.location,
          date: Number.isNaN(date) ? undefined : date,
          setCookies: response.headers['set-cookie'] ?? [],
          text,
          tls,
        });
      });
    });
    sent.on('error', (error: Error & { code?: string | number }) => give(reasonOf(error)));
    sent.end();
  });
}

function reasonOf(error: Error & { code?: string | number }): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'ETIMEDOUT';
  const [first] = error instanceof AggregateError ? (error.errors as (Error & { code?: string })[]) : [];
  return String(error.code ?? first?.code ?? error.message);
}

function certificateOf(socket: TLSSocket): Tls {
  const { authorized, authorizationError } = socket;
  const trouble = authorized ? undefined : (authorizationError?.message ?? String(authorizationError));
  return { trouble, validTo: Date.parse(socket.getPeerCertificate().valid_to) };
}
