import assert from 'node:assert/strict';
import { admin, newClient, type TestClient } from './flow.ts';
import type { TestServer } from './server.ts';

/** An API of the tests. */
export interface TestApi extends TestClient {
  readonly resource: string;
}

let apis = 0;

/** Registers an API with scopes, described by their own names. */
export async function newApi(
  server: TestServer,
  scopes: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<TestApi> {
  const resource = `https://api-${++apis}.example.com`;
  const client = await newClient(server, {
    name: `API ${apis}`,
    redirectUris: undefined,
    grantTypes: ['client_credentials'],
    resource,
    resourceScopes: described(scopes),
    ...more,
  });
  return { ...client, resource };
}

/** Scopes as an API declares them. */
export const described = (names: readonly string[]) =>
  names.map((name) => ({ name, descriptions: { en: `Words for ${name}` } }));

/** Lets an app request these scopes of an API, and no others of it. */
export async function allow(
  server: TestServer,
  api: TestClient,
  app: TestClient,
  scopes: readonly string[],
): Promise<void> {
  const path = `/clients/${api.clientId}/allowed-clients/${app.clientId}`;
  const { status, body } = await (scopes.length === 0
    ? admin(server, 'DELETE', path)
    : admin(server, 'PUT', path, { scopes }));
  assert.ok(status < 300, JSON.stringify(body));
}
