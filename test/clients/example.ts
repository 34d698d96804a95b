import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { admin, type TestClient } from '../support/flow.ts';
import type { TestServer } from '../support/server.ts';

/** An app of examples/, started as it is. */
export interface RunningExample {
  /** Where it is reached. */
  readonly origin: string;
  readonly client: TestClient;
  /** Moves its clock, as the server's moves. */
  advance(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const CLOCK = new URL('clock.ts', import.meta.url).href;

/**
 * Registers a client and starts its app.
 * @param file below examples/
 * @param registration what the client is beside its addresses
 */
export async function startExample(
  server: TestServer,
  file: string,
  registration: { readonly callback: string; readonly fields?: Readonly<Record<string, unknown>> },
): Promise<RunningExample> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const { status, body } = await admin(server, 'POST', '/clients', {
      name: file,
      redirectUris: [origin + registration.callback],
      postLogoutRedirectUris: [`${origin}/`],
      ...registration.fields,
    });
    assert.equal(status, 201, JSON.stringify(body));
    const client = {
      clientId: body.clientId,
      clientSecret: body.clientSecret ?? '',
      redirectUri: body.redirectUris[0],
    };
    const child = spawn(
      process.execPath,
      ['--import', CLOCK, fileURLToPath(new URL(`../../examples/${file}`, import.meta.url))],
      {
        env: {
          PATH: process.env['PATH'],
          ISSUER: server.baseUrl,
          CLIENT_ID: client.clientId,
          CLIENT_SECRET: client.clientSecret,
          PORT: String(port),
        },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const failure = await failureToStart(child);
    if (failure === undefined) return running(child, origin, client);
    // Another process has taken the port meanwhile.
    if (!failure.includes('EADDRINUSE') || attempt === 5) throw new Error(`${file} did not start: ${failure}`);
  }
}

async function freePort(): Promise<number> {
  const probe: Server = createServer().listen(0);
  await once(probe, 'listening');
  const address = probe.address();
  assert.ok(address !== null && typeof address === 'object');
  probe.close();
  await once(probe, 'close');
  return address.port;
}

/** Waits until the app says that it listens; what it wrote where it ended instead. */
function failureToStart(child: ChildProcess): Promise<string | undefined> {
  let [said, told] = ['', ''];
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    if (told.includes('Listening at')) resolve(undefined);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.on('close', () => resolve(said));
  return promise;
}

function running(child: ChildProcess, origin: string, client: TestClient): RunningExample {
  return {
    origin,
    client,
    async advance(milliseconds) {
      const moved = once(child, 'message');
      child.send(milliseconds);
      await moved;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}
