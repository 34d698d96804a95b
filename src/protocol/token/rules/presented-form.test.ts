// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../../test/support/any-text.ts';
import { describeAuthorization, describeForm } from './presented-form.ts';

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (header: object, signature = 's'.repeat(43), claims: object = {}) =>
  `${segment(header)}.${segment(claims)}.${signature}`;

const cases: readonly (readonly [text: string, description: RegExp])[] = [
  ['undefined', /the word undefined: the variable .* has no value/],
  ['null', /the word null/],
  ['NaN', /the word nan/],
  ['[object', /\[object Object\]/],
  ['"e30.e30.x"', /in quotes/],
  ["'x'", /in quotes/],
  ['<ACCESS_TOKEN>', /a placeholder/],
  ['$TOKEN', /a placeholder/],
  ['{token}', /a placeholder/],
  ['YOUR_TOKEN', /a placeholder/],
  ['Bearer', /begins with the word Bearer/],
  [`tcs_${'x'.repeat(43)}`, /client secret/],
  [`tak_${'x'.repeat(43)}`, /admin key/],
  ['x'.repeat(43), /authorization code.*token endpoint/],
  [jwt({ alg: 'none' }, ''), /without a signature/],
  [jwt({ alg: 'HS256', typ: 'at+jwt' }, 'short'), /cut off/],
  [jwt({ alg: 'HS256', typ: 'at+jwt' }), /looks like an access token, but no key/],
  [jwt({ alg: 'HS256', typ: 'rt+jwt' }), /looks like a refresh token, but no key/],
  [jwt({ alg: 'HS256', typ: 'JWT' }), /looks like an ID token/],
  [jwt({ alg: 'RS256', typ: 'logout+jwt' }, 'x'.repeat(342)), /of another service/],
  ['eyJhbGciOiJIUzI1NiJ9', /cut off/],
  ['eyJhbGciOiJIUzI1NiJ9.e30', /cut off/],
  ['a.b.c.d.e', /encrypted/],
  ['opaque', /three parts with dots/],
  [Buffer.from(jwt({ alg: 'ES256', typ: 'at+jwt' })).toString('base64'), /encoded in base64 once more/],
  [
    jwt({ alg: 'RS256' }, 's', { iss: 'https://accounts.google.com' }),
    /was issued by https:\/\/accounts\.google\.com, and/,
  ],
  [jwt({ alg: 'RS256' }, 's', { iss: 'my secret' }), /was issued by another service, and/],
];
for (const [text, description] of cases) {
  test(text.slice(0, 40), () => {
    assert.match(describeForm(text, 'access', 'https://id.example.com').description, description);
  });
}

const headers: readonly (readonly [text: string | undefined, description: RegExp])[] = [
  [undefined, /no Authorization header/],
  ['Bearer', /Nothing follows/],
  ['Bearer ', /Nothing follows/],
  ['Bearer [object Object]', /\[object Object\]/],
  ['Bearer Bearer e30.e30.x', /twice/],
  ['Bearer e30.e30.x e30', /something else follows/],
  ['Bearer:e30', /A space must follow/],
  ['Basic eDp5', /token endpoint/],
  ['eyJhbGciOiJIUzI1NiJ9.e30.x', /Bearer is missing/],
  ['Token x', /another scheme/],
];
for (const [text, description] of headers) {
  test(`Authorization: ${text ?? '(none)'}`, () => {
    const { cause, remedy } = describeAuthorization(text);
    assert.match(cause, description);
    assert.match(remedy, /Authorization: Bearer ACCESS_TOKEN/);
  });
}

test('no description repeats the text, and each can stand in a challenge (RFC 6750 §3)', () => {
  const texts = fc.oneof(fc.string(), anyText(), fc.constantFrom(...cases.map(([text]) => text)));
  fc.assert(
    fc.property(texts, fc.constantFrom('access', 'refresh'), (text, wanted) => {
      const { cause, remedy } = describeAuthorization(text);
      for (const said of [describeForm(text, wanted, 'https://id.example.com').description, cause, remedy]) {
        assert.match(said, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
        if (text.length > 20) assert.ok(!said.includes(text));
      }
    }),
    { numRuns: 3000, seed: 20261122 },
  );
});
