// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formParameters } from '../../platform/http/parameters.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { readCredentials } from './read-credentials.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const UNREADABLE = { method: 'client_secret_basic', clientId: '', clientSecret: '', header: 'another text' };
const read = (authorization: string | undefined, body: string) => readCredentials(authorization, formParameters(body));

const accepted: [name: string, authorization: string | undefined, body: string, credentials: object][] = [
  ['RFC 6749 §2.1: the id alone', undefined, 'client_id=1', { method: 'none', clientId: '1' }],
  [
    'RFC 6749 §3.1: an empty secret is none',
    undefined,
    'client_id=1&client_secret=',
    { method: 'none', clientId: '1' },
  ],
  ['nothing at all', undefined, '', { method: 'none', clientId: '' }],
  [
    'RFC 6749 §2.3.1: the secret in the body',
    undefined,
    'client_id=1&client_secret=s',
    { method: 'client_secret_post', clientId: '1', clientSecret: 's' },
  ],
  [
    'RFC 6749 §2.3.1: both parts form-urlencoded in the header',
    basic('1:a%3Ab+c'),
    'client_id=1',
    { method: 'client_secret_basic', clientId: '1', clientSecret: 'a:b c' },
  ],
  ['RFC 7617 §2: without a colon', basic('1'), '', { ...UNREADABLE, header: 'no colon' }],
  ['an encoded colon', basic('1%3As'), '', { ...UNREADABLE, header: 'an encoded colon' }],
  ['no base64', 'Basic 1:s', '', { ...UNREADABLE, header: 'a text that is not encoded' }],
  [
    'RFC 9068 §2.1: an access token',
    `Bearer ${Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url')}.e30.x`,
    '',
    { ...UNREADABLE, header: 'an access token' },
  ],
  ['an admin key', 'Bearer tak_x', '', { ...UNREADABLE, header: 'an admin key' }],
  ['RFC 7617 §2: without a user name', basic(':s'), '', UNREADABLE],
  ['a malformed percent-encoding', basic('1:%'), '', UNREADABLE],
  ['another scheme', 'Bearer x', '', UNREADABLE],
  [
    'RFC 7523 §2.2: a malformed assertion',
    undefined,
    'client_id=1&client_assertion=x&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    {
      method: 'private_key_jwt',
      clientId: '1',
      assertion: undefined,
      is: 'a text that is no JWT, or one that is longer than 8 KiB',
    },
  ],
];
for (const [name, authorization, body, credentials] of accepted) {
  test(name, () => {
    const { sentLike, isInAddress, ...found } = {
      ...{ sentLike: undefined, isInAddress: undefined },
      ...read(authorization, body),
    };
    assert.deepEqual(found, credentials);
  });
}

test('the names of a request are compared only where it is refused', () => {
  const fail = () => assert.fail('compared');
  for (const body of ['client_id=1', 'client_secret=s', 'client_id=1&client_secret=s', 'clientId=1']) {
    readCredentials(undefined, { ...formParameters(body), misspelled: fail });
  }
  const found = read(undefined, 'client_id=1&clientSecret=s');
  assert.equal('sentLike' in found && found.sentLike?.('client_secret'), 'clientSecret');
});

const rejected: [name: string, authorization: string | undefined, body: string][] = [
  ['RFC 6749 §2.3: secrets in header and body', basic('1:s'), 'client_secret=s'],
  ['two client ids', basic('1:s'), 'client_id=2'],
  ['RFC 6749 §2.3: an assertion beside a header', basic('1:s'), 'client_assertion=x'],
  ['RFC 6749 §2.3: an assertion beside a secret', undefined, 'client_assertion=x&client_secret=s'],
  ['RFC 7521 §4.2: an assertion without its type', undefined, 'client_assertion=x'],
  ['RFC 7521 §4.2: a type without an assertion', undefined, 'client_assertion_type=x'],
];
for (const [name, authorization, body] of rejected) {
  test(name, () =>
    assert.throws(
      () => read(authorization, body),
      (error) => error instanceof OAuthError && error.code === 'invalid_request',
    ),
  );
}
