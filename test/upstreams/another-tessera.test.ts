// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newClient, newUser, signedIn, walk } from '../support/flow.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';

const there = await startServer({});
const here = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => here.close());
after(() => there.close());

test('a person of one Tessera signs in at another, and what ends there ends here', async () => {
  const client = await newClient(there, {
    redirectUris: [`${here.baseUrl}/login/with/there/callback`],
    backchannelLogoutUri: `${here.baseUrl}/upstreams/there/backchannel-logout`,
    endpoints: ['oidc'],
  });
  const { body } = await admin(here, 'POST', '/upstreams', {
    ...{ name: 'there', issuer: there.baseUrl, clientId: client.clientId, clientSecret: client.clientSecret },
    signUp: 'anyone',
  });
  assert.equal(body.redirectUri, `${here.baseUrl}/login/with/there/callback`);

  const user = await newUser(there, { emailVerified: true });
  const browserThere = await signedIn(there, user);
  const browser = agent(here.baseUrl);
  const left = await browser.get('/login/with/there');
  const back = await browser.get((await walk(browserThere, left.location?.href ?? '')).href);
  assert.equal(back.location?.pathname, '/login/with/there/new', back.text.slice(0, 2000));
  const page = await browser.get(back.location.href);
  assert.match(page.text, new RegExp(`value="${user.username}@example\\.com"`), 'the address is proposed');
  const fields = { displayName: 'Here', username: 'here', email: 'here@example.com' };
  await browser.submit(page, fields, back.location.pathname);
  const { code = '' } = await newestMail(here, 'here@example.com', 'verify address');
  const done = await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
  assert.equal(done.location?.pathname, '/account');

  const again = agent(here.baseUrl);
  const gone = await again.get('/login/with/there');
  const returned = await again.get((await walk(browserThere, gone.location?.href ?? '')).href);
  assert.equal(returned.location?.pathname, '/account');
  assert.equal((await again.get('/account')).status, 200);

  await browserThere.submit(await browserThere.get('/account'), {}, '/logout');
  await there.deliverNotices();
  for (const one of [browser, again]) assert.equal((await one.get('/account')).location?.pathname, '/login');
});
