import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MINUTE, SECOND } from '../clock.ts';
import { ConfigError } from '../config/config.ts';
import { createServer } from './node-http.ts';
import { stopper } from './stopper.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there already. Stop it, or set TESSERA_PORT to a free port.',
  EACCES: 'This user may not listen there. Set TESSERA_PORT to 1024 or more.',
  EADDRNOTAVAIL: 'This machine has no such address. Set TESSERA_HOST to one that it has.',
  ENOTFOUND: 'That host name is not known here. Set TESSERA_HOST to an address of this machine.',
};

const json = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  connection: 'close',
};

/** The address alone may be 16 KiB, and is refused in words that say so beyond that. */
const LARGEST_HEADER_KIB = 96;

/** How long a request may take to arrive. */
const LONGEST_REQUEST = 30 * SECOND;

/** How long a caller whose connection is ended has to read why. */
const FAREWELL = 2 * SECOND;

/** What becomes of a connection whose octets are no request, or none in time: status, reason phrase, explanation. */
const REFUSALS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', `The header is larger than ${LARGEST_HEADER_KIB} KiB.`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive as a whole in time.'],
};
const MALFORMED = [400, 'Bad Request', 'This is not a well-formed HTTP request.'] as const;

/** An HTTP server that listens, and says that it is starting until it is handed to the routes. */
export interface HttpListener {
  readonly server: Server;
  /** The address that it listens on: of this machine, or of all of its addresses. */
  readonly address: string;
  readonly port: number;
  /** Ends the "starting" answers: from now on the routes answer. */
  open(): void;
  /** Asks every caller that keeps a connection to open another one, which may lead to another node. */
  drain(): void;
  /**
   * Accepts no more, lets running requests finish within ten seconds, then lets go of the port.
   * @param patiently whether callers that are about to send another request get the time to
   */
  close(patiently?: boolean): Promise<void>;
}

/** @throws {ConfigError} when the address cannot be had, with the remedy */
export async function openHttpListener(host: string, port: number): Promise<HttpListener> {
  const server = createServer({
    maxHeaderSize: LARGEST_HEADER_KIB * 1024,
    requestTimeout: LONGEST_REQUEST,
    headersTimeout: 15 * SECOND,
    // A missing Host is refused with the routes, in our own words: Node's refusal has no body.
    requireHostHeader: false,
  });
  server.keepAliveTimeout = MINUTE + 5 * SECOND;
  const starting = (_request: unknown, response: ServerResponse) => {
    const body = { error: 'temporarily_unavailable', error_description: 'The service is starting.' };
    response.writeHead(503, { ...json, 'retry-after': '1' }).end(JSON.stringify(body));
  };
  server.on('request', starting);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, reason, text] = REFUSALS[error.code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ error: 'invalid_request', error_description: text });
    const headers = Object.entries({ ...json, 'content-length': String(Buffer.byteLength(body)) });
    socket.end(
      `HTTP/1.1 ${status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    );
    // A caller that never ends its own side would keep the connection, and what it has sent so far, for as long as it likes.
    const end = setTimeout(() => socket.destroy(), FAREWELL);
    socket.once('close', () => clearTimeout(end));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const remedy =
        REMEDIES[error.code ?? ''] ?? `${error.message}. Set TESSERA_HOST and TESSERA_PORT to another address.`;
      reject(new ConfigError([`Cannot listen on ${host}:${port}. ${remedy}`]));
    });
    server.listen(port, host, resolve);
  });
  const stop = stopper(server);
  const bound = server.address() as AddressInfo;
  return {
    server,
    drain: stop.drain,
    close: stop.close,
    address: bound.address,
    port: bound.port,
    open: () => void server.off('request', starting),
  };
}
