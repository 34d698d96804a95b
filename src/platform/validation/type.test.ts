import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as Type from './type.ts';
import { findProblem } from './validate.ts';

const Person = Type.Object(
  { name: Type.String({ minLength: 1 }), age: Type.Optional(Type.Union([Type.Integer(), Type.Null()])) },
  { additionalProperties: false, title: 'Person' },
);

test('a schema is plain JSON Schema; a field that may be left out is not required', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(Person)), {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1 }, age: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    additionalProperties: false,
    title: 'Person',
  });
  assert.deepEqual(Object.keys(Type.Object({ a: Type.Optional(Type.Boolean()) })), ['type', 'properties']);
});

test('what the type of a schema admits, the schema admits too', () => {
  const people: readonly Type.Static<typeof Person>[] = [
    { name: 'Ada' },
    { name: 'Ada', age: 36 },
    { name: 'Ada', age: null },
  ];
  for (const person of people) assert.equal(findProblem(Person, person), undefined);
  // @ts-expect-error A name is a text, and must be there.
  const strangers: readonly Type.Static<typeof Person>[] = [{ name: 1 }, {}];
  for (const stranger of strangers) assert.notEqual(findProblem(Person, stranger), undefined);
});
