// store: none
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { clients } from '../../interop/clients.ts';
import { GROUP_CLIENTS } from '../../interop/group-clients.ts';
import { groupsOf, groupsSection, linked, page, type Result, table } from '../../interop/page.ts';
import { type Outcome, type Row, steps } from '../../interop/steps.ts';

const cellsOf = (line: string): string[] => line.slice(2, -2).split(' | ');

/** The rows of the first table of a page, without its titles. */
function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > 1 && line.startsWith('|---'));
  return lines.slice(2, end === -1 ? undefined : end - 1).map(cellsOf);
}

const rowWith = (outcome: Outcome): Row =>
  Object.fromEntries(Object.keys(steps).map((step) => [step, outcome])) as unknown as Row;

describe('the recorded page of npm run interop', () => {
  const recorded = readFileSync(new URL('../../docs/reference/interop.md', import.meta.url), 'utf8');

  test('has a row for each client, at the version of its manifest', () => {
    const rows = rowsOf(recorded);
    assert.deepEqual(
      rows.map(([client]) => client),
      clients.map(linked),
    );
    for (const [index, { name, version }] of clients.entries()) {
      if (version === '') assert.match(rows[index]?.[1] ?? '', /^\d/, name);
      else assert.equal(rows[index]?.[1], version, `record it again, since ${name} is at ${version}`);
    }
  });

  test('has no step that a client offers and that failed', () => {
    for (const [index, [client, , ...cells]] of rowsOf(recorded).entries()) {
      const expected = Object.keys(steps).map((step) =>
        step in (clients[index]?.notOffered ?? {}) ? 'not offered' : '✓',
      );
      assert.deepEqual(cells, expected, client ?? '');
    }
  });

  test('is what the command writes', () => {
    const results = clients.map((client) => ({
      client,
      version: client.version,
      row: rowWith({ result: 'passed', detail: '' }),
    }));
    // Apart from what the run found.
    const frame = (text: string) => text.replaceAll(/^\|.*\|$/gm, '').replace(/\d{4}-\d\d-\d\d, on Node \d+/, '');
    assert.equal(frame(recorded), frame(`${page(results, new Date(0))}${groupsOf(recorded)}`));
  });

  test('has each client that goes by groups, at the version of its manifest, as the command writes it', () => {
    const section = groupsOf(recorded);
    const date = /results of (\d{4}-\d\d-\d\d)/.exec(section)?.[1];
    assert.ok(date !== undefined);
    const results = rowsOf(section).map(([name = '', , version = '']) => {
      const client = GROUP_CLIENTS.find((one) => one.name === name);
      assert.ok(client !== undefined, `${name} is no client of npm run interop:groups`);
      if (client.version === '') assert.match(version, /^\d/, name);
      else assert.equal(version, client.version, `record it again, since ${name} is at ${client.version}`);
      return { client, version };
    });
    assert.equal(results.length, GROUP_CLIENTS.length);
    assert.equal(section, groupsSection(results, new Date(date)));
  });
});

test('the table of npm run interop tells what failed from what was not tried', () => {
  const [first, second, third] = clients;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const results: Result[] = [
    { client: first, version: '1', row: rowWith({ result: 'failed', detail: 'expected another answer' }) },
    { client: second, version: '2', row: rowWith({ result: 'not reached', detail: '' }) },
    { client: third, version: '3', skipped: 'mvn is not installed' },
  ];
  const cells = rowsOf(table(results)).map(([client, version, cell]) => [client, version, cell]);
  assert.deepEqual(cells, [
    [first.name, '1', '✗ failed'],
    [second.name, '2', '✗ not reached'],
    [third.name, '3', 'skipped'],
  ]);
});
