// Commits accounts in a loop and prints each id after its commit was acknowledged, until it is killed or refused.

import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { StoreUnavailable } from '../../src/platform/database/database.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { account } from './rows.ts';

const [path = '', from = '1'] = process.argv.slice(2);
const database = await openSqlite(path, toCurrentSchema);
for (let id = Number(from); ; id += 3) {
  const units = [id, id + 1, id + 2].map(async (n) => {
    await database.commit(() => account(String(n)));
    // To a pipe this is synchronous: what the reader has seen was acknowledged.
    process.stdout.write(`${n}\n`);
  });
  const failed = (await Promise.allSettled(units)).filter((unit) => unit.status === 'rejected');
  if (failed.length === 0) continue;
  const unavailable = failed.every(({ reason }) => reason instanceof StoreUnavailable);
  process.stdout.write(unavailable ? 'unavailable\n' : `${String(failed[0]?.reason)}\n`);
  break;
}
