import { readFileSync } from 'node:fs';
import { type App, authJs, behindApache, behindOauth2Proxy, example, uniform, uniformAuthJs } from './apps.ts';
import { cargo, debian, flask, go, goTool, maven, node, npm, type Prepared, python } from './toolchains.ts';

/** Steps for which a library may lack the feature. */
export type Optional = 'discovery' | 'userInfo' | 'signOut' | 'backchannel';

/** A client of this comparison. */
export interface Client {
  /** As its project writes it; also what `--only` names. */
  readonly name: string;
  readonly registry: string;
  /** The version that its manifest pins; empty where the registry serves one version. */
  readonly version: string;
  /** Installs or builds it in a folder. */
  readonly prepare: (folder: string, version: string) => Promise<Prepared>;
  readonly app: (origin: string) => App;
  /** Below its origin. */
  readonly callback: string;
  readonly backchannelLogout?: string;
  readonly type?: 'public';
  /** Why the library does not offer a step. */
  readonly notOffered: Readonly<Partial<Record<Optional, string>>>;
  /** Its source, from the root of the repository. */
  readonly source: string;
  /** The settings that it runs with besides issuer, client id, secret, redirect URI and scopes. */
  readonly settings: string;
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** What a manifest pins. */
export function pinned(path: string, pattern: RegExp): string {
  const version = pattern.exec(read(path))?.[1];
  if (version === undefined) throw new Error(`${path} has nothing that matches ${pattern}`);
  return version;
}

const NO_LOGOUT_TOKENS = { backchannel: 'The library does not verify logout tokens.' };

/** Of a client that takes the name and the email address from the ID token. */
const ID_TOKEN_ALONE = { userInfo: 'It reads the ID token alone.' };

/** The version of a package here; one that Tessera itself uses is among its dependencies. */
function versionOf(name: string): string {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  return devDependencies[name] ?? dependencies[name];
}

const nodeExample = (name: string, file: string, settings = 'None.'): Client => ({
  name,
  registry: 'npm',
  version: versionOf(name),
  source: `examples/${file}`,
  prepare: node(`../examples/${file}`),
  app: example,
  callback: '/callback',
  notOffered: NO_LOGOUT_TOKENS,
  settings,
});

const HTTP = 'accepts an issuer without TLS, as these runs have one: `allowInsecureRequests`.';

const ofNode = (name: string): string => JSON.parse(read('interop/clients/node/package.json')).dependencies[name];

export const clients: readonly Client[] = [
  {
    name: 'mod_auth_openidc',
    registry: 'Debian',
    version: '',
    source: 'interop/clients/mod_auth_openidc',
    prepare: debian('clients/mod_auth_openidc', 'libapache2-mod-auth-openidc', 'mod_auth_openidc'),
    app: behindApache,
    callback: '/app/redirect_uri',
    backchannelLogout: '/app/redirect_uri?logout=backchannel',
    notOffered: {},
    settings:
      '`OIDCRefreshAccessTokenBeforeExpiry 60 logout_on_error`: without `logout_on_error` the person stays signed in after taking access away. `OIDCDefaultLoggedOutURL`: where the module then sends the person. (The run has 1800 instead of 60, so that each request refreshes, and the passphrase and the addresses of the run.)',
  },
  {
    name: 'Spring Security',
    registry: 'Maven Central',
    version: `Boot ${pinned('interop/clients/spring-security/pom.xml', /-parent<\/artifactId>\s*<version>([^<]+)/)}`,
    source: 'interop/clients/spring-security',
    prepare: maven('clients/spring-security', 'Spring Security'),
    app: (origin) => uniform(origin, 'post', '/oauth2/authorization/tessera'),
    callback: '/login/oauth2/code/tessera',
    backchannelLogout: '/logout/connect/back-channel/tessera',
    notOffered: {},
    settings:
      '`oidcLogout(logout -> logout.backChannel(…))` and `OidcClientInitiatedLogoutSuccessHandler` for sign-out; an `@ExceptionHandler` for `ClientAuthorizationException` that ends the session.',
  },
  {
    name: 'Authlib',
    registry: 'PyPI',
    version: pinned('interop/clients/authlib/requirements.in', /^Authlib==(.+)$/m),
    source: 'interop/clients/authlib',
    prepare: python('clients/authlib'),
    app: (origin) => uniform(origin, 'post'),
    callback: '/callback',
    notOffered: NO_LOGOUT_TOKENS,
    settings:
      '`update_token`, which keeps the new refresh token; an error handler for `OAuthError` and `HTTPError` that ends the session.',
  },
  {
    name: 'go-oidc',
    registry: 'Go module proxy',
    version: pinned('interop/clients/go-oidc/go.mod', /coreos\/go-oidc\/v3 (v\S+)/),
    source: 'interop/clients/go-oidc',
    prepare: go('clients/go-oidc'),
    app: (origin) => uniform(origin, 'post'),
    callback: '/callback',
    backchannelLogout: '/backchannel-logout',
    notOffered: {},
    settings:
      'None. With `golang.org/x/oauth2`; the app keeps the tokens that `TokenSource` returns, and calls `VerifyLogout`.',
  },
  {
    name: 'openidconnect',
    registry: 'crates.io',
    version: pinned('interop/clients/openidconnect/Cargo.toml', /^openidconnect = .*"=([\d.]+)"/m),
    source: 'interop/clients/openidconnect',
    prepare: cargo('clients/openidconnect', 'interop-openidconnect'),
    app: (origin) => uniform(origin),
    callback: '/callback',
    notOffered: NO_LOGOUT_TOKENS,
    settings: '`ProviderMetadataWithLogout` instead of `CoreProviderMetadata`, for the address of the sign-out.',
  },
  nodeExample('openid-client', 'openid-client.js', `The app ${HTTP}`),
  nodeExample('oauth4webapi', 'oauth4webapi.js', `The app ${HTTP}`),
  {
    ...nodeExample('@auth/core', 'auth-core.js', '`idToken: false`, which reads the profile from UserInfo.'),
    app: authJs,
    callback: '/auth/callback/tessera',
  },
  {
    ...nodeExample(
      'passport-openidconnect',
      'passport-openidconnect.js',
      'The app reads the endpoints from the discovery document, and refreshes with a request that it sends itself.',
    ),
    notOffered: { ...NO_LOGOUT_TOKENS, discovery: 'The app reads the discovery document itself.' },
  },
  {
    ...nodeExample(
      'oidc-client-ts',
      '',
      '`loadUserInfo: true`. Registered as a public client, as an app in a browser is.',
    ),
    source: 'interop/clients/oidc-client-ts',
    prepare: node('clients/oidc-client-ts/app.js'),
    app: (origin) => uniform(origin),
    type: 'public',
  },
  {
    name: 'oauth2-proxy',
    registry: 'Go module proxy',
    version: pinned('interop/clients/oauth2-proxy/go.mod', /oauth2-proxy\/v7 (v\S+)/),
    source: 'docs/how-to/other-clients.md#oauth2-proxy',
    prepare: goTool('clients/oauth2-proxy', 'github.com/oauth2-proxy/oauth2-proxy/v7', 'oauth2-proxy'),
    app: behindOauth2Proxy,
    callback: '/oauth2/callback',
    notOffered: {
      ...NO_LOGOUT_TOKENS,
      ...ID_TOKEN_ALONE,
      signOut: 'The proxy cannot send the ID token of the session, so the person is asked.',
    },
    settings:
      'The printed configuration. (The run has `cookie_refresh` of a nanosecond, so that each request refreshes, and `cookie_secure = false` for an app without TLS.)',
  },
  {
    name: 'Nimbus OAuth 2.0 SDK',
    registry: 'Maven Central',
    version: pinned('interop/clients/nimbus/pom.xml', /oauth2-oidc-sdk<\/artifactId>\s*<version>([^<]+)/),
    source: 'interop/clients/nimbus',
    prepare: maven('clients/nimbus'),
    app: uniform,
    callback: '/callback',
    notOffered: { backchannel: 'The library verifies logout tokens; the app takes none.', ...ID_TOKEN_ALONE },
    settings: 'None.',
  },
  {
    name: 'Authlib with Flask',
    registry: 'PyPI',
    version: pinned('interop/clients/authlib/requirements.in', /^Authlib==(.+)$/m),
    source: 'docs/how-to/other-clients.md#authlib-with-flask',
    prepare: flask('clients/authlib', 'Authlib with Flask'),
    app: (origin) => uniform(origin, 'post'),
    callback: '/callback',
    notOffered: { ...NO_LOGOUT_TOKENS, ...ID_TOKEN_ALONE },
    settings: 'The printed app.',
  },
  {
    name: 'openid',
    registry: 'crates.io',
    version: pinned('interop/clients/openid/Cargo.toml', /^openid = .*"=([\d.]+)"/m),
    source: 'interop/clients/openid',
    prepare: cargo('clients/openid', 'interop-openid'),
    app: uniform,
    callback: '/callback',
    notOffered: { ...NO_LOGOUT_TOKENS, ...ID_TOKEN_ALONE },
    settings: 'The app accepts an issuer without TLS, as these runs have one: `jwks_insecure`.',
  },
  {
    name: 'express-openid-connect',
    registry: 'npm',
    version: ofNode('express-openid-connect'),
    source: 'docs/how-to/other-clients.md#express-openid-connect',
    prepare: npm('clients/node', { printed: 'express-openid-connect', as: 'app.js', main: 'app.js' }),
    app: uniform,
    callback: '/callback',
    notOffered: { backchannel: 'The printed app has no session store, which it needs.', ...ID_TOKEN_ALONE },
    settings: 'The printed app.',
  },
  {
    name: 'Auth.js 5',
    registry: 'npm',
    version: `@auth/core ${ofNode('@auth/core')}`,
    source: 'docs/how-to/other-clients.md#authjs-5',
    prepare: npm('clients/node', { printed: 'Auth.js 5', as: 'provider.js', main: 'auth-js-5.js' }),
    app: uniformAuthJs,
    callback: '/api/auth/callback/tessera',
    notOffered: { ...NO_LOGOUT_TOKENS, ...ID_TOKEN_ALONE },
    settings: 'The printed provider. The app refreshes with a request that it sends itself.',
  },
  {
    name: 'NextAuth.js 4',
    registry: 'npm',
    version: `next-auth ${ofNode('next-auth')}`,
    source: 'docs/how-to/other-clients.md#nextauthjs-4',
    prepare: npm('clients/node', { printed: 'NextAuth.js 4', as: 'provider.js', main: 'next-auth-4.js' }),
    app: uniformAuthJs,
    callback: '/api/auth/callback/tessera',
    notOffered: { ...NO_LOGOUT_TOKENS, ...ID_TOKEN_ALONE },
    settings: 'The printed provider. The app refreshes with a request that it sends itself.',
  },
];
