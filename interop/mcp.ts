/*
 * `npm run interop:mcp`: the MCP server of examples/mcp, and its client, which is the official TypeScript SDK, unmodified. The client finds the
 * authorization server, identifies itself by a metadata document, signs a person in and calls a tool. Then the person takes its access
 * away, and the next call is refused.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { root } from '../docs/site/markdown.ts';
import { certificate, certificateKey } from '../test/support/certificate.ts';
import { newClient, newSignedInUser, revokeOnPage, walk } from '../test/support/flow.ts';
import { query } from '../test/support/outcome.ts';
import { startServer } from '../test/support/server.ts';
import { freePort, listening, report, run, stopAll } from './processes.ts';

const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop', 'mcp');
const EXAMPLE = join(root, 'examples', 'mcp');
const KIT = join(root, 'packages', 'resource-server');

/** Installs the example, with the kit as it stands here. */
async function install(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { default: manifest } = await import(join(EXAMPLE, 'package.json'), { with: { type: 'json' } });
  const { '@tessera-id/resource-server': _, ...dependencies } = manifest.dependencies;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: folder });
  const kit = join(folder, 'node_modules', '@tessera-id', 'resource-server');
  mkdirSync(kit, { recursive: true });
  copyFileSync(join(KIT, 'package.json'), join(kit, 'package.json'));
  const compile = [join(root, 'node_modules/typescript/bin/tsc'), '--project', join(KIT, 'tsconfig.json')];
  await run(process.execPath, [...compile, '--outDir', join(kit, 'dist')], { cwd: root });
  for (const file of ['server.js', 'client.js']) copyFileSync(join(EXAMPLE, file), join(folder, file));
}

/** Publishes the metadata document of the client by https, as the SDK requires. */
async function publish() {
  const http = createServer({ key: certificateKey, cert: certificate }, (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        client_id: url,
        client_name: 'Example agent',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      }),
    ),
  );
  await new Promise<void>((resolve) => http.listen(0, 'localhost', resolve));
  const url = `https://localhost:${(http.address() as AddressInfo).port}/client.json`;
  return { url, close: () => http.close() };
}

/** The lines that a program writes, one after the other. */
function linesOf(child: ReturnType<typeof spawn>): (what: RegExp) => Promise<string> {
  if (child.stdout === null) throw new Error('the program has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (what) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the client ended before it wrote ${what}`);
      report(`    ${value}`);
      const found = what.exec(value);
      if (found !== null) return found[1] ?? found[0];
    }
  };
}

function expect(what: string, holds: boolean): void {
  report(`${holds ? '✔' : '✖'} ${what}`);
  if (!holds) process.exitCode = 1;
}

// The server that reads the document is in this process.
setDefaultCACertificates([...getCACertificates('default'), certificate]);
try {
  await install();
  const port = await freePort();
  const server = await startServer({ TESSERA_CLIENT_METADATA: 'listed', TESSERA_CLIENT_METADATA_DOMAINS: 'localhost' });
  const document = await publish();
  const resource = `http://localhost:${port}/mcp`;
  const api = await newClient(server, {
    name: 'Example tools',
    grantTypes: ['client_credentials'],
    redirectUris: undefined,
    resource,
  });
  const env = { ISSUER: server.baseUrl, CLIENT_ID: api.clientId, CLIENT_SECRET: api.clientSecret, PORT: String(port) };
  const running = await listening({ command: process.execPath, args: ['server.js'], cwd: folder, env }, port);
  const client = spawn(process.execPath, ['client.js'], {
    cwd: folder,
    env: { ...process.env, MCP_URL: resource, CLIENT_METADATA_URL: document.url },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const next = linesOf(client);
    const address = new URL(await next(/^Open (.*)$/));
    expect('it identifies itself by its metadata document', address.searchParams.get('client_id') === document.url);
    expect('it asks for a token for the MCP server', address.searchParams.get('resource') === resource);
    const { user, browser } = await newSignedInUser(server);
    const returned = await walk(browser, address.href, { user });
    await fetch(returned);
    expect('its tool is called for the person', (await next(/^You are (\d+)\.$/)) === user.id);
    const [row] = await query(server, 'SELECT id FROM client WHERE metadata_url = ?', document.url);
    await revokeOnPage(browser, { ...api, clientId: String(row?.['id']) });
    client.stdin?.write('\n');
    // The SDK refreshes, is refused, and sends the person to the authorization server again.
    await next(/^Open (.*)$/);
    expect(
      'after the person took its access away the next call is refused',
      (await next(/^(Unauthorized|You are|Failed)/)) === 'Unauthorized',
    );
  } finally {
    client.kill();
    await running.close();
    document.close();
    await server.close();
  }
} finally {
  await stopAll();
}
