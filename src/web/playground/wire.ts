import { connect } from 'node:net';
import { SECOND } from '../../platform/clock.ts';
import { unavailable } from '../../platform/oauth-error.ts';

/** A request to this very server. */
export interface WireRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request and its answer, byte for byte, and when they were on the wire. */
export interface Exchange {
  readonly request: string;
  readonly answer: string;
  /** Milliseconds of a clock that only measures: before the first byte was sent, after the last one had come. */
  readonly began: number;
  readonly ended: number;
}

export type Wire = (request: WireRequest) => Promise<Exchange>;

interface Address {
  readonly address: string;
  readonly port: number;
}

const PATIENCE = 10 * SECOND;
const LONGEST = 256 * 1024;

/**
 * Speaks to this server's own listener, as a proxy before it would: no name is resolved and no address comes from a request.
 * What was sent and received is kept as it was, so HTTP is written here by hand; `Connection: close` says where an answer ends.
 * @param listener where it listens
 * @param baseUrl what the requests are for, whatever the listener itself speaks
 */
export function wireTo(listener: Address, baseUrl: string): Wire {
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
    return send(reachable(listener), request);
  };
}

/** A listener on all addresses is reached on its own machine. */
function reachable({ address, port }: Address): { readonly host: string; readonly port: number } {
  const own: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: own[address] ?? address, port };
}

function send(to: { readonly host: string; readonly port: number }, request: string): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const began = performance.now();
    const socket = connect(to, () => socket.write(request));
    const fail = () => {
      socket.destroy();
      reject(unavailable());
    };
    socket.setTimeout(PATIENCE, fail);
    socket.on('error', fail);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LONGEST) fail();
    });
    socket.on('end', () => {
      resolve({ request, answer: Buffer.concat(chunks).toString('utf8'), began, ended: performance.now() });
    });
  });
}
