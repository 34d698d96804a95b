// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PageRequest, readPage } from './paging.ts';

const ids = ['1', '2', '3', '4', '5'];
const read = async ({ after, limit }: PageRequest) =>
  ids
    .filter((id) => id > after)
    .slice(0, limit)
    .map((id) => ({ id }));
const page = (limit: number, cursor?: string) =>
  readPage({ limit, ...(cursor !== undefined && { cursor }) }, read, ({ id }) => id);

test('each cursor continues after the page before, and the last page has none', async () => {
  const first = await page(2);
  const second = await page(2, first.nextCursor ?? '');
  const third = await page(2, second.nextCursor ?? '');
  assert.deepEqual([first.items, second.items, third.items], [['1', '2'], ['3', '4'], ['5']]);
  assert.equal(third.nextCursor, null);
});

test('a page that ends with the list has no cursor', async () => {
  assert.deepEqual(await page(5), { items: ids, nextCursor: null });
});

for (const cursor of [
  '',
  '2',
  Buffer.from('after x').toString('base64url'),
  Buffer.from('after -1').toString('base64url'),
]) {
  test(`the cursor "${cursor}" is rejected`, async () => {
    await assert.rejects(page(2, cursor), { code: 'invalid_request' });
  });
}
