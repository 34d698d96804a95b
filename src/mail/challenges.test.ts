// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSealer } from '../keys/sealer.ts';
import { limitVariables } from '../limits/settings.ts';
import { toCurrentSchema } from '../migrations/timeline.ts';
import { MINUTE } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { openSqlite } from '../platform/database/sqlite/open.ts';
import {
  createChallenge,
  findChallenge,
  type NewChallenge,
  prepareChallenge,
  tryCode,
  useChallenge,
} from './challenges.ts';

const database = await openSqlite(':memory:', toCurrentSchema);
after(() => database.close());
let now = 1_800_000_000_000;
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, () => now);
const limits = Object.fromEntries(
  Object.entries(limitVariables).map(([name, { fallback }]) => [name, fallback]),
) as never;
const origin = { actor: { type: 'anonymous', id: null }, address: null, requestId: null } as const;

let addresses = 0;
const asked = (changes: Partial<NewChallenge> = {}): NewChallenge => ({
  purpose: 'sign up',
  account: null,
  address: `person${++addresses}@example.com`,
  browserHash: `browser ${addresses}`,
  data: { secret: 'of a sign-up' },
  lifetime: 15 * MINUTE,
  ...changes,
});

async function sent(challenge: NewChallenge) {
  const secrets = prepareChallenge();
  await database.commit(() => createChallenge(sealer, secrets, challenge, now));
  return secrets;
}
const use = (link: string) => database.commit(() => useChallenge(sealer, link, 'sign up', now));
const type = (browserHash: string, code: string) =>
  database.commit(() => tryCode({ sealer, limits }, { purpose: 'sign up', browserHash, code, origin }, now));

test('a link is good once, and its data comes with it; looking at it changes nothing', async () => {
  const { link } = await sent(asked());
  for (let look = 0; look < 3; look++) {
    const found = await database.read(() => findChallenge(sealer, link, 'sign up', now));
    assert.deepEqual(found?.data, { secret: 'of a sign-up' });
  }
  const uses = await Promise.all([use(link), use(link), use(link)]);
  assert.equal(uses.filter((challenge) => challenge !== undefined).length, 1);
  assert.equal(await database.read(() => findChallenge(sealer, link, 'sign up', now)), undefined);
});

test('a link is not good for another purpose, after its time, or when a newer one was sent', async () => {
  const challenge = asked();
  const first = await sent(challenge);
  assert.equal(await database.read(() => findChallenge(sealer, first.link, 'recover', now)), undefined);
  const second = await sent(challenge);
  assert.equal(await use(first.link), undefined);
  now += 15 * MINUTE;
  assert.equal(await use(second.link), undefined);
});

test('a code is good once, in the browser that asked for it, and is forgiven its spaces', async () => {
  const { browserHash, ...rest } = asked();
  const { code, link } = await sent({ ...rest, browserHash });
  assert.equal((await type('another browser', code)).kind, 'wrong');
  const typed = await type(browserHash ?? '', `${code.slice(0, 3)} ${code.slice(3)}`);
  assert.equal(typed.kind, 'right');
  assert.equal((await type(browserHash ?? '', code)).kind, 'wrong');
  assert.equal(await use(link), undefined, 'the link ends with its code');
});

test('five tries count over reissued codes, and then not even the right code is good', async () => {
  const challenge = asked();
  const browser = challenge.browserHash ?? '';
  for (let guess = 0; guess < 5; guess++) {
    await sent(challenge);
    assert.equal((await type(browser, 'wrong')).kind, 'wrong');
  }
  const { code } = await sent(challenge);
  assert.equal((await type(browser, code)).kind, 'limited');
  now += 15 * MINUTE;
  const later = await sent(challenge);
  assert.equal((await type(browser, later.code)).kind, 'right');
});

test('neither the secrets nor the data are stored in clear', async () => {
  const { link, code } = await sent(asked());
  const { statement } = await import('../platform/database/statement.ts');
  const all = statement((db) => db.selectFrom('challenge').select(['hash', 'code_hash', 'sealed']));
  const rows = await database.read(function* read(): Work<unknown> {
    return yield { statement: all, params: {} };
  });
  const text = JSON.stringify(rows);
  for (const secret of [link, `"${code}"`, 'of a sign-up']) assert.ok(!text.includes(secret));
});
