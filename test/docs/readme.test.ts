import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { agent } from '../support/agent.ts';
import { walk } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let server: TestServer;
before(async () => {
  server = await startServer({ TESSERA_ADMIN_KEY: '' });
});
after(() => server.close());

/** The commands of the README's first five minutes, block by block, without the start of the server. */
function blocks(): string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = readme.split('## The first five minutes')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, text = '']) => text)
    .filter((text) => !text.includes('npm start'));
}

async function run(script: string): Promise<string> {
  const child = spawn('sh', ['-eu', '-c', `curl() { node test/support/curl.ts "$@"; }\n${script}`], {
    cwd: root,
    env: {
      ...process.env,
      // `npx tessera` is the command of this clone; run it without npm's own start each time.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      TESSERA_DATA_DIR: server.dataDir,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, `${script}\n${out}`);
  return out;
}

test('the README’s first five minutes work as written', async () => {
  const [people = '', identifiers = '', address = '', exchange = '', use = '', end = ''] = blocks().map((block) =>
    block.replaceAll('http://localhost:3000', server.baseUrl).replaceAll('npx tessera', 'node bin/tessera.js'),
  );
  const made = await run(people);
  const value = (name: string, text: string) => new RegExp(`"?${name}"?:?\\s+"?([\\w.-]+)`).exec(text)?.[1] ?? '';
  const ids = identifiers
    .replace('the-clientId', value('clientId', made))
    .replace('the-clientSecret', value('clientSecret', made));

  const url = (await run(ids + address)).trim();
  const browser = agent(server.baseUrl);
  const target = await walk(browser, url, { user: { id: '', username: 'ada' } });
  const code = target.searchParams.get('code') ?? '';

  const tokens = JSON.parse(await run(ids + exchange.replace('the-code', code)));
  assert.equal(tokens.token_type, 'Bearer');
  const variables =
    ids + use.replace('the-access_token', tokens.access_token).replace('the-refresh_token', tokens.refresh_token);
  const used = await run(variables);
  assert.match(used, /"displayName":"Ada Lovelace"/);
  assert.match(used, /"email":\{"username":"ada","domain":"example.com"/);
  assert.match(used, /"refresh_token":/);

  const assignments = variables
    .split('\n')
    .filter((line) => /^[A-Z_]+=/.test(line))
    .join('\n');
  assert.match(
    await run(`${assignments}\n${end}`),
    /\{"error":"access_denied","error_description":"Access revoked by user"\}/,
  );
});
