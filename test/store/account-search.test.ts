// store: SQLite
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccountSearch, findAccountsContaining, searchAccounts } from '../../src/accounts/store.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { openOwnStore } from '../support/own-store.ts';
import { account, fixture } from './rows.ts';

const ALL = ['10', '20', '30', '40', '50', '60', '70'];
const { database, dispose } = await openOwnStore();
for (const id of ALL) await fixture(database, BigInt(id));
test.after(dispose);

/** The ids of each request of a search, until it ends. */
async function followed(search: typeof searchAccounts, request: AccountSearch): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after: string | undefined = request.after; after !== undefined; ) {
    const { items, next } = await search(database, { ...request, after });
    assert.ok(items.length <= request.limit);
    pages.push(items.map(({ id }) => id));
    after = next;
  }
  return pages;
}

test('a search goes through all accounts in steps, and finds what it would find in one', async () => {
  for (const size of [1, 2, 3, 7, 8, 100]) {
    const search = (text: string, limit: number, after = '0') =>
      followed(findAccountsContaining, { after, limit, text, size, steps: 100 });
    assert.deepEqual(await search('@', 100), [ALL], `${size} at a time`);
    assert.deepEqual(await search('@', 3), [ALL.slice(0, 3), ALL.slice(3, 6), ALL.slice(6)]);
    assert.deepEqual(await search('@', 7), [ALL], 'nothing comes after a full page at the end');
    assert.deepEqual(await search('@', 100, '35'), [ALL.slice(3)]);
    assert.deepEqual(await search('nobody has this', 100), [[]]);
  }
});

test('one request examines so many accounts and no more, and the next one goes on after them', async () => {
  let reads = 0;
  const counted: Pick<Database, 'read'> = {
    read(work) {
      reads++;
      return database.read(work);
    },
  };
  const search = { limit: 100, text: 'nobody has this', size: 2, steps: 2 };
  const first = await findAccountsContaining(counted, { ...search, after: '0' });
  assert.deepEqual([first, reads], [{ items: [], next: '40' }, 4]);
  const second = await findAccountsContaining(counted, { ...search, after: '40' });
  assert.deepEqual([second, reads], [{ items: [], next: '70' }, 8]);
  const last = await findAccountsContaining(counted, { ...search, after: '70' });
  assert.deepEqual([last, reads], [{ items: [], next: undefined }, 9]);

  const about = { limit: 2, size: 2, steps: 2 };
  assert.deepEqual(await followed(findAccountsContaining, { ...about, after: '0', text: '50@' }), [[], ['50'], []]);
  assert.deepEqual(await followed(findAccountsContaining, { ...about, after: '0', text: '@' }), [
    ['10', '20'],
    ['30', '40'],
    ['50', '60'],
    ['70'],
  ]);
});

test('the account whose id, username or address it is comes first, wherever it is, and only once', async () => {
  // Usernames: the id of another account, and one that contains all of another.
  await database.commit(() => account('80', '30'));
  await database.commit(() => account('25', 'auser60'));
  for (const [text, found] of [
    ['user60', ['60', '25']],
    ['USER60', ['60', '25']],
    ['user60@example.com', ['60', '25']],
    ['30', ['30', '80']],
    ['60', ['60', '25']],
    ['USER6', ['25', '60']],
  ] as const) {
    for (const limit of [1, 2, 3, 100]) {
      for (const [size, steps] of [
        [100, 100],
        [2, 1],
        [1, 3],
      ] as const) {
        const request = { after: '0', limit, text, size, steps };
        const pages = await followed(searchAccounts, request);
        assert.deepEqual(pages.flat(), found, JSON.stringify(request));
        const whole = await followed(findAccountsContaining, request);
        const inOrder = found.toSorted((one, other) => Number(one) - Number(other));
        assert.deepEqual(whole.flat(), inOrder, JSON.stringify(request));
      }
    }
  }
});
