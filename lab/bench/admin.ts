/**
 * What the admin API costs an owner's key: `npm run bench-admin`. Reading a user, a page of the list and changing a user, each server on a
 * database of its own; on request beside another checkout. The server of this checkout is measured twice: the difference between the two is
 * noise.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type Arm, armOf, armsTable, takeTurns } from './arms.ts';
import { anyOf } from './drivers.ts';
import { Field } from './field.ts';
import { freePort } from './free-port.ts';
import { pack } from './requests.ts';
import { SERVE } from './service.ts';
import { get, post, ready, startProgram } from './subject.ts';
import { serviceEnvironment } from './tessera.ts';

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '60' },
    /** In each round, of each server and work. */
    requests: { type: 'string', default: '500' },
    /** The database: sqlite or postgres. */
    on: { type: 'string', default: 'sqlite' },
    /** The folder of another checkout, with its dependencies. */
    before: { type: 'string' },
  },
});
const [people, rounds, count] = [Number(values.people), Number(values.rounds), Number(values.requests)];
const { on } = values;
if (on !== 'sqlite' && on !== 'postgres') throw new Error(`--on must be sqlite or postgres, and is ${on}`);

const here = resolve(import.meta.dirname, '../..');
const NOW = 'this';
const variants: readonly { readonly name: string; readonly folder: string }[] = [
  ...(values.before === undefined ? [] : [{ name: 'before', folder: resolve(values.before) }]),
  { name: NOW, folder: here },
  { name: 'this, again', folder: here },
];

await using field = new Field();
const arms: Arm[] = [];
for (const { name, folder } of variants) {
  const { environment } = await field.environment(on);
  const port = await freePort();
  const key = `tak_${randomSecret()}`;
  const settings = { TESSERA_ADMIN_KEY: key, TESSERA_LIMIT_ADMIN_KEY: 'off' };
  const args = SERVE.map((word) => (word.startsWith('bin/') ? join(folder, word) : word));
  const child = startProgram(args, {
    environment: { ...environment, ...serviceEnvironment(port), ...settings },
    log: join(field.folder, `${name.replaceAll(/\W+/g, '-')}.log`),
  });
  await ready(field.keep({ process: child, port }), '/health/ready');
  const ids = await createPeople(port, key);
  const authorization = `Authorization: Bearer ${key}`;
  const users = '/api/v2/admin/users';
  // One of two texts at random: every second request changes something.
  const changes = ids.flatMap((id) =>
    ['one text', 'another text'].map((about) =>
      post(`${users}/${id}`, 'application/json', JSON.stringify({ about }), `${authorization}\r\n`).replace(
        /^POST/,
        'PATCH',
      ),
    ),
  );
  const works = {
    'Get a user': anyOf(pack(ids.map((id) => get(`${users}/${id}`, authorization)))),
    'List 50 users': anyOf(pack([get(`${users}?limit=50`, authorization)])),
    'Change a user': anyOf(pack(changes)),
  };
  const process = { port, pid: child.pid ?? 0 };
  for (const [work, driver] of Object.entries(works)) arms.push(armOf({ name, work }, process, driver, count));
}
await takeTurns(arms, rounds);
process.stdout.write(`${armsTable(arms, 'Server', NOW)}\n`);

/** @returns the ids of the users */
async function createPeople(port: number, key: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < people; n++) {
    const response = await fetch(`http://127.0.0.1:${port}/api/v2/admin/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: `Person ${n}`, username: `person-${n}`, email: `person-${n}@example.com` }),
    });
    if (response.status !== 201) throw new Error(`POST /users answers ${response.status}: ${await response.text()}`);
    ids.push(((await response.json()) as { readonly id: string }).id);
  }
  return ids;
}
