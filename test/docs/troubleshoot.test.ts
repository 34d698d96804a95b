// store: none
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { read } from '../../docs/site/markdown.ts';

const ROOT = new URL('../../', import.meta.url);

/** All sources without their tests, where a text that is written in several parts stands in one. */
const sources = globSync('src/**/*.ts', { cwd: ROOT.pathname, exclude: ['**/*.test.ts'] })
  .map((path) => readFileSync(new URL(path, ROOT), 'utf8'))
  .join('\n')
  .replaceAll(/'\s*\+\s*'/g, '');

/** The quoted texts in the first column: those in code marks with a space, which names and codes do not have. */
const quoted = read('docs/how-to/troubleshoot.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
  .filter((text) => text.includes(' '));

/** The parts of a text between what varies. */
const parts = (text: string): readonly string[] =>
  text
    .split('…')
    .map((part) => part.trim())
    .filter((part) => part.length > 1);

test('troubleshooting quotes only texts that the service sends', () => {
  assert.ok(quoted.length > 40, `${quoted.length} quoted texts`);
  const unknown = quoted.filter((text) => !parts(text).every((part) => sources.includes(part)));
  assert.deepEqual(unknown, []);
});
