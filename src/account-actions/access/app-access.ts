import { type AppAccess, obstaclesOf } from '../../access/rules/app-access.ts';
import { rolesOf } from '../../access/rules/paths.ts';
import { type AccessPath, listAccessPaths } from '../../access/store.ts';
import { findAccount } from '../../accounts/store.ts';
import { groupClaim } from '../../claims/rules/member-claims.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { type Client, findClient } from '../../clients/store.ts';
import { listAssignedGroupsOf } from '../../groups/store.ts';
import { findMembership } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { userNotFound } from '../accounts/accounts.ts';

/**
 * Whether a person may use an app now, in which roles, and why.
 * @throws {Failure} `not found`
 */
export const appAccessOf = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  clientId: string,
  accountId: string,
): Promise<AppAccess> => {
  const now = clock();
  return database.read(function* read(): Work<AppAccess> {
    const client = yield* findClient({ id: clientId });
    if (client === undefined) throw clientNotFound(clientId);
    return yield* readAppAccess(client, accountId, now);
  });
};

/** The same for a client that was read in the unit of work. @throws {Failure} `not found` */
export function* readAppAccess(client: Client, accountId: string, now: number): Work<AppAccess> {
  const account = yield* findAccount({ id: accountId });
  if (account === undefined) throw userNotFound(accountId);
  const clientId = client.id;
  const paths = yield* listAccessPaths({ clientId, accountId });
  const names = yield* namesOf(clientId, accountId, paths);
  return {
    clientId,
    accountId,
    access: client.access,
    roles: rolesOf(paths),
    paths: paths.map((path) => ({ ...path, name: names.get(idOf(path)) ?? null })),
    obstacles: obstaclesOf({ client, accountStatus: accountStatus(account, now), paths }),
  };
}

const idOf = ({ to }: AccessPath): string =>
  to.kind === 'person' ? to.accountId : to.kind === 'group' ? to.groupId : to.organizationId;

/** The names of the groups and of the organization that paths go by. */
function* namesOf(
  clientId: string,
  accountId: string,
  paths: readonly AccessPath[],
): Work<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const byGroup = paths.filter(({ to }) => to.kind === 'group').length;
  const groups = byGroup === 0 ? [] : yield* listAssignedGroupsOf({ accountId, clientId, limit: byGroup });
  for (const group of groups) names.set(group.id, groupClaim(group));
  const organization = yield* findMembership({ accountId });
  if (organization !== undefined) names.set(organization.id, organization.name);
  return names;
}
