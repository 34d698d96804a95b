// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEvent } from './events.ts';
import { type AccountEvent, noticeMail, reportSentences, type SecurityNotice } from './notice-text.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');
const event = (notice: SecurityNotice, minute: number, device = 'Firefox on Linux'): AccountEvent => {
  const at = AT + minute * 60_000;
  return { notice, facts: { device }, at, firstAt: at, count: 1 };
};
const listed = (...events: readonly AccountEvent[]) => events.reduce(withEvent, [] as readonly AccountEvent[]);
const reportOf = (events: readonly AccountEvent[]) => ({
  ...{ notice: events[0]?.notice ?? 'new device', facts: {}, at: AT, since: AT, events },
});

test('what happened again in the same way is one sentence with its count and its first and last time', () => {
  const events = listed(event('recovery codes', 0), event('recovery codes', 3), event('new device', 4));
  assert.deepEqual(reportSentences(reportOf(events)), [
    'New recovery codes were made for your account. The earlier ones no longer work. When: 2 times, first 1 March 2026, 12:00 UTC, last 1 March 2026, 12:03 UTC. Where: Firefox on Linux.',
    'There was a sign-in to your account in a new browser. When: 1 March 2026, 12:04 UTC. Where: Firefox on Linux.',
  ]);
});

test('that an operator did it is said once', () => {
  const operator = (notice: SecurityNotice) => {
    const facts = { byOperator: true };
    return reportSentences({ notice, facts, at: AT, since: AT })[0]?.match(/An operator/g)?.length;
  };
  const kinds: readonly SecurityNotice[] = [
    'unlocked',
    'recovery link made',
    'banned',
    'factor removed',
    'password changed',
  ];
  assert.deepEqual(kinds.map(operator), [1, 1, 1, 1, 1]);
});

test('no number of acts hides another one, and none is lost from the counts', () => {
  const flood = (from: number) =>
    Array.from({ length: 300 }, (_, i) => event('new device', from + i, `Browser ${from + i}`));
  const events = listed(...flood(0), event('password changed', 300), event('factor added', 301), ...flood(302));
  assert.equal(events.length, 20);
  assert.equal(
    events.reduce((sum, { count }) => sum + count, 0),
    602,
  );
  assert.equal(Math.min(...events.map(({ firstAt }) => firstAt)), AT);
  assert.equal(events.at(-1)?.facts.device, 'Browser 601');
  assert.ok(events.some(({ notice }) => notice === 'password changed'));
  const mail = noticeMail('ada', reportOf(events), 'https://id.example.com');
  assert.equal(mail.subject, 'Your password was changed, and more');
  assert.ok(mail.paragraphs.some((text) => text.startsWith('The password of your account was changed.')));
});
