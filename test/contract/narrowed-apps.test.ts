// store: SQLite, PostgreSQL
/** Decisions §12: what an operator took from the app of a developer, the developer does not take back. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
after(() => server.close());

const WIDE = {
  scopes: ['openid', 'profile', 'email'],
  endpoints: ['v2', 'oidc'],
  grantTypes: ['authorization_code', 'refresh_token'],
};
const NARROW = { scopes: ['openid'], endpoints: ['oidc'], grantTypes: ['authorization_code'] };
type Field = keyof typeof WIDE;
const FIELDS = Object.keys(WIDE) as Field[];

for (const by of ['role', 'policy']) {
  const found = await newOperator(server, 'developer');
  const token = await signInOnCommandLine(server, { user: found, ...found });
  if (by === 'policy') assert.equal((await admin(server, 'DELETE', `/users/${found.id}/roles/developer`)).status, 200);
  const newApp = async () => {
    const app = { name: 'App', redirectUris: ['https://app.example/cb'], ...WIDE };
    const { status, body } = await admin(server, 'POST', '/clients', app, token);
    assert.equal(status, 201, JSON.stringify(body));
    return (fields: object, actor?: string) => admin(server, 'PATCH', `/clients/${body.clientId}`, fields, actor);
  };

  for (const field of FIELDS) {
    const [wide, narrow] = [{ [field]: WIDE[field] }, { [field]: NARROW[field] }];

    test(`a developer by ${by} widens ${field} again only where they narrowed it themselves`, async () => {
      const change = await newApp();
      assert.equal((await change(narrow, token)).status, 200);
      assert.equal((await change(wide, token)).status, 200);
      assert.equal((await change(narrow)).status, 200);
      assert.equal((await change(wide, token)).status, 403);
      assert.equal((await change({ name: 'Another', ...narrow }, token)).status, 200);
      // What an operator gives back is the developer's to choose again.
      assert.equal((await change(wide)).status, 200);
      assert.equal((await change(narrow, token)).status, 200);
      assert.equal((await change(wide, token)).status, 200);
    });
  }
}
