import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A client's own web server: it keeps what reaches its redirect URI. */
export interface ClientApp {
  readonly origin: string;
  readonly redirectUri: string;
  /** The queries and forms that came, oldest first. */
  readonly answers: readonly URLSearchParams[];
  close(): Promise<void>;
}

export async function startClientApp(): Promise<ClientApp> {
  const answers: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname !== '/callback') return void response.writeHead(404).end();
    answers.push(request.method === 'POST' ? new URLSearchParams(await text(request)) : url.searchParams);
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('<!doctype html><title>The app</title><link rel="icon" href="data:,"><h1>Back at the app</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    redirectUri: `${origin}/callback`,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
