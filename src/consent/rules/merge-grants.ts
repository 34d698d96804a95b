import type { EndpointSet } from '../../claims/endpoint-set.ts';
import type { ConnectedGrant } from '../store.ts';

/** A client that has access to a person's data, at one set of endpoints or at both. */
export interface Connection extends Omit<ConnectedGrant, 'endpointSet'> {
  readonly endpoints: readonly EndpointSet[];
}

const union = <T>(one: readonly T[], other: readonly T[]): readonly T[] => [...new Set([...one, ...other])];

type LastUse = Pick<ConnectedGrant, 'lastUsedAt' | 'lastNetwork'>;

/** Of two uses the later one, with its network. */
function latest(one: LastUse, other: LastUse): LastUse {
  const isLater = (other.lastUsedAt ?? Number.NEGATIVE_INFINITY) > (one.lastUsedAt ?? Number.NEGATIVE_INFINITY);
  const { lastUsedAt, lastNetwork } = isLater ? other : one;
  return { lastUsedAt, lastNetwork };
}

/** One connection for each client, in the order of their first grants: decisions §10. */
export function mergeGrants(grants: readonly ConnectedGrant[]): readonly Connection[] {
  const connections = new Map<string, Connection>();
  for (const { endpointSet, ...grant } of grants) {
    const known = connections.get(grant.clientId) ?? { ...grant, endpoints: [] };
    const scopes = union(known.scopes, grant.scopes);
    connections.set(grant.clientId, {
      ...known,
      endpoints: union(known.endpoints, [endpointSet]),
      scopes,
      // A scope that one set of endpoints allows is shared, whatever was never asked on the other.
      declined: union(known.declined, grant.declined).filter((scope) => !scopes.includes(scope)),
      resources: union(known.resources, grant.resources),
      // What the person decided at one set of endpoints is their decision.
      decidedBy: known.decidedBy === grant.decidedBy ? known.decidedBy : 'person',
      connectedAt: Math.min(known.connectedAt, grant.connectedAt),
      ...latest(known, grant),
    });
  }
  return [...connections.values()];
}
