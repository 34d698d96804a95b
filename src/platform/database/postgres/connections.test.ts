// store: none
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { DatabaseError, type Pool, type QueryConfig } from 'pg';
import { connections, deadline } from './connections.ts';
import type { Primary } from './primary.ts';
import { transaction } from './transaction.ts';

/** A connection of a server that cancels one statement, and executes all others. */
class TestClient extends EventEmitter {
  readonly executed: string[] = [];
  isClosed = false;
  readonly #refused: string;
  constructor(refused: string) {
    super();
    this.#refused = refused;
  }

  async query({ text = '' }: QueryConfig) {
    if (text === this.#refused) throw Object.assign(new DatabaseError('canceled', 0, 'error'), { code: '57014' });
    this.executed.push(text);
    return { command: text, rows: [], fields: [] };
  }

  async end(): Promise<void> {
    this.isClosed = true;
  }

  release(): void {}
}

/** A pool that lends the first connection that is open. */
function lending(...clients: readonly TestClient[]) {
  const known = new Set<TestClient>();
  const pool = Object.assign(new EventEmitter(), {
    idleCount: 0,
    async connect() {
      const client = clients.find(({ isClosed }) => !isClosed);
      if (client !== undefined && !known.has(client)) pool.emit('connect', client);
      if (client !== undefined) known.add(client);
      return client;
    },
    async end() {},
  });
  const primary: Pick<Primary, 'trusts' | 'sent' | 'onReplaced'> = {
    trusts: () => true,
    sent: () => () => undefined,
    onReplaced() {},
  };
  const reaper = { watch: () => () => {}, async close() {} };
  return connections(pool as unknown as Pool, primary as Primary, reaper);
}

for (const end of ['ROLLBACK', 'COMMIT']) {
  test(`a connection whose ${end} was canceled is not lent again: its transaction may be open`, async (t) => {
    const [first, second] = [new TestClient(end), new TestClient('')];
    const lender = lending(first, second);
    t.after(() => lender.close());
    const unit = (text: string, fails: boolean) =>
      lender.lend(deadline(), (ask) =>
        transaction(ask, { meter: undefined }, async (send) => {
          await send({ text });
          if (fails) throw new Error('the unit of work fails');
        }),
      );
    await assert.rejects(unit('UPDATE', end === 'ROLLBACK'));
    await unit('INSERT', false);
    assert.deepEqual(
      [first.executed, second.executed],
      [
        ['BEGIN', 'UPDATE'],
        ['BEGIN', 'INSERT', 'COMMIT'],
      ],
    );
  });
}
