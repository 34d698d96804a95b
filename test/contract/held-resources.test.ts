// store: SQLite, PostgreSQL
/** RFC 8707: whom no operator chose takes no name of an API from an operator, and learns nothing of apps that they do not see. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
after(() => server.close());

/** The token of a developer by the policy alone. */
async function byPolicy(): Promise<string> {
  const found = await newOperator(server, 'developer');
  const token = await signInOnCommandLine(server, { user: found, ...found });
  assert.equal((await admin(server, 'DELETE', `/users/${found.id}/roles/developer`)).status, 200);
  return token;
}

const SCOPES = [{ name: 'vault.open', descriptions: { en: 'Open the vault' } }];
const register = (resource: string, token?: string) =>
  admin(
    server,
    'POST',
    '/clients',
    { name: 'API', resource, resourceScopes: SCOPES, redirectUris: ['https://a.example/cb'] },
    token,
  );
const read = async (clientId: string) => (await admin(server, 'GET', `/clients/${clientId}`)).body;

test('an operator gets the name of an API that a stranger’s app holds, in any spelling, and it is on record', async () => {
  const held = await register('https://api.company.example/v1', await byPolicy());
  assert.equal(held.status, 201);
  const own = await register('https://API.company.example/v1');
  assert.equal(own.status, 201, JSON.stringify(own.body));
  const { resource, resourceScopes } = await read(held.body.clientId);
  assert.deepEqual([resource, resourceScopes], [null, null]);
  const { items } = (await admin(server, 'GET', `/audit-events?clientId=${held.body.clientId}&type=client.updated`))
    .body;
  assert.deepEqual(items[0]?.details.fields.sort(), ['resource', 'resourceScopes']);
});

test('by a change as well; once it is accepted, an app keeps its name', async () => {
  const token = await byPolicy();
  const [held, accepted] = [
    await register('https://one.example/', token),
    await register('https://two.example/', token),
  ];
  assert.equal((await admin(server, 'PUT', `/clients/${accepted.body.clientId}/acceptance`)).status, 200);
  const { clientId } = (await register('https://three.example/')).body;
  const take = (resource: string) => admin(server, 'PATCH', `/clients/${clientId}`, { resource });
  assert.equal((await take('https://one.example/')).status, 200);
  assert.equal((await read(held.body.clientId)).resource, null);
  const refused = await take('https://two.example/');
  assert.equal(refused.status, 409);
  assert.ok(refused.body.error_description.includes(accepted.body.clientId));
});

test('a stranger takes no name from anybody, and is told of no app that they do not see', async () => {
  const [token, other] = [await byPolicy(), await byPolicy()];
  const ofOperator = (await register('https://secret.example/')).body.clientId;
  const own = (await register('https://mine.example/', token)).body.clientId;
  for (const [resource, by] of [
    ['https://secret.example/', token],
    ['https://mine.example/', other],
  ] as const) {
    const { status, body } = await register(resource, by);
    assert.equal(status, 409);
    assert.equal(/\d{5,}/.test(body.error_description), false, body.error_description);
  }
  const again = await register('https://mine.example/', token);
  assert.ok(again.status === 409 && again.body.error_description.includes(own));
  assert.deepEqual(
    [(await read(ofOperator)).resource, (await read(own)).resource],
    ['https://secret.example/', 'https://mine.example/'],
  );
});
