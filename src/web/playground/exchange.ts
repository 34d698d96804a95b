import { connect } from 'node:net';
import { SECOND } from '../../platform/clock.ts';
import { unavailable } from '../../platform/failure.ts';

/** A request to this server. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request and its response, byte for byte. */
export interface Exchange {
  readonly request: string;
  readonly answer: string;
  /** Milliseconds of a monotonic clock: before the first byte was sent, and after the last byte was received. */
  readonly began: number;
  readonly ended: number;
}

export type SendRequest = (request: ExchangeRequest) => Promise<Exchange>;

interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

const TIMEOUT = 10 * SECOND;
const MAX_RESPONSE_BYTES = 256 * 1024;

/**
 * Sends requests to this server's own listener, as a proxy would: no name is resolved, and no address comes from a request.
 * HTTP is written by hand so that both messages are kept byte for byte; `Connection: close` marks the end of the response.
 * @param listener the address that the server listens on
 * @param baseUrl what `Host` and the paths are taken from, whichever protocol the listener itself speaks
 */
export function requestSender(listener: ListenAddress, baseUrl: string): SendRequest {
  const { host, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  return ({ method, path, headers, body = '' }) => {
    const lines = {
      Host: host,
      ...headers,
      ...(method === 'POST' && { 'Content-Length': String(Buffer.byteLength(body)) }),
      Connection: 'close',
    };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `${method} ${basePath}${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
    return exchange(loopbackOf(listener), request);
  };
}

/** A listener on all addresses is reached by the loopback address. */
function loopbackOf({ address, port }: ListenAddress): { readonly host: string; readonly port: number } {
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: loopback[address] ?? address, port };
}

function exchange(target: { readonly host: string; readonly port: number }, request: string): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const began = performance.now();
    const socket = connect(target, () => socket.write(request));
    const fail = () => {
      socket.destroy();
      reject(unavailable());
    };
    socket.setTimeout(TIMEOUT, fail);
    socket.on('error', fail);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_RESPONSE_BYTES) fail();
    });
    socket.on('end', () => {
      resolve({ request, answer: Buffer.concat(chunks).toString('utf8'), began, ended: performance.now() });
    });
  });
}
