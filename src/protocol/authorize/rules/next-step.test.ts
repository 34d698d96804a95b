// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuthorizationState, type AuthorizationStep, nextStep, type StepRefusal } from './next-step.ts';
import { refuseByRedirect } from './refusals.ts';

const quiet = { none: false, login: false, consent: false, select: false };
const granted = { scopes: new Set(['openid', 'email']), declined: new Set<string>() };
const base: AuthorizationState = {
  request: {
    endpointSet: 'v2',
    redirectUri: 'https://app.example.com/callback',
    scopes: ['openid', 'email'],
    prompt: quiet,
    maxAge: null,
    subjects: null,
    hinted: null,
    claims: null,
  },
  clientType: 'confidential',
  isUnregistered: false,
  access: 'everyone',
  visitor: 'signed in',
  accountId: '7',
  age: 60_000,
  stepUp: { kind: 'met' },
  signedInForThis: false,
  chosenForThis: false,
  hasAccess: true,
  missingUpstream: null,
  remembered: granted,
  approved: null,
};
const prompt = (change: Partial<typeof quiet>, more: Partial<AuthorizationState['request']> = {}) => ({
  request: { ...base.request, ...more, prompt: { ...quiet, ...change } },
});
const asking = (more: Partial<AuthorizationState['request']>) => prompt({}, more);
const refusal = (name: StepRefusal) => ({ kind: 'refuse', refusal: refuseByRedirect(name) });

const PROVE = { kind: 'prove', methods: ['totp'] } as const;

