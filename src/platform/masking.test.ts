// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomSecret } from './crypto/secrets.ts';
import { masked, maskedPath, withoutAddresses } from './masking.ts';

const SECRET = randomSecret();
const JWT = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${SECRET}.${SECRET}`;

const confidential = [
  SECRET,
  `the token ${JWT} is expired`,
  `Authorization: Bearer ${SECRET}`,
  'Basic YWRhOnBhc3M=',
  `https://app.example.com/callback?code=${SECRET}&state=s3`,
  `https://${'ada'}:${'hunter2'}@app.example.com/`,
  'password=hunter2 was sent',
  '{"client_secret":"hunter2"}',
  `redirect_uri=https://app.example.com/${SECRET}`,
  'refresh_token: hunter2',
  JWT.slice(0, 60),
  `${SECRET}=`,
  `${'A1'.repeat(11)}== and more`,
];
for (const text of confidential) {
  test(`masked: ${text.replaceAll(SECRET, '…').slice(0, 60)}`, () => {
    const shown = masked(text);
    for (const secret of [SECRET, 'hunter2', 'YWRhOnBhc3M', '.eyJ', 'state=s3'])
      assert.ok(!shown.includes(secret), shown);
    assert.match(shown, /\[/);
  });
}

const harmless = [
  'redirect_uri differs from the one in the authorization request',
  'code_verifier was sent, but the request had no code_challenge',
  'https://app.example.com:8443/oauth2/callback?tenant=acme',
  'client_id=333941264481144832 scope="openid profile organization.read"',
  'Compare client_id and client_secret with the registration: tessera client show CLIENT_ID.',
  'OpenID Connect Core Unmet Authentication Requirements 1.0',
  'Send an access token: Authorization: Bearer <token>.',
  'Bearer undefined',
  'post_logout_redirect_uri=http://localhost:8080/ post_logout_redirect_uri = http://localhost:8080/',
  'it expired at 2026-03-01T12:00:00.000Z',
];
for (const text of harmless) test(`unchanged: ${text}`, () => assert.equal(masked(text), text));

test('control characters become spaces, and a long text is cut', () => {
  assert.equal(masked('a\u001b[31mb\r\nc\u202ed'), 'a [31mb c d');
  const long = masked('word '.repeat(1000));
  assert.equal(long.length, 601);
  assert.ok(long.endsWith('…'));
});

// Each took minutes or more while a pattern could match a word in two ways.
const repeated = ['token-', 'Token_', 'a-', 'ab_', '"token-', 'bearer ', '//a', 'eyJaaaaaaaa.', 'state="'];
for (const text of repeated) {
  test(`a long run of ${text} is masked in linear time`, () => {
    assert.ok(masked(text.repeat(1000)).length <= 601);
    assert.ok(masked(`${text.repeat(1000)}9`).length <= 601);
  });
}

const answers: [string, string][] = [
  ['550 5.1.1 <Ada.L@example.com>: Recipient rejected', '550 5.1.1 <[address]>: Recipient rejected'],
  ['550 No such user ADA.L here', '550 No such user [address] here'],
  ['"ada l"@example.com, ada+x@mail.example', '[address], [address]'],
  ['smtp.example.com:25 answered 451 Try again later', 'smtp.example.com:25 answered 451 Try again later'],
];
for (const [answer, kept] of answers) {
  test(`without addresses: ${answer}`, () => assert.equal(withoutAddresses(answer, 'ada.l@example.com'), kept));
}

test('of a path without a route only short plain segments are shown', () => {
  assert.equal(maskedPath('/api/v2/oauth/Authorize/'), '/api/v2/oauth/Authorize/');
  assert.equal(maskedPath(`/%zz/${SECRET}/x y`), '/…/…/…');
  assert.equal(maskedPath('/a'.repeat(20)), '/a'.repeat(8));
});
