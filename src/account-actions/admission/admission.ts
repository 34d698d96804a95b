import { grantsOf, liveGrantsOf } from '../../access/operator-grant-store.ts';
import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { lackingForKeysOf } from '../../admin-keys/live.ts';
import { adminKeyNotFound, findAdminKey } from '../../admin-keys/store.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { findClient } from '../../clients/store.ts';
import { findGroup } from '../../groups/store.ts';
import { findInvitation } from '../../invitations/store.ts';
import { type Permission, takesOver } from '../../operators/permissions.ts';
import {
  actsOnStronger,
  beyondForKey,
  lacksPermission,
  reachesOwnAlone,
  takesOverBeyond,
} from '../../operators/refusal.ts';
import {
  excessAmong,
  holds,
  holdsEverything,
  holdsSomewhere,
  INSTALLATION,
  lackingOf,
  type Operator,
  type Place,
} from '../../operators/rights.ts';
import { findMember, findOrganization, organizationNotFound } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { Failure } from '../../platform/failure.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { groupNotFound } from '../access/groups.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { invitationNotFound } from '../invitations/invitations.ts';
import { requireIndependent } from '../makers/independent.ts';

/** What a route is about: the parameters of its path, or the fields of its body, that name the objects. */
export interface RouteObjects {
  readonly person?: 'id' | 'userId';
  readonly organization?: 'id';
  readonly group?: 'id';
  readonly app?: readonly ('clientId' | 'allowedClientId')[];
  readonly invitation?: 'id';
  readonly adminKey?: 'id';
  /** It is done in the organization that the body names by `organizationId`; without that, in the installation. */
  readonly inOrganizationOfBody?: true;
  /** It is done in the organization that the query names by `organizationId`; without that, in the installation. */
  readonly inOrganizationOfQuery?: true;
  /** The body may name an upstream of the installation that is to maintain what is made. */
  readonly upstreamOfBody?: true;
  /** The body names a person, a group or an organization that is to use the app. */
  readonly assigned?: true;
  /** It only takes back what was to end the account of the person. */
  readonly keepsPerson?: true;
}

