// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError, type QueryConfig, type QueryResult } from 'pg';
import { StoreUnavailable } from '../database.ts';
import { isUndone } from './errors.ts';
import { transaction } from './transaction.ts';

const canceled = (): DatabaseError => Object.assign(new DatabaseError('canceled', 0, 'error'), { code: '57014' });

/** A server that cancels one statement, and executes all others. */
function server(refused: string) {
  const executed: (string | undefined)[] = [];
  async function ask({ text }: QueryConfig): Promise<QueryResult> {
    if (text === refused) throw canceled();
    executed.push(text);
    return { command: text, rowCount: 0, oid: 0, rows: [], fields: [] };
  }
  return { ask, executed };
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('it did not fail');
}

test('a transaction that fails is undone', async () => {
  const { ask } = server('UPDATE');
  const error = await failure(transaction(ask, { meter: undefined }, (ask) => ask({ text: 'UPDATE' })));
  assert.ok(isUndone(error));
});

test('one that did not begin is not, for what was sent behind BEGIN was executed without it', async () => {
  const { ask, executed } = server('BEGIN');
  const run = transaction(ask, { meter: undefined }, async (ask, sendAhead) => {
    sendAhead(ask({ text: 'UPDATE' }));
    await ask({ text: 'SELECT' });
    sendAhead(ask({ text: 'INSERT' }));
  });
  const error = await failure(run);
  assert.ok(error instanceof StoreUnavailable && !isUndone(error));
  assert.deepEqual(executed, ['UPDATE', 'SELECT', 'ROLLBACK']);
});
