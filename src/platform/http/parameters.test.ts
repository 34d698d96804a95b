// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formParameters } from './parameters.ts';

const PIECES = ['a', 'b', '=', '&', '+', '%', '%2', '%20', '%26', '%3D', '%ff', '%C3%A9', '%c3', '%EF%BF%BD'];

test('a form is parsed as in the URL Standard', () => {
  // Every concatenation of up to four of the pieces.
  const texts = [''];
  for (let from = 0, length = 0; length < 4; length++) {
    const to = texts.length;
    for (; from < to; from++) texts.push(...PIECES.map((piece) => texts[from] + piece));
  }
  for (const text of texts) {
    const parameters = formParameters(text);
    const standard = [...new URLSearchParams(text)];
    const values = new Map(standard);
    assert.deepEqual(parameters.names, [...values.keys()], text);
    for (const [name, value] of values) assert.equal(parameters.get(name), value || undefined, text);
    const names = standard.map(([name]) => name);
    assert.deepEqual(
      [...parameters.repeated].sort(),
      [...values.keys()].filter((name) => names.indexOf(name) !== names.lastIndexOf(name)).sort(),
      text,
    );
  }
});

test('invalid UTF-8 is distinguished from a replacement character that was sent', () => {
  const malformed = ['%ff', '%c3%28', '%EF%BF', '%ed%a0%80', '%F0%EF%BF%BD', 'a%ffb+%ff', '%ff\ufffd', '%ff%ef%bf%bd'];
  for (const text of malformed) assert.deepEqual([...formParameters(`a=${text}`).malformed], ['a'], text);
  for (const text of ['%ef%bf%bd', '\ufffd', '%zz', '%', '%ef%bf%bd\ufffd', 'a%2525ff']) {
    assert.deepEqual([...formParameters(`a=${text}`).malformed], [], text);
  }
});

test('unescaped text stays as it is next to escapes', () => {
  const parameters = formParameters('é=🙂+%C3%A9&b=%ffé');
  assert.deepEqual([parameters.get('é'), parameters.get('b')], ['🙂 é', '\ufffdé']);
  assert.deepEqual([...parameters.malformed], ['b']);
});

test('a question mark in a form is part of a name', () => {
  assert.deepEqual(formParameters('a=1&?b=2').names, ['a', '?b']);
});
