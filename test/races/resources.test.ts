// store: SQLite, PostgreSQL
/** Two apps never have one resource, however each of them spells it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';

const server = await startServer({}, SEVERAL);
after(() => server.close());

const api = (resource: string | null) => ({ name: 'Notes', redirectUris: ['https://app.example.com/cb'], resource });
const spellings = (host: string) => [
  ...[`https://${host}/api`, `https://${host.toUpperCase()}/api`, `HTTPS://${host}/api`],
  ...[`https://${host}:443/api`, `https://${host}/./api`, `https://${host}/x/../api`],
];

for (let round = 0; round < 6; round++) {
  test(`of those who register or change to it at once, one gets it (${round + 1})`, async () => {
    const host = `api-${round}.example`;
    const { clientId } = (await admin(server, 'POST', '/clients', api(null))).body;
    const answers = await Promise.all([
      ...spellings(host).map((resource) => admin(server, 'POST', '/clients', api(resource))),
      admin(server, 'PATCH', `/clients/${clientId}`, { resource: `https://${host}/api` }),
    ]);
    const won = answers.filter(({ status }) => status < 300);
    for (const { status, body } of answers) assert.ok([200, 201, 400, 409].includes(status), JSON.stringify(body));
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
    const rows = await query(server, `SELECT id FROM client WHERE lower(resource) LIKE '%${host}%'`);
    assert.equal(rows.length, 1);
  });
}
