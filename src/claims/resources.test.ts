// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeResources, encodeResources, narrowedResources, parseResources } from './permissions.ts';

const [A, B] = ['https://a.example.com/v1', 'urn:example:b'];

const parsed: [name: string, values: readonly string[], resources: readonly string[] | undefined][] = [
  ['none', [], []],
  ['each once', [A, B, A], [A, B]],
  ['a query', ['https://a.example.com/?x=1'], ['https://a.example.com/?x=1']],
  ['a fragment', ['https://a.example.com/#x'], undefined],
  ['a relative reference', ['/v1'], undefined],
  ['a space', ['https://a.example.com/a b'], undefined],
  ['512 characters', [`urn:${'a'.repeat(508)}`], [`urn:${'a'.repeat(508)}`]],
  ['513 characters', [`urn:${'a'.repeat(509)}`], undefined],
  ['six', [1, 2, 3, 4, 5, 6].map((n) => `urn:example:${n}`), undefined],
];
for (const [name, values, resources] of parsed) {
  test(`RFC 8707 §2: ${name}`, () => assert.deepEqual(parseResources(values), resources));
}

const narrowed: [string, readonly string[] | null, readonly string[], readonly string[] | null | undefined][] = [
  ['all that were granted, if none is named', [A, B], [], [A, B]],
  ['one of those that were granted', [A, B], [B], [B]],
  ['one that was not granted', [A], [B], undefined],
  ['one, where the authorization request named none', null, [A], undefined],
  ['none, where the authorization request named none', null, [], null],
];
for (const [name, granted, asked, resources] of narrowed) {
  test(`RFC 8707 §2.2: ${name}`, () => assert.deepEqual(narrowedResources(granted, asked), resources));
}

for (const [resources, stored] of [
  [[A, B], `["${A}","${B}"]`],
  [null, null],
] as const) {
  test(`stored as ${stored}`, () => {
    assert.equal(encodeResources(resources), stored);
    assert.deepEqual(decodeResources(stored), resources);
  });
}
