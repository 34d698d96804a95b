// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as Type from './type.ts';
import { findProblem } from './validate.ts';

const Person = Type.Object(
  { name: Type.String({ minLength: 1 }), age: Type.Optional(Type.Union([Type.Integer(), Type.Null()])) },
  { additionalProperties: false, title: 'Person' },
);

test('a schema is plain JSON Schema; an optional field is not required', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(Person)), {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1 }, age: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    additionalProperties: false,
    title: 'Person',
  });
  assert.deepEqual(Object.keys(Type.Object({ a: Type.Optional(Type.Boolean()) })), ['type', 'properties']);
});

test('a schema accepts the values of its static type', () => {
  const people: readonly Type.Static<typeof Person>[] = [
    { name: 'Ada' },
    { name: 'Ada', age: 36 },
    { name: 'Ada', age: null },
  ];
  for (const person of people) assert.equal(findProblem(Person, person), undefined);
  // @ts-expect-error A name is a required string.
  const strangers: readonly Type.Static<typeof Person>[] = [{ name: 1 }, {}];
  for (const stranger of strangers) assert.notEqual(findProblem(Person, stranger), undefined);
});
