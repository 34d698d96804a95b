// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryConfig, QueryResult } from 'pg';
import { StoreUnavailable } from '../database.ts';
import { type Statement, statement } from '../statement.ts';
import type { Connections } from './connections.ts';
import { sharedReads } from './shared-reads.ts';

const read = (column: 'name' | 'owner' | 'status') =>
  statement((db, p: { id: string }) => db.selectFrom('client').select(column).where('id', '=', p.id));

test('a statement that failed to prepare is prepared again under a new name', async () => {
  const texts = new Map<string, string>();
  let away = false;
  const answer = { rows: [{ types: ['bigint'] }], fields: [] } as unknown as QueryResult;
  const ask = async ({ name, text = '' }: QueryConfig) => {
    if (away && text.includes('"status"')) throw new StoreUnavailable('away');
    // As the driver does: a name stands for one text, as long as the connection lives.
    if (name !== undefined) assert.equal(texts.get(name) ?? text, text, `${name} stood for another statement`);
    if (name !== undefined) texts.set(name, text);
    return answer;
  };
  const connections = { lend: (_until: number, use: (a: typeof ask) => unknown) => use(ask) } as unknown as Connections;
  const run = sharedReads(connections);
  const once = (of: Statement<never, unknown>) => run({ statement: of, params: { id: '1' } });
  const [name, owner, status] = [read('name'), read('owner'), read('status')] as Statement<never, unknown>[];
  assert.ok(name && owner && status);
  await once(owner);
  away = true;
  // Both are named in one turn, before the one of them fails.
  await Promise.all([assert.rejects(once(status), StoreUnavailable), once(name)]);
  away = false;
  for (const one of [name, owner, status]) await Promise.all([once(one), once(one)]);
  assert.equal(texts.size, new Set(texts.values()).size);
});

test('the statements of several callers share a connection, and each its own fate; one of a single caller has its own', async () => {
  const asked: string[][] = [];
  const lend: Connections['lend'] = (_until, use) => {
    const texts: string[] = [];
    asked.push(texts);
    return use(async ({ name = '', text = '' }) => {
      texts.push(name);
      if (name.endsWith('_shared') && text.includes('"status"')) throw new Error('no');
      return { rows: [{ types: ['bigint'] }], fields: [] } as unknown as QueryResult;
    });
  };
  const run = sharedReads({ lend } as Connections);
  const [name, owner, status] = [read('name'), read('owner'), read('status')] as Statement<never, unknown>[];
  assert.ok(name && owner && status);
  const once = (of: Statement<never, unknown>) => run({ statement: of, params: { id: '1' } });
  const turn = () => Promise.allSettled([name, name, owner, status, status].map(once));
  // The statements are prepared first.
  await turn();
  asked.length = 0;
  const answers = await turn();
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  assert.deepEqual(asked, [['read_1'], ['read_0_shared', 'read_2_shared']]);
});
