// store: SQLite, PostgreSQL with --all
/** The Config OP plan of the OpenID Foundation's conformance suite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send, startBehind } from '../support/listening.ts';

/** OpenID Connect Discovery 1.0 §3 and §4.2, RFC 8414 §2, and what registered extensions add. */
const FIELDS = new Set([
  ...['issuer', 'authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri', 'registration_endpoint'],
  ...['scopes_supported', 'response_types_supported', 'response_modes_supported', 'grant_types_supported'],
  ...['acr_values_supported', 'subject_types_supported', 'id_token_signing_alg_values_supported'],
  ...['userinfo_signing_alg_values_supported', 'token_endpoint_auth_methods_supported'],
  ...['token_endpoint_auth_signing_alg_values_supported', 'display_values_supported', 'claim_types_supported'],
  ...['claims_supported', 'service_documentation', 'claims_locales_supported', 'ui_locales_supported'],
  ...['claims_parameter_supported', 'request_parameter_supported', 'request_uri_parameter_supported'],
  ...['require_request_uri_registration', 'op_policy_uri', 'op_tos_uri', 'prompt_values_supported'],
  ...['revocation_endpoint', 'revocation_endpoint_auth_methods_supported'],
  ...[
    'revocation_endpoint_auth_signing_alg_values_supported',
    'introspection_endpoint',
    'device_authorization_endpoint',
    'client_id_metadata_document_supported',
  ],
  ...['introspection_endpoint_auth_methods_supported', 'introspection_endpoint_auth_signing_alg_values_supported'],
  ...['code_challenge_methods_supported', 'authorization_response_iss_parameter_supported', 'end_session_endpoint'],
  ...['backchannel_logout_supported', 'backchannel_logout_session_supported'],
]);

for (const base of ['https://login.example.com', 'https://example.com/some/path']) {
  test(`oidcc-discovery-endpoint-verification: ${base}`, async () => {
    const server = await startBehind(base);
    try {
      const { host, pathname } = new URL(base);
      const under = (url: string) => url.slice(new URL(base).origin.length);
      const ask = (path: string) => send(server.port, 'GET', path, { host });
      const answer = await ask(`${pathname.replace(/\/$/, '')}/.well-known/openid-configuration`);
      assert.equal(answer.status, 200);
      assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
      const document = JSON.parse(answer.text) as Record<string, unknown>;

      assert.equal(document['issuer'], base);
      const addresses = Object.entries(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
      assert.ok(addresses.length >= 7);
      for (const [name, address] of addresses) assert.ok(String(address).startsWith(`${base}/`), `${name} ${address}`);
      // Decisions §10: the OIDC endpoints, on which a client works from this document alone.
      const names = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint'];
      assert.deepEqual(
        names.map((name) => document[name]),
        ['authorize', 'token', 'userinfo'].map((path) => `${base}/oidc/${path}`),
      );
      const list = (name: string) => document[name] as readonly string[];
      assert.ok(list('id_token_signing_alg_values_supported').includes('RS256'));
      assert.deepEqual(list('subject_types_supported'), ['public']);
      assert.ok(list('scopes_supported').includes('openid'));
      assert.deepEqual(list('response_types_supported'), ['code']);
      assert.ok(list('grant_types_supported').includes('authorization_code'));
      assert.ok(list('claims_supported').includes('sub'));
      assert.deepEqual(
        Object.keys(document).filter((name) => !FIELDS.has(name)),
        [],
        'unknown fields',
      );

      // Distinct names, no symmetric and no private key.
      const { keys } = JSON.parse((await ask(under(String(document['jwks_uri'])))).text) as {
        keys: readonly Record<string, string>[];
      };
      assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
      assert.ok(keys.some(({ alg }) => alg === 'RS256'));
      for (const key of keys) {
        assert.notEqual(key['kty'], 'oct');
        for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) assert.ok(!(secret in key), secret);
      }
    } finally {
      await server.close();
    }
  });
}
