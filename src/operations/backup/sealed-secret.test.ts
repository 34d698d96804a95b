// store: none
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readPassphrase } from './sealed-secret.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-passphrase-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'passphrase');

test('a passphrase is read in UTF-8 without its byte order mark', () => {
  writeFileSync(file, '\ufefffour wörds nobody knows\r\n');
  assert.equal(readPassphrase(file), 'four wörds nobody knows');
});

test('a passphrase in another encoding is refused', () => {
  writeFileSync(file, Buffer.from('four wörds nobody knows\n', 'latin1'));
  assert.throws(() => readPassphrase(file), /The passphrase in .* is not in UTF-8/);
});
