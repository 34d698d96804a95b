import type { EndpointRules } from '../../claims/endpoint-set.ts';
import { parseScope } from '../../claims/permissions.ts';
import { findDenied } from '../../clients/denied-scopes.ts';
import { findUnregistered, type UnknownResource } from '../../clients/resources.ts';
import { listApiScopes } from '../../clients/store.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { accessAudience } from '../token/rules/claims.ts';
import { type ApiScopeContext, NO_API_SCOPES } from './rules/check-scopes.ts';

interface ApiServices {
  readonly database: Pick<Database, 'read'>;
  readonly issuer: string;
}

/**
 * The scopes of APIs that the client may request, read only where a request may name one, and those of the request that it may not.
 */
export async function readApiScopes(
  { database, issuer }: ApiServices,
  parameters: Pick<RepeatableParameters, 'get' | 'all'>,
  client: { readonly id: string },
  rules: EndpointRules,
): Promise<ApiScopeContext> {
  const names = rules.apiScopes ? (parseScope(parameters.get('scope') ?? '') ?? []) : [];
  if (names.every((name) => rules.scopes.includes(name))) return NO_API_SCOPES;
  const others = names.filter((name) => !rules.scopes.includes(name));
  return database.read(function* look(): Work<ApiScopeContext> {
    const registered = yield* listApiScopes({ clientId: client.id });
    const unknown = others.filter((name) => !registered.some((scope) => scope.name === name));
    const denied = yield* findDenied(unknown, parameters.all('resource'));
    return { registered, own: accessAudience(issuer), denied };
  });
}

/** RFC 8707 §2: tokens are issued only for registered resource servers. Undefined where all are registered. */
export async function findUnknownResource(
  { database, issuer }: ApiServices,
  resources: readonly string[] = [],
): Promise<UnknownResource | undefined> {
  if (resources.length === 0) return undefined;
  return database.read(() => findUnregistered(resources, { issuer, own: accessAudience(issuer) }));
}
