// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomSeed, seedUri } from './totp.ts';

test('Key URI format: one colon, between issuer and account, whatever the base URL', async () => {
  for (const [baseUrl, issuer] of [
    ['https://id.example.com', 'id.example.com'],
    ['https://id.example.com/sso', 'id.example.com'],
    ['http://localhost:3000', 'localhost 3000'],
    ['https://[2001:db8::1]:8443', '2001-db8--1 8443'],
    ['http://[::1]', '--1'],
  ] as const) {
    const [, label = '', issuerOfApp = ''] =
      /^otpauth:\/\/totp\/([^?]+)\?issuer=([^&]+)/.exec(await seedUri(randomSeed(), baseUrl, 'ada')) ?? [];
    assert.deepEqual([label, issuerOfApp].map(decodeURIComponent), [`${issuer}:ada`, issuer]);
  }
});
