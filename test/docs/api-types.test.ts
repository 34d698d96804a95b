// store: none
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { adminDocument, headOf, TYPES } from '../../docs/api-types.ts';
import type { components, operations, paths } from '../../types/admin-api.d.ts';

const types = readFileSync(TYPES, 'utf8');

test('the types of the admin API are those of its document: npm run api-types makes them', async () => {
  assert.equal(types.slice(0, types.indexOf('\n') + 1), headOf(await adminDocument()));
});

test('each operation of the document is in them', async () => {
  for (const [path, methods] of Object.entries((await adminDocument()).paths)) {
    assert.ok(types.includes(`"${path}": {`), path);
    for (const { operationId } of Object.values(methods))
      assert.ok(types.includes(`operations["${operationId}"]`), operationId);
  }
});

test('they say what a request takes and what its answer is', () => {
  const body: NonNullable<operations['suspendUser']['requestBody']>['content']['application/json'] = {
    reason: 'asked for',
  };
  const list: keyof paths = '/api/v2/admin/users';
  // @ts-expect-error: there is no such status
  const status: components['schemas']['User']['status'] = 'unknown';
  assert.deepEqual([body.reason, list, status], ['asked for', '/api/v2/admin/users', 'unknown']);
});
