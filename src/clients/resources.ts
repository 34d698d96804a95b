import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { Work } from '../platform/database/database.ts';
import { describeResourceScope } from './resource-fields.ts';
import { canonicalResource } from './rules/canonical-resource.ts';
import { findClient, findResource } from './store.ts';

/** Whether a resource identifier is at or below the issuer in any spelling, where only this service's own resources may be. */
export function isOwnResource(resource: string, issuer: string): boolean {
  const own = canonicalResource(issuer).replace(/\/$/, '');
  const asked = canonicalResource(resource);
  return asked === own || ['/', '?'].some((next) => asked.startsWith(own + next));
}

/** The resource servers that clients registered, with the names that users know; this service's own are not among them. */
export function* findResourceServers(
  resources: readonly string[],
): Work<{ readonly name: string; readonly resource: string }[]> {
  const servers = [];
  for (const resource of resources) {
    const client = yield* findResource({ resource });
    if (client !== undefined) servers.push({ name: client.name, resource });
  }
  return servers;
}

/** A scope of an API in the words of the consent page. */
export interface DescribedScope extends ApiScope {
  readonly text: string;
  /** The name that users know the API by. */
  readonly apiName: string;
}

/** Scopes of APIs in the words of the consent page, in the given order. */
export function* describeApiScopes(scopes: readonly ApiScope[], language: string): Work<readonly DescribedScope[]> {
  const described: DescribedScope[] = [];
  for (const apiId of new Set(scopes.map((scope) => scope.apiId))) {
    const api = yield* findClient({ id: apiId });
    for (const scope of scopes.filter((one) => one.apiId === apiId)) {
      const declared = api?.resourceScopes?.find(({ name }) => name === scope.name);
      if (api === undefined || declared === undefined) continue;
      described.push({ ...scope, text: describeResourceScope(declared, language), apiName: api.name });
    }
  }
  return described;
}

interface OwnResources {
  readonly issuer: string;
  /** The UserInfo endpoints of this service. */
  readonly own: string;
}

/** Whether tokens may be issued for a resource: it is registered by an active client, or is this service's own. */
function* isRegisteredResource(resource: string, { issuer, own }: OwnResources): Work<boolean> {
  if (resource === own) return true;
  return !isOwnResource(resource, issuer) && (yield* findResource({ resource }))?.status === 'active';
}

/** Whether tokens may be issued for all of these resources. */
export function* areRegisteredResources(resources: readonly string[], service: OwnResources): Work<boolean> {
  for (const resource of resources) if (!(yield* isRegisteredResource(resource, service))) return false;
  return true;
}

/** A resource that is not registered, and the registered one of which it is another spelling. */
export interface UnknownResource {
  readonly resource: string;
  readonly nearest: string | undefined;
}

/** The first of these resources for which no token may be issued; undefined where there is none. */
export function* findUnregistered(
  resources: readonly string[],
  service: OwnResources,
): Work<UnknownResource | undefined> {
  for (const resource of resources) {
    if (yield* isRegisteredResource(resource, service)) continue;
    for (const nearest of respellings(resource)) {
      if (yield* isRegisteredResource(nearest, service)) return { resource, nearest };
    }
    return { resource, nearest: undefined };
  }
  return undefined;
}

/** Other spellings of a resource that developers often mean: with or without a slash at the end, by http or https. */
function respellings(resource: string): readonly string[] {
  const otherEnd = (text: string) => (text.endsWith('/') ? text.slice(0, -1) : `${text}/`);
  const otherScheme = resource.startsWith('https:')
    ? resource.replace(/^https:/, 'http:')
    : resource.replace(/^http:/, 'https:');
  return [otherEnd(resource), otherScheme, otherEnd(otherScheme)];
}
