// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EndSessionInput, type EndSessionStep, endSessionStep, type LogoutHint } from './end-session.ts';

const URI = 'https://app.example.com/bye';
const client = { status: 'active', idTokenSignedResponseAlg: 'RS256', postLogoutRedirectUris: [URI] };
const session = { accountId: '7', sid: 'this' };
const proven: LogoutHint = { kind: 'proven', clientId: '1', accountId: '7', sid: 'this', authorization: 'valid' };
const byClient: LogoutHint = { ...proven, authorization: 'revoked by client' };
const unproven: LogoutHint = { kind: 'unproven', clientId: '1' };
const whole: EndSessionInput = { hint: proven, clientId: undefined, client, redirectUri: URI, session };

const ask = (returnTo?: string, obstacle?: string) => ({ kind: 'ask', returnTo, obstacle });
const signedOut = (returnTo?: string, obstacle?: string) => ({ kind: 'signed out', returnTo, obstacle });

const cases: [string, Partial<EndSessionInput>, unknown][] = [
  ['the hint is about this session', {}, { kind: 'end', returnTo: URI }],
  ['without an address', { redirectUri: undefined }, { kind: 'end', returnTo: undefined }],
  ['the same client_id beside it', { clientId: '1' }, { kind: 'end', returnTo: URI }],
  ['another client_id beside it', { clientId: '2' }, ask(undefined, 'other client')],
  ['another session', { session: { ...session, sid: 'other' } }, ask(URI)],
  ['another person', { session: { ...session, accountId: '8' } }, ask(URI)],
  ['access was revoked', { hint: { ...proven, authorization: 'revoked' } }, ask(URI)],
  ['decisions §10: the client revoked its tokens', { hint: byClient }, { kind: 'end', returnTo: URI }],
  [
    'the client revoked its tokens, in another session',
    { hint: byClient, session: { ...session, sid: 'other' } },
    ask(URI),
  ],
  [
    'the client revoked its tokens, of another person',
    { hint: byClient, session: { ...session, accountId: '8' } },
    ask(URI),
  ],
  [
    'the client revoked its tokens, and is disabled',
    { hint: byClient, client: { ...client, status: 'disabled' } },
    ask(undefined, 'client'),
  ],
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
  [
    'HS256 for a client that left the algorithm out',
    { hint: unproven, client: { ...client, idTokenSignedResponseAlg: null } },
    ask(URI),
  ],
  ['HS256 for a client of RS256', { hint: unproven }, ask(undefined, 'hint')],
  ['client_id alone', { hint: { kind: 'none' }, clientId: '1' }, ask(URI)],
  ['an address alone', { hint: { kind: 'none' }, client: undefined }, ask(undefined, 'client missing')],
  ['nothing', { hint: { kind: 'none' }, client: undefined, redirectUri: undefined }, ask()],
  ['not signed in, and the hint is valid', { session: undefined }, { kind: 'return', returnTo: URI }],
  ['not signed in, no address', { session: undefined, redirectUri: undefined }, signedOut()],
  [
    'not signed in, access revoked',
    { session: undefined, hint: { ...proven, authorization: 'revoked' } },
    signedOut(URI),
  ],
  ['not signed in, the client revoked its tokens', { session: undefined, hint: byClient }, signedOut(URI)],
  ['not signed in, client_id alone', { session: undefined, hint: { kind: 'none' }, clientId: '1' }, signedOut(URI)],
  ['not signed in, a bad hint', { session: undefined, hint: { kind: 'bad' } }, signedOut(undefined, 'hint')],
];
for (const [name, change, expected] of cases) {
  test(`RP-Initiated Logout §2–§4: ${name}`, () => {
    const step: EndSessionStep = endSessionStep({ ...whole, ...change });
    assert.deepEqual(step, expected);
  });
}
