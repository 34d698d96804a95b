import { ConfigError } from '../config/config-error.ts';
import { createServer } from '../http/node-http.ts';

/** What is served: a registry of prom-client, or several that are added up. */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` on a separate address, which need not be public.
 * @throws {ConfigError} if the address cannot be bound
 */
export async function listenForMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  { registry }: { readonly registry: MetricsText },
): Promise<MetricsListener> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('The metrics are at GET /metrics.\n');
      return;
    }
    try {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text);
    } catch {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('The metrics cannot be read now.\n');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const where = `TESSERA_METRICS_ADDRESS: cannot listen on ${host}:${port} (${error.message}).`;
      reject(new ConfigError([`${where} Set it to a free address of this machine, or to off.`]));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
