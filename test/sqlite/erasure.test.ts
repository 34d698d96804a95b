// store: SQLite
/** What the files of the embedded database still hold of what was deleted. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createMailer } from '../../src/mail/mail.ts';
import { listMails } from '../../src/mail/operate.ts';
import { settleSent, settleUnsent } from '../../src/mail/queue-store.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { type CanaryPerson, canaryPerson } from '../support/canary-person.ts';
import { admin, newUser } from '../support/flow.ts';
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

test('with a deleted account, the address is gone from its messages, whatever became of them', async () => {
  const user = await newUser(server);
  const other = await newUser(server);
  const address = 'recipient-of-mail@example.com';
  const marked = { canaries: { recipient: Buffer.from(address) } };
  await withData(server, async ({ database, sealer, clock }) => {
    const now = clock();
    const smtp = { host: 'localhost', port: 1, tls: 'off', credentials: undefined } as const;
    const sending = createMailer({ smtp, from: undefined, mailbox: false }, await sealer());
    const showing = createMailer({ smtp: undefined, from: undefined, mailbox: true }, await sealer());
    const content = { subject: 'Hello', paragraphs: [] };
    const mail = { kind: 'recovery', content, expiresAt: now + HOUR } as const;
    await database.commit(function* write() {
      for (const mailer of [sending, sending, sending, sending, showing]) {
        yield* mailer.enqueue({ ...mail, to: address, accountId: user.id }, now);
      }
      yield* sending.enqueue({ ...mail, to: 'other@example.com', accountId: other.id }, now);
    });
    const ids = (await database.read(() => listMails({ after: '0', limit: 9 }))).map(({ id }) => id).reverse();
    const [sent = '', dead = '', expired = ''] = ids;
    const end = { attempts: 0, now, problem: `550 <${address}> is unknown` };
    await database.commit(() => settleSent({ id: sent, now }));
    await database.commit(() => settleUnsent({ id: dead, status: 'dead', ...end }));
    await database.commit(() => settleUnsent({ id: expired, status: 'expired', ...end }));
  });
  assert.notDeepEqual(found(marked), []);

  assert.equal((await admin(server, 'DELETE', `/users/${user.id}`)).status, 204);
  const { items } = (await admin(server, 'GET', '/mail')).body as { items: { status: string; recipient: string }[] };
  assert.deepEqual(items.map(({ status, recipient }) => [status, recipient]).reverse(), [
    ['sent', ''],
    ['dead', ''],
    ['expired', ''],
    ['expired', ''],
    ['expired', ''],
    ['waiting', 'other@example.com'],
  ]);
  await withData(server, ({ database, clock }) => sweep(database, clock()));
  assert.deepEqual(found(marked), []);
});
