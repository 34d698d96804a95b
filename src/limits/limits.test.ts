import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { openSqlite } from '../platform/database/sqlite/open.ts';
import { claim, exceeded, take } from './limits.ts';

const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
const limit = { count: 10, windowMs: MINUTE };

for (const skew of [0, 5, 29, 59].map((seconds) => seconds * SECOND)) {
  test(`a limit and a turn are the same for two nodes whose clocks are ${skew / SECOND} s apart`, async () => {
    const database = await openSqlite(':memory:');
    let taken = 0;
    let turns = 0;
    for (let step = 0; step < 6000; step++) {
      const now = 1_000_000 + step * 100 + (step % 2) * skew;
      await database.commit(function* use() {
        if ((yield* exceeded('bucket', limit, now)) === 0) {
          if ((yield* take('bucket', limit, now, { name: 'token', origin })) === 0) taken++;
        }
        if (yield* claim('turn', MINUTE - SECOND, now)) turns++;
      });
    }
    // Ten minutes have eleven windows; of each pair of nodes the one that is ahead may begin one more.
    assert.ok(taken >= 100 && taken <= 120, `${taken} uses`);
    assert.ok(turns >= 10 && turns <= 12, `${turns} turns`);
    await database.close();
  });
}
