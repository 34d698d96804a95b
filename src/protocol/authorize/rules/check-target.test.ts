// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formParameters } from '../../../platform/http/parameters.ts';
import { checkQueryOfPost, checkTarget, type RedirectingClient, requestedClient } from './check-target.ts';

const URI = 'https://app.example.com/cb';
const client: RedirectingClient = {
  id: '1',
  metadataUrl: null,
  registeredBy: null,
  acceptedAt: null,
  name: 'App',
  endpoints: ['v2', 'oidc'],
  redirectUris: [URI, 'com.example.app:/cb'],
  scopes: null,
  grantTypes: ['authorization_code'],
  type: 'public',
  requirePkce: true,
  defaultMaxAge: null,
  status: 'active',
  generation: 'generation',
};
const uri = `redirect_uri=${encodeURIComponent(URI)}`;
type TargetCase = [string, string, Partial<RedirectingClient> | undefined, unknown];
const targets: TargetCase[] = [
  ['no such client', uri, undefined, 'client_id unknown'],
  ['a disabled client', uri, { status: 'disabled' }, 'client disabled'],
  ['no redirect_uri', '', {}, 'redirect_uri missing'],
  ['two of them', `${uri}&${uri}`, {}, 'redirect_uri repeated'],
  ['one that is not registered', `${uri}%2F`, {}, 'redirect_uri not registered'],
  ['a registered one', `${uri}&state=xyz`, {}, { redirectUri: URI, responseMode: 'query', state: 'xyz' }],
  ['a repeated state', `${uri}&state=a&state=b`, {}, { redirectUri: URI, responseMode: 'query', state: null }],
  ['form_post', `${uri}&response_mode=form_post`, {}, { redirectUri: URI, responseMode: 'form_post', state: null }],
  ...requestObjects(),
  [
    'form_post to an app',
    'redirect_uri=com.example.app:/cb&response_mode=form_post',
    {},
    { redirectUri: 'com.example.app:/cb', responseMode: 'query', state: null },
  ],
];
/** The response mode of the error that a request object is rejected with. */
function requestObjects(): TargetCase[] {
  const jwt = (claims: unknown, parts = 3) =>
    ['', Buffer.from(JSON.stringify(claims)).toString('base64url'), '', '', ''].slice(0, parts).join('.');
  const byForm = { response_mode: 'form_post' };
  const cases: [name: string, query: string, responseMode: string][] = [
    ['form_post in a request object', `request=${jwt(byForm)}`, 'form_post'],
    ['query in a request object', `request=${jwt({ response_mode: 'query' })}`, 'query'],
    ['the parameter goes before a request object', `response_mode=query&request=${jwt(byForm)}`, 'query'],
    ['an empty parameter is none', `response_mode=&request=${jwt(byForm)}`, 'form_post'],
    [
      'nothing else of a request object is used',
      `request=${jwt({ ...byForm, state: 'x', redirect_uri: 'https://evil.example' })}`,
      'form_post',
    ],
    ['another response mode', `request=${jwt({ response_mode: 'fragment' })}`, 'query'],
    ['a list', `request=${jwt({ response_mode: ['form_post'] })}`, 'query'],
    ['a repeated parameter', `response_mode=query&response_mode=query&request=${jwt(byForm)}`, 'query'],
    ['two request objects', `request=${jwt(byForm)}&request=${jwt(byForm)}`, 'query'],
    ['a request object without claims', `request=${jwt(null)}`, 'query'],
    ['a request object that is no JWT', 'request=form_post', 'query'],
    ['an encrypted one', 'request=e30.AA.AA.AA.AA', 'query'],
    ['a long one', `request=${jwt({ ...byForm, padding: 'x'.repeat(8192) })}`, 'query'],
  ];
  return cases.map(([name, query, responseMode]) => [
    name,
    `${uri}&${query}`,
    {},
    { redirectUri: URI, responseMode, state: null },
  ]);
}

for (const [name, text, change, expected] of targets) {
  test(`RFC 6749 §4.1.2.1: ${name}`, () => {
    const target = checkTarget(formParameters(text), change && { ...client, ...change }, false);
    if (target.kind === 'display') assert.equal(target.reason, expected);
    else assert.deepEqual(target, { kind: 'target', client, ...(expected as object) });
  });
}

for (const [text, expected] of [
  ['client_id=1', '1'],
  ['client_id=1&client_id=1', 'client_id repeated'],
  ['client_id=', 'client_id empty'],
  ['clientId=1', 'client_id missing'],
] as const) {
  test(`RFC 6749 §4.1.1: the client of ${text}`, () => {
    const requested = requestedClient(formParameters(text));
    assert.equal(typeof requested === 'string' ? requested : requested.reason, expected);
  });
}

test('OpenID Connect Core 1.0 §3.1.2.1: a POST has no parameters in its query', () => {
  assert.equal(checkQueryOfPost(formParameters('scope=openid'))?.reason, 'address of a POST');
  assert.equal(checkQueryOfPost(formParameters('other=1')), undefined);
});
