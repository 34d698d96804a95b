// store: none
/** That the check of every answer's header would notice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieProblem, type Headers, headerProblems, showsSecret } from '../support/header-checker.ts';

const JSON_ANSWER: Headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
  'content-type': 'application/json',
};
const POLICY =
  "default-src 'none'; script-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
const PAGE: Headers = { ...JSON_ANSWER, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY };

test('HB-01, HB-02, HB-03: each header that is missing or wrong is noticed', () => {
  assert.deepEqual(headerProblems('/login', PAGE), []);
  assert.deepEqual(headerProblems('/api/v2/oauth/token', JSON_ANSWER), []);
  assert.deepEqual(headerProblems('/assets/a.css', { ...JSON_ANSWER, 'cache-control': 'public, max-age=5' }), []);
  for (const name of Object.keys(PAGE)) {
    const { [name]: _missing, ...rest } = PAGE;
    const expected = name === 'content-type' ? 0 : 1;
    assert.equal(headerProblems('/login', rest).length >= expected, true, name);
  }
  for (const change of [
    { 'cache-control': 'public, max-age=5' },
    { 'x-powered-by': 'x' },
    { 'access-control-allow-credentials': 'true' },
    { 'content-type': 'text/html' },
    { 'content-security-policy': POLICY.replace("; form-action 'self'", '') },
    { 'content-security-policy': POLICY.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'") },
    { 'set-cookie': ['tessera_session=x; Path=/; HttpOnly; SameSite=Lax'] },
  ]) {
    assert.notDeepEqual(headerProblems('/login', { ...PAGE, ...change }), [], JSON.stringify(change));
  }
});

test('decisions §10: a step of a flow that cuts the opener of a popup is noticed, and another page that does not', () => {
  const keeps = { ...PAGE, 'cross-origin-opener-policy': 'unsafe-none' };
  for (const url of ['/api/v2/oauth/authorize', '/oidc/authorize', '/consent', '/continue']) {
    assert.deepEqual(headerProblems(url, keeps), [], url);
    assert.notDeepEqual(headerProblems(url, PAGE), [], url);
  }
  for (const url of ['/account', '/oidc/logout', '/api/v2/oauth/token'])
    assert.notDeepEqual(headerProblems(url, keeps), [], url);
});

test('SE-02: each attribute of a cookie that is missing or too wide is noticed', () => {
  const secret = 'A'.repeat(43);
  const good = `__Host-tessera_session=${secret}; Max-Age=5; Path=/; HttpOnly; Secure; SameSite=Lax`;
  assert.equal(cookieProblem(good), undefined);
  assert.equal(cookieProblem(`tessera_browser=${secret}; Path=/; HttpOnly; SameSite=Lax`), undefined);
  for (const bad of [
    ...['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'].map((attribute) => good.replace(`; ${attribute}`, '')),
    good.replace('__Host-', ''),
    good.replace(secret, secret.slice(1)),
    good.replace('tessera_session', 'other'),
    good.replace('Path=/', 'Path=/login'),
    `${good}; Domain=example.com`,
  ]) {
    assert.notEqual(cookieProblem(bad), undefined, bad);
  }
});

test('AD-06: a client secret is noticed wherever it is not shown for the first time', () => {
  const body = JSON.stringify({ clientSecret: `tcs_${'a'.repeat(43)}` });
  assert.equal(showsSecret('POST /api/v2/admin/clients', body), false);
  assert.equal(showsSecret('POST /api/v2/admin/clients/:clientId/secrets', body), false);
  for (const route of [
    'GET /api/v2/admin/clients/:clientId',
    'PATCH /api/v2/admin/clients/:clientId',
    'GET /account',
  ]) {
    assert.equal(showsSecret(route, body), true, route);
  }
  // The signature of a token may have such a text in it.
  assert.equal(
    showsSecret('POST /oidc/token', JSON.stringify({ id_token: `e30.e30.${'a'.repeat(8)}tcs_${'a'.repeat(330)}` })),
    false,
  );
});
