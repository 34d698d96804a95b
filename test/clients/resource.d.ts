declare module '*/examples/resource.js' {
  import type { AuthorizationServer } from 'oauth4webapi';
  import type { INavigator, UserManager, UserManagerSettings } from 'oidc-client-ts';
  import type { Configuration } from 'openid-client';

  type Parameters = Readonly<Record<string, string>>;

  export function withOpenidClient(issuer: Configuration, parameters: Parameters): URL;
  export function withOauth4webapi(issuer: AuthorizationServer, parameters: Parameters): URL;
  export function withOidcClientTs(settings: UserManagerSettings, navigator: INavigator): UserManager;
}
