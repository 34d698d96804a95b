import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { Work } from '../platform/database/database.ts';
import { listDeclaringApis } from './store.ts';

/** A scope that an API declares, and does not let the client request. */
export interface DeniedScope {
  readonly name: string;
  readonly apiId: string;
}

/** The command that lets a client request a scope of an API, beside those that it may request. */
export function allowScopeCommand(
  clientId: string,
  { name, apiId }: DeniedScope,
  registered: readonly ApiScope[],
): string {
  const names = [...registered.filter((scope) => scope.apiId === apiId).map((scope) => scope.name), name];
  return `tessera client allow-scopes ${clientId} --api ${apiId} ${names.map((scope) => `--scope ${scope}`).join(' ')}`;
}

/** How many scopes of a request are looked for at other APIs: it is for the trace alone. */
const MOST_LOOKED_FOR = 3;

/** Which of these scopes an API declares: one that the request names, if it names any. */
export function* findDenied(names: readonly string[], resources: readonly string[]): Work<readonly DeniedScope[]> {
  const denied: DeniedScope[] = [];
  for (const name of names.slice(0, MOST_LOOKED_FOR)) {
    const apis = yield* listDeclaringApis(name);
    const api = apis.find(
      ({ resource, scopes }) => scopes.includes(name) && (resources.length === 0 || resources.includes(resource)),
    );
    if (api !== undefined) denied.push({ name, apiId: api.id });
  }
  return denied;
}
