// store: SQLite
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pages } from '../../docs/site/markdown.ts';
import { start, type Tessera } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, redeem, refresh, userinfo, walk } from '../support/flow.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { type Block, blocksOf } from './blocks.ts';
import { openShell, type Shell } from './shell.ts';

/*
 * The blocks of the documentation are run, page by page and in order, by one reader at one server.
 *
 * - `sh` is run. `the-clientId` in it stands for the value of that name that was printed last, as a reader would put it in.
 * - An authorization request that a block prints is opened in a browser; `the-code` is in the address where that ends.
 * - `json` is what the block before it prints; a text with `…` in it stands for any.
 * - `<!-- not run: why -->` stands above a block that cannot be run.
 */
const LANGUAGES = ['sh', 'console', 'json', 'js', 'ts', 'html'];
const PAGES = [
  'README.md',
  'docs/tutorial/first-sign-in.md',
  // It goes on with the app and the tokens of the tutorial.
  'docs/reference/token-services.md',
  // The others go on with the admin key that it makes.
  'docs/how-to/register-an-app.md',
  ...['docs/how-to', 'docs/reference', 'docs/explanation', 'docs/decisions']
    .flatMap((folder) => [...pages(folder)])
    .filter((page) => !/register-an-app|back-up-and-restore|token-services/.test(page)),
  'CONTRIBUTING.md',
];
const ADA = { id: '', username: 'ada' };

const dataDir = mkdtempSync(join(tmpdir(), 'tessera-test-'));
let server: Tessera;
let baseUrl = '';
let shell: Shell;
let browser: Agent;
/** What was printed, by its name. */
const values = new Map<string, string>();
let printed = '';

const open = (port: string) =>
  start(
    readConfig({
      TESSERA_DATA_DIR: dataDir,
      TESSERA_PORT: port,
      TESSERA_LOG_LEVEL: 'silent',
      TESSERA_ADMIN_KEY: ADMIN_KEY,
    }),
  );

before(async () => {
  server = await open('0');
  baseUrl = server.baseUrl;
  shell = await openShell(dataDir);
  browser = agent(baseUrl);
});
after(async () => {
  await Promise.all([server.close(), shell.close()]);
  rmSync(dataDir, { recursive: true, force: true });
});

/** Its own test reads it, below. */
const RESTORE = 'docs/how-to/back-up-and-restore.md';

for (const page of PAGES.filter((page) => page !== RESTORE && runnable(page).length > 0)) {
  test(`the blocks of ${page} work as written`, () => read(page));
}

test('after a restore as documented no token and no session from before is accepted', async () => {
  const app = { name: 'Before', redirectUris: ['https://before.example.com/callback'] };
  const { body } = await admin({ baseUrl }, 'POST', '/clients', app);
  const client = { ...body, redirectUri: app.redirectUris[0] };
  const target = await walk(browser, authorizeUrl(client), { user: ADA });
  const tokens = await redeem({ baseUrl }, client, target.searchParams.get('code') ?? '');
  assert.equal((await userinfo({ baseUrl }, tokens.body.access_token)).status, 200);
  assert.equal((await browser.get('/account')).status, 200);
  await read(RESTORE);
  assert.equal((await userinfo({ baseUrl }, tokens.body.access_token)).status, 401);
  assert.equal((await refresh({ baseUrl }, client, tokens.body.refresh_token)).body.error, 'invalid_grant');
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
});

/** The blocks of a page that say nothing against it. */
function runnable(page: string): readonly Block[] {
  return blocksOf(page).filter(
    ({ language, notRun, runBy }) => LANGUAGES.includes(language) && notRun === undefined && runBy === undefined,
  );
}

/** Does what a page says. */
async function read(page: string): Promise<void> {
  const run = runnable(page);
  for (const [index, block] of run.entries()) {
    if (block.server === 'stop') await server.close();
    if (block.server === 'start') server = await open(new URL(baseUrl).port);
    if (block.language === 'sh' || block.language === 'console') await runShell(block);
    else if (block.language === 'json') compareAnswer(block);
    else assert.fail(`${block.place}: nothing runs ${block.language}; say why it is not run`);
    // curl succeeds whatever the answer is: an error that the page does not show is one that its reader does not expect.
    if (run[index + 1]?.language !== 'json') assert.doesNotMatch(printed, /^\{"error":/m, block.place);
  }
}

const here = (text: string): string => text.replaceAll('http://localhost:3000', baseUrl);

async function runShell({ place, text }: Block): Promise<void> {
  const script = here(text).replaceAll(/\bthe-(\w+)/g, (_, name: string) => {
    const value = values.get(name);
    assert.ok(value !== undefined, `${place}: nothing that was printed before is called ${name}`);
    return value;
  });
  const { out, errors, code } = await shell.run(script);
  assert.equal(code, 0, `${place}\n${script}\n${out}${errors}`);
  printed = out;
  for (const [name, value] of namesIn(out)) values.set(name, value);
  const request = /^http\S*\/oauth\/authorize\S*$/m.exec(out)?.[0];
  if (request === undefined) return;
  const target = await walk(browser, request, { user: ADA });
  for (const [name, value] of target.searchParams) values.set(name, value);
}

/** Names with their values: members of JSON, records as the command line prints them, and the first rows of its tables. */
function* namesIn(out: string): Generator<[string, string]> {
  for (const [, name = '', value = ''] of out.matchAll(/"(\w+)":\s*"([^"]*)"/g)) yield [name, value];
  for (const [, name = '', value = ''] of out.matchAll(/^(\w+) {2,}(\S+)$/gm)) yield [name, value];
  const [heads = [], first = []] = out.split('\n').map((line) => line.split(/ {2,}/));
  if (heads.length > 2) for (const [column, name] of heads.entries()) yield [name, first[column] ?? ''];
}

function compareAnswer({ place, text }: Block): void {
  const said: unknown = JSON.parse(here(text));
  assert.deepEqual(withGaps(JSON.parse(printed), said), said, place);
  printed = '';
}

/** What was printed, with the documentation's `…` where that has any. */
function withGaps(found: unknown, said: unknown): unknown {
  if (typeof said === 'string' && said.includes('…')) return typeof found === 'string' ? said : found;
  if (typeof found !== 'object' || found === null || typeof said !== 'object' || said === null) return found;
  if (Array.isArray(found)) return found.map((item, index) => withGaps(item, (said as unknown[])[index]));
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, withGaps(value, (said as Record<string, unknown>)[name])]),
  );
}
