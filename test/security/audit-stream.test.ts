// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { removeFactorsSince } from '../../src/authenticators/factor-removal-store.ts';
import { requireRecoveryCode } from '../../src/authenticators/recovery-setting-store.ts';
import { untilNow } from '../../src/authenticators/rules/taking-back.ts';
import { consoleActs } from '../../src/console/acts.ts';
import { appActNames } from '../../src/console/apps/acts.ts';
import { actNames } from '../../src/console/people/acts.ts';
import { rotateSigningKey } from '../../src/keys/signing-keys.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokenCall,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { png } from '../support/images.ts';
import { settle } from '../support/outcome.ts';
import { addPasskeyOnPage, passkeyForm } from '../support/passkeys.ts';
import { press } from '../support/playground.ts';
import { useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { introspect, revoke } from '../support/token-services.ts';
import { startRouted } from './routes.ts';

interface Event {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly outcome: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

type Actor = 'admin' | 'user' | 'client' | 'anonymous' | 'cli';
/** What is expected of an event: its type, who acted, whether it succeeded, and whom it is about. */
type Expected = readonly [type: string, actor: Actor, outcome: '+' | '-', about: 'user' | 'client' | 'both' | 'none'];

let client: TestClient;
let user: TestUser;
let browser: Agent;
let code = '';
let kept = '';
let tokens: Tokens;
const server = await startRouted({ TESSERA_LIMIT_SIGN_IN_ACCOUNT: '2/m', TESSERA_LIMIT_CLIENT_AUTH: '1/m' });
after(() => server.close());
const foreign = await newClient(server);
// The first ID token of the OIDC endpoints makes its key pair, which is an event too.
await tokensFor(server, standard(foreign), await newUser(server));

async function allEvents(): Promise<Event[]> {
  const events: Event[] = [];
  for (let cursor = ''; ; ) {
    const { items, nextCursor } = (await admin(server, 'GET', `/audit-events?limit=200${cursor}`)).body;
    events.push(...items);
    if (nextCursor === null) return events;
    cursor = `&cursor=${nextCursor}`;
  }
}

const status = (expected: number, answer: { status: number; body?: unknown }) =>
  assert.equal(answer.status, expected, JSON.stringify(answer.body));

const signInForm = async (who: Agent, identifier: string, password: string): Promise<number> =>
  (await who.submit(await who.get('/login'), { identifier, password })).status;

const wrongSecret = () => redeem(server, { ...client, clientSecret: 'wrong' }, code);
const take = (answer: JsonAnswer): void => {
  status(200, answer);
  tokens = answer.body;
};

/** One run, in order: what is done, and every event that it must leave. No step may leave another one, or none. */
const run: readonly (readonly [string, () => Promise<unknown>, ...Expected[]])[] = [
  [
    'an operator registers a client',
    async () => (client = await newClient(server)),
    ['client.created', 'admin', '+', 'client'],
  ],
  ['an operator makes a user', async () => (user = await newUser(server)), ['account.created', 'admin', '+', 'user']],
  [
    'a wrong password',
    async () => assert.equal(await signInForm(agent(server.baseUrl), user.username, 'wrong password'), 401),
    ['sign_in.failed', 'anonymous', '-', 'user'],
  ],
  [
    'an unknown name',
    async () => assert.equal(await signInForm(agent(server.baseUrl), 'nobody-at-all', 'wrong password'), 401),
    ['sign_in.failed', 'anonymous', '-', 'none'],
  ],
  [
    'a passkey that is none',
    async () => {
      const stranger = agent(server.baseUrl);
      status(401, await stranger.submit(await stranger.get('/login'), { passkey: '{}' }, '/login/passkey'));
    },
    ['sign_in.failed', 'anonymous', '-', 'none'],
  ],
  [
    'too many sign-ins',
    async () => {
      assert.equal(await signInForm(agent(server.baseUrl), user.username, 'wrong password'), 401);
      assert.equal(await signInForm(agent(server.baseUrl), user.username, PASSWORD), 429);
    },
    ['sign_in.failed', 'anonymous', '-', 'user'],
    ['limit.exceeded', 'anonymous', '-', 'user'],
  ],
  [
    'a sign-in, a minute later',
    async () => {
      server.advance(60_000);
      browser = agent(server.baseUrl);
      assert.equal(await signInForm(browser, user.username, PASSWORD), 303);
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
  ],
  [
    'a refusal on the consent page',
    () => walk(browser, authorizeUrl(client), { decision: 'deny' }),
    ['consent.denied', 'user', '+', 'both'],
  ],
  [
    'consent',
    async () => (code = await codeFor(server, client, user, {}, { browser })),
    ['consent.granted', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
  ],
  [
    'a wrong redirect URI',
    async () => status(400, await redeem(server, client, code, { redirect_uri: 'https://app.example.com/other' })),
    ['token.refused', 'client', '-', 'both'],
  ],
  [
    'a wrong client secret',
    async () => status(401, await wrongSecret()),
    ['client.auth_failed', 'anonymous', '-', 'client'],
  ],
  [
    'too many wrong client secrets',
    async () => status(429, await wrongSecret()),
    ['limit.exceeded', 'anonymous', '-', 'client'],
  ],
  [
    'a code of another client',
    async () => status(400, await redeem(server, foreign, code)),
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'a code that is unknown, a minute later',
    async () => {
      server.advance(60_000);
      status(400, await redeem(server, client, 'unknown'));
    },
    ['token.refused', 'client', '-', 'client'],
  ],
  [
    'a code by the remembered consent, redeemed',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
  ],
  [
    'a refresh',
    async () => {
      kept = tokens.refresh_token;
      take(await refresh(server, client, kept));
    },
    ['token.refreshed', 'client', '+', 'both'],
  ],
  [
    'a refresh repeated in time',
    async () => take(await refresh(server, client, kept)),
    ['token.repeated', 'client', '+', 'both'],
  ],
  [
    'a refresh token of another client',
    async () => status(400, await refresh(server, foreign, tokens.refresh_token)),
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'another kind of token as a refresh token',
    async () => status(400, await refresh(server, client, tokens.access_token)),
    ['token.wrong_kind', 'client', '-', 'both'],
  ],
  [
    'a refresh token with a foreign signature',
    async () => status(400, await refresh(server, client, tampered(tokens.refresh_token))),
    ['token.forged', 'client', '-', 'client'],
  ],
  [
    'a refresh for more than was granted',
    async () => status(400, await refresh(server, client, tokens.refresh_token, { scope: 'openid email phone' })),
    ['token.refused', 'client', '-', 'both'],
  ],
  [
    'a grant that the client may not use',
    async () => {
      const { clientId: client_id, clientSecret: client_secret } = client;
      status(400, await tokenCall(server, { grant_type: 'client_credentials', client_id, client_secret }));
    },
    ['token.refused', 'client', '-', 'client'],
  ],
  [
    'other tokens at UserInfo: of another kind, unsigned and tampered with, each many times',
    async () => {
      const wrong = [
        tokens.refresh_token,
        `${btoa('{"alg":"none"}').replace(/=+$/, '')}.e30.`,
        tampered(tokens.access_token),
      ];
      for (let n = 0; n < 5; n++) for (const token of wrong) status(401, await userinfo(server, token));
    },
    ['token.wrong_kind', 'anonymous', '-', 'both'],
    ['token.forged', 'anonymous', '-', 'none'],
  ],
  [
    'once more a minute later: how many were left out is told',
    async () => {
      server.advance(60_000);
      status(401, await userinfo(server, tampered(tokens.access_token)));
      take(await refresh(server, client, tokens.refresh_token));
      const [forged] = (await allEvents()).filter(({ type }) => type === 'token.forged').slice(-1);
      assert.equal(forged?.details['leftOut'], 9);
    },
    ['token.forged', 'anonymous', '-', 'none'],
    ['token.refreshed', 'client', '+', 'both'],
  ],
  [
    'a retired refresh token, used too late',
    async () => {
      server.advance(31_000);
      status(400, await refresh(server, client, kept));
    },
    ['token.refresh_reused', 'client', '-', 'both'],
  ],
  [
    'a code used twice',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
      status(400, await redeem(server, client, code));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
    ['token.code_replayed', 'client', '-', 'both'],
  ],
  [
    'a token of another client, to be revoked',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
      status(400, await revoke(server, foreign, tokens.access_token));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'a token revoked by its client, twice, and garbage',
    async () => {
      for (const token of [tokens.access_token, tokens.refresh_token, 'x'])
        status(200, await revoke(server, client, token));
    },
    ['token.revoked', 'client', '+', 'both'],
  ],
  ['introspection reads only', async () => status(200, await introspect(server, client, tokens.access_token))],
  [
    'a foreign client asks about a token',
    async () => status(200, await introspect(server, foreign, tokens.access_token)),
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'a dead token at UserInfo, twice',
    async () => {
      for (let n = 0; n < 2; n++) status(401, await userinfo(server, tokens.access_token));
    },
    ['token.refused', 'anonymous', '-', 'both'],
  ],
  [
    'what a person reads',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
      status(200, await userinfo(server, tokens.access_token));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
  ],
  ['the person takes access away', () => revokeOnPage(browser, client), ['consent.revoked', 'user', '+', 'both']],
  ['once more, where there is nothing to take', () => revokeOnPage(browser, foreign).catch(() => undefined)],
  [
    'consent at the OIDC endpoints, and a code that is presented at the contract’s first',
    async () => {
      code = await codeFor(server, standard(client), user, {}, { browser });
      status(400, await redeem(server, client, code));
      take(await redeem(server, standard(client), code));
    },
    ['consent.granted', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
    ['token.refused', 'client', '-', 'both'],
    ['token.issued', 'client', '+', 'both'],
  ],
  [
    'a remembered consent of the OIDC endpoints, and a code used twice',
    async () => {
      code = await codeFor(server, standard(client), user, {}, { browser });
      status(200, await redeem(server, standard(client), code));
      status(400, await redeem(server, standard(client), code));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
    ['token.code_replayed', 'client', '-', 'both'],
  ],
  [
    'a refresh at both sets of endpoints',
    async () => {
      status(400, await refresh(server, client, tokens.refresh_token));
      take(await refresh(server, standard(client), tokens.refresh_token));
    },
    ['token.refused', 'client', '-', 'both'],
    ['token.refreshed', 'client', '+', 'both'],
  ],
  [
    'a standard token at the UserInfo of both sets of endpoints',
    async () => {
      status(401, await userinfo(server, tokens.access_token));
      status(200, await userinfo(server, tokens.access_token, '/oidc/userinfo'));
    },
    ['token.wrong_kind', 'anonymous', '-', 'both'],
  ],
  [
    'keys are rotated',
    () => {
      const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
      return withData(server, (core) => rotateSigningKey(core.database, core.secret, origin, server.now()));
    },
    ['keys.rotated', 'cli', '+', 'none'],
  ],
  [
    'a ban',
    () => admin(server, 'PUT', `/users/${user.id}/ban`, { reason: 'a reason' }),
    ['account.banned', 'admin', '+', 'user'],
  ],
  [
    'a banned person signs in',
    async () => assert.equal(await signInForm(agent(server.baseUrl), user.username, PASSWORD), 403),
    ['sign_in.failed', 'anonymous', '-', 'user'],
  ],
  [
    'the ban is lifted',
    () => admin(server, 'DELETE', `/users/${user.id}/ban`),
    ['account.unbanned', 'admin', '+', 'user'],
  ],
  [
    'a sign-in with a wrong code, then the right one',
    async () => {
      const factor = await enroll(server, user);
      const at = await atSecondStep(server, user);
      status(401, await typeCode(at.browser, at.page, '000000'));
      const code = { code: totpCode(factor, server.now()), trust: 'on' };
      status(303, await at.browser.submit(at.page, code, '/login/verify'));
      const devices = await at.browser.get('/account/sessions');
      status(303, await at.browser.submit(devices, {}, '/account/trusted-browsers'));
      await withData(server, ({ database }) =>
        database.commit(() => removeFactorsSince(user.id, { span: untilNow(0) }, 0)),
      );
    },
    ['sign_in.failed', 'anonymous', '-', 'user'],
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['browser.trusted', 'user', '+', 'user'],
    ['browser.distrusted', 'user', '+', 'user'],
  ],
  [
    'a sign-in',
    async () => {
      browser = agent(server.baseUrl);
      assert.equal(await signInForm(browser, user.username, PASSWORD), 303);
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
  ],
  [
    'an authenticator app, new recovery codes, and no app any more',
    async () => {
      const authenticator = '/account/security/authenticator';
      const page = await browser.get(authenticator);
      const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
      status(200, await browser.submit(page, { code: totpCode({ seed }, server.now()) }, authenticator));
      const security = await browser.get('/account/security');
      status(200, await browser.submit(security, {}, '/account/security/recovery-codes'));
      const again = await browser.get('/account/security');
      await withData(server, ({ database }) =>
        database.commit(() => requireRecoveryCode({ accountId: user.id, now: server.now() })),
      );
      const chosen = await browser.get('/account/security');
      status(200, await browser.submit(chosen, { require: 'no' }, '/account/security/recovery'));
      status(200, await browser.submit(again, {}, `${authenticator}/remove`));
    },
    ['account.factor_added', 'user', '+', 'user'],
    ['account.recovery_codes_created', 'user', '+', 'user'],
    ['account.recovery_setting_changed', 'user', '+', 'user'],
    ['account.factor_removed', 'user', '+', 'user'],
  ],
  [
    'a fresh proof, a new password, a sign-out',
    async () => {
      server.advance(10 * 60_000);
      const confirm = await browser.get('/account/confirm?next=password');
      status(303, await browser.submit(confirm, { current: PASSWORD }, '/account/confirm'));
      const page = await browser.get('/account/security');
      const fields = { current: PASSWORD, password: 'another good password' };
      assert.equal((await browser.submit(page, fields, '/account/password')).status, 200);
      await browser.submit(await browser.get('/account'), {}, '/logout');
    },
    ['sign_in.confirmed', 'user', '+', 'user'],
    ['account.password_changed', 'user', '+', 'user'],
    ['sign_out', 'user', '+', 'user'],
  ],
  [
    'an account made by its owner, edited and signed out everywhere',
    async () => {
      browser = agent(server.baseUrl);
      const own = { displayName: 'Grace', username: 'grace', email: 'grace@example.com', password: PASSWORD };
      status(303, await browser.submit(await browser.get('/signup'), own));
      user = { id: (await allEvents()).at(-1)?.userId ?? '', username: 'grace' };
      await browser.submit(await browser.get('/account'), { about: 'x' }, '/account/profile');
      const picture = new File([new Uint8Array(png(4, 4))], 'me.png', { type: 'image/png' });
      status(200, await browser.upload(await browser.get('/account'), { picture }, '/account/picture'));
      status(200, await browser.upload(await browser.get('/account'), { action: 'remove' }, '/account/picture'));
      user = { ...user, username: 'grace-hopper' };
      const { username } = user;
      status(200, await browser.submit(await browser.get('/account'), { username }, '/account/username'));
      await browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere');
    },
    ['account.created', 'anonymous', '+', 'user'],
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['account.updated', 'user', '+', 'user'],
    ['account.updated', 'user', '+', 'user'],
    ['account.updated', 'user', '+', 'user'],
    ['account.updated', 'user', '+', 'user'],
    ['account.signed_out_everywhere', 'user', '+', 'user'],
  ],
  [
    'a request by a form, a choice of the account, and an app that signs out',
    async () => {
      browser = await signedIn(server, user);
      await codeFor(server, client, user, {}, { browser });
      const asked = new URL(authorizeUrl(client, { prompt: 'select_account' }), server.baseUrl);
      const chooser = await browser.get((await browser.get(asked.href)).location?.href ?? '');
      status(303, await browser.submit(chooser, {}, '/continue'));
      const sent = await browser.post(asked.pathname, { ...Object.fromEntries(asked.searchParams), prompt: 'none' });
      assert.match((await browser.get(sent.location?.href ?? '')).location?.search ?? '', /code=/);
      const ask = await browser.get('/oidc/logout');
      await browser.submit(ask, {}, '/oidc/logout/confirm');
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['consent.granted', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
    ['sign_out', 'user', '+', 'user'],
  ],
  [
    'a recovery by a link of an operator',
    async () => {
      const { url } = (await admin(server, 'POST', `/users/${user.id}/recovery-link`, {})).body;
      status(200, await useLink(agent(server.baseUrl), url, PASSWORD));
    },
    ['recovery.link_created', 'admin', '+', 'user'],
    // Without mail, nobody could report what was allowed in the last seven days.
    ['consent.revoked', 'user', '+', 'both'],
    ['account.recovered', 'user', '+', 'user'],
  ],
  [
    'the person allows the app again',
    async () => {
      browser = await signedIn(server, user);
      code = await codeFor(server, client, user, {}, { browser });
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['consent.granted', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
  ],
  [
    'passkeys: the first, one more, another name, and one removed',
    async () => {
      browser = await signedIn(server, user);
      await addPasskeyOnPage(server, browser, user.id);
      const { id } = await addPasskeyOnPage(server, browser, user.id);
      await passkeyForm(browser, { action: 'rename', id, name: 'Key' });
      await passkeyForm(browser, { action: 'remove', id });
      const page = await browser.get('/account/security');
      status(200, await browser.submit(page, {}, '/account/security/remove-password'));
      status(200, await admin(server, 'PATCH', `/users/${user.id}`, { password: PASSWORD }));
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['account.factor_added', 'user', '+', 'user'],
    ['account.factor_added', 'user', '+', 'user'],
    ['account.factor_renamed', 'user', '+', 'user'],
    ['account.factor_removed', 'user', '+', 'user'],
    ['account.password_removed', 'user', '+', 'user'],
    ['account.password_changed', 'admin', '+', 'user'],
  ],
  [
    'every other act of an operator',
    async () => {
      const own = `/users/${user.id}`;
      const app = `/clients/${client.clientId}`;
      await admin(server, 'PATCH', own, { about: 'y' });
      await admin(server, 'PUT', `${own}/suspension`, {});
      await admin(server, 'DELETE', `${own}/suspension`);
      await admin(server, 'DELETE', `${own}/connections/${client.clientId}`);
      await admin(server, 'PATCH', app, { name: 'New' });
      const { secrets } = (await admin(server, 'POST', `${app}/secrets`, {})).body;
      await admin(server, 'DELETE', `${app}/secrets/${secrets[0].id}`);
    },
    ['account.updated', 'admin', '+', 'user'],
    ['account.suspended', 'admin', '+', 'user'],
    ['account.reinstated', 'admin', '+', 'user'],
    ['consent.revoked', 'admin', '+', 'both'],
    ['client.updated', 'admin', '+', 'client'],
    ['client.secret_added', 'admin', '+', 'client'],
    ['client.secret_ended', 'admin', '+', 'client'],
  ],
  [
    'a session ended from another browser, and both by an operator',
    async () => {
      await signedIn(server, user);
      browser = await signedIn(server, user);
      status(
        200,
        await browser.submit(await browser.get('/account/sessions'), { session: 'others' }, '/account/sessions'),
      );
      const own = `/users/${user.id}/sessions`;
      const [session] = (await admin(server, 'GET', own)).body.items;
      await admin(server, 'DELETE', `${own}/${session.id}`);
      await admin(server, 'DELETE', own);
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['session.ended', 'user', '+', 'user'],
    ['account.viewed', 'admin', '+', 'user'],
    ['session.ended', 'admin', '+', 'user'],
    ['account.signed_out_everywhere', 'admin', '+', 'user'],
  ],
  [
    'a role and a key, given and taken away',
    async () => {
      const role = `/users/${user.id}/roles/auditor`;
      status(200, await admin(server, 'PUT', role, {}));
      status(200, await admin(server, 'DELETE', role));
      const made = await admin(server, 'POST', '/admin-keys', { name: 'for a moment', role: 'auditor' });
      status(201, made);
      status(200, await admin(server, 'DELETE', `/admin-keys/${made.body.id}`));
    },
    ['operator.role_granted', 'admin', '+', 'user'],
    ['operator.role_revoked', 'admin', '+', 'user'],
    ['admin_key.created', 'admin', '+', 'none'],
    ['admin_key.revoked', 'admin', '+', 'none'],
  ],
  [
    'pictures, given and taken away by an operator',
    async () => {
      for (const path of [`/users/${user.id}/picture`, `/clients/${client.clientId}/picture`]) {
        const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'image/png' };
        const body = new Uint8Array(png(4, 4));
        status(200, await fetch(`${server.baseUrl}/api/v2/admin${path}`, { method: 'PUT', headers, body }));
        status(200, await admin(server, 'DELETE', path));
      }
    },
    ['account.updated', 'admin', '+', 'user'],
    ['account.updated', 'admin', '+', 'user'],
    ['client.updated', 'admin', '+', 'client'],
    ['client.updated', 'admin', '+', 'client'],
  ],
  [
    'an organisation and its members',
    async () => {
      const { id } = (await admin(server, 'POST', '/organizations', { name: 'acme', domain: 'acme.example' })).body;
      await admin(server, 'PATCH', `/organizations/${id}`, { requireSecondFactor: true });
      await admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, {});
      await admin(server, 'DELETE', `/organizations/${id}/members/${user.id}`);
      await admin(server, 'DELETE', `/organizations/${id}`);
    },
    ['organization.created', 'admin', '+', 'none'],
    ['organization.updated', 'admin', '+', 'none'],
    ['organization.member_set', 'admin', '+', 'user'],
    ['organization.member_removed', 'admin', '+', 'user'],
    ['organization.deleted', 'admin', '+', 'none'],
  ],
  [
    'a group, its member, and who may use an app',
    async () => {
      const { id } = (await admin(server, 'POST', '/groups', { name: 'analysts' })).body;
      const { clientId } = client;
      await admin(server, 'PATCH', `/groups/${id}`, { displayName: 'Analysts' });
      await admin(server, 'PUT', `/groups/${id}/members/${user.id}`);
      await admin(server, 'PATCH', `/clients/${clientId}`, { roles: [{ name: 'viewer', description: null }] });
      const path = `/clients/${clientId}/assignments`;
      const assignment = (await admin(server, 'POST', path, { groupId: id })).body;
      await admin(server, 'PATCH', `${path}/${assignment.id}`, { role: 'viewer' });
      await admin(server, 'DELETE', `${path}/${assignment.id}`);
      await admin(server, 'DELETE', `/groups/${id}/members/${user.id}`);
      await admin(server, 'DELETE', `/groups/${id}`);
      await admin(server, 'PATCH', `/clients/${clientId}`, { access: 'assigned' });
      const outsider = agent(server.baseUrl);
      status(
        303,
        await outsider.submit(await outsider.get('/login'), { identifier: user.username, password: PASSWORD }),
      );
      const page = await settle(outsider, server, await outsider.get(authorizeUrl(client)));
      status(303, await outsider.submit(page, {}, '/no-access'));
      await admin(server, 'PATCH', `/clients/${clientId}`, { access: 'everyone' });
    },
    ['group.created', 'admin', '+', 'none'],
    ['group.updated', 'admin', '+', 'none'],
    ['group.member_added', 'admin', '+', 'user'],
    ['client.updated', 'admin', '+', 'client'],
    ['access.assigned', 'admin', '+', 'client'],
    ['access.assigned', 'admin', '+', 'client'],
    ['access.unassigned', 'admin', '+', 'client'],
    ['group.member_removed', 'admin', '+', 'user'],
    ['group.deleted', 'admin', '+', 'none'],
    ['client.updated', 'admin', '+', 'client'],
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['authorization.refused', 'user', '-', 'both'],
    ['client.updated', 'admin', '+', 'client'],
  ],
  [
    'invitations: one revoked, one declined, one accepted',
    async () => {
      const revoked = (await admin(server, 'POST', '/invitations', {})).body;
      await admin(server, 'DELETE', `/invitations/${revoked.id}`);
      const { link: toDecline } = (await admin(server, 'POST', '/invitations', { email: 'nobody@inviting.example' }))
        .body;
      const stranger = agent(server.baseUrl);
      const declined = await stranger.get(toDecline.slice(server.baseUrl.length));
      status(200, await stranger.submit(declined, { decision: 'decline' }, '/invitation'));
      const organization = { name: 'inviting', domain: 'inviting.example' };
      const { id: organizationId } = (await admin(server, 'POST', '/organizations', organization)).body;
      const { link } = (await admin(server, 'POST', '/invitations', { organizationId })).body;
      const guest = agent(server.baseUrl);
      status(303, await guest.submit(await guest.get('/login'), { identifier: user.username, password: PASSWORD }));
      status(200, await guest.submit(await guest.get(link.slice(server.baseUrl.length)), {}, '/invitation'));
    },
    ['invitation.created', 'admin', '+', 'none'],
    ['invitation.revoked', 'admin', '+', 'none'],
    ['invitation.created', 'admin', '+', 'none'],
    ['invitation.declined', 'anonymous', '+', 'none'],
    ['organization.created', 'admin', '+', 'none'],
    ['invitation.created', 'admin', '+', 'none'],
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['organization.member_set', 'user', '+', 'user'],
    ['invitation.accepted', 'user', '+', 'user'],
  ],
  [
    'a wrong admin key, many times',
    async () => {
      for (let n = 0; n < 5; n++) status(401, await admin(server, 'GET', '/users', undefined, 'a-wrong-key'));
    },
    ['admin_key.refused', 'anonymous', '-', 'none'],
  ],
  [
    'both are deleted',
    async () => {
      await admin(server, 'DELETE', `/users/${user.id}`);
      await admin(server, 'DELETE', `/clients/${client.clientId}`);
    },
    ['account.deleted', 'admin', '+', 'user'],
    ['client.deleted', 'admin', '+', 'client'],
  ],
];

/** A token whose last signed part was exchanged. */
const tampered = (token: string): string =>
  token.replace(/\.[^.]+$/, (end) => `.${[...end.slice(1)].reverse().join('')}`);

/** What a route that changes something must have left in that run. A new route belongs here, with its events. */
const leaves: Readonly<Record<string, readonly string[]>> = {
  'GET /api/v2/oauth/authorize': ['authorization.issued'],
  // Asks by GET, to which a browser brings its session.
  'POST /api/v2/oauth/authorize': [],
  'GET /oidc/authorize': ['authorization.issued'],
  'POST /oidc/authorize': [],
  'POST /continue': ['authorization.issued'],
  'POST /consent': ['consent.granted', 'consent.denied', 'authorization.issued'],
  'POST /no-access': ['authorization.refused'],
  'POST /oidc/token': ['token.issued', 'token.refreshed', 'token.code_replayed'],
  'POST /api/v2/oauth/token': [
    ...['token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.foreign_client'],
    ...['token.code_replayed', 'token.refresh_reused', 'token.wrong_kind', 'token.forged', 'client.auth_failed'],
    'limit.exceeded',
  ],
  // Stores that a device waits, and which request it leads to: test/contract/devices.test.ts.
  'POST /oidc/device_authorization': [],
  'POST /device': [],
  'POST /oidc/revoke': ['token.revoked', 'token.foreign_client'],
  'POST /oidc/introspect': ['token.foreign_client'],
  'GET /api/v2/oauth/userinfo': ['token.wrong_kind', 'token.forged', 'token.refused'],
  // The same function as the one before.
  'POST /oidc/userinfo': [],
  'POST /login': ['sign_in.succeeded', 'sign_in.failed', 'limit.exceeded'],
  'POST /login/verify': ['sign_in.succeeded', 'sign_in.failed'],
  // The same function as the one before, with another check.
  'POST /login/passkey': ['sign_in.failed'],
  'POST /signup': ['account.created', 'sign_in.succeeded'],
  // Stores a request, whoever asks; and the page of the link follows.
  'POST /recover': [],
  'POST /recover/code': [],
  'POST /recover/link': ['account.recovered'],
  'POST /logout': ['sign_out'],
  // Likewise, or asks the person.
  'POST /oidc/logout': [],
  'POST /oidc/logout/confirm': ['sign_out'],
  'POST /account/profile': ['account.updated'],
  'POST /account/picture': ['account.updated'],
  'POST /account/password': ['account.password_changed'],
  'POST /account/security/remove-password': ['account.password_removed'],
  'POST /account/security/passkeys': ['account.factor_added', 'account.factor_renamed', 'account.factor_removed'],
  'POST /account/confirm': ['sign_in.confirmed'],
  'POST /account/username': ['account.updated'],
  // Asked for and called off: test/contract/account-data.test.ts.
  // A copy of one's own data: test/contract/data-export.test.ts.
  'POST /account/data/export': [],
  'POST /account/data/export/download': [],
  'POST /account/deletion': [],
  'POST /login/come-back': [],
  // The same functions as on the Security page: test/contract/enrollment-in-flow.test.ts.
  'POST /login/enroll': [],
  // Behind links in messages, which this server does not send: test/contract/security-notices.test.ts and addresses.test.ts.
  'POST /secure-account': [],
  'POST /account/trusted-browsers': ['browser.distrusted'],
  'POST /account/security/authenticator': ['account.factor_added'],
  'POST /account/security/authenticator/remove': ['account.factor_removed'],
  'POST /account/security/recovery-codes': ['account.recovery_codes_created'],
  'POST /account/passkey-offer': [],
  'POST /recovery-codes': [],
  'POST /account/security/recovery': ['account.recovery_setting_changed'],
  'POST /verify': [],
  'POST /undo-address-change': [],
  'POST /account/email': [],
  'POST /account/email/verify': [],
  // The person of that run has no earlier address.
  'POST /account/email/earlier': [],
  'POST /account/email/code': [],
  // The person of that run is in no organization: test/contract/account-organization.test.ts.
  'POST /account/organization/leave': [],
  'POST /account/sign-out-everywhere': ['account.signed_out_everywhere'],
  'POST /account/connections': ['consent.revoked'],
  // test/contract/account-permissions.test.ts
  'POST /account/connections/:clientId': [],
  'POST /api/v2/admin/users': ['account.created'],
  'PATCH /api/v2/admin/users/:id': ['account.updated'],
  'DELETE /api/v2/admin/users/:id': ['account.deleted'],
  'PUT /api/v2/admin/users/:id/ban': ['account.banned'],
  'DELETE /api/v2/admin/users/:id/ban': ['account.unbanned'],
  'POST /api/v2/admin/users/:id/recovery-link': ['recovery.link_created'],
  'PUT /api/v2/admin/users/:id/suspension': ['account.suspended'],
  'DELETE /api/v2/admin/users/:id/suspension': ['account.reinstated'],
  // Of a deletion that the user asked for: test/contract/account-data.test.ts.
  'DELETE /api/v2/admin/users/:id/deletion': [],
  'PUT /api/v2/admin/users/:id/deletion': [],
  'DELETE /api/v2/admin/users/:id/connections/:clientId': ['consent.revoked'],
  'POST /account/sessions': ['session.ended'],
  'DELETE /api/v2/admin/users/:id/sessions': ['account.signed_out_everywhere'],
  'DELETE /api/v2/admin/users/:id/sessions/:sessionId': ['session.ended'],
  'PUT /api/v2/admin/users/:id/roles/:role': ['operator.role_granted'],
  'DELETE /api/v2/admin/users/:id/roles/:role': ['operator.role_revoked'],
  'POST /api/v2/admin/admin-keys': ['admin_key.created'],
  'DELETE /api/v2/admin/admin-keys/:id': ['admin_key.revoked'],
  // What the help desk does: test/operator/operators.test.ts.
  'POST /api/v2/admin/users/:id/recovery': [],
  'DELETE /api/v2/admin/users/:id/factors/:factorId': [],
  'POST /api/v2/admin/users/:id/unlock': [],
  // test/operator/every-command.ts runs the commands that call these.
  'POST /api/v2/admin/users/:id/email-verification': [],
  'DELETE /api/v2/admin/held-usernames/:username': [],
  'PUT /api/v2/admin/users/:id/picture': ['account.updated'],
  'DELETE /api/v2/admin/users/:id/picture': ['account.updated'],
  'PUT /api/v2/admin/clients/:clientId/picture': ['client.updated'],
  'DELETE /api/v2/admin/clients/:clientId/picture': ['client.updated'],
  'POST /api/v2/admin/clients': ['client.created'],
  'PATCH /api/v2/admin/clients/:clientId': ['client.updated'],
  'DELETE /api/v2/admin/clients/:clientId': ['client.deleted'],
  'POST /api/v2/admin/clients/:clientId/secrets': ['client.secret_added'],
  'DELETE /api/v2/admin/clients/:clientId/secrets/:id': ['client.secret_ended'],
  'POST /api/v2/admin/groups': ['group.created'],
  'PATCH /api/v2/admin/groups/:id': ['group.updated'],
  'DELETE /api/v2/admin/groups/:id': ['group.deleted'],
  'PUT /api/v2/admin/groups/:id/members/:userId': ['group.member_added'],
  'DELETE /api/v2/admin/groups/:id/members/:userId': ['group.member_removed'],
  'POST /api/v2/admin/clients/:clientId/assignments': ['access.assigned'],
  'PATCH /api/v2/admin/clients/:clientId/assignments/:id': ['access.assigned'],
  'DELETE /api/v2/admin/clients/:clientId/assignments/:id': ['access.unassigned'],
  'DELETE /api/v2/admin/organizations/:id': ['organization.deleted'],
  'POST /api/v2/admin/organizations': ['organization.created'],
  'PATCH /api/v2/admin/organizations/:id': ['organization.updated'],
  // test/contract/api-scopes.test.ts
  'PUT /api/v2/admin/clients/:clientId/allowed-clients/:allowedClientId': [],
  'DELETE /api/v2/admin/clients/:clientId/allowed-clients/:allowedClientId': [],
  // test/contract/scope-requests.test.ts
  'POST /api/v2/admin/clients/:clientId/scope-requests': [],
  'DELETE /api/v2/admin/clients/:clientId/scope-requests/:id': [],
  'POST /api/v2/admin/clients/:clientId/scope-requests/:id/approve': [],
  'POST /api/v2/admin/clients/:clientId/scope-requests/:id/decline': [],
  // test/contract/operator-consent.test.ts
  'PUT /api/v2/admin/clients/:clientId/consent-approval': [],
  'DELETE /api/v2/admin/clients/:clientId/consent-approval': [],
  // test/contract/client-metadata.test.ts
  'PUT /api/v2/admin/clients/:clientId/acceptance': [],
  'DELETE /api/v2/admin/clients/:clientId/acceptance': [],
  'PUT /api/v2/admin/blocked-domains/:domain': [],
  'DELETE /api/v2/admin/blocked-domains/:domain': [],
  // test/contract/registration.test.ts
  'POST /oidc/register': [],
  'PUT /oidc/register/:clientId': [],
  'DELETE /oidc/register/:clientId': [],
  'DELETE /api/v2/admin/clients/:clientId/self-registration': [],
  'POST /api/v2/admin/initial-access-tokens': [],
  'DELETE /api/v2/admin/initial-access-tokens/:id': [],
  // test/upstreams
  'POST /api/v2/admin/upstreams': [],
  'PATCH /api/v2/admin/upstreams/:id': [],
  'POST /api/v2/admin/upstreams/:id/disable': [],
  'POST /api/v2/admin/upstreams/:id/enable': [],
  'POST /api/v2/admin/upstreams/:id/test': [],
  'DELETE /api/v2/admin/upstreams/:id': [],
  'POST /api/v2/admin/upstreams/:id/preview': [],
  'PUT /api/v2/admin/organizations/:id/only-upstream': [],
  'DELETE /api/v2/admin/users/:id/identities/:identityId': [],
  'POST /upstreams/:name/backchannel-logout': [],
  'POST /login/with/:name/callback': [],
  'POST /login/with/:name/new': [],
  'POST /account/security/connect/:name/confirm': [],
  'POST /account/security/disconnect': [],
  // test/contract/token-preview.test.ts
  'POST /api/v2/admin/clients/:clientId/preview': [],
  // test/contract/end-weaker-access.test.ts
  'POST /api/v2/admin/end-weaker-access': [],
  'POST /api/v2/admin/invitations': ['invitation.created'],
  'DELETE /api/v2/admin/invitations/:id': ['invitation.revoked'],
  'POST /invitation': ['organization.member_set', 'invitation.accepted', 'invitation.declined'],
  'PUT /api/v2/admin/organizations/:id/members/:userId': ['organization.member_set'],
  'DELETE /api/v2/admin/organizations/:id/members/:userId': ['organization.member_removed'],
  'GET /api/v2/admin/users': ['admin_key.refused'],
  // An app for each visit, and none for the visit before.
  'POST /playground': ['client.created', 'client.deleted'],
  // test/contract/setup.test.ts
  'POST /setup': [],
  // test/contract/console-people.test.ts
  ...Object.fromEntries(actNames.map((name) => [`POST /console/people/${name}`, []])),
  // test/contract/console-export.test.ts
  'POST /console/people/export': [],
  'POST /console/events/export': [],
  // test/contract/console-bulk.test.ts
  ...Object.fromEntries(['new', 'start', 'stop'].map((name) => [`POST /console/people/bulk/${name}`, []])),
  // test/contract/console-organizations.test.ts, console-operators.test.ts
  ...Object.fromEntries(consoleActs.map(({ address }) => [`POST ${address}`, []])),
  // test/contract/console-groups.test.ts
  'POST /console/groups/add-member': [],
  'POST /console/groups/remove-member': [],
  // test/contract/console-apps.test.ts
  'POST /console/apps/new': [],
  ...Object.fromEntries(appActNames.map((name) => [`POST /console/apps/${name}`, []])),
};

test('LG-02, LG-03: the record of a run is exactly what was done, by whom, to whom, and how it ended', async () => {
  const requests = new Set<string>();
  for (const [what, act, ...expected] of run) {
    const before = (await allEvents()).length;
    await act();
    const events = (await allEvents()).slice(before);
    assert.deepEqual(
      events.map(({ type }) => type),
      expected.map(([type]) => type),
      what,
    );
    for (const [n, [type, actor, outcome, about]] of expected.entries()) {
      const event = events[n];
      assert.ok(event !== undefined);
      const shown = `${what}: ${JSON.stringify(event)}`;
      const isForeign = type === 'token.foreign_client';
      const isClient = about === 'client' || about === 'both';
      const isUser = about === 'user' || about === 'both';
      assert.equal(event.at, new Date(server.now()).toISOString(), shown);
      assert.equal(event.outcome, outcome === '+' ? 'success' : 'failure', shown);
      const ids = { user: user?.id, client: isForeign ? foreign.clientId : client.clientId };
      const actorId = actor === 'user' || actor === 'client' ? ids[actor] : null;
      assert.deepEqual(event.actor, { type: actor, id: actorId }, shown);
      assert.equal(event.userId, isUser ? ids.user : null, shown);
      assert.equal(event.clientId, isClient || isForeign ? ids.client : null, shown);
      assert.equal(event.address, actor === 'cli' ? null : '127.0.0.1', shown);
      if (actor === 'cli') assert.equal(event.requestId, null, shown);
      else assert.match(event.requestId ?? '', /^[0-9a-f-]{36}$/, shown);
      requests.add(`${event.requestId}`);
    }
  }
  assert.ok(requests.size > 25, 'requests are told apart');
  // LG-04: the ids rise, so that a gap shows.
  const ids = (await allEvents()).map(({ id }) => BigInt(id));
  assert.ok(
    ids.every((id, n) => n === 0 || id === (ids[n - 1] ?? 0n) + 1n),
    'no event is missing between two others',
  );
});

test('LG-02: every route that changes something left its events in that run, and none of them is missing here', async () => {
  const developer = agent(server.baseUrl);
  await press(developer, 'start');
  await press(developer, 'start');
  const left = new Map<string, Set<string>>();
  for (const { requestId, type } of await allEvents()) {
    const route = server.routeOf(`${requestId}`) ?? '';
    left.set(route, (left.get(route) ?? new Set()).add(type));
  }
  const reads = new Set(['GET', 'HEAD', 'OPTIONS']);
  const changing = server.routes
    .filter(({ method }) => !reads.has(method))
    .map(({ method, url }) => `${method} ${url}`);
  for (const route of changing) assert.ok(leaves[route] !== undefined, `${route}: which events does it leave?`);
  for (const [route, types] of Object.entries(leaves)) {
    for (const type of types) assert.ok(left.get(route)?.has(type), `${route} left no ${type}`);
  }
});

test('LG-03: each kind of attack has an event of its own', () => {
  const attacks = ['token.code_replayed', 'token.refresh_reused', 'token.foreign_client', 'token.wrong_kind'];
  attacks.push('token.forged', 'limit.exceeded', 'admin_key.refused', 'client.auth_failed', 'sign_in.failed');
  const types = run.flatMap(([, , ...expected]) => expected.map(([type]) => type));
  for (const type of attacks) assert.ok(types.includes(type), type);
});
