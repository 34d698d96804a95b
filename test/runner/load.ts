/**
 * Runs files of tests, one after the other: `node --test-force-exit test/runner/load.ts <files>`. Each file is a test of its
 * own, whose subtests are those of the file, so that its hooks run before and after them.
 *
 * No test begins before its whole file is loaded: what comes below a top-level await is part of it.
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from './scopes.ts';

for (const file of process.argv.splice(2))
  test(file, { timeout: Number.POSITIVE_INFINITY }, async (t) => {
    const loading = Promise.withResolvers<void>();
    let begun = false;
    t.before(() => loading.promise, { timeout: Number.POSITIVE_INFINITY });
    t.beforeEach(() => {
      begun = true;
    });
    t.after(() => assert.ok(begun, `${file} ended before its first test.`));
    try {
      await import(pathToFileURL(resolve(file)).href);
    } finally {
      loading.resolve();
    }
  });
