/** What the files of the embedded database still hold of what was deleted. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { type CanaryPerson, canaryPerson } from '../support/canary-person.ts';
import { admin } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// These are about the file, whatever database the others run on.
delete process.env['TESSERA_TEST_POSTGRES'];

const server = await startServer();
after(() => server.close());

/** Which canaries stand in which file: the database, its journal and the index of that. */
function found({ canaries }: Pick<CanaryPerson, 'canaries'>): string[] {
  const files = readdirSync(server.dataDir).filter((name) => name.startsWith('tessera.db'));
  assert.ok(files.includes('tessera.db'));
  return files.flatMap((file) => {
    const bytes = readFileSync(join(server.dataDir, file));
    return Object.entries(canaries).flatMap(([name, canary]) => (bytes.includes(canary) ? [`${name} in ${file}`] : []));
  });
}

test('the bytes of a deleted person are gone from the files after the next sweep, while the server runs', async () => {
  const person = await canaryPerson(server);
  const before = found(person).map((line) => line.split(' in ')[0]);
  for (const name of ['every text', 'phone', 'birth date']) assert.ok(before.includes(name), name);
  assert.ok(before.some((name) => name?.startsWith('picture')));

  assert.equal((await admin(server, 'DELETE', `/users/${person.id}`)).status, 204);
  // What an app gave as a hint goes with its request.
  server.advance(HOUR);
  await withData(server, ({ database, clock }) => sweep(database, clock()));
  assert.deepEqual(found(person), []);
  assert.equal(statSync(join(server.dataDir, 'tessera.db-wal')).size, 0);
  await server.restart();
  assert.deepEqual(found(person), []);
});
