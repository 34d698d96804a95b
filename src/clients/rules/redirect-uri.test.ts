// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClaimable, redirectUriProblem } from './redirect-uri.ts';

const accepted = [
  'https://app.example.com/callback',
  'https://app.example.com',
  'https://app.example.com/cb?tenant=7',
  'http://localhost:8080/cb',
  'http://127.0.0.1/cb',
  'http://[::1]:9000/cb',
];
for (const uri of accepted)
  test(`accepts ${uri}`, () => assert.equal(redirectUriProblem(uri, 'confidential'), undefined));

const refused: [string, RegExp][] = [
  ['', /printable ASCII/],
  ['/callback', /absolute URI/],
  ['app.example.com/cb', /absolute URI/],
  ['https://app.example.com/cb#x', /no fragment/],
  ['https://app.example.com/cb#', /no fragment/],
  ['https://user@app.example.com/cb', /user name/],
  ['https://@app.example.com/cb', /user name/],
  ['https://user:pw@app.example.com/cb', /user name/],
  ['http://app.example.com/cb', /use https/],
  ['http://localhost.evil.test/cb', /use https/],
  ['http://127.0.0.1.evil.test/cb', /use https/],
  ['javascript:alert(1)', /not use the scheme/],
  ['JavaScript:alert(1)', /not use the scheme/],
  ['data:text/html,x', /not use the scheme/],
  ['vbscript:x', /not use the scheme/],
  ['file:///etc/passwd', /not use the scheme/],
  ['ftp://app.example.com/cb', /use https/],
  ['com.example.app:/cb', /public clients only/],
  ['https://app.example.com/c b', /printable ASCII/],
  ['https://app.example.com\\@evil.test/', /printable ASCII/],
  ['https://app.example.com/\r\nX: y', /printable ASCII/],
  ['https://app.example.com/ü', /printable ASCII/],
  ['https:///cb', /host/],
  ['https:app.example.com/cb', /host/],
  ['https://app.example.com/cb?code=1', /"code"/],
  ['https://app.example.com/cb?iss=1', /"iss"/],
  [`https://app.example.com/${'a'.repeat(2048)}`, /2048/],
];
for (const [uri, problem] of refused) {
  test(`refuses ${JSON.stringify(uri.slice(0, 60))}`, () =>
    assert.match(redirectUriProblem(uri, 'confidential') ?? '', problem));
}

test('a public client may use a private-use scheme with a dot', () => {
  assert.equal(redirectUriProblem('com.example.app:/cb', 'public'), undefined);
  assert.match(redirectUriProblem('myapp:/cb', 'public') ?? '', /use https/);
});

const claimable: [string, boolean][] = [
  ['com.example.app:/cb', true],
  ['COM.example.app:/cb', true],
  ['com.example.app://host/cb', true],
  ['http://localhost/cb', true],
  ['http://LOCALHOST:8080/cb', true],
  ['HTTP://localhost/cb', true],
  ['http://127.0.0.1:51004/cb', true],
  ['http://127.1/cb', true],
  ['http://0x7f.0.0.1/cb', true],
  ['http://127.255.0.3/cb', true],
  ['http://[::1]/cb', true],
  ['http://[0:0:0:0:0:0:0:1]:9/cb', true],
  ['https://localhost/cb', true],
  ['https://127.0.0.1/cb', true],
  ['https://app.example.com/cb', false],
  ['HTTPS://app.example.com/cb', false],
  ['https://localhost.example.com/cb', false],
];
for (const [uri, expected] of claimable) {
  test(`RFC 8252 §8.6: ${uri} can${expected ? '' : 'not'} be claimed by any local program`, () => {
    assert.equal(redirectUriProblem(uri, 'public'), undefined);
    assert.equal(isClaimable(uri), expected);
  });
}
