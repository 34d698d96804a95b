import assert from 'node:assert/strict';
import { tessera } from './command.ts';

/** Starts a server that must refuse to, in words and not with a stack trace; answers what it said. */
export async function refusedStart(env: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  const { code, stdout, stderr } = await tessera(['serve'], { env: { TESSERA_PORT: '0', ...env }, cwd });
  assert.equal(code, 3, stdout + stderr);
  assert.doesNotMatch(stderr, /^\s+at /m, 'no stack trace');
  assert.doesNotMatch(stdout, /ready/);
  return stderr;
}
