import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { UpgradeNode } from './node.ts';

/** How often each node is asked whether it is ready, and how long that may take, in milliseconds. */
const CHECK_INTERVAL = 250;
const CHECK_TIMEOUT = 5000;
/** After how many failed checks a node that does not answer gets no more requests. A 503 counts at once. */
const MAX_SILENT_CHECKS = 3;

/** What a proxy saw of a request that it could not pass on. */
export interface ProxyFailure {
  readonly cause: string;
  readonly node: string;
}

/**
 * A proxy as operators run one: it keeps connections to the nodes, sends requests only to those whose readiness check succeeds, and
 * sends a request again to another node if its connection broke before a byte of the answer, and it is idempotent or was not sent.
 */
export interface Proxy {
  readonly baseUrl: string;
  add(node: UpgradeNode): void;
  remove(node: UpgradeNode): void;
  /** Waits until a node gets requests. */
  takes(node: UpgradeNode): Promise<void>;
  /** How many requests were sent again. */
  readonly resent: () => number;
  close(): Promise<void>;
}

interface Upstream {
  readonly node: UpgradeNode;
  readonly agent: Agent;
  ready: boolean;
  silent: number;
  removed: boolean;
}

/** Node's name of a failed connection; the request was not sent. */
const UNCONNECTED = new Set(['ECONNREFUSED', 'ENOENT', 'EHOSTUNREACH', 'ETIMEDOUT']);

export async function openProxy(): Promise<Proxy> {
  const upstreams: Upstream[] = [];
  let turn = 0;
  let resent = 0;

  const describe = ({ node, ready }: Upstream): string =>
    `${node.version} at ${node.port}, ${node.state}, ${ready ? 'ready' : 'not ready'}`;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const tried: string[] = [];
    for (;;) {
      const ready = upstreams.filter((upstream) => upstream.ready);
      const upstream = ready[turn++ % ready.length];
      if (upstream === undefined || tried.length === 3) {
        const cause = [...tried, `no node is ready: ${upstreams.map(describe).join('; ')}`].join(', then ');
        outgoing.writeHead(502, { 'x-proxy-failure': cause.replaceAll(/[^ -~]/g, '?') }).end();
        return;
      }
      const outcome = await pass(upstream, incoming, outgoing, body);
      if (outcome === 'answered') return;
      tried.push(`${describe(upstream)}: ${outcome.cause}`);
      if (outcome.mayResend) {
        resent++;
        continue;
      }
      outgoing.writeHead(502, { 'x-proxy-failure': tried.join(', then ').replaceAll(/[^ -~]/g, '?') }).end();
      return;
    }
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function check(upstream: Upstream): Promise<void> {
    const { node } = upstream;
    while (!upstream.removed) {
      try {
        const signal = AbortSignal.timeout(CHECK_TIMEOUT);
        const response = await fetch(`http://127.0.0.1:${node.port}/health/ready`, { signal });
        await response.body?.cancel();
        upstream.silent = 0;
        upstream.ready = response.ok;
      } catch {
        upstream.silent++;
        if (upstream.silent >= MAX_SILENT_CHECKS || node.state !== 'running') upstream.ready = false;
      }
      await wait(CHECK_INTERVAL);
    }
  }

  return {
    baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`,
    add(node) {
      const upstream = { node, agent: new Agent({ keepAlive: true }), ready: false, silent: 0, removed: false };
      upstreams.push(upstream);
      void check(upstream);
    },
    remove(node) {
      const at = upstreams.findIndex((upstream) => upstream.node === node);
      const [upstream] = upstreams.splice(at, 1);
      if (upstream === undefined) return;
      upstream.removed = true;
      upstream.ready = false;
      upstream.agent.destroy();
    },
    async takes(node) {
      while (!upstreams.some((upstream) => upstream.node === node && upstream.ready)) await wait(50);
    },
    resent: () => resent,
    async close() {
      for (const upstream of upstreams) {
        upstream.removed = true;
        upstream.agent.destroy();
      }
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Outcome = 'answered' | { readonly cause: string; readonly mayResend: boolean };

function pass(
  { node, agent }: Upstream,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
): Promise<Outcome> {
  const { method = 'GET', url = '/', headers } = incoming;
  const { connection: _hop, ...kept } = headers;
  return new Promise((resolve) => {
    const own = request({
      agent,
      host: '127.0.0.1',
      port: node.port,
      method,
      path: url,
      headers: kept,
    });
    own.on('response', (answer) => {
      const { connection: _own, 'keep-alive': _time, ...rest } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, {
        ...rest,
        'x-node': `${node.version} at ${node.port}, ${node.state}`,
      });
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
      answer.on('end', () => resolve('answered'));
      answer.on('close', () => resolve('answered'));
    });
    own.on('error', (error: NodeJS.ErrnoException) => {
      const unsent = UNCONNECTED.has(error.code ?? '') && !own.reusedSocket;
      const kind = own.reusedSocket ? 'on a kept connection' : 'on a new connection';
      const mayResend = unsent || method === 'GET' || method === 'HEAD';
      resolve({ cause: `${method} ${url.split('?')[0]} ${error.code ?? error.message} ${kind}`, mayResend });
    });
    own.end(body);
  });
}
