import { SCOPES } from '../../claims/permissions.ts';
import type { ResourceScope } from '../resource-fields.ts';

/** What is wrong with the scopes that an API declares; undefined if nothing is. */
export function resourceScopesProblem({
  resource,
  resourceScopes,
}: {
  readonly resource: string | null;
  readonly resourceScopes: readonly ResourceScope[] | null;
}): string | undefined {
  if (resourceScopes === null) return undefined;
  if (resource === null)
    return 'resourceScopes must be null where resource is null: only a resource server has scopes.';
  const names = resourceScopes.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return `resourceScopes must have different names; ${repeated} is there twice.`;
  const taken = names.find(isReserved);
  return (
    taken &&
    `resourceScopes must not have the name ${taken}, which a standard or Tessera uses. Put the name of the API before it, such as notes.${taken}.`
  );
}

/**
 * A scope of an API must not pass for one of the service, nor for one that a standard defines: OpenID Connect Core 1.0 §§5.4 and 11, OpenID
 * Connect Native SSO 1.0, UMA 2.0, OpenID for Verifiable Credentials, Shared Signals.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...SCOPES,
  ...['address', 'online_access', 'device_sso', 'uma_authorization', 'uma_protection', 'openid_credential'],
  ...['ssf.read', 'ssf.manage', 'entitlements', 'user', 'admin', 'all', 'default', 'offline', 'none'],
]);

/** Without regard to case, which people overlook. */
function isReserved(name: string): boolean {
  const folded = name.toLowerCase();
  return RESERVED.has(folded) || /^(tessera|openid)([.:/_-]|$)/.test(folded);
}
