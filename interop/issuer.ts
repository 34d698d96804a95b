import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomSecret } from '../src/platform/crypto/secrets.ts';
import { freePort, listen, listening } from './processes.ts';

/** A request to the issuer, as a client sent it, and what came back. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly grantType: string | undefined;
  readonly status: number;
  /** The code of an error. */
  readonly error: string | undefined;
  /** The algorithm of an ID token in the answer. */
  readonly idTokenAlg: string | undefined;
}

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly password: string;
}

export interface Registered {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The service, started as an operator starts it, behind a proxy that notes what passes. */
export interface Issuer {
  readonly address: string;
  readonly person: Person;
  /** What passed since the mark was taken. */
  since(mark: number): readonly Exchange[];
  mark(): number;
  register(fields: Readonly<Record<string, unknown>>): Promise<Registered>;
  change(clientId: string, fields: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
}

const TESSERA = fileURLToPath(new URL('../bin/tessera.js', import.meta.url));

export async function startIssuer(): Promise<Issuer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tessera-interop-'));
  const forget = () => rmSync(dataDir, { recursive: true, force: true });
  // Also when the run is interrupted.
  process.once('exit', forget);
  const exchanges: Exchange[] = [];
  const port = await freePort();
  const proxy = await listen(
    createServer((incoming, reply) => void pass(incoming, reply, port).then((seen) => exchanges.push(seen))),
  );
  const address = `http://localhost:${proxy.port}`;
  const adminKey = randomSecret();
  const service = await listening(
    {
      command: process.execPath,
      args: [TESSERA, 'serve'],
      env: {
        TESSERA_BASE_URL: address,
        TESSERA_PORT: String(port),
        TESSERA_DATA_DIR: dataDir,
        TESSERA_ADMIN_KEY: adminKey,
        TESSERA_LOG_LEVEL: 'warn',
      },
    },
    port,
    '/health/ready',
  );

  // biome-ignore lint/suspicious/noExplicitAny: answers of the admin API are read as they come
  async function admin(method: string, path: string, fields: Readonly<Record<string, unknown>>): Promise<any> {
    const response = await fetch(`http://localhost:${port}/api/v2/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  const facts = {
    username: 'ada',
    displayName: 'Ada Lovelace',
    email: 'ada@example.com',
    password: randomSecret(),
  };
  const { id } = await admin('POST', '/users', { ...facts, emailVerified: true });
  return {
    address,
    person: { id, ...facts },
    mark: () => exchanges.length,
    since: (mark) => exchanges.slice(mark),
    register: (fields) => admin('POST', '/clients', fields),
    change: (clientId, fields) => admin('PATCH', `/clients/${clientId}`, fields),
    async close() {
      await service.close();
      await proxy.close();
      forget();
      process.off('exit', forget);
    },
  };
}

/** Passes a request on as it is. */
export async function pass(incoming: IncomingMessage, reply: ServerResponse, port: number): Promise<Exchange> {
  const { method = '', url = '', headers } = incoming;
  const body = await bytes(incoming);
  const grantType = new URLSearchParams(body.toString()).get('grant_type') ?? undefined;
  const seen = { method, path: url.split('?')[0] ?? '', grantType };
  return new Promise((resolve) => {
    const lost = () => {
      reply.writeHead(502).end();
      resolve({ ...seen, status: 502, error: undefined, idTokenAlg: undefined });
    };
    const passed = request({ host: 'localhost', port, method, path: url, headers, agent: false }, (answer) => {
      bytes(answer).then((content) => {
        const status = answer.statusCode ?? 0;
        const { 'transfer-encoding': _chunked, connection: _connection, ...rest } = answer.headers;
        reply.writeHead(status, rest).end(content);
        const text = content.toString();
        const header = /"id_token":"([^".]+)\./.exec(text)?.[1];
        const idTokenAlg = header && JSON.parse(Buffer.from(header, 'base64url').toString()).alg;
        resolve({ ...seen, status, error: /"error":"(\w+)"/.exec(text)?.[1], idTokenAlg });
      }, lost);
    });
    passed.on('error', lost).end(body);
  });
}

async function bytes(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts);
}
