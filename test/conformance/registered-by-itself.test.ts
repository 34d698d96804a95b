// store: SQLite, PostgreSQL with --all
/** The plans for the code flow and for logout with `client_registration=dynamic_client`: RFC 7591, RFC 7592. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import type { Agent } from '../support/agent.ts';
import { type Receiver, startReceiver, tokenOf, verifyLogoutToken } from '../support/logout-receiver.ts';
import { settle } from '../support/outcome.ts';
import { basicCases } from './basic-cases.ts';
import { type Registrar, type RelyingParty, relyingParty } from './relying-party.ts';

const BYE = 'https://suite.example.com/test/a/tessera/post_logout_redirect';
const STATE = 's'.repeat(128);
const REGISTRARS: readonly Registrar[] = ['itself, with a token', 'itself, openly'];

for (const registrar of REGISTRARS) {
  for (const mode of ['query', 'form_post'] as const) {
    describe(`${mode}, registered by ${registrar}`, () => basicCases(mode, registrar));
  }
  describe(`logout, registered by ${registrar}`, () => logoutCases(registrar));
}

function logoutCases(registrar: Registrar): void {
  let party: RelyingParty;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    party = await relyingParty('query', registrar, {
      post_logout_redirect_uris: [BYE, `${BYE}?foo=bar`],
      backchannel_logout_uri: receiver.uri,
    });
  });
  after(async () => {
    await party.leave();
    await party.close();
    await receiver.close();
  });

  async function signedIn(): Promise<{ readonly browser: Agent; readonly hint: string }> {
    const browser = party.newBrowser();
    const { tokens } = await party.signIn(browser);
    return { browser, hint: tokens.id_token };
  }
  const leave = (browser: Agent, parameters: Readonly<Record<string, string>>) =>
    browser.get(`${party.discovery['end_session_endpoint']}?${new URLSearchParams(parameters)}`);
  /** As the suite asks, which a client that people are asked about each time can do as well: a request without a session asks to sign in. */
  const isSignedIn = async (browser: Agent): Promise<boolean> =>
    (await party.authorize(browser, { prompt: 'none' }))['error'] !== 'login_required';

  for (const [module, uri, state] of [
    ['oidcc-rp-initiated-logout', BYE, STATE],
    ['oidcc-rp-initiated-logout-no-state', BYE, undefined],
    ['oidcc-rp-initiated-logout-query-added', `${BYE}?foo=bar`, STATE],
  ] as const) {
    test(`${module}: back at the registered address, and signed out`, async () => {
      const { browser, hint } = await signedIn();
      const answer = await leave(browser, {
        ...{ id_token_hint: hint, post_logout_redirect_uri: uri },
        ...(state !== undefined && { state }),
      });
      const back = (await settle(browser, party.server, answer)).location;
      const expected = new URL(uri);
      if (state !== undefined) expected.searchParams.set('state', state);
      assert.equal(back?.href, expected.href);
      assert.equal(await isSignedIn(browser), false);
    });
  }

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: signed out, with a page', async () => {
    const { browser, hint } = await signedIn();
    const answer = await settle(browser, party.server, await leave(browser, { id_token_hint: hint }));
    assert.deepEqual([answer.status, answer.location], [200, undefined]);
    assert.equal(await isSignedIn(browser), false);
  });

  const back = { post_logout_redirect_uri: BYE, state: STATE };
  const modified = (hint: string) => hint.replace(/[^.]{4}$/, 'AAAA');
  /** The trap that conformance tests set: signed with the client's own secret, of another issuer. */
  const forged = () =>
    new SignJWT({ iss: 'https://other.example', aud: 'other', sub: party.user.id })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(party.clientSecret));
  const asked: Readonly<Record<string, (hint: string) => Promise<Record<string, string>>>> = {
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': async (hint) => ({
      ...{ id_token_hint: hint, ...back, post_logout_redirect_uri: 'https://evil.example/' },
    }),
    'oidcc-rp-initiated-logout-modified-id-token-hint': async (hint) => ({ id_token_hint: modified(hint), ...back }),
    'oidcc-rp-initiated-logout-bad-id-token-hint': async () => ({ id_token_hint: await forged(), ...back }),
    'oidcc-rp-initiated-logout-no-id-token-hint': async () => back,
    'oidcc-rp-initiated-logout-only-state': async () => ({ state: STATE }),
    'oidcc-rp-initiated-logout-no-params': async () => ({}),
  };
  for (const [module, parametersOf] of Object.entries(asked)) {
    test(`${module}: a page, never a redirect, and nothing has ended`, async () => {
      const { browser, hint } = await signedIn();
      const answer = await settle(browser, party.server, await leave(browser, await parametersOf(hint)));
      assert.deepEqual([answer.status, answer.location], [200, undefined]);
      assert.equal(await isSignedIn(browser), true);
    });
  }

  test('oidcc-backchannel-rp-initiated-logout: a logout token of this session', async () => {
    const { browser, hint } = await signedIn();
    const claims = await party.verify(hint);
    await party.server.deliverNotices();
    const before = receiver.received.length;
    await leave(browser, { id_token_hint: hint });
    await party.server.deliverNotices();
    assert.equal(receiver.received.length, before + 1);
    const client = { clientId: party.clientId, alg: 'RS256' };
    const { payload } = await verifyLogoutToken(party.server, tokenOf(receiver.received.at(-1)), client);
    assert.deepEqual([payload.sub, payload['sid']], [claims.sub, claims['sid']]);
  });
}
