import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { adminKeyNotFound, findAdminKey } from '../../admin-keys/store.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { findClient } from '../../clients/store.ts';
import { findGroup } from '../../groups/store.ts';
import { findInvitation } from '../../invitations/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { actsOnStronger, lacksPermission } from '../../operators/refusal.ts';
import {
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
  /** The body may name an upstream of the installation that is to maintain what is made. */
  readonly upstreamOfBody?: true;
  /** The body names a person, a group or an organization that is to use the app. */
  readonly assigned?: true;
}

/** What a request asks for. */
export interface Asked {
  readonly permission: Permission;
  readonly objects: RouteObjects;
  /** Whether it changes something. */
  readonly acts: boolean;
  readonly params: Readonly<Record<string, unknown>>;
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
}

/**
 * Decides whether an operator may do what a request asks for, at the beginning of each of its units of work: decisions §12. What the
 * operator may not see is answered like what does not exist; only then is a missing permission named.
 * @throws {Failure} `not found`, or {@link InsufficientPermission}
 */
export function* admit(operator: Operator, asked: Asked, admission: Admission): Work<void> {
  if (holdsEverything(operator)) return;
  const { permission, objects } = asked;
  const place = yield* placeOf(operator, asked);
  if (objects.person !== undefined) yield* requirePerson(operator, asked, place, admission);
  if (objects.inOrganizationOfBody === true) yield* requireOrganizationOfBody(operator, asked);
  if (objects.upstreamOfBody === true) requireUpstreamOfBody(operator, asked);
  if (objects.assigned === true && place !== undefined) yield* requireAssignable(operator, asked, place);
  // A list shows what the operator reaches.
  if (!holdsSomewhere(operator, permission)) throw lacksPermission(permission);
}

/** Where the objects of the path are, apart from a person; undefined where there is none. */
function* placeOf(operator: Operator, { permission, objects, params }: Asked): Work<Place | undefined> {
  const named: (readonly [Kind, unknown])[] = [];
  if (objects.organization !== undefined) named.push([ORGANIZATION, params[objects.organization]]);
  if (objects.group !== undefined) named.push([GROUP, params[objects.group]]);
  for (const parameter of objects.app ?? []) named.push([APP, params[parameter]]);
  if (objects.invitation !== undefined) named.push([INVITATION, params[objects.invitation]]);
  if (objects.adminKey !== undefined) named.push([ADMIN_KEY, params[objects.adminKey]]);
  let first: Place | undefined;
  for (const [kind, id] of named) {
    const place = yield* seen(operator, kind, id, permission);
    if (!holds(operator, permission, place)) throw lacksPermission(permission);
    first ??= place;
  }
  return first;
}

/**
 * The place of an object that an operator may see.
 * @throws {Failure} `not found`
 */
function* seen(operator: Operator, kind: Kind, id: unknown, permission: Permission): Work<Place> {
  // The act itself says where there is no such object.
  if (holds(operator, kind.see, INSTALLATION) && holds(operator, permission, INSTALLATION)) return INSTALLATION;
  const place = isSnowflake(String(id)) ? yield* kind.find(String(id)) : undefined;
  if (place === undefined) throw kind.notFound(String(id));
  if (!holds(operator, kind.see, place)) throw hidden(kind.notFound(String(id)), kind.see);
  return place;
}

/** The person whom the path names. Nobody acts on somebody who holds a permission that they lack. */
function* requirePerson(operator: Operator, asked: Asked, place: Place | undefined, admission: Admission): Work<void> {
  const { permission, objects, params, acts } = asked;
  const accountId = String(params[objects.person ?? 'id']);
  yield* requireSeenPerson(operator, accountId, permission, place);
  if (!holds(operator, permission, place ?? INSTALLATION)) throw lacksPermission(permission);
  if (!acts) return;
  if (admission.locks) yield* takeAccountLock({ id: accountId });
  const lacking = lackingOf(operator, yield* liveGrantsOf(accountId, admission.now));
  if (lacking !== undefined) throw actsOnStronger(lacking);
}

/** Of people, a role of an organization sees its members alone. */
function* requireSeenPerson(
  operator: Operator,
  accountId: string,
  permission: Permission,
  place: Place | undefined,
): Work<void> {
  if (holds(operator, PERSON.see, INSTALLATION)) {
    yield* seen(operator, PERSON, accountId, permission);
    return;
  }
  const organizationId = place?.organizationId ?? null;
  if (organizationId !== null && isSnowflake(accountId)) {
    if ((yield* findMember({ accountId, organizationId })) !== undefined) return;
  }
  throw hidden(userNotFound(accountId), PERSON.see);
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
function* requireAssignable(operator: Operator, { permission, body }: Asked, place: Place): Work<void> {
  if (holds(operator, permission, INSTALLATION)) return;
  const { userId, groupId, organizationId } = body;
  if (userId !== undefined) yield* requireSeenPerson(operator, String(userId), permission, place);
  if (groupId !== undefined) yield* seen(operator, GROUP, groupId, permission);
  if (organizationId !== undefined) yield* seen(operator, ORGANIZATION, organizationId, permission);
}
