// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untraced } from './recorder.ts';
import { telling } from './recorders.ts';

test('a line for each refused request of an app, and for each that is ignored in part; no other', () => {
  const lines: string[] = [];
  const told = telling(
    untraced,
    { write: (line) => lines.push(line), explain: (requestId) => `tessera explain ${requestId}` },
    () => 0,
  );
  const step = { requestId: 'an-id', clientId: '1', at: 0 } as const;
  told.refused({ ...step, step: 'token', facts: { status: 400, error: 'invalid_grant', remedy: 'Send it once.' } });
  told.completed.push({ ...step, step: 'authorize', facts: { ignored: 'scope x' } });
  told.completed.push({ ...step, step: 'authorize', facts: {} });
  told.refused({ ...step, step: 'sign-in', facts: { reason: 'unknown name or wrong password' } });
  assert.deepEqual(lines, [
    '✗ 00:00:00 token (400 invalid_grant) app 1: Remedy: Send it once. More: tessera explain an-id',
    '✓ 00:00:00 authorize app 1: Ignored: scope x. More: tessera explain an-id',
  ]);
});
