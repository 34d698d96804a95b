// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's preview of claims: decisions §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const ada = await newUser(server, { displayName: 'Ada <Lovelace>', email: 'ada@example.com', emailVerified: true });
const client = await newClient(server, { name: 'Almanac', endpoints: ['oidc'], scopes: ['openid', 'email', 'groups'] });
const ADDRESS = '/console/apps/preview';
const textOf = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll('&quot;', '"');

test('the page of an app leads to what its tokens would say of a person', async () => {
  const page = await open(server, owner, `/console/apps/${client.clientId}`);
  assert.match(page.text, /action="\/console\/apps\/preview"/);
  const asked = await open(server, owner, `${ADDRESS}?app=${client.clientId}&member=${ada.username}`);
  assert.match(asked.text, /name="scope"[^>]*value="openid email groups"/);
  const group = await admin(server, 'POST', '/groups', { name: 'analysts' });
  await admin(server, 'PUT', `/groups/${group.body.id}/members/${ada.id}`);
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { groupsClaim: 'all' });
  const shown = await owner.browser.submit(asked, { scope: 'openid email groups' }, ADDRESS);
  assert.equal(shown.status, 200);
  const text = textOf(shown.text);
  assert.match(text, /The person may use it/);
  assert.match(text, new RegExp(`"sub": "${ada.id}"`));
  assert.match(text, /"email": "ada@example.com"/);
  assert.match(text, /"analysts"/);
  assert.doesNotMatch(shown.text, /Ada <Lovelace>/);
  const { body } = await admin(server, 'GET', `/audit-events?type=access.previewed&userId=${ada.id}`);
  assert.deepEqual([body.items.length, body.items[0].actor.id], [1, owner.id]);
});

test('scopes that would be refused are shown with the refusal, and those that are no scopes at their field', async () => {
  const about = { app: client.clientId, user: ada.id };
  const refused = await act(server, owner, ADDRESS, about, { scope: 'openid made-up-api' });
  assert.match(textOf(refused.text), /Ignored scopes\s+made-up-api|Refused\s+invalid_scope/);
  const wrong = await act(server, owner, ADDRESS, about, { scope: 'x'.repeat(2001) });
  assert.match(wrong.text, /class="problem" id="scope-note"/);
});

test('a person who may not use the app is said to be kept from it', async () => {
  const closed = await newClient(server, { endpoints: ['oidc'], access: 'assigned' });
  const shown = await act(server, owner, ADDRESS, { app: closed.clientId, user: ada.id }, { scope: 'openid' });
  assert.match(shown.text, /The person may not use it/);
});

test('who may not preview sees no form and gets no page, and nobody is found by a wrong name', async () => {
  const auditor = await newOperator(server, 'auditor');
  const page = await open(server, auditor, `/console/apps/${client.clientId}`);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /apps\/preview/);
  const asked = await open(server, auditor, `${ADDRESS}?app=${client.clientId}&member=${ada.username}`);
  assert.deepEqual([asked.status, /apps\.preview/.test(asked.text)], [403, true]);
  assert.equal((await open(server, owner, `${ADDRESS}?app=${client.clientId}&member=nobody`)).status, 404);
});
