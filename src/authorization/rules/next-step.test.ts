import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextStep, type Situation, type Step } from './next-step.ts';

const quiet = { none: false, login: false, consent: false };
const granted = { scopes: new Set(['openid', 'email']), declined: new Set<string>() };
const base: Situation = {
  request: { scopes: ['openid', 'email'], prompt: quiet },
  signedIn: 'somebody',
  signedInForThis: false,
  remembered: granted,
};
const prompt = (change: Partial<typeof quiet>) => ({ request: { ...base.request, prompt: { ...quiet, ...change } } });
const refusal = (error: string, description: string) => ({
  kind: 'refuse',
  refusal: { kind: 'redirect', error, description },
});

const cases: [string, Partial<Situation>, Step | object][] = [
  ['remembered consent issues at once', {}, { kind: 'issue' }],
  ['nobody signed in: sign in', { signedIn: 'nobody' }, { kind: 'login' }],
  ['no consent yet: ask', { remembered: null }, { kind: 'consent', asked: ['email'] }],
  ['banned: refuse with the contract’s message', { signedIn: 'banned' }, refusal('access_denied', 'Account banned')],
  [
    'suspended: refuse with the contract’s message',
    { signedIn: 'suspended' },
    refusal('access_denied', 'Account is suspended'),
  ],
  [
    'banned outranks prompt=none',
    { signedIn: 'banned', ...prompt({ none: true }) },
    refusal('access_denied', 'Account banned'),
  ],
  [
    'prompt=none, nobody',
    { signedIn: 'nobody', ...prompt({ none: true }) },
    refusal('login_required', 'nobody is signed in'),
  ],
  [
    'prompt=none, no consent',
    { remembered: null, ...prompt({ none: true }) },
    refusal('consent_required', 'the user has not consented yet'),
  ],
  ['prompt=none, all there', prompt({ none: true }), { kind: 'issue' }],
  ['prompt=login, an older session', prompt({ login: true }), { kind: 'login' }],
  ['prompt=login, signed in for this', { signedInForThis: true, ...prompt({ login: true }) }, { kind: 'issue' }],
  ['prompt=consent asks again', prompt({ consent: true }), { kind: 'consent', asked: ['email'] }],
];
for (const [name, change, expected] of cases) {
  test(name, () => assert.deepEqual(nextStep({ ...base, ...change }), expected));
}
