// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { QueryConfig, QueryResult } from 'pg';
import { StoreUnavailable, type Work } from '../database.ts';
import { command, joint } from '../statement.ts';
import type { Connections } from './connections.ts';
import { jointCommits } from './joint-commits.ts';
import { ReadableQuery } from './readable-query.ts';
import type { SharedStatements } from './shared-statements.ts';

const remove = command(
  joint({}, (db, p: { bucket: string }) => db.deleteFrom('rate_count').where('bucket', '=', p.bucket)),
);

test('a unit that has waited for too long fails without a connection, and takes none of its turn along', async () => {
  const lent: number[] = [];
  const ask = async ({ text = '' }: QueryConfig) => ({ command: text, rows: [], fields: [] }) as unknown as QueryResult;
  const lend: Connections['lend'] = (until, use) => {
    lent.push(until);
    return use(ask);
  };
  const prepare: SharedStatements = () => ({
    ...{ sql: '', placeholders: 1, kind: 'write', bind: ({ bucket }) => [bucket] },
    alone: new ReadableQuery('remove', ''),
    shared: async () => new ReadableQuery('remove_shared', ''),
  });
  const alone = () => Promise.reject(new Error('it ran alone'));
  const commits = jointCommits({ lend } as Connections, prepare, alone);
  function* work(): Work<string> {
    yield* remove({ bucket: 'one' });
    return 'done';
  }
  // The statement is prepared meanwhile.
  await assert.rejects(commits.commit(work, performance.now() + 60_000), { message: 'it ran alone' });
  await nextTurn();
  const later = [60_000, 90_000].map((wait) => performance.now() + wait);
  const answers = await Promise.allSettled(
    [performance.now() - 1, ...later].map((until) => commits.commit(work, until)),
  );
  const [late, ...others] = answers;
  assert.ok(late?.status === 'rejected' && late.reason instanceof StoreUnavailable);
  assert.deepEqual(
    others,
    others.map(() => ({ status: 'fulfilled', value: 'done' })),
  );
  assert.deepEqual(lent, later.slice(-1));
});
