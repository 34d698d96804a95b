// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepLine } from './step-line.ts';

const explain = (requestId: string) => `tessera explain ${requestId}`;

const STEP = {
  at: '2026-07-01T09:00:02.000Z',
  requestId: '7bb926df-6675-4c2e-9811-feb9cd092525',
  clientId: '1',
  step: 'token',
} as const;

test('a refusal in one line: what was wrong, what to do, and the command for its trace', () => {
  const facts = { status: 400, error: 'invalid_grant', description: 'It differs.', remedy: 'Send the same one.' };
  assert.equal(
    stepLine({ ...STEP, ...facts, outcome: 'failure' }, explain),
    '✗ 09:00:02 token (400 invalid_grant) app 1: It differs. Remedy: Send the same one. More: tessera explain 7bb926df-6675-4c2e-9811-feb9cd092525',
  );
});

test('a remedy that the description has is not repeated; control characters and credentials are not printed', () => {
  const facts = { status: 400, description: 'A\u001b[31m: do it.', remedy: 'Do it.', error: 'x' };
  const line = stepLine({ ...STEP, ...facts, outcome: 'failure' }, explain);
  assert.equal(line.match(/do it/g)?.length, 1);
  assert.ok(!line.includes('\u001b'));
});

test('of a completed step, what was ignored', () => {
  const line = stepLine(
    { ...STEP, description: 'A code was issued.', ignored: 'scope x', outcome: 'success' },
    explain,
  );
  assert.equal(
    line,
    '✓ 09:00:02 token app 1: A code was issued. Ignored: scope x. More: tessera explain 7bb926df-6675-4c2e-9811-feb9cd092525',
  );
});
