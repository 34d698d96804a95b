/**
 * Measures whether the time of an answer tells whether an account exists: names with and without an account in random order, in new
 * browsers, one request at a time. The area under the curve is the share of pairs in which the known name took longer: 0.5 is a guess.
 */
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { HASH_COST } from '../../src/platform/crypto/passwords.ts';
import { type Agent, agent } from '../../test/support/agent.ts';
import { newUser } from '../../test/support/flow.ts';
import { startServer } from '../../test/support/server.ts';

const TRIES = Number(process.argv[2] ?? 2000);
/** Of the names of the forms: the others are left out, and nothing is recorded. */
const ONLY = process.argv[3];

const server = await startServer(
  {
    TESSERA_MAILBOX: 'on',
    TESSERA_SIGN_IN_CODE: 'on',
    TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
    TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off',
    TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
    TESSERA_LIMIT_CODE_ACCOUNT: 'off',
    TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  },
  1,
  HASH_COST,
);

const known: string[] = [];
for (let count = 0; count < 20; count++) known.push((await newUser(server, { emailVerified: true })).username);
/** As many, so that each is counted as often. */
const unknown = known.map((_, index) => `stranger${index}`);
let newcomers = 0;

/** What is measured: the answer to a form, after what has to come before it. */
const MEASURED: Readonly<Record<string, (browser: Agent, name: string) => Promise<() => Promise<unknown>>>> = {
  'POST /recover': async (browser, identifier) => {
    const page = await browser.get('/recover');
    return () => browser.submit(page, { identifier });
  },
  'POST /recover/code': async (browser, identifier) => {
    await browser.submit(await browser.get('/recover'), { identifier });
    await server.sendRequestedMail();
    const page = await browser.get('/recover/code');
    return () => browser.submit(page, { sent_code: '000000' });
  },
  'POST /login/code': async (browser, identifier) => {
    const page = await browser.get('/login/code');
    return () => browser.submit(page, { identifier });
  },
  'POST /login/code/enter': async (browser, identifier) => {
    await browser.submit(await browser.get('/login/code'), { identifier });
    await server.sendRequestedMail();
    const page = await browser.get('/login/code/enter');
    return () => browser.submit(page, { sent_code: '000000' });
  },
  'POST /login': async (browser, identifier) => {
    const page = await browser.get('/login');
    return () => browser.submit(page, { identifier, password: 'a wrong password' });
  },
  // The username is free; the address is that of an account, or not. Each gets a message.
  'POST /signup': async (browser, name) => {
    const page = await browser.get('/signup');
    const fields = { displayName: 'N', username: `new-${++newcomers}`, password: 'twelve green bicycles' };
    return () => browser.submit(page, { ...fields, email: `${name}@example.com` });
  },
};

/** The share of pairs in which the first is larger; ties count half. */
function areaUnderCurve(larger: readonly number[], smaller: readonly number[]): number {
  const all = [...larger.map((time) => [time, 1] as const), ...smaller.map((time) => [time, 0] as const)];
  all.sort(([a], [b]) => a - b);
  let sum = 0;
  for (let at = 0; at < all.length; ) {
    let end = at;
    while (end < all.length && all[end]?.[0] === all[at]?.[0]) end++;
    for (let tied = at; tied < end; tied++) if (all[tied]?.[1] === 1) sum += (at + 1 + end) / 2;
    at = end;
  }
  return (sum - (larger.length * (larger.length + 1)) / 2) / (larger.length * smaller.length);
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;

const rows: string[] = [];
let worst = 0;
for (const [name, prepare] of Object.entries(MEASURED)) {
  if (ONLY !== undefined && !name.includes(ONLY)) continue;
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let attempt = 0; attempt < 2 * TRIES; attempt++) {
    const kind = Math.random() < 0.5 ? 'known' : 'unknown';
    const identifier = (kind === 'known' ? known : unknown)[attempt % known.length] ?? '';
    const act = await prepare(agent(server.baseUrl), identifier);
    const start = performance.now();
    await act();
    // The first ones warm up.
    if (attempt >= 50) times[kind].push(performance.now() - start);
  }
  const auc = areaUnderCurve(times.known, times.unknown);
  worst = Math.max(worst, Math.abs(auc - 0.5));
  const shown = [auc.toFixed(3), ...[times.known, times.unknown].map((list) => `${median(list).toFixed(2)} ms`)];
  rows.push(`| \`${name}\` | ${times.known.length} / ${times.unknown.length} | ${shown.join(' | ')} |`);
  process.stdout.write(`${rows.at(-1)}\n`);
}
await server.close();

const page = `# Timing of answers

Whether the time of an answer tells that an account exists, as \`npm run timing\` measured it: names with and without an account in random
order, each in a new browser, one request at a time, on one node with SQLite. The area under the curve is the share of pairs in which the
name with an account took longer: 0.5 is a guess, and 0.45 to 0.55 is accepted.

| Form | With / without an account | Area under the curve | Median with | Median without |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

How the forms achieve it: the sign-in page hashes a password for unknown names, too. What an account adds is less
than a tenth of a millisecond; a refused sign-in, and every answer to a code for recovery, waits for the end of a step of 20 ms, so that
it does not show. Asking for a recovery or a sign-in code stores the request before the name is looked up; the message is made later. A
code is checked against a stored challenge, which unknown names have as well. A sign-up stores the same and enqueues one message, whether
the address has an account or not.
`;
if (ONLY === undefined) writeFileSync(fileURLToPath(new URL('./README.md', import.meta.url)), page);
if (worst > 0.05) process.exitCode = 1;
