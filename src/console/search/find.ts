import { findByBeginning } from '../../accounts/directory-store.ts';
import { findAdminKeysContaining } from '../../admin-keys/store.ts';
import { findAppsContaining } from '../../clients/directory-store.ts';
import { findClient } from '../../clients/store.ts';
import { findGroupsContaining } from '../../groups/directory-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { lacksPermission } from '../../operators/refusal.ts';
import { holds, holdsSomewhere, reachOf } from '../../operators/rights.ts';
import { findOrganizationsContaining, listOrganizations } from '../../organizations/store.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Database } from '../../platform/database/database.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { findUpstreamsContaining } from '../../upstreams/store.ts';
import { appAddress, placeOfApp } from '../apps/addresses.ts';
import { groupAddress } from '../groups/pages.ts';
import { keyAddress } from '../keys/addresses.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { personAddress } from '../people/frame.ts';
import { upstreamAddress } from '../upstreams/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';

/** Something that was found, and where its page is. */
export interface Hit {
  readonly address: string;
  readonly name: string;
  /** What tells it from others of that name. */
  readonly note: string;
}

export type HitKind = Exclude<keyof Messages['operators']['search']['kinds'], 'pages'>;

/** How many of each kind are shown. */
const MOST_OF_KIND = 5;
const PAGE = { after: '0', limit: MOST_OF_KIND };
/** Among so many organizations is searched of those that an operator reaches by roles of organizations. */
const MOST_REACHED = 200;

type Find = (database: Pick<Database, 'read'>, visit: ConsoleVisit, text: string) => Promise<readonly Hit[]>;

/** Every kind, each found as on its own page and with the permission of that. */
const KINDS: Readonly<Record<HitKind, { readonly permission: Permission; readonly find: Find }>> = {
  people: {
    permission: 'users.read',
    async find(database, _visit, text) {
      const found = await database.read(() => findByBeginning(text, MOST_OF_KIND));
      return found.slice(0, MOST_OF_KIND).map(({ id, displayName, username, email }) => ({
        address: personAddress(id),
        name: displayName,
        note: `${username} · ${readableEmail(email)}`,
      }));
    },
  },
  apps: {
    permission: 'apps.read',
    async find(database, { operator }, text) {
      const hitOf = ({ id, name }: { readonly id: string; readonly name: string }): Hit => ({
        ...{ address: appAddress(id), name, note: id },
      });
      const named = isSnowflake(text) ? await database.read(() => findClient({ id: text })) : undefined;
      if (named !== undefined && holds(operator, 'apps.read', placeOfApp(named))) return [hitOf(named)];
      const search = { ...PAGE, text, steps: 1, reach: reachOf(operator, 'apps.read') };
      return (await findAppsContaining(database, search)).items.map(hitOf);
    },
  },
  groups: {
    permission: 'groups.read',
    async find(database, { operator }, text) {
      const search = { ...PAGE, text, steps: 1, reach: reachOf(operator, 'groups.read') };
      const { items } = await findGroupsContaining(database, search);
      return items.map(({ id, displayName, name }) => ({ address: groupAddress(id), name: displayName, note: name }));
    },
  },
  organizations: {
    permission: 'organizations.read',
    async find(database, { operator }, text) {
      const reach = reachOf(operator, 'organizations.read');
      const found = await database.read(() =>
        reach() === undefined
          ? findOrganizationsContaining({ ...PAGE, text })
          : listOrganizations({ ...PAGE, limit: MOST_REACHED }, reach),
      );
      const wanted = text.toLowerCase();
      return found
        .filter(({ id, name, domain }) => id === text || `${name} ${domain}`.toLowerCase().includes(wanted))
        .slice(0, MOST_OF_KIND)
        .map(({ id, name, domain }) => ({ address: organizationAddress(id), name, note: domain }));
    },
  },
  keys: {
    permission: 'operators.read',
    async find(database, { operator }, text) {
      const reach = reachOf(operator, 'operators.read');
      const found = await database.read(() => findAdminKeysContaining({ ...PAGE, text }, reach));
      return found.map(({ id, name }) => ({ address: keyAddress(id), name, note: id }));
    },
  },
  upstreams: {
    permission: 'upstreams.read',
    async find(database, _visit, text) {
      const found = await database.read(() => findUpstreamsContaining({ ...PAGE, text }));
      return found.map(({ id, displayName, issuer }) => ({
        address: upstreamAddress(id),
        name: displayName,
        note: new URL(issuer).host,
      }));
    },
  },
};

/** What is found of each kind that the operator may see, the permission checked again in each read. */
export async function findEverywhere(visit: ConsoleVisit, text: string): Promise<ReadonlyMap<HitKind, readonly Hit[]>> {
  const { database } = visit.services;
  const found = new Map<HitKind, readonly Hit[]>();
  for (const kind of Object.keys(KINDS) as HitKind[]) {
    const { permission, find } = KINDS[kind];
    if (!holdsSomewhere(visit.operator, permission)) continue;
    const admitted: Pick<Database, 'read'> = {
      read: (work) =>
        database.read(function* check() {
          if (!holdsSomewhere(visit.operator, permission)) throw lacksPermission(permission);
          return yield* work();
        }),
    };
    const hits = await find(admitted, visit, text);
    if (hits.length > 0) found.set(kind, hits);
  }
  return found;
}
