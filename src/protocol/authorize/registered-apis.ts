import type { EndpointRules } from '../../claims/endpoint-set.ts';
import { parseScope } from '../../claims/permissions.ts';
import { findUnregistered, type UnknownResource } from '../../clients/resources.ts';
import { listApiScopes } from '../../clients/store.ts';
import type { Database } from '../../platform/database/database.ts';
import { accessAudience } from '../token/rules/claims.ts';
import { type ApiScopeContext, NO_API_SCOPES } from './rules/check-scopes.ts';

interface ApiServices {
  readonly database: Pick<Database, 'read'>;
  readonly issuer: string;
}

/**
 * The scopes of APIs that the client may request, read only where a request may name one.
 * @param scope the parameter
 */
export async function readApiScopes(
  { database, issuer }: ApiServices,
  scope: string | undefined,
  client: { readonly id: string },
  rules: EndpointRules,
): Promise<ApiScopeContext> {
  const names = rules.apiScopes ? (parseScope(scope ?? '') ?? []) : [];
  if (names.every((name) => rules.scopes.includes(name))) return NO_API_SCOPES;
  const registered = await database.read(() => listApiScopes({ clientId: client.id }));
  return { registered, own: accessAudience(issuer) };
}

/** RFC 8707 §2: tokens are issued only for registered resource servers. Undefined where all are registered. */
export async function findUnknownResource(
  { database, issuer }: ApiServices,
  resources: readonly string[] = [],
): Promise<UnknownResource | undefined> {
  if (resources.length === 0) return undefined;
  return database.read(() => findUnregistered(resources, { issuer, own: accessAudience(issuer) }));
}
