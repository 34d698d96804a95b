/**
 * Runs one file of tests: `node --test-force-exit test/runner/load.ts <file>`.
 *
 * Node ends such a process as soon as the tests that it knows of and their hooks are done, whatever the file left open. By
 * itself it would not know of tests below a top-level await, and would take an error there for one of a test: therefore no
 * test begins before the whole file is loaded, and a file that cannot be loaded ends at once.
 */
import { resolve } from 'node:path';
import { before, beforeEach } from 'node:test';
import { pathToFileURL } from 'node:url';

const [file = ''] = process.argv.splice(2, 1);

let begun = false;
// Before the listener of node:test, which never ends a process with hooks and without tests.
process.once('beforeExit', () => {
  if (begun) return;
  console.error(`${file} ended before its first test.`);
  process.exit(1);
});

const loading = Promise.withResolvers<void>();
before(() => loading.promise, { timeout: Number.POSITIVE_INFINITY });
beforeEach(() => {
  begun = true;
});
try {
  await import(pathToFileURL(resolve(file)).href);
} catch (error) {
  console.error(error);
  process.exit(1);
}
loading.resolve();
