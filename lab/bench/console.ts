/**
 * How long the reads of the console's pages take among very many people, on SQLite:
 *   npm run console-scale -- [--people 1000,1000000]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listMadeRows } from '../../src/account-actions/makers/made-view-store.ts';
import { BEFORE_NEWEST, findByBeginning, listNewestAccounts } from '../../src/accounts/directory-store.ts';
import { listCounts } from '../../src/audit/count-store.ts';
import { listAttention } from '../../src/console/overview/attention-store.ts';
import { listMemberships } from '../../src/console/people/membership-store.ts';
import { findSignInFacts } from '../../src/console/people/sign-in-facts-store.ts';
import { findByText } from '../../src/console/search/named-store.ts';
import { openCore } from '../../src/core.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { findSessionsWithApps } from '../../src/sessions/store.ts';
import { readConfig } from '../../src/settings/config.ts';
import { say } from './say.ts';
import { seed } from './seed.ts';
import { BASE_URL } from './setting.ts';

const ROUNDS = 200;

const { values: options } = parseArgs({
  options: { people: { type: 'string', default: '1000,1000000' } },
});

/** What the pages read of a person, of everybody and of what there is besides. */
function readsOf(accountId: string, now: number): Readonly<Record<string, () => Work<unknown>>> {
  const everything = () => undefined;
  const reaches = new Map(
    (['apps', 'groups', 'organizations', 'keys', 'upstreams'] as const).map((kind) => [kind, everything]),
  );
  const sessions = { accountId, generation: 'none', now, idleSince: 0, except: '', skip: 0, limit: 50 };
  return {
    'The newest people': () => listNewestAccounts({ before: BEFORE_NEWEST, limit: 26 }),
    'People by the beginning of a name': () => findByBeginning('person77', 25),
    'Everything else by a part of its name': () => findByText('no such name', 5, reaches),
    'How a person signs in': () => findSignInFacts({ accountId }),
    'The browsers of a person': () => findSessionsWithApps(sessions),
    'Groups and organization of a person': () => listMemberships({ accountId, limit: 101 }),
    'What a key made': () => listMadeRows({ madeBy: accountId, limit: 6 }),
    'What needs attention': () => listAttention({ now, before: now, mostKeys: 5, mostRequests: 21 }),
    'Counts of events': () => listCounts({ since: 0, width: 24, limit: 15 }),
  };
}

/** The median of the times of each read, in milliseconds. */
async function measure(people: number): Promise<Readonly<Record<string, string>>> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-console-'));
  const environment = { TESSERA_DATA_DIR: folder };
  try {
    const seeded = await seed({ ...environment, TESSERA_BASE_URL: BASE_URL }, people);
    const { database, clock, close } = await openCore(readConfig(environment), Date.now);
    const found: Record<string, string> = {};
    for (const [name, read] of Object.entries(readsOf(seeded.accountOf(0), clock()))) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        await database.read(read);
        times.push(performance.now() - start);
      }
      found[name] = (times.sort((one, other) => one - other)[ROUNDS / 2] ?? 0).toFixed(2);
    }
    await close();
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const sizes = options.people.split(',').map(Number);
const columns: Readonly<Record<string, string>>[] = [];
for (const people of sizes) {
  say(`${people} people …`);
  columns.push(await measure(people));
}
console.log(`| Read, median of ${ROUNDS} in ms | ${sizes.map((people) => people.toLocaleString('en')).join(' | ')} |`);
console.log(`|---|${sizes.map(() => '---|').join('')}`);
for (const name of Object.keys(columns[0] ?? {})) {
  console.log(`| ${name} | ${columns.map((column) => column[name]).join(' | ')} |`);
}