/** What a request asks for. */
export interface Asked {
  readonly permission: Permission;
  readonly objects: RouteObjects;
  /** Whether it changes something. */
  readonly acts: boolean;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The person whom a request is about, as far as it names one that may exist. */
export function personIn({ objects: { person }, params }: Pick<Asked, 'objects' | 'params'>): string | undefined {
  const id = person === undefined ? undefined : String(params[person]);
  return id !== undefined && isSnowflake(id) ? id : undefined;
}

/** A kind of object that a request names: what it takes to see one, and how it is found. */
interface Kind {
  readonly see: Permission;
  readonly find: (id: string) => Work<Place | undefined>;
  readonly notFound: (id: string) => Failure;
}

const placed = (found: { readonly organizationId: string | null } | undefined): Place | undefined =>
  found && { organizationId: found.organizationId, developerId: null };

const PERSON: Kind = {
  see: 'users.read',
  *find(id) {
    return (yield* findAccount({ id })) && INSTALLATION;
  },
  notFound: userNotFound,
};

const ORGANIZATION: Kind = {
  see: 'organizations.read',
  *find(id) {
    const found = yield* findOrganization({ id });
    return placed(found && { organizationId: found.id });
  },
  notFound: organizationNotFound,
};

const GROUP: Kind = {
  see: 'groups.read',
  *find(id) {
    return placed(yield* findGroup({ id }));
  },
  notFound: groupNotFound,
};

const APP: Kind = {
  see: 'apps.read',
  *find(id) {
    const found = yield* findClient({ id });
    return found && { organizationId: found.organizationId, developerId: found.developerId };
  },
  notFound: clientNotFound,
};

const INVITATION: Kind = {
  see: 'invitations.read',
  *find(id) {
    return placed(yield* findInvitation({ id }));
  },
  notFound: invitationNotFound,
};

const ADMIN_KEY: Kind = {
  see: 'operators.read',
  *find(id) {
    return placed(yield* findAdminKey({ id }));
  },
  notFound: adminKeyNotFound,
};

interface Admission {
  readonly now: number;
  /** Whether the unit of work writes, and so keeps what the decision rests on from changing. */
  readonly locks: boolean;
  /**
   * Where objects were when an earlier unit of work of the request found them, by their ids: what the request removes itself does not deny it
   * the rest. What is there counts where it is now.
   */
  readonly places?: Map<string, Place>;
}

/**
 * Decides whether an operator may do what a request asks for, at the beginning of each of its units of work: decisions §12. What the
 * operator may not see is answered like what does not exist; only then is a missing permission named.
 * @throws {Failure} `not found`, or {@link InsufficientPermission}
 */
export function* admit(operator: Operator, asked: Asked, admission: Admission): Work<void> {
  const taken = asked.acts && TAKING.has(asked.permission) && !asked.objects.keepsPerson ? personIn(asked) : undefined;
  if (taken !== undefined) yield* requireIndependent(operator, taken, asked.permission, admission.now);
  if (holdsEverything(operator)) return;
  const { permission, objects } = asked;
  const place = yield* placeOf(operator, asked, admission.places);
  if (objects.person !== undefined) yield* requirePerson(operator, asked, place, admission);
  if (objects.inOrganizationOfBody === true) yield* requireOrganizationOfBody(operator, asked);
  if (objects.upstreamOfBody === true) requireUpstreamOfBody(operator, asked);
  if (objects.assigned === true && place !== undefined) yield* requireAssignable(operator, asked, place);
  // A list shows what the operator reaches.
  if (!holdsSomewhere(operator, permission)) throw lacksPermission(permission);
}

/** Where the objects of the path are, apart from a person; undefined where there is none. */
function* placeOf(
  operator: Operator,
  { permission, objects, params }: Asked,
  places: Map<string, Place> | undefined,
): Work<Place | undefined> {
  const named: (readonly [Kind, unknown])[] = [];
  if (objects.organization !== undefined) named.push([ORGANIZATION, params[objects.organization]]);
  if (objects.group !== undefined) named.push([GROUP, params[objects.group]]);
  for (const parameter of objects.app ?? []) named.push([APP, params[parameter]]);
  if (objects.invitation !== undefined) named.push([INVITATION, params[objects.invitation]]);
  if (objects.adminKey !== undefined) named.push([ADMIN_KEY, params[objects.adminKey]]);
  let first: Place | undefined;
  for (const [kind, id] of named) {
    const place = yield* seen(operator, kind, id, permission, places);
    if (!holds(operator, permission, place)) throw lacksPermission(permission);
    first ??= place;
  }
  return first;
}

/**
 * The place of an object that an operator may see.
 * @throws {Failure} `not found`
 */
function* seen(
  operator: Operator,
  kind: Kind,
  id: unknown,
  permission: Permission,
  places?: Map<string, Place>,
): Work<Place> {
  // The act itself says where there is no such object.
  if (holds(operator, kind.see, INSTALLATION) && holds(operator, permission, INSTALLATION)) return INSTALLATION;
  const found = isSnowflake(String(id)) ? yield* kind.find(String(id)) : undefined;
  const place = found ?? places?.get(String(id));
  if (place === undefined) throw kind.notFound(String(id));
  if (!holds(operator, kind.see, place)) throw hidden(kind.notFound(String(id)), kind.see);
  places?.set(String(id), place);
  return place;
}

/** Where something is done that a route puts in no object of its path: a role is given in the organization that the request names. */
function placeNamed({ objects, query, body }: Asked): Place {
  const { organizationId } = objects.inOrganizationOfQuery === true ? query : body;
  const isNamed = objects.inOrganizationOfQuery === true || objects.inOrganizationOfBody === true;
  return isNamed && isSnowflake(String(organizationId))
    ? { ...INSTALLATION, organizationId: String(organizationId) }
    : INSTALLATION;
}

/**
 * The person whom the path names. Nobody acts on somebody who holds a permission that they lack, nor on how somebody signs in who holds
 * one for longer.
 */
function* requirePerson(operator: Operator, asked: Asked, place: Place | undefined, admission: Admission): Work<void> {
  const { permission, objects, params, acts } = asked;
  const accountId = String(params[objects.person ?? 'id']);
  const where = place ?? placeNamed(asked);
  yield* requireReachedPerson(operator, accountId, asked, where);
  if (!holds(operator, permission, where)) throw lacksPermission(permission);
  if (!acts) return;
  if (admission.locks) yield* takeAccountLock({ id: accountId });
  const held = yield* liveGrantsOf(accountId, admission.now);
  const lacking = lackingOf(operator, held);
  if (lacking !== undefined) throw actsOnStronger(lacking);
  const excess = takesOver(permission) ? excessAmong(operator, held) : undefined;
  if (excess !== undefined) throw takesOverBeyond(permission, excess);
  const lackingForKeys = BARRING.has(permission)
    ? yield* lackingForKeysOf(operator, accountId, admission.now)
    : undefined;
  if (lackingForKeys !== undefined) throw beyondForKey(lackingForKeys);
}

/**
 * What these allow changes how somebody signs in, or takes the account from them for good, and with it every report. Of `users.update`, a few
 * fields do: see `updateAccount`.
 */
const TAKING: ReadonlySet<Permission> = new Set([
  ...(['users.recovery_link', 'users.remove_factor', 'users.delete'] as const),
]);

/** What these allow ends the keys that a person made, or revives them; they may be stronger than what the person holds now. */
const BARRING: ReadonlySet<Permission> = new Set([
  ...(['users.ban', 'users.suspend', 'users.reinstate', 'users.delete'] as const),
]);

/**
 * Of people, a role of an organization reaches its members alone, and who holds one of its roles. Who sees everybody by a role of the
 * installation does not act on everybody by that of an organization.
 */
function* requireReachedPerson(
  operator: Operator,
  accountId: string,
  { permission, acts }: Asked,
  place: Place,
): Work<void> {
  const sees = holds(operator, PERSON.see, INSTALLATION);
  if (sees && (!acts || holds(operator, permission, INSTALLATION))) {
    yield* seen(operator, PERSON, accountId, permission);
    return;
  }
  if (holds(operator, permission, place) && (yield* belongsTo(place, accountId))) return;
  if (!sees) throw hidden(userNotFound(accountId), PERSON.see);
  yield* seen(operator, PERSON, accountId, permission);
  throw holds(operator, permission, place) ? reachesOwnAlone(permission) : lacksPermission(permission);
}

/** Whether a person is a member of an organization, or holds one of its roles. */
function* belongsTo({ organizationId }: Place, accountId: string): Work<boolean> {
  if (organizationId === null || !isSnowflake(accountId)) return false;
  if ((yield* findMember({ accountId, organizationId })) !== undefined) return true;
  return (yield* grantsOf(accountId)).some((grant) => grant.organizationId === organizationId);
}

/** The answer for what does not exist. For the operator of the service, its trace names the permission that is missing. */
const hidden = (failure: Failure, permission: Permission): Failure =>
  new Failure(failure.kind, failure.message, { reason: `not visible without ${permission}` });

/** The organization in which something is made. */
function* requireOrganizationOfBody(operator: Operator, { permission, body }: Asked): Work<void> {
  const { organizationId = null } = body;
  const place = organizationId === null ? INSTALLATION : { ...INSTALLATION, organizationId: String(organizationId) };
  if (holds(operator, permission, place)) return;
  if (organizationId !== null) yield* seen(operator, ORGANIZATION, organizationId, permission);
  throw lacksPermission(permission);
}

/** Upstreams are of the installation: what they maintain is not for a role of an organization to say. */
function requireUpstreamOfBody(operator: Operator, { body }: Asked): void {
  if (body['upstreamId'] === undefined || holds(operator, 'upstreams.manage', INSTALLATION)) return;
  throw lacksPermission('upstreams.manage');
}

/** A role of an organization lets its members, its groups and itself use its apps. */
function* requireAssignable(operator: Operator, asked: Asked, place: Place): Work<void> {
  const { permission, body } = asked;
  if (holds(operator, permission, INSTALLATION)) return;
  const { userId, groupId, organizationId } = body;
  if (userId !== undefined) yield* requireReachedPerson(operator, String(userId), asked, place);
  if (groupId !== undefined) yield* requireReached(operator, GROUP, groupId, permission);
  if (organizationId !== undefined) yield* requireReached(operator, ORGANIZATION, organizationId, permission);
}

/** Who sees an object by a role of the installation does not act on it by that of another organization. */
function* requireReached(operator: Operator, kind: Kind, id: unknown, permission: Permission): Work<void> {
  const place = yield* seen(operator, kind, id, permission);
  if (!holds(operator, permission, place)) throw reachesOwnAlone(permission);
}
