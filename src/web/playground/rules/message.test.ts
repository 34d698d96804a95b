// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorDescription, messageParts } from './message.ts';

const HEAD = 'HTTP/1.1 403 Forbidden\r\ncontent-type: application/json; charset=utf-8';

test('a message is split where its body begins, and JSON is indented', () => {
  const message = messageParts(`${HEAD}\r\n\r\n{"error":"access_denied","error_description":"Access revoked by user"}`);
  assert.equal(message.head, HEAD);
  assert.equal(message.body, '{\n  "error": "access_denied",\n  "error_description": "Access revoked by user"\n}');
  assert.equal(errorDescription(message), 'Access revoked by user');
});

test('a body that is not JSON stays as it was sent', () => {
  assert.deepEqual(messageParts('POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\n{"a":1}').body, '{"a":1}');
  assert.deepEqual(messageParts(`${HEAD}\r\n\r\n{"a":`).body, '{"a":');
  assert.deepEqual(messageParts('GET / HTTP/1.1\r\nHost: a\r\n'), { head: 'GET / HTTP/1.1\r\nHost: a', body: '' });
  for (const body of ['', '{"error":1}', '{"error_description":1}', 'null', '[]']) {
    assert.equal(errorDescription({ head: HEAD, body }), undefined, body);
  }
});
