// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords } from './passwords.ts';

/** Lets everything run that waits for no hash: hashes end in later turns of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await null;
}

test('RFC 8265: a password is the same however its letters and spaces are composed', async () => {
  const cost = { memoryCost: 64, timeCost: 1 };
  const pool = passwords(1, cost);
  const typed = 'cafe\u0301 noir\u00a02031';
  const fresh = await pool.hash(typed, []);
  assert.equal(await pool.check('cafe noir 2031', fresh, []), 'wrong');
  for (const form of [typed, 'caf\u00e9 noir 2031', 'cafe\u0301 noir 2031']) {
    assert.equal(await pool.check(form, fresh, []), 'right');
    assert.equal(await pool.check(form, null, []), 'wrong');
  }
});

test('SE-07: a check for an unknown name takes a place in the hashing queue like one for a known name', async () => {
  const pool = passwords(1, { memoryCost: 64, timeCost: 1 });
  const stored = await pool.hash('correct horse battery', []);
  // The first of these makes the decoy, which is kept.
  assert.equal(await pool.check('a guess', null, []), 'wrong');
  for (const hash of [stored, null]) {
    const under = pool.hash('another password', []);
    const checked = pool.check('a guess', hash, []);
    await settle();
    assert.deepEqual(pool.load(), { running: 1, waiting: 1 }, hash === null ? 'unknown' : 'known');
    await under;
    assert.equal(await checked, 'wrong');
  }
});
