import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EndSessionInput, type EndSessionStep, endSessionStep, type IdTokenHint } from './end-session.ts';

const URI = 'https://app.example.com/bye';
const client = { status: 'active', idTokenSignedResponseAlg: 'RS256', postLogoutRedirectUris: [URI] };
const session = { accountId: '7', sid: 'this' };
const proven: IdTokenHint = { kind: 'proven', clientId: '1', accountId: '7', sid: 'this', stands: true };
const unproven: IdTokenHint = { kind: 'unproven', clientId: '1' };
const whole: EndSessionInput = { hint: proven, clientId: undefined, client, redirectUri: URI, session };

const ask = (returnTo?: string, obstacle?: string) => ({ kind: 'ask', returnTo, obstacle });
const nobody = (returnTo?: string, obstacle?: string) => ({ kind: 'nobody', returnTo, obstacle });

const cases: [string, Partial<EndSessionInput>, unknown][] = [
  ['the hint is about this session', {}, { kind: 'end', returnTo: URI }],
  ['without an address', { redirectUri: undefined }, { kind: 'end', returnTo: undefined }],
  ['the same client_id beside it', { clientId: '1' }, { kind: 'end', returnTo: URI }],
  ['another client_id beside it', { clientId: '2' }, ask(undefined, 'hint')],
  ['another session', { session: { ...session, sid: 'other' } }, ask(URI)],
  ['another person', { session: { ...session, accountId: '8' } }, ask(URI)],
  ['access was taken away', { hint: { ...proven, stands: false } }, ask(URI)],
  ['an address that is not registered', { redirectUri: `${URI}/` }, ask(undefined, 'address')],
  ['a disabled client', { client: { ...client, status: 'disabled' } }, ask(undefined, 'client')],
  ['a deleted client', { client: undefined }, ask(undefined, 'client')],
  ['a bad hint', { hint: { kind: 'bad' } }, ask(undefined, 'hint')],
  ['a bad hint beside a good client_id', { hint: { kind: 'bad' }, clientId: '1' }, ask(undefined, 'hint')],
  [
    'HS256 for a client of HS256',
    { hint: unproven, client: { ...client, idTokenSignedResponseAlg: 'HS256' } },
    ask(URI),
  ],
  ['HS256 for a client of RS256', { hint: unproven }, ask(undefined, 'hint')],
  ['client_id alone', { hint: { kind: 'none' }, clientId: '1' }, ask(URI)],
  ['an address alone', { hint: { kind: 'none' }, client: undefined }, ask(undefined, 'client missing')],
  ['nothing', { hint: { kind: 'none' }, client: undefined, redirectUri: undefined }, ask()],
  ['nobody signed in, and the hint stands', { session: undefined }, { kind: 'return', returnTo: URI }],
  ['nobody signed in, no address', { session: undefined, redirectUri: undefined }, nobody()],
  ['nobody signed in, access taken away', { session: undefined, hint: { ...proven, stands: false } }, nobody(URI)],
  ['nobody signed in, client_id alone', { session: undefined, hint: { kind: 'none' }, clientId: '1' }, nobody(URI)],
  ['nobody signed in, a bad hint', { session: undefined, hint: { kind: 'bad' } }, nobody(undefined, 'hint')],
];
for (const [name, change, expected] of cases) {
  test(`RP-Initiated Logout §2–§4: ${name}`, () => {
    const step: EndSessionStep = endSessionStep({ ...whole, ...change });
    assert.deepEqual(step, expected);
  });
}
