// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Database } from '../../src/platform/database/database.ts';
import { newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Lists that are saved to a file: decisions §13.

/** What is done once the event of an export is on record, and before its first row is read. */
let afterRecord: (() => Promise<void>) | undefined;

const watched = (database: Database): Database => ({
  ...database,
  async commit(work) {
    let recordsExport = false;
    const result = await database.commit(function* () {
      const unit = work();
      let step = unit.next();
      while (!step.done) {
        recordsExport ||= step.value.params['type'] === 'list.exported';
        step = unit.next(yield step.value);
      }
      return step.value;
    });
    const act = afterRecord;
    if (act === undefined || !recordsExport) return result;
    afterRecord = undefined;
    await act();
    return result;
  },
});
const server = await startServer({}, 1, undefined, { database: watched });
after(() => server.close());
const owner = await newOperator(server, 'owner');
const PEOPLE = '/console/people/export';
const EVENTS = '/console/events/export';

/** Presses one of the buttons of the page. */
async function save(
  address: string,
  format: 'csv' | 'jsonl',
  query: Readonly<Record<string, string>> = {},
  by: TestOperator = owner,
) {
  const page = await open(server, by, `${address}?${new URLSearchParams(query)}`);
  assert.equal(page.status, 200, page.text);
  return by.browser.submit(page, { format }, address);
}

test('people are saved as a filter shows them, and cells that a spreadsheet would take for formulas are texts', async () => {
  const evil = await newUser(server, { displayName: '=HYPERLINK("https://evil.example","x")' });
  const other = await newUser(server, { displayName: '@plain, quoted "name"' });
  const csv = await save(PEOPLE, 'csv', { q: evil.username });
  assert.equal(csv.status, 200);
  const { headers } = csv;
  assert.match(String(headers.get('content-type')), /^text\/csv/);
  assert.match(String(headers.get('content-disposition')), /^attachment; filename="people-\d{4}-\d\d-\d\d\.csv"$/);
  const [header, ...rows] = csv.text.trimEnd().split('\r\n');
  assert.equal(header, 'id,username,displayName,email,status,deletionDueAt,createdAt');
  assert.ok(
    rows.some((row) => row.includes(`"'=HYPERLINK(""https://evil.example"",""x"")"`)),
    csv.text,
  );
  const all = await save(PEOPLE, 'csv');
  assert.ok(all.text.includes(`"'@plain, quoted ""name"""`) && all.text.includes(other.id));
  assert.doesNotMatch(all.text, /(^|,)"?[=+\-@\t\r]/m);
  const lines = (await save(PEOPLE, 'jsonl')).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.find(({ id }) => id === evil.id).displayName, '=HYPERLINK("https://evil.example","x")');
  assert.equal(lines.length, (await admin(server, 'GET', '/users?limit=100')).body.items.length);
});

test('no cell is a formula, also where a spreadsheet splits the rows at semicolons or tabs', async () => {
  const cmd = "=cmd|' /C calc'!A0";
  for (const text of [`Ann;${cmd};B`, `Ann; ${cmd}`, `Ann;"${cmd}`, 'Ann;-1;@x;+2;;=3']) {
    const { id, username } = await newUser(server, { displayName: text });
    const csv = (await save(PEOPLE, 'csv', { q: username })).text;
    const row = csv.split('\r\n').find((line) => line.includes(id)) ?? assert.fail(csv);
    const cells = row.split(/[;\t]/);
    assert.ok(cells.length > 1, row);
    for (const cell of cells) assert.doesNotMatch(cell, /^["\s]*[=+\-@]/, row);
    assert.match(row, /,"Ann;'/);
  }
});

test('events are saved as a filter shows them, and that they are saved is an event', async () => {
  const user = await newUser(server);
  await admin(server, 'PUT', `/users/${user.id}/suspension`, { reason: '-1+1' });
  const text = (await save(EVENTS, 'jsonl', { userId: user.id, type: 'account.suspended' })).text;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type, userId, details }) => [type, userId, details.reason]),
    [['account.suspended', user.id, '-1+1']],
  );
  const csv = await save(EVENTS, 'csv', { userId: user.id });
  assert.equal(
    csv.text.split('\r\n')[0],
    'id,at,type,outcome,actorType,actorId,userId,clientId,address,requestId,details',
  );
  const { body } = await admin(server, 'GET', '/audit-events?type=list.exported&order=desc');
  const found = body.items.find(({ details }: { details: { filter: object } }) => 'type' in details.filter);
  assert.deepEqual(found?.actor, { type: 'user', id: owner.id });
  assert.deepEqual(found.details, {
    ...{ list: 'events', format: 'jsonl', actorRole: 'owner' },
    filter: { userId: user.id, type: 'account.suspended' },
  });
  const wrong = await open(server, owner, `${EVENTS}?userId=nobody`);
  assert.equal(wrong.status, 400);
});

test('a role or a session that ends meanwhile ends the file, with a line that says so', async () => {
  for (let index = 0; index < 3; index++) await newUser(server);
  for (const [how, format] of [
    ['role', 'csv'],
    ['session', 'jsonl'],
  ] as const) {
    const auditor = await newOperator(server, 'auditor');
    const page = await open(server, auditor, PEOPLE);
    const path = how === 'role' ? `/users/${auditor.id}/roles/auditor` : `/users/${auditor.id}/sessions`;
    afterRecord = async () => assert.ok((await admin(server, 'DELETE', path)).status < 300);
    const { status, text } = await auditor.browser.submit(page, { format }, PEOPLE);
    assert.equal(afterRecord, undefined, 'it ended meanwhile');
    assert.equal(status, 200);
    assert.ok(!text.includes(owner.username), text);
    assert.match(text.trimEnd().split(/\r?\n/).at(-1) ?? '', /NOT COMPLETE|notComplete/);
  }
});

test('who may not see a list does not save it', async () => {
  const support = await newOperator(server, 'support');
  assert.equal((await support.browser.get(EVENTS)).status, 403);
  const page = await open(server, support, PEOPLE);
  assert.equal((await support.browser.submit(page, { format: 'csv' }, PEOPLE)).status, 200);
  const developer = await newOperator(server, 'developer');
  assert.equal((await developer.browser.get(PEOPLE)).status, 403);
});
