// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterEvent, type Outage, type OutageEvent, type OutageLine } from './outage.ts';

/** Collects the log lines of events at given seconds. */
function log() {
  let outage: Outage | undefined;
  const lines: string[] = [];
  const write = (second: number, { message, facts, level }: OutageLine) =>
    lines.push(`${second} ${level}: ${message} ${JSON.stringify(facts)}`);
  return {
    lines,
    on(second: number, event: OutageEvent) {
      const after = afterEvent(outage, event, second * 1000);
      outage = after.outage;
      if (after.line !== undefined) write(second, after.line);
    },
  };
}

const refused = (cause = 'no connection'): OutageEvent => ({ kind: 'failed', refused: true, cause });
const backgroundFailure: OutageEvent = { kind: 'failed', refused: false, cause: 'no connection' };
const passed: OutageEvent = { kind: 'passed' };

test('an outage is logged when it starts, once a minute while it lasts, and when it is over', () => {
  const { lines, on } = log();
  on(0, passed);
  for (let second = 10; second <= 140; second++) {
    for (let request = 0; request < 1000; request++)
      on(second, refused(second === 50 ? 'the disk is full' : undefined));
    on(second, backgroundFailure);
    on(second, passed);
  }
  for (let second = 141; second < 400; second++) on(second, passed);
  assert.deepEqual(lines, [
    '10 error: the store is unavailable: requests that need it are refused {"causes":["no connection"]}',
    '70 error: the store is still unavailable {"seconds":60,"refused":60001,"causes":["no connection","the disk is full"]}',
    '130 error: the store is still unavailable {"seconds":120,"refused":60000,"causes":["no connection"]}',
    '170 warn: the store is available again {"seconds":130,"refused":131000,"causes":["no connection","the disk is full"]}',
  ]);
});

test('an outage without requests is logged because of background work', () => {
  const { lines, on } = log();
  for (let second = 0; second <= 60; second += 10) on(second, backgroundFailure);
  assert.equal(lines.length, 2);
  assert.match(
    lines[1] ?? '',
    /^60 error: the store is still unavailable {"seconds":60,"refused":0,"causes":\["no connection"\]}/,
  );
});

for (const pause of [1, 5, 29, 31, 45]) {
  test(`a store that fails every ${pause} seconds makes no more than five lines a minute`, () => {
    const { lines, on } = log();
    for (let second = 0; second < 600; second++) on(second, second % pause === 0 ? refused() : passed);
    assert.ok(lines.length <= 50, lines.join('\n'));
    assert.ok(lines.length >= 10, 'but does not stop logging');
  });
}

test('each cause is logged once, and their number is bounded', () => {
  const { lines, on } = log();
  for (let request = 0; request < 100; request++) on(request, refused(`cause ${request}`));
  assert.ok((lines[1] ?? '').length < 300);
});

test('a clock that is set back does not delay log lines', () => {
  const { lines, on } = log();
  on(7200, refused());
  for (let second = 3600; second <= 3700; second++) on(second, refused());
  for (let second = 3701; second <= 3740; second++) on(second, passed);
  assert.deepEqual(
    lines.map((line) => line.split(' {')[0]),
    [
      '7200 error: the store is unavailable: requests that need it are refused',
      '3660 error: the store is still unavailable',
      '3720 error: the store is still unavailable',
      '3730 warn: the store is available again',
    ],
  );
});
