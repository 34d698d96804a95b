import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../examples/${path}`, import.meta.url), 'utf8').trimEnd();

const show = (path: string): string =>
  `<!-- not run: test/clients runs this very file -->
\`\`\`${path.endsWith('.html') ? 'html' : 'js'}\n${read(path)}\n\`\`\`\n\n<sup>[examples/${path}](../../examples/${path})</sup>`;

/** How apps are connected with five usual libraries: the code is that of the examples, which the tests run. */
export const connectAnApp = (note: string): string => `${note}

# Connect an app

Any OpenID Connect library works: it needs the issuer, which is your base URL, the client id and the client secret, and
[discovers](../reference/discovery.md) the rest. Here is a whole app for each of five libraries: it signs people in, reads
[UserInfo](../reference/scopes.md), refreshes its tokens before they end, and signs out here and at the issuer. Each is a file of
[examples/](../../examples/), and the tests run it as it stands here.

| Library | For | Redirect URI |
|---|---|---|
| [openid-client](#openid-client) | apps with a server; the first choice on Node | \`/callback\` |
| [oauth4webapi](#oauth4webapi) | the same, where each step shall be seen, on any runtime | \`/callback\` |
| [@auth/core](#authcore) | Auth.js and the frameworks that it serves | \`/auth/callback/tessera\` |
| [passport-openidconnect](#passport-openidconnect) | apps that use Passport | \`/callback\` |
| [oidc-client-ts](#oidc-client-ts-in-a-single-page-app) | apps that live in the browser, without a secret | \`/callback\` |

## Register it

\`\`\`sh
npx tessera client create --name "My app" \\
  --redirect-uri http://localhost:8080/callback \\
  --post-logout-redirect-uri http://localhost:8080/ \\
  --id-token-signed-response-alg RS256
\`\`\`

The last option lets anybody verify the ID tokens by the published keys, which some libraries insist on. Without it they are
signed with the client's secret (\`HS256\`), which the libraries on this page take as well.
[More on registration](register-an-app.md).

## Run it

In a clone of this repository, after \`npm ci\`, with the two values that the registration printed:

<!-- not run: it starts an app that goes on until it is stopped; test/clients walks through it -->
\`\`\`sh
ISSUER=http://localhost:3000 CLIENT_ID=the-clientId CLIENT_SECRET=the-clientSecret PORT=8080 node examples/openid-client.js
\`\`\`

Open <http://localhost:8080>. Elsewhere, install what the first lines of the file name and copy it.

## What each of them minds

- **State, nonce and PKCE** are tied to the browser that began, and the session gets a new id at sign-in.
- **Refresh tokens rotate**: each refresh answers with a new one, which replaces the one before. The same one may come twice within
  a short grace, so two requests that refresh at once both succeed.
- **When access is taken away**, UserInfo and the token endpoint answer 403 (\`access_denied\`); at the end of its days a refresh
  token is refused with 400 (\`invalid_grant\`). Forget the tokens and offer to sign in again. After any other failure, such as 503
  or a network that is away, keep them and try again.
- **Signing out** ends the app's own session first and then goes to the \`end_session_endpoint\` with the ID token, from which the
  issuer knows who leaves. It comes back to a registered post-logout redirect URI. An ID token under \`HS256\` proves nothing to the
  issuer, which then asks the person first: another reason for \`RS256\`. [More on signing out](sign-out.md).
- **The session is kept in memory** here, which is enough to try it. The comments say what to change for production.

## openid-client

${show('openid-client.js')}

## oauth4webapi

${show('oauth4webapi.js')}

## @auth/core

Its callback is \`/auth/callback/\` and the provider's \`id\`: register \`http://localhost:8080/auth/callback/tessera\`. In Next.js,
SvelteKit and others the \`providers\` and \`callbacks\` are the same, and the adapter at the end comes with the framework.

${show('auth-core.js')}

## passport-openidconnect

The strategy sends no PKCE, so do not register the app with \`--require-pkce\`; state and nonce protect it. It signs in and no
more: refreshing and signing out are a request and a redirect.

${show('passport-openidconnect.js')}

## oidc-client-ts in a single-page app

A public client, which has no secret and must use PKCE:

\`\`\`sh
npx tessera client create --name "My page" --type public \\
  --redirect-uri http://localhost:8080/callback --post-logout-redirect-uri http://localhost:8080/
\`\`\`

<!-- not run: it starts an app that goes on until it is stopped; test/clients walks through it -->
\`\`\`sh
ISSUER=http://localhost:3000 CLIENT_ID=the-clientId PORT=8080 node examples/oidc-client-ts/server.js
\`\`\`

The page calls the issuer from the origin of its redirect URI, which alone may read the answers. Where the app has a server, let that
one hold the tokens instead: script that gets into a page gets at what the page holds.

On a loopback address the consent page comes at every sign-in, since any program on the device could listen there. At an \`https\`
address of its own, the page is answered by the remembered consent. Renewing tokens with the refresh token shows no page in either case.

${show('oidc-client-ts/app.js')}

${show('oidc-client-ts/index.html')}

${show('oidc-client-ts/server.js')}
`;
