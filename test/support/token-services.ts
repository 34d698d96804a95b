import { call, FORM_TYPE } from './api-call.ts';
import type { TestClient } from './flow.ts';
import type { TestServer } from './server.ts';

export const REVOKE = '/oidc/revoke';
export const INTROSPECT = '/oidc/introspect';

type Server = Pick<TestServer, 'baseUrl'>;
type Fields = Readonly<Record<string, string>>;

/** A form to an endpoint that clients authenticate to, with these fields laid over the client's credentials. */
export function asClient(server: Server, path: string, client: TestClient, fields: Fields, headers: Fields = {}) {
  const secret = client.clientSecret === undefined ? {} : { client_secret: client.clientSecret };
  const form = new URLSearchParams({ client_id: client.clientId, ...secret, ...fields }).toString();
  return call(server, 'POST', path, { 'content-type': FORM_TYPE, ...headers }, form);
}

/** RFC 7009. */
export const revoke = (server: Server, client: TestClient, token: string, more: Fields = {}) =>
  asClient(server, REVOKE, client, { token, ...more });

/** RFC 7662. */
export const introspect = (server: Server, client: TestClient, token: string, more: Fields = {}) =>
  asClient(server, INTROSPECT, client, { token, ...more });
