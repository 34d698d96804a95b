import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { Work } from '../platform/database/database.ts';
import { describeResourceScope } from './resource-fields.ts';
import { canonicalResource } from './rules/canonical-resource.ts';
import { markedResource } from './rules/resource-mark.ts';
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
): Work<{ readonly name: string; readonly resource: string; readonly marked: string }[]> {
  const servers = [];
  for (const resource of resources) {
    const client = yield* findResource({ resource });
    if (client !== undefined) servers.push({ name: client.name, resource, marked: markedResource(client) });
  }
  return servers;
}

/** Resources as they are granted now. */
export function* markResources(resources: readonly string[], issuer: string): Work<readonly string[]> {
  const marked: string[] = [];
  for (const resource of resources) {
    const client = isOwnResource(resource, issuer) ? undefined : yield* findResource({ resource });
    marked.push(client === undefined ? resource : markedResource(client));
  }
  return marked;
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

/**
 * A resource as it is granted now, if tokens may be issued for it: it is registered by an active client, or is this service's own. Undefined where
 * none may.
 */
function* markRegistered(resource: string, { issuer, own }: OwnResources): Work<string | undefined> {
  if (resource === own) return resource;
  const client = isOwnResource(resource, issuer) ? undefined : yield* findResource({ resource });
  return client?.status === 'active' ? markedResource(client) : undefined;
}

/** Resources as they are granted now; undefined where no tokens may be issued for one of them. */
export function* markAllRegistered(
  resources: readonly string[],
  service: OwnResources,
): Work<readonly string[] | undefined> {
  const all: string[] = [];
  for (const resource of resources) {
    const marked = yield* markRegistered(resource, service);
    if (marked === undefined) return undefined;
    all.push(marked);
  }
  return all;
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
    if ((yield* markRegistered(resource, service)) !== undefined) continue;
    for (const nearest of respellings(resource)) {
      if ((yield* markRegistered(nearest, service)) !== undefined) return { resource, nearest };
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
