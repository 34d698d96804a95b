import { listGrants } from '../access/operator-grant-store.ts';
import type { AssignedTo } from '../access/store.ts';
import { openAccount } from '../account-actions/accounts/accounts.ts';
import { createAdminKey, getAdminKey, revokeAdminKey } from '../account-actions/makers/admin-keys.ts';
import { grantRole } from '../account-actions/makers/grant-role.ts';
import { isNothing, type Made } from '../account-actions/makers/list-made.ts';
import type { MadeAccess } from '../account-actions/makers/made-access.ts';
import type { MadeAccountAct } from '../account-actions/makers/made-accounts.ts';
import { revokeRole } from '../account-actions/makers/revoke-role.ts';
import { grantView, rolesOfAccount } from '../account-actions/operators/grants.ts';
import type { OpeningKind } from '../accounts/opening-store.ts';
import { listAdminKeys } from '../admin-keys/store.ts';
import type { ClientActKind } from '../clients/act-store.ts';
import type { FormerRight } from '../operators/right-change-store.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import type { UpstreamActKind } from '../upstreams/act-store.ts';
import type { AdminApp } from './admin-app.ts';
import { callerOf } from './guard.ts';
import { adminKeyView } from './keys.ts';
import { readPage } from './paging.ts';
import * as keys from './route-schemas/admin-keys.ts';
import * as operators from './route-schemas/operators.ts';

/** What an operator made, in answers. */
export const madeView = ({ through, ...made }: Made, now: number) => ({
  ...madeAloneView(made, now),
  through: through.map(({ accountId, acts, since, until, ends, made: own }) => ({
    userId: accountId,
    acts: acts.map((act) => ACCOUNT_ACTS[act]),
    since: iso(since),
    until: until === null ? null : iso(until),
    ends,
    made: madeAloneView(own, now),
  })),
});

const madeAloneView = (made: Omit<Made, 'through'>, now: number) => ({
  adminKeys: made.adminKeys.map((key) => adminKeyView(key, now)),
  roles: made.roles.map(grantView),
  apps: made.apps.map(({ clientId, name, acts }) => ({ clientId, name, acts: acts.map((act) => ACTS[act]) })),
  unblockedDomains: made.unblockedDomains,
  settings: made.settings.map(({ kind, id, name, fields, left, disables }) => ({
    ...{ kind, id, name, fields, left, disables },
  })),
  upstreams: made.upstreams.map(({ upstreamId, name, acts }) => ({
    ...{ upstreamId, name },
    acts: acts.map((act) => UPSTREAM_ACTS[act]),
  })),
  access: made.access.map(accessView),
  hasMoreAccess: made.hasMoreAccess,
  changedRights: made.changedRights.map(({ former, isWhole }) => ({ ...formerView(former), asBefore: isWhole })),
  hasMoreChangedRights: made.hasMoreChangedRights,
  accounts: made.accounts.map(({ accountId, acts, ends }) => ({
    userId: accountId,
    acts: acts.map((act) => ACCOUNT_ACTS[act]),
    ends,
  })),
  hasMoreAccounts: made.hasMoreAccounts,
});

/** A right as it was before. */
const formerView = (right: FormerRight) => ({
  kind: right.kind,
  clientId: right.kind === 'assignment' ? right.clientId : null,
  groupId: right.kind === 'assignment' ? right.groupId : null,
  organizationId: right.organizationId,
  userId: right.accountId,
  role: right.role,
  expiresAt: right.kind === 'role' ? isoOrNull(right.expiresAt) : null,
});

/** One whom an operator let in. */
function accessView(one: MadeAccess) {
  const view = { kind: one.kind.replace(' ', '_'), clientId: null, groupId: null, organizationId: null, userId: null };
  switch (one.kind) {
    case 'assignment':
      return { ...view, clientId: one.clientId, ...namedIn(one.to) };
    case 'group member':
    case 'member through provider':
      return { ...view, kind: 'group_member', groupId: one.groupId, userId: one.accountId };
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
} as const satisfies Record<ClientActKind, string>;

const UPSTREAM_ACTS = {
  registered: 'registered',
  enabled: 'enabled',
  rights: 'rights_changed',
  client: 'client_changed',
} as const satisfies Record<UpstreamActKind, string>;

const ACCOUNT_ACTS = {
  created: 'created',
  invited: 'invited',
  address: 'address_changed',
  password: 'password_set',
  username: 'username_changed',
  'factor removed': 'factor_removed',
  recovered: 'recovered',
  'let in again': 'let_in_again',
  joined: 'joined_through_provider',
  connected: 'connected_to_provider',
  written: 'written_through_provider',
} as const satisfies Record<MadeAccountAct | OpeningKind, string>;

/** The roles of accounts, and the admin keys. */
export function operatorRoutes(admin: AdminApp, clock: Clock): void {
  admin.get('/operators', { schema: operators.listOperatorsSchema }, async (request) => {
    const { services, reach } = callerOf(request);
    const { database } = services;
    return readPage(request.query, (page) => database.read(() => listGrants(page, reach)), grantView);
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
    const endMade = request.query.endMade === 'true';
    const { grant, made } = await grantRole(services, id, { ...request.body, role }, origin, { endMade });
    return { ...grantView(grant), ...takenView(made, endMade, clock()) };
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
    const { services, reach } = callerOf(request);
    const { database } = services;
    return readPage(
      request.query,
      (page) => database.read(() => listAdminKeys(page, reach)),
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
