// store: SQLite, PostgreSQL
/** What an operator decided long ago stays, however often a thief of the account changes the same settings before it is taken back. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import { newUpstream } from '../upstreams/people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { press, reportLink, signedInWith } = takenBack(server);
const keeper = await operatorInBrowser(server, { emailVerified: true });
await admin(server, 'PUT', `/users/${keeper.user.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, token?: string) => {
  const answer = await admin(server, method, path, body, token);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** An owner, with a token of the command line. */
async function newOwner() {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  return { operator, email, token: await signInOnCommandLine(server, operator) };
}

/** A thief's token of the same account, of which the owner is told. */
async function stolenFrom({ operator, email }: Awaited<ReturnType<typeof newOwner>>): Promise<string> {
  const browser = await signedInWith({ user: operator.user, email }, operator.factor);
  return signInOnCommandLine(server, { ...operator, browser });
}

/** More often than changes of a field are kept apart. */
const OFTEN = 13;
const FAR = ['https://app.example.com/callback', 'https://app.example.com/new'];

for (const times of [1, OFTEN]) {
  test(`what an owner restricted long before stays after ${times} changes of a thief, which are put back`, async (t) => {
    const owner = await newOwner();
    const app = await newClient(server);
    const upstream = await newUpstream(server, { signUp: 'anyone', domains: [`corp${times}.example`] });
    t.after(() => upstream.provider[Symbol.asyncDispose]());
    const named = { name: `acme-${times}`, domain: `acme-${times}.example` };
    const organization = await call('POST', '/organizations', named);
    const group = await call('POST', '/groups', { name: `first-${times}` });
    const paths = {
      app: `/clients/${app.clientId}`,
      upstream: `/upstreams/${upstream.id}`,
      organization: `/organizations/${organization.id}`,
      group: `/groups/${group.id}`,
    };
    await call('PATCH', paths.app, { access: 'assigned', requireSecondFactor: true, redirectUris: FAR }, owner.token);
    await call('PATCH', paths.upstream, { signUp: 'nobody', domains: [] }, owner.token);
    await call('PATCH', paths.organization, { requireSecondFactor: true }, owner.token);
    await call('PATCH', paths.group, { name: `restricted-${times}` }, owner.token);
    server.advance(60 * DAY);

    const stolen = await stolenFrom(owner);
    for (let index = 0; index < times; index++) {
      server.advance(MINUTE);
      const isOpen = index % 2 === 0;
      const redirectUris = [...FAR, `https://evil.example/${index}`];
      const access = isOpen ? 'everyone' : 'assigned';
      await call('PATCH', paths.app, { access, requireSecondFactor: !isOpen, redirectUris, homepageUrl: null }, stolen);
      const signUp = isOpen ? 'invited' : 'nobody';
      await call('PATCH', paths.upstream, { signUp, claimsMap: { name: `/n${index}` } }, stolen);
      await call('PATCH', paths.organization, { requireSecondFactor: !isOpen }, stolen);
      await call('PATCH', paths.group, { name: `evil-${times}-${index}` }, stolen);
    }
    server.advance(MINUTE);
    assert.equal(await press(await reportLink(owner.email)), 200);

    const { access, requireSecondFactor, redirectUris } = await call('GET', paths.app);
    assert.deepEqual([access, requireSecondFactor, redirectUris], ['assigned', true, FAR]);
    const { signUp, domains, claimsMap } = await call('GET', paths.upstream);
    assert.deepEqual([signUp, domains], ['nobody', []]);
    assert.notEqual(claimsMap.name, `/n${times - 1}`);
    assert.equal((await call('GET', paths.organization)).requireSecondFactor, true);
    assert.equal((await call('GET', paths.group)).name, `restricted-${times}`);
  });
}

test('what nobody can tell apart from what was decided just before stays, and is listed to be checked', async (t) => {
  const { operator, token } = await newOwner();
  const app = await newClient(server);
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  t.after(() => upstream.provider[Symbol.asyncDispose]());
  const [ofApp, ofUpstream] = [`/clients/${app.clientId}`, `/upstreams/${upstream.id}`];
  await call('PATCH', ofApp, { access: 'assigned', requireSecondFactor: true }, token);
  await call('PATCH', ofUpstream, { signUp: 'nobody' }, token);
  // A stolen key then gives the role anew, in which much is changed, each time a while later than that.
  const role = `/users/${operator.user.id}/roles/owner`;
  await call('DELETE', role);
  const key = await call('POST', '/admin-keys', { name: 'stolen', role: 'owner' });
  server.advance(MINUTE);
  await call('PUT', role, {}, key.adminKey);
  for (let index = 0; index < OFTEN; index++) {
    const isOpen = index % 2 === 0;
    await call('PATCH', ofApp, { access: isOpen ? 'everyone' : 'assigned' }, token);
    await call('PATCH', ofUpstream, { signUp: isOpen ? 'invited' : 'nobody' }, token);
    server.advance(30 * MINUTE);
  }
  await call('PATCH', ofApp, { requireSecondFactor: false }, token);
  // Somebody else closes the app meanwhile.
  await call('PATCH', ofApp, { access: 'assigned' });
  const { made } = await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  const { name, access, requireSecondFactor } = await call('GET', ofApp);
  assert.deepEqual(made.settings, [
    { kind: 'app', id: app.clientId, name, fields: ['requireSecondFactor'], left: ['access'], disables: false },
    { kind: 'upstream', id: upstream.id, name: upstream.name, fields: [], left: ['signUp'], disables: false },
  ]);
  assert.deepEqual([access, requireSecondFactor], ['assigned', true]);
  assert.notEqual((await call('GET', ofUpstream)).signUp, 'anyone');
});
