// store: SQLite, PostgreSQL with --all
/** A visit to the playground that is begun several times in one moment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../support/agent.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { noFault, ready, times } from './crowd.ts';

/** On PostgreSQL, presses of one button arrive at several nodes. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;

test('of visits that one browser begins side by side one stays, and no app is left behind', async () => {
  const server = await startServer({ TESSERA_LIMIT_PLAYGROUND_ADDRESS: 'off' }, nodes);
  try {
    let turn = 0;
    const browser = agent(server.baseUrl, () => server.nodes[turn++ % nodes] ?? server.baseUrl);
    const begin = ready(browser, await browser.get('/playground'), '/playground', { action: 'start' });
    for (const _round of times(4, (round) => round)) {
      const answers = await Promise.all(times(6, begin));
      noFault(answers);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [303]);
      const apps = await query(server, 'SELECT id FROM client');
      const visits = await query(server, 'SELECT client_id AS id FROM playground_visit');
      assert.equal(visits.length, 1);
      assert.deepEqual(apps, visits);
    }
  } finally {
    await server.close();
  }
});
