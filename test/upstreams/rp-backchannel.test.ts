// store: SQLite
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { generateKeyPair } from 'jose';
import { LOGOUT_EVENT } from '../../src/upstreams/rules/token-claims.ts';
import { type Agent, agent } from '../support/agent.ts';
import { startServer } from '../support/server.ts';
import type { Members, UpstreamProvider } from '../support/upstream-provider.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

/*
 * The modules of the official suite for back-channel logout of relying parties, by their names. There the relying party ends the session at
 * the provider first (RP-Initiated Logout 1.0); here the provider begins. What else ends is in endings.test.ts.
 */

const server = await startServer({ TESSERA_MAILBOX: 'on' });
let upstream: TestUpstream;
let provider: UpstreamProvider;
let browser: Agent;
const person = { sub: 'alice-1', name: 'Alice', email: 'alice@upstream.example', sid: 'session-1' };

before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
  ({ provider } = upstream);
  browser = await joinedThrough(server, upstream, { person, username: 'alice', email: 'alice@example.com' });
});
after(async () => {
  await provider[Symbol.asyncDispose]();
  await server.close();
});

const isSignedIn = async (): Promise<boolean> => (await browser.get('/account')).status === 200;

async function send(token: string): Promise<number> {
  const answer = await fetch(`${server.baseUrl}/upstreams/${upstream.name}/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  });
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return answer.status;
}

const claims = (): Members => provider.logoutClaims({ sub: person.sub, sid: person.sid });
const signed = (change: (claims: Members) => Members): Promise<string> => provider.sign(change(claims()));

/** A JWS whose last part is made of the others. */
function jws(header: Members, signature: (input: string) => string): string {
  const input = [header, claims()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${input}.${signature(input)}`;
}

const NAME = 'oidcc-client-test-rp-backchannel-rpinitlogout';

test(NAME, async () => {
  assert.equal(await isSignedIn(), true);
  assert.equal(await send(await signed((right) => right)), 200);
  assert.equal(await isSignedIn(), false);
});

/** No algorithm is registered here: one is wrong that is of no key of the provider. */
const WRONG_ALGORITHMS: Readonly<Record<string, () => string | Promise<string>>> = {
  'RS256, of a key that is not published': async () =>
    provider.sign(claims(), { alg: 'RS256' }, (await generateKeyPair('RS256')).privateKey),
  'HS256, with the secret of the client': () =>
    jws({ alg: 'HS256', kid: 'key-1' }, (input) =>
      createHmac('sha256', provider.clientSecret).update(input).digest('base64url'),
    ),
};

const REFUSED: Readonly<Record<string, readonly (() => string | Promise<string>)[]>> = {
  [`${NAME}-alg-none`]: [() => jws({ alg: 'none' }, () => '')],
  [`${NAME}-wrong-alg`]: Object.values(WRONG_ALGORITHMS),
  [`${NAME}-wrong-iss`]: [() => signed((right) => ({ ...right, iss: `${provider.issuer}/other` }))],
  [`${NAME}-wrong-aud`]: [() => signed((right) => ({ ...right, aud: 'another' }))],
  [`${NAME}-no-event`]: [() => signed(({ events: _, ...right }) => right)],
  [`${NAME}-wrong-event`]: [
    () => signed((right) => ({ ...right, events: { 'http://schemas.openid.net/event/other': {} } })),
    () => signed((right) => ({ ...right, events: { [LOGOUT_EVENT]: 'yes' } })),
    () => signed((right) => ({ ...right, events: [LOGOUT_EVENT] })),
  ],
  [`${NAME}-with-nonce`]: [() => signed((right) => ({ ...right, nonce: 'n-0S6_WzA2Mj' }))],
};

describe('a logout token is refused with 400, and the session lives on', () => {
  before(async () => {
    browser = agent(server.baseUrl);
    provider.person = { ...person, sid: 'session-2' };
    await throughUpstream(browser, upstream);
    person.sid = 'session-2';
  });
  for (const [name, tokens] of Object.entries(REFUSED)) {
    test(name, async () => {
      for (const token of tokens) assert.equal(await send(await token()), 400);
      assert.equal(await isSignedIn(), true);
    });
  }
  test('and the right one ends it', async () => {
    assert.equal(await send(await signed((right) => right)), 200);
    assert.equal(await isSignedIn(), false);
  });
});
