// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasSlot, hasSlotOf, type MailSlot, priorityOf } from './slots.ts';

let accounts = 0;
const slot = (changes: Partial<MailSlot> = {}): MailSlot => {
  const accountId = String(++accounts);
  return { priority: 0, accountId, recipient: `ada@domain-${accountId}.example`, ...changes };
};

test('what people asked for comes before what they are told', () => {
  for (const asked of ['sign-in code', 'recovery', 'verify address', 'address change', 'invitation'] as const) {
    assert.ok(priorityOf(asked) < priorityOf('security notice'), asked);
  }
});

test('four are sent at a time, three of a priority, two to a domain in any spelling, and two of an account', () => {
  const three = [slot(), slot(), slot()];
  assert.equal(hasSlot(slot(), three.slice(1)), true);
  assert.equal(hasSlot(slot(), three), false, 'a slot is left to notices');
  assert.equal(hasSlot(slot({ priority: 1 }), three), true);
  assert.equal(hasSlotOf(1, [...three, slot({ priority: 1 })]), false);
  const notices = [slot({ priority: 1 }), slot({ priority: 1 }), slot({ priority: 1 })];
  assert.equal(hasSlot(slot({ priority: 1 }), notices), false, 'a slot is left to what people asked for');
  assert.equal(hasSlot(slot(), notices), true);

  const slow = [slot({ recipient: 'a@slow.example' }), slot({ recipient: 'b@SLOW.example' })];
  assert.equal(hasSlot(slot({ recipient: 'c@slow.Example' }), slow), false);
  assert.equal(hasSlot(slot({ recipient: 'c@not.slow.example' }), slow), true);

  const own = [slot({ accountId: '7' }), slot({ accountId: '7' })];
  assert.equal(hasSlot(slot({ accountId: '7' }), own), false);
  assert.equal(hasSlot(slot(), own), true);
  const nobodys = [slot({ accountId: null }), slot({ accountId: null })];
  assert.equal(hasSlot(slot({ accountId: null }), nobodys), true, 'messages about no account have nothing in common');
});
