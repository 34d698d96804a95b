import { listGrants } from '../access/operator-grant-store.ts';
import type { AssignedTo } from '../access/store.ts';
import { openAccount } from '../account-actions/accounts/accounts.ts';
import { createAdminKey, getAdminKey, revokeAdminKey } from '../account-actions/makers/admin-keys.ts';
import { isNothing, type Made } from '../account-actions/makers/made.ts';
import type { MadeAccess } from '../account-actions/makers/made-access.ts';
import { revokeRole } from '../account-actions/makers/revoke-role.ts';
import { grantRole, grantView, rolesOfAccount } from '../account-actions/operators/grants.ts';
import { listAdminKeys } from '../admin-keys/store.ts';
import type { ClientActKind } from '../clients/act-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { UpstreamActKind } from '../upstreams/act-store.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { adminKeyView } from './keys.ts';
import { readPage } from './paging.ts';
import * as keys from './route-schemas/admin-keys.ts';
import * as operators from './route-schemas/operators.ts';

/** What an operator made, in answers. */
export const madeView = ({ adminKeys, roles, apps, upstreams, access, hasMoreAccess }: Made, now: number) => ({
  adminKeys: adminKeys.map((key) => adminKeyView(key, now)),
  roles: roles.map(grantView),
  apps: apps.map(({ clientId, name, acts }) => ({ clientId, name, acts: acts.map((act) => ACTS[act]) })),
  upstreams: upstreams.map(({ upstreamId, name, acts }) => ({
    ...{ upstreamId, name },
    acts: acts.map((act) => UPSTREAM_ACTS[act]),
  })),
  access: access.map(accessView),
  hasMoreAccess,
});

/** One whom an operator let in. */
function accessView(one: MadeAccess) {
  const view = { kind: one.kind.replace(' ', '_'), clientId: null, groupId: null, organizationId: null, userId: null };
  switch (one.kind) {
    case 'assignment':
      return { ...view, clientId: one.clientId, ...namedIn(one.to) };
    case 'group member':
      return { ...view, groupId: one.groupId, userId: one.accountId };
    case 'member':
      return { ...view, organizationId: one.organizationId, userId: one.accountId };
  }
}

function namedIn(to: AssignedTo) {
  if (to.kind === 'person') return { userId: to.accountId };
  return to.kind === 'group' ? { groupId: to.groupId } : { organizationId: to.organizationId };
}

/** What the answer tells where a grant was taken away; undefined where nothing was made with it. */
export const takenView = (made: Made, ended: boolean, now: number) =>
  isNothing(made) ? undefined : { made: madeView(made, now), ended };

const ACTS = {
  registered: 'registered',
  accepted: 'accepted',
  enabled: 'enabled',
  approved: 'approved',
  secret: 'secret_added',
  'redirect URIs': 'redirect_uris_changed',
} as const satisfies Record<ClientActKind, string>;

const UPSTREAM_ACTS = {
  registered: 'registered',
  enabled: 'enabled',
  rights: 'rights_changed',
  client: 'client_changed',
} as const satisfies Record<UpstreamActKind, string>;

/** The roles of accounts, and the admin keys. */
export function operatorRoutes(admin: AdminApp, clock: Clock): void {
  admin.get('/operators', { schema: operators.listOperatorsSchema }, async (request) => {
    const { services, within } = callerOf(request);
    const { database } = services;
    return readPage(request.query, (page) => database.read(() => listGrants({ ...page, within })), grantView);
  });

  admin.get('/users/:id/roles', { schema: operators.listRolesSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id } = await openAccount(services, request.params.id, 'roles', origin);
    return { items: (await rolesOfAccount(services.database, id)).map(grantView), nextCursor: null };
  });

  const role = '/users/:id/roles/:role';
  admin.put(role, { schema: operators.grantRoleSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id, role } = request.params;
    return grantView(await grantRole(services, id, { ...request.body, role }, origin));
  });

  admin.delete(role, { schema: operators.revokeRoleSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id, role } = request.params;
    const { organizationId = null, ...query } = request.query;
    const endMade = query.endMade === 'true';
    const made = await revokeRole(services, id, { role, organizationId }, origin, { endMade });
    return { made: madeView(made, clock()), ended: endMade };
  });

  admin.post('/admin-keys', { schema: keys.createAdminKeySchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const { key, adminKey } = await createAdminKey(services, request.body, origin);
    return reply.code(201).send({ ...adminKeyView(key, clock()), adminKey });
  });

  admin.get('/admin-keys', { schema: keys.listAdminKeysSchema }, async (request) => {
    const { services, within } = callerOf(request);
    const { database } = services;
    return readPage(
      request.query,
      (page) => database.read(() => listAdminKeys({ ...page, within })),
      (key) => adminKeyView(key, clock()),
    );
  });

  admin.get('/admin-keys/:id', { schema: keys.readAdminKeySchema }, async (request) => {
    const { key, made } = await getAdminKey(callerOf(request).services, request.params.id);
    const now = clock();
    return { ...adminKeyView(key, now), made: madeView(made, now) };
  });

  admin.delete('/admin-keys/:id', { schema: keys.revokeAdminKeySchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const options = { takeOver: request.query.takeOver === 'true', endMade: request.query.endMade === 'true' };
    const revoked = await revokeAdminKey(services, request.params.id, origin, options);
    return { ...revoked, made: madeView(revoked.made, clock()) };
  });
}
