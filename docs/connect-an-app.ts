import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../examples/${path}`, import.meta.url), 'utf8').trimEnd();

/** @param client of `npm run interop` that runs the file; without it, only the tests do */
const show = (path: string, client?: string): string =>
  `<!-- ${client === undefined ? 'not run: test/clients runs this very file' : `run: npm run interop, ${client}`} -->
\`\`\`${path.endsWith('.html') ? 'html' : 'js'}\n${read(path)}\n\`\`\`\n\n<sup>[examples/${path}](../../examples/${path})</sup>`;

/** How to connect an app with each of five libraries. The code is that of the examples, which the tests run. */
export const connectAnApp = (note: string): string => `${note}

# Connect an app

You can use any OpenID Connect library. It needs the issuer, which is your base URL, the client id and the client secret, and
[discovers](../reference/discovery.md) the rest. This page has a complete app for each of five libraries. Each app signs people in, reads
[UserInfo](../reference/scopes.md), refreshes its tokens before they expire, and signs people out of the app and of Tessera. The files
are in [examples/](../../examples/), and the tests and \`npm run interop\` run them exactly as shown here. For other languages and products, see
[other clients](other-clients.md).

| Library | For | Redirect URI |
|---|---|---|
| [openid-client](#openid-client) | Apps with a server; the first choice on Node | \`/callback\` |
| [oauth4webapi](#oauth4webapi) | The same on any JavaScript runtime, with a call for each protocol step | \`/callback\` |
| [@auth/core](#authcore) | Auth.js and the frameworks that it supports | \`/auth/callback/tessera\` |
| [passport-openidconnect](#passport-openidconnect) | Apps that use Passport | \`/callback\` |
| [oidc-client-ts](#oidc-client-ts-in-a-single-page-app) | Apps that run in the browser, without a secret | \`/callback\` |

## Register the app

An operator registers the app, on the server or from a clone of this repository:

\`\`\`sh
npm run tessera -- client create --name "My app" \\
  --redirect-uri http://localhost:8080/callback \\
  --post-logout-redirect-uri http://localhost:8080/
\`\`\`

ID tokens are signed with a published key under \`RS256\`, which libraries expect. [Register an app](register-an-app.md) has more options.

## Run the app

In a clone of this repository, after \`npm ci\`, use the two values that the registration printed:

<!-- not run: it starts an app that goes on until it is stopped; test/clients walks through it -->
\`\`\`sh
ISSUER=http://localhost:3000 CLIENT_ID=the-clientId CLIENT_SECRET=the-clientSecret PORT=8080 node examples/openid-client.js
\`\`\`

Open <http://localhost:8080>. To use the code in your own project, copy the file into it, and install the packages named in its first lines.
The files are modules, so the project must be one:

<!-- not run: it installs packages from the registry; written for npm 11 -->
\`\`\`sh
npm init --yes
npm pkg set type=module
npm install openid-client express express-session
\`\`\`

## What the examples have in common

- **State, nonce and PKCE** are bound to the browser that started the sign-in, and the session gets a new id at sign-in.
- **Refresh tokens rotate.** Each refresh returns a new refresh token, which replaces the previous one. The previous one works again within
  a short grace period, so two concurrent refreshes both succeed.
- **When access is revoked**, the token endpoint returns 400 (\`invalid_grant\`), as for an expired refresh token, and UserInfo 401
  (\`invalid_token\`). Below \`/api/v2/oauth\` both return 403 (\`access_denied\`). In all these cases, delete the tokens and offer to
  sign in again. After any other failure, such as a 503 or a network error, keep the tokens and try again.
- **None requests \`offline_access\`**, so the tokens end when the person signs out of Tessera in that browser, and the next refresh gets
  \`invalid_grant\`. That is right for an app that people sign in to. An app that works on for people who are away, such as one that
  synchronizes calendars, adds \`offline_access\` to its scopes; the consent page names it.
- **The name and the email address** are read from UserInfo, which also tells whether access was revoked. The ID token has them, too.
- **RS256** signs the ID tokens. For a library that expects HS256, [register the app for it](other-clients.md#what-holds-for-all-of-them).
- **Signing out** ends the app's own session first. Then it redirects to the \`end_session_endpoint\` with the ID token, which tells
  Tessera who is signing out. Tessera redirects back to a registered post-logout redirect URI.
  [Sign people out](sign-out.md) has the details.
- **The session is kept in memory**, which is enough to try the app. The comments say what to change for production.

## openid-client

${show('openid-client.js', 'openid-client')}

## oauth4webapi

${show('oauth4webapi.js', 'oauth4webapi')}

## @auth/core

The callback path is \`/auth/callback/\` followed by the provider's \`id\`, so register \`http://localhost:8080/auth/callback/tessera\`. With
Next.js, SvelteKit and other frameworks, \`providers\` and \`callbacks\` are the same, and the framework's integration replaces the server code
at the end.

${show('auth-core.js', '@auth/core')}

## passport-openidconnect

The strategy does not support PKCE, so do not register the app with \`--require-pkce\`; state and nonce protect the sign-in. The strategy
only signs people in: the example refreshes tokens with a request, and signs out with a redirect.

${show('passport-openidconnect.js', 'passport-openidconnect')}

## oidc-client-ts in a single-page app

A single-page app is a public client: it has no secret and must use PKCE.

\`\`\`sh
npm run tessera -- client create --name "My page" --type public \\
  --redirect-uri http://localhost:8080/callback --post-logout-redirect-uri http://localhost:8080/
\`\`\`

<!-- not run: it starts an app that goes on until it is stopped; test/clients walks through it -->
\`\`\`sh
ISSUER=http://localhost:3000 CLIENT_ID=the-clientId PORT=8080 node examples/oidc-client-ts/server.js
\`\`\`

The page calls the issuer from the origin of its redirect URI; pages on other origins cannot read the responses. If your app has a server,
keep the tokens there instead, because an injected script can read everything that a page holds.

With a redirect URI on a loopback address, the consent page is shown at every sign-in, because any program on the device could listen there.
With an \`https\` redirect URI, the consent is remembered. Refreshing tokens shows no page in either case.

${show('oidc-client-ts/app.js')}

${show('oidc-client-ts/index.html')}

${show('oidc-client-ts/server.js')}

## Tokens for your API

An app that also calls an API names it with \`resource\`, in the authorization request. [Protect your API](protect-your-api.md) says how
the API is registered and how it checks the tokens. This is the request with three of the libraries; the rest of the apps above does
not change:

${show('resource.js')}
`;
