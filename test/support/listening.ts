import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { startServer, type TestServer } from './server.ts';

/** A server whose base URL is not the address that it listens on, as behind a proxy. */
export interface ProxiedServer extends TestServer {
  /** Where it really listens. */
  readonly port: number;
}

/** Starts a server that believes to be reached at `TESSERA_BASE_URL`. */
export async function startBehind(baseUrl: string, settings: Readonly<Record<string, string>> = {}) {
  const servers: Server[] = [];
  const note = (message: unknown) => {
    const { server } = message as { server: Server };
    servers.push(server);
  };
  // Node's own notice that a server listens: https://nodejs.org/api/diagnostics_channel.html#net
  subscribe('tracing:net.server.listen:asyncEnd', note);
  try {
    const server = await startServer({ ...settings, TESSERA_BASE_URL: baseUrl });
    const [own] = servers;
    assert.ok(own !== undefined && servers.length === 1, 'no server, or several, began to listen');
    const proxied: ProxiedServer = { ...server, port: (own.address() as AddressInfo).port };
    return proxied;
  } finally {
    unsubscribe('tracing:net.server.listen:asyncEnd', note);
  }
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request with exactly these headers, `Host` included. */
export function send(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** What comes back for these very bytes, up to the end of the connection. */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
