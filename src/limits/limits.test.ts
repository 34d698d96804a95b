// store: SQLite
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCurrentSchema } from '../migrations/timeline.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { openSqlite } from '../platform/database/sqlite/open.ts';
import { claim, exceeded, take } from './limits.ts';

const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
const limit = { count: 10, windowMs: MINUTE };

for (const skew of [0, 5, 29, 59].map((seconds) => seconds * SECOND)) {
  test(`a limit and a claim hold for two nodes whose clocks are ${skew / SECOND} s apart`, async () => {
    const database = await openSqlite(':memory:', toCurrentSchema);
    let taken = 0;
    let claims = 0;
    for (let step = 0; step < 6000; step++) {
      const now = 1_000_000 + step * 100 + (step % 2) * skew;
      await database.commit(function* use() {
        if ((yield* exceeded('bucket', limit, now)) === 0) {
          if ((yield* take('bucket', limit, now, { name: 'token', origin })) === 0) taken++;
        }
        if (yield* claim('name', MINUTE - SECOND, now)) claims++;
      });
    }
    // Ten minutes have eleven windows, and the node whose clock is ahead may begin one more.
    assert.ok(taken >= 100 && taken <= 120, `${taken} uses`);
    assert.ok(claims >= 10 && claims <= 12, `${claims} claims`);
    await database.close();
  });
}
