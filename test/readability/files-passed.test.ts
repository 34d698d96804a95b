// store: SQLite
import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { after, test } from 'node:test';
import { type Answer, agent } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// How many source files a reader opens to follow an ordinary request, by V8's own count of what ran.

const server = await startServer();
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
after(async () => {
  inspector.disconnect();
  await server.close();
});

const SOURCES = new URL('../../src/', import.meta.url).href;

/** The tests themselves check every answer with it. */
const ALSO_IN_TESTS = 'platform/validation/formats.ts';

/** The source files of which a function runs during an act, with the names of those functions. */
async function filesPassed(act: () => Promise<void>): Promise<ReadonlyMap<string, readonly string[]>> {
  await inspector.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const files = new Map<string, string[]>();
  for (const { url, functions } of result) {
    const run = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    const file = url.slice(SOURCES.length);
    if (url.startsWith(SOURCES) && file !== ALSO_IN_TESTS && run.length > 0) {
      files.set(
        file,
        run.map(({ functionName }) => functionName || '(anonymous)'),
      );
    }
  }
  return files;
}

const TIMES = 5;

/**
 * Counts the files that a request passes each time. What is prepared or cached by the first is not counted, and neither is a timer
 * of the server that happens to fire during one of them.
 */
async function passesAtMost(limit: number, act: () => Promise<void>): Promise<void> {
  await act();
  const files = await filesPassed(act);
  const repeated: (typeof files)[] = [];
  for (let time = 1; time < TIMES; time++) repeated.push(await filesPassed(act));
  const always = [...files].filter(([file]) => repeated.every((other) => other.has(file)));
  const listed = always.map(([file, functions]) => `${file}: ${functions.join(', ')}`);
  if (process.env['TESSERA_TEST_LIST'] !== undefined) console.log([`${always.length} files`, ...listed].join('\n  '));
  assert.ok(
    always.length > 5 && always.length <= limit,
    [`${always.length} files, more than ${limit}:`, ...listed].join('\n'),
  );
}

const client = await newClient(server);
const user = await newUser(server);

test('UserInfo', async () => {
  const { access_token } = await tokensFor(server, client, user);
  await passesAtMost(17, async () => assert.equal((await userinfo(server, access_token)).status, 200));
});

test('a refresh', async () => {
  let { refresh_token } = await tokensFor(server, client, user);
  await passesAtMost(29, async () => {
    const answer = await refresh(server, client, refresh_token);
    assert.equal(answer.status, 200);
    refresh_token = answer.body.refresh_token;
  });
});

test('a consent', async () => {
  const browser = agent(server.baseUrl);
  await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  const pages: Answer[] = [];
  for (let time = 0; time <= TIMES; time++) {
    const page = await browser.get(authorizeUrl(await newClient(server)));
    pages.push(page.location === undefined ? page : await browser.get(page.location.href));
  }
  await passesAtMost(33, async () => {
    const page = pages.pop();
    assert.ok(page);
    const action = /action="([^"]*\/consent[^"]*)"/.exec(page.text)?.[1];
    const answer = await browser.submit(page, { decision: 'allow', 'allow profile': 'on' }, action);
    assert.ok(answer.location?.searchParams.has('code') ?? false, answer.text);
  });
});
