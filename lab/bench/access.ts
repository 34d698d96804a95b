/**
 * What `access: assigned` costs: `npm run bench-access`. The same server with apps that are open to everyone, with apps that each person is
 * assigned to, and with apps that a group of all people is assigned to; on request that of another checkout, whose apps are open.
 */
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { databaseFile } from '../../src/core.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Arm, armOf, armsTable, CONNECTIONS, takeTurns } from './arms.ts';
import { anyOf, following } from './drivers.ts';
import { Field } from './field.ts';
import { freePort } from './free-port.ts';
import type { Environment } from './seed.ts';
import { SERVE } from './service.ts';
import { ready, startProgram } from './subject.ts';
import { protocol, serviceEnvironment } from './tessera.ts';

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '100' },
    /** In each round, of each server and work. */
    requests: { type: 'string', default: '1000' },
    /** The database: sqlite or postgres. */
    on: { type: 'string', default: 'sqlite' },
    /** The folder of another checkout, with its dependencies, that can use the database of this one. */
    before: { type: 'string' },
  },
});
const [people, rounds, count] = [Number(values.people), Number(values.rounds), Number(values.requests)];
const { on } = values;
if (on !== 'sqlite' && on !== 'postgres') throw new Error(`--on must be sqlite or postgres, and is ${on}`);

const ASSIGNED = "UPDATE client SET access = 'assigned', status = 'assigned'";
/** Assignments get ids that nothing else has: below those of the clock. */
const PATHS = {
  'assigned, each person': [
    ASSIGNED,
    `INSERT INTO app_assignment (id, client_id, account_id, created_at)
     SELECT row_number() OVER (ORDER BY f.id), f.client_id, f.account_id, 0 FROM token_family f`,
    `UPDATE token_family SET assignment_id =
       (SELECT s.id FROM app_assignment s WHERE s.client_id = token_family.client_id AND s.account_id = token_family.account_id)`,
  ],
  'assigned, a group': [
    ASSIGNED,
    "INSERT INTO user_group (id, name, display_name, source, created_at, updated_at) VALUES (1, 'all', 'All', 'local', 0, 0)",
    'INSERT INTO group_member (group_id, account_id, added_at) SELECT 1, id, 0 FROM account',
    `INSERT INTO app_assignment (id, client_id, group_id, created_at)
     SELECT row_number() OVER (ORDER BY id), id, 1, 0 FROM client`,
    `UPDATE token_family SET
       assignment_id = (SELECT s.id FROM app_assignment s WHERE s.client_id = token_family.client_id),
       member_id = (SELECT m.id FROM group_member m WHERE m.account_id = token_family.account_id)`,
  ],
} as const;

const here = resolve(import.meta.dirname, '../..');
const OPEN = 'everyone';
/** Open apps are measured twice: the difference between the two is noise. */
const variants: readonly { readonly name: string; readonly folder: string; readonly changes: readonly string[] }[] = [
  ...(values.before === undefined ? [] : [{ name: 'before', folder: resolve(values.before), changes: [] }]),
  { name: OPEN, folder: here, changes: [] },
  { name: 'everyone, again', folder: here, changes: [] },
  ...Object.entries(PATHS).map(([name, changes]) => ({ name, folder: here, changes })),
];

/** Changes the stored state while no server runs. */
async function change(environment: Environment, statements: readonly string[]): Promise<void> {
  const url = environment['TESSERA_DATABASE_URL'];
  if (url === undefined) {
    const database = new DatabaseSync(databaseFile(readConfig(environment)) ?? '');
    for (const statement of statements) database.exec(statement);
    database.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const statement of [...statements, 'ANALYZE']) await client.query(statement);
  await client.end();
}

await using field = new Field();
const arms: Arm[] = [];
for (const { name, folder, changes } of variants) {
  const population = await field.population(on, people);
  await change(population.environment, changes);
  const port = await freePort();
  const environment = { ...population.environment, ...serviceEnvironment(port) };
  const args = SERVE.map((word) => (word.startsWith('bin/') ? join(folder, word) : word));
  const child = startProgram(args, { environment, log: join(field.folder, `${name.replaceAll(/\W+/g, '-')}.log`) });
  await ready(field.keep({ process: child, port }), '/health/ready');
  const requests = protocol(port, population);
  const { sample, accessToken } = population.seeded;
  const headers = { authorization: `Bearer ${accessToken(0)}` };
  const { status } = await fetch(`http://127.0.0.1:${port}/api/v2/oauth/userinfo`, { headers });
  if (status !== 200) throw new Error(`${name}: UserInfo answers ${status}`);
  const known = await requests.userInfo(sample);
  const drivers = { UserInfo: anyOf(known), Refresh: following({ sample, ...requests }, CONNECTIONS) };
  const process = { port, pid: child.pid ?? 0 };
  for (const [work, driver] of Object.entries(drivers)) arms.push(armOf({ name, work }, process, driver, count));
}
await takeTurns(arms, rounds);
process.stdout.write(`${armsTable(arms, 'App open to', OPEN)}\n`);
