// store: SQLite, PostgreSQL with --all
import { after, test } from 'node:test';
import { storedTexts } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { assertNothingPresentable } from './presentable.ts';

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_MAILBOX: 'on',
});
after(() => server.close());

test('CD-10, ST-01: the rows of the database hold nothing that could be presented', () =>
  assertNothingPresentable(server, async () => Buffer.from(await storedTexts(server))));
