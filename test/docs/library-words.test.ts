// store: none
/** The messages of libraries that the documentation names are those of the libraries. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const page = read('docs/how-to/troubleshoot.md');

const WORDS = [
  ['openid-client', 'oauth4webapi/build/index.js', 'unexpected "iss" (issuer) response parameter value'],
  ['openid-client', 'openid-client/build/index.js', 'discovered metadata issuer does not match the expected issuer'],
  ['openid-client', 'oauth4webapi/build/index.js', 'only requests to HTTPS are allowed'],
  [
    'openid-client',
    'oauth4webapi/build/index.js',
    'server responded with a challenge in the WWW-Authenticate HTTP Header',
  ],
  ['jose', 'jose/dist/webapi/jwks/local.js', 'Unsupported "alg" value for a JSON Web Key Set'],
  ['jose', 'jose/dist/webapi/lib/jws_verify.js', '"alg" (Algorithm) Header Parameter value not allowed'],
  ['oidc-client-ts', 'oidc-client-ts/dist/esm/oidc-client-ts.js', 'No matching state found in storage'],
  ['jose', 'jose/dist/webapi/util/errors.js', 'signature verification failed'],
  ['jose', 'jose/dist/webapi/util/errors.js', 'no applicable key found in the JSON Web Key Set'],
] as const;

for (const [library, file, words] of WORDS) {
  test(`${library} says: ${words}`, () => {
    assert.ok(read(`node_modules/${file}`).includes(words), file);
    const row = page.split('\n').find((line) => line.includes(`${library}: “`) && line.includes(`“${words}”`));
    assert.ok(row !== undefined, `docs/how-to/troubleshoot.md has no row for it`);
  });
}
