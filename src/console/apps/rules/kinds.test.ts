// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, refusedRedirectUri, registrationOf } from './kinds.ts';

const typed = { name: 'App', redirectUris: ['https://app.example/callback'], resource: 'https://api.example' };

test('an app in a browser or on a device of a person has no secret', () => {
  for (const kind of ['page', 'native', 'device'] as const) assert.equal(registrationOf(kind, typed).type, 'public');
  for (const kind of ['web', 'service', 'api'] as const) assert.equal(registrationOf(kind, typed).type, undefined);
});

test('addresses stand on lines, each once', () => {
  assert.deepEqual(linesOf(' https://a.example/cb \r\n\nhttps://b.example/cb\nhttps://a.example/cb'), [
    'https://a.example/cb',
    'https://b.example/cb',
  ]);
});

test('a refused redirect URI is taken from a trace only where it is whole', () => {
  assert.equal(refusedRedirectUri('redirect_uri = https://a.example/cb'), 'https://a.example/cb');
  for (const received of [undefined, 'scope = a', 'redirect_uri = https://a.example/…', 'redirect_uri = a b']) {
    assert.equal(refusedRedirectUri(received), undefined);
  }
});
