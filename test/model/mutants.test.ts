// store: none
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { guardedMutants } from './guarded-mutants.ts';
import { mutants } from './mutants.ts';

test('every mutant breaks a line that is still there, and there alone', () => {
  for (const { name, file, line } of [...mutants, ...guardedMutants]) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    assert.equal(text.split(line).length, 2, `${name}: ${file}`);
  }
});
