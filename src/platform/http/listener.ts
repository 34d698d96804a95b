import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MINUTE, SECOND } from '../clock.ts';
import { ConfigError } from '../config/config-error.ts';
import { createServer } from './node-http.ts';
import { stopper } from './stopper.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there already. Stop it, or set TESSERA_PORT to a free port.',
  EACCES: 'This user may not listen there. Set TESSERA_PORT to 1024 or more.',
  EADDRNOTAVAIL: 'This machine has no such address. Set TESSERA_HOST to one that it has.',
  ENOTFOUND: 'That host name is not known here. Set TESSERA_HOST to an address of this machine.',
};

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  connection: 'close',
};

/** More than the 16 KiB of the longest URL, so that a longer one reaches the routes, which refuse it with an explanation. */
const LARGEST_HEADER_KIB = 96;

/** The longest time in which a request may arrive. */
const REQUEST_TIMEOUT = 30 * SECOND;

/** How long a client may take to read the answer and close its side of a connection that the server has ended. */
const LINGER_TIMEOUT = 2 * SECOND;

/** The answers to malformed or late requests by error code: status, reason phrase, description. */
const REFUSALS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', `The header is larger than ${LARGEST_HEADER_KIB} KiB.`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive as a whole in time.'],
};
const MALFORMED = [400, 'Bad Request', 'This is not a well-formed HTTP request.'] as const;

/** RFC 8446 §5.1: the first record of a TLS connection is a handshake (22), and its version begins with 3. */
const isTlsHandshake = (packet: unknown): boolean =>
  packet instanceof Uint8Array && packet[0] === 22 && packet[1] === 3;

/** A listening HTTP server, which answers that the service is starting until the routes are ready. */
export interface HttpListener {
  readonly server: Server;
  /** The local address that it is bound to. */
  readonly address: string;
  readonly port: number;
  /** Calls back once, when a client that speaks TLS connects: it was given an https address of this port. */
  onTlsHandshake(callback: () => void): void;
  /** Stops the "starting" answers: from now on the routes answer. */
  open(): Promise<void>;
  /** Asks the clients of kept-alive connections to open new ones, which may reach another node. */
  drain(): void;
  /**
   * Stops accepting connections, gives running requests a few seconds to finish, then releases the port.
   * @param patiently whether to wait for clients that are about to send another request
   */
  close(patiently?: boolean): Promise<void>;
}

/**
 * @param joined the port on which other processes of this service answer already: this one listens, too, when its routes are ready
 * @throws {ConfigError} if the address cannot be bound, with the remedy
 */
export async function openHttpListener(host: string, port: number, joined?: number): Promise<HttpListener> {
  const server = createServer({
    maxHeaderSize: LARGEST_HEADER_KIB * 1024,
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: 15 * SECOND,
    // The routes refuse a missing Host: Node's own answer has no body.
    requireHostHeader: false,
  });
  server.keepAliveTimeout = MINUTE + 5 * SECOND;
  const starting = (_request: unknown, response: ServerResponse) => {
    const body = { error: 'temporarily_unavailable', error_description: 'The service is starting.' };
    response.writeHead(503, { ...HEADERS, 'retry-after': '1' }).end(JSON.stringify(body));
  };
  server.on('request', starting);
  let tell: (() => void) | undefined;
  server.on('clientError', (error: Error & { code?: string; rawPacket?: unknown }, socket) => {
    if (isTlsHandshake(error.rawPacket)) {
      tell?.();
      // Once is enough, and anyone can send it. The answer below makes the client say that this is no TLS.
      tell = undefined;
    }
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, reason, text] = REFUSALS[error.code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ error: 'invalid_request', error_description: text });
    const headers = Object.entries({ ...HEADERS, 'content-length': String(Buffer.byteLength(body)) });
    socket.end(
      `HTTP/1.1 ${status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    );
    // A client that never closes its side would keep the connection and its buffers forever.
    const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT);
    socket.once('close', () => clearTimeout(timer));
  });
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', (error: Error & { code?: string }) => {
        const remedy =
          REMEDIES[error.code ?? ''] ?? `${error.message}. Set TESSERA_HOST and TESSERA_PORT to another address.`;
        reject(new ConfigError([`Cannot listen on ${host}:${port}. ${remedy}`]));
      });
      server.listen(port, host, resolve);
    });
  if (joined === undefined) await listen();
  const stop = stopper(server);
  const bound = () => server.address() as AddressInfo;
  return {
    server,
    drain: stop.drain,
    close: stop.close,
    get address() {
      return bound().address;
    },
    port: joined ?? bound().port,
    onTlsHandshake(callback) {
      tell = callback;
    },
    async open() {
      server.off('request', starting);
      if (joined === undefined) return;
      await listen();
      // Where the system chooses the port, it chose another one.
      if (bound().port !== joined) throw new ConfigError([`All processes that shared port ${joined} have ended.`]);
    },
  };
}