const cases: [string, Partial<AuthorizationState>, AuthorizationStep | object][] = [
  ['remembered consent issues at once', {}, { kind: 'issue' }],
  ['not signed in: sign in', { visitor: 'anonymous' }, { kind: 'login' }],
  [
    'only through a provider: sign in there',
    { missingUpstream: { upstream: 'staff' } },
    { kind: 'login', through: 'staff' },
  ],
  [
    'only through a provider, prompt=none',
    { missingUpstream: { upstream: 'staff' }, ...prompt({ none: true }) },
    refusal('another provider'),
  ],
  ['only through a provider that is disabled', { missingUpstream: { upstream: null } }, refusal('provider disabled')],
  ['no consent yet: ask', { remembered: null }, { kind: 'consent', asked: ['email'] }],
  ['banned: refuse with the contract’s message', { visitor: 'banned' }, refusal('account banned')],
  ['suspended: refuse with the contract’s message', { visitor: 'suspended' }, refusal('account suspended')],
  ['banned outranks prompt=none', { visitor: 'banned', ...prompt({ none: true }) }, refusal('account banned')],
  ['prompt=none, not signed in', { visitor: 'anonymous', ...prompt({ none: true }) }, refusal('not signed in')],
  ['prompt=none, no consent', { remembered: null, ...prompt({ none: true }) }, refusal('consent missing')],
  ['prompt=none, all there', prompt({ none: true }), { kind: 'issue' }],
  ['prompt=login, an older session', prompt({ login: true }), { kind: 'login' }],
  ['prompt=login, signed in for this', { signedInForThis: true, ...prompt({ login: true }) }, { kind: 'issue' }],
  ['prompt=consent asks again', prompt({ consent: true }), { kind: 'consent', asked: ['email'] }],
  ['prompt=select_account, signed in', prompt({ select: true }), { kind: 'choose' }],
  ['prompt=select_account, not signed in', { visitor: 'anonymous', ...prompt({ select: true }) }, { kind: 'login' }],
  ['prompt=select_account, chosen', { chosenForThis: true, ...prompt({ select: true }) }, { kind: 'issue' }],
  [
    'prompt=select_account, signed in for this',
    { signedInForThis: true, ...prompt({ select: true }) },
    { kind: 'issue' },
  ],
  [
    'prompt=login select_account: a choice is no sign-in',
    { chosenForThis: true, ...prompt({ select: true, login: true }) },
    { kind: 'login' },
  ],
  ['a factor that is missing', { stepUp: PROVE }, { kind: 'second factor', methods: ['totp'] }],
  [
    'a factor must be set up first',
    { stepUp: { kind: 'enroll', factors: ['totp'] } },
    { kind: 'enroll', factors: ['totp'] },
  ],
  ['a factor is missing, and the password comes before it', { stepUp: { kind: 'sign in' } }, { kind: 'login' }],
  [
    'a factor is missing that the user does not have',
    { stepUp: { kind: 'unreachable' } },
    refusal('factor not set up'),
  ],
  ['a second factor comes after the sign-in', { visitor: 'anonymous', stepUp: PROVE }, { kind: 'login' }],
  ['and after a sign-in that must be new', { stepUp: PROVE, ...prompt({ login: true }) }, { kind: 'login' }],
  ['and after the choice of an account', { stepUp: PROVE, ...prompt({ select: true }) }, { kind: 'choose' }],
  ['and before the consent', { stepUp: PROVE, remembered: null }, { kind: 'second factor', methods: ['totp'] }],
  ...[PROVE, { kind: 'sign in' } as const, { kind: 'enroll', factors: ['passkey'] } as const].map(
    (stepUp): [string, Partial<AuthorizationState>, object] => [
      `prompt=none, where a factor is missing (${stepUp.kind})`,
      { stepUp, ...prompt({ none: true }) },
      refusal('stronger factor'),
    ],
  ),
  [
    'prompt=none, where a factor is missing that the user does not have',
    { stepUp: { kind: 'unreachable' }, ...prompt({ none: true }) },
    refusal('factor not set up, without a page'),
  ],
  ['max_age: exactly as old', asking({ maxAge: 60 }), { kind: 'issue' }],
  ['max_age: a millisecond older', { age: 60_001, ...asking({ maxAge: 60 }) }, { kind: 'login' }],
  [
    'max_age: older, but signed in for this',
    { age: 90_000, signedInForThis: true, ...asking({ maxAge: 60 }) },
    { kind: 'issue' },
  ],
  [
    'max_age: older, chosen for this',
    { age: 90_000, chosenForThis: true, ...asking({ maxAge: 60 }) },
    { kind: 'login' },
  ],
  ['max_age=0 is prompt=login', { age: 0, ...asking({ maxAge: 0 }) }, { kind: 'login' }],
  ['max_age with prompt=none', { age: 60_001, ...prompt({ none: true }, { maxAge: 60 }) }, refusal('sign-in too old')],
  ['the person who was asked for', asking({ subjects: ['6', '7'] }), { kind: 'issue' }],
  ['another person: sign in', asking({ subjects: ['8'] }), { kind: 'login' }],
  ['another person, prompt=none', prompt({ none: true }, { subjects: ['8'] }), refusal('another user in claims')],
  [
    'another person signed in for this',
    { signedInForThis: true, ...asking({ subjects: ['8'] }) },
    refusal('another user'),
  ],
  ['no account could be meant', { visitor: 'anonymous', ...asking({ subjects: [] }) }, refusal('another user')],
  [
    'another person is asked for a sign-in, not for a choice',
    prompt({ select: true }, { subjects: ['8'] }),
    { kind: 'login' },
  ],
  [
    'a single claim needs the consent of its scope',
    asking({ claims: { userinfo: ['website'], idToken: [] } }),
    { kind: 'consent', asked: ['details'] },
  ],
  [
    'a single claim that is always shared needs none',
    asking({ claims: { userinfo: [], idToken: ['locale'] } }),
    { kind: 'issue' },
  ],
  ['public, https: remembered consent issues at once', { clientType: 'public' }, { kind: 'issue' }],
  [
    'public, claimable: the sign-in comes before the consent',
    { clientType: 'public', visitor: 'anonymous', ...asking({ redirectUri: 'com.example.app:/cb' }) },
    { kind: 'login' },
  ],
];
for (const redirectUri of [
  'http://localhost:8080/cb',
  'http://127.0.0.1/cb',
  'http://[::1]/cb',
  'com.example.app:/cb',
]) {
  const request = (more: Partial<typeof quiet> = {}) => prompt(more, { redirectUri });
  cases.push(
    [
      `RFC 8252 §8.6: public, ${redirectUri}`,
      { clientType: 'public', ...request() },
      { kind: 'consent', asked: ['email'] },
    ],
    [
      `RFC 8252 §8.6: public, ${redirectUri}, prompt=none`,
      { clientType: 'public', ...request({ none: true }) },
      refusal('consent each time'),
    ],
    [
      `RFC 8252 §8.6: public, ${redirectUri}, signed in for this`,
      { clientType: 'public', signedInForThis: true, ...request() },
      { kind: 'consent', asked: ['email'] },
    ],
    [`a confidential client, ${redirectUri}: remembered consent issues at once`, request(), { kind: 'issue' }],
  );
}
for (const [name, change, expected] of cases) {
  test(name, () => assert.deepEqual(nextStep({ ...base, ...change }), expected));
}
