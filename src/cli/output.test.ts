// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { output } from './output.ts';

/** What people see on a terminal of so many columns. */
function seen(columns: number, show: (out: ReturnType<typeof output>) => void): { written: string; told: string } {
  const at = { written: '', told: '' };
  const write = (text: string) => {
    at.written += text;
  };
  const tell = (text: string) => {
    at.told += text;
  };
  show(output(false, write, columns, tell));
  return at;
}

const event = { id: '289236738748416000', details: 'reason=a text that is longer than the terminal is wide' };

test('texts of several words give way to a narrow terminal, ids do not; what must be read whole is', () => {
  const cut = seen(40, (out) => out.list([event], ['id', 'details'])).written;
  assert.match(cut, /^289236738748416000 {2}reason=a text that …$/m);
  const whole = seen(40, (out) => out.list([event], ['id', 'details'], { whole: true })).written;
  assert.ok(whole.endsWith(event.details));
});

test('what steers a terminal is not written to it', () => {
  assert.match(seen(80, (out) => out.show({ name: 'a\u001b[2Jb\u202ec' })).written, /^name {2}a\ufffd\[2Jb\ufffdc$/);
});

test('a secret is said to be shown once, beside the record and not in it', () => {
  const { written, told } = seen(80, (out) => out.showOnce({ id: '1', adminKey: 'tak_x' }, 'adminKey'));
  assert.match(written, /^adminKey {2}tak_x$/m);
  assert.equal(told, 'Copy the adminKey now: it is not shown again.');
});
