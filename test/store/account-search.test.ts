import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchAccounts } from '../../src/accounts/store.ts';
import { openOwnStore } from '../support/own-store.ts';
import { fixture } from './rows.ts';

test('a search goes through all accounts in steps, and finds what it would find in one', async () => {
  const { database, dispose } = await openOwnStore();
  for (let n = 0n; n < 7n; n++) await fixture(database, 10n + 10n * n);
  const search = async (text: string, size: number, limit: number, after = '0') =>
    (await searchAccounts(database, { after, limit, text, size })).map(({ id }) => id);
  const all = ['10', '20', '30', '40', '50', '60', '70'];
  for (const size of [1, 2, 3, 7, 8, 100]) {
    assert.deepEqual(await search('@', size, 100), all, `${size} at a time`);
    assert.deepEqual(await search('@', size, 3), all.slice(0, 3));
    assert.deepEqual(await search('@', size, 100, '35'), all.slice(3));
    assert.deepEqual(await search('nobody has this', size, 100), []);
  }
  await dispose();
});
