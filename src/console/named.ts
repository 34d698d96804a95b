import type { FastifyRequest } from 'fastify';
import { groupNotFound } from '../account-actions/access/groups.ts';
import { userNotFound } from '../account-actions/accounts/accounts.ts';
import type { RouteObjects } from '../account-actions/admission/admission.ts';
import { invitationNotFound } from '../account-actions/invitations/invitations.ts';
import { adminKeyNotFound } from '../admin-keys/store.ts';
import { clientNotFound } from '../clients/clients.ts';
import { organizationNotFound } from '../organizations/store.ts';
import type { Failure } from '../platform/failure.ts';
import { formOf } from '../platform/http/bodies.ts';
import { queryOf } from '../platform/http/parameters.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { typedIn } from './typed.ts';

/** The objects that a request names: admission judges these, and an act is done to these. */
export interface NamedObjects {
  readonly id: string | undefined;
  readonly userId: string | undefined;
  readonly clientId: string | undefined;
  readonly organizationId: string | undefined;
  /** By what an operator looks for a person, on the page of an act; empty for none. A form names a person by ID alone. */
  readonly member: string;
}

/** The longest address of a person, in characters. */
const LONGEST_NAME = 254;

/** Reads the names of objects in the path, and in the query of a page or in its form. */
export function namedIn(request: FastifyRequest): NamedObjects {
  const isForm = request.method === 'POST';
  const given = isForm ? formOf(request) : queryOf(request);
  return {
    ...{ id: given.get('id'), userId: given.get('user'), clientId: given.get('app') },
    // A choice among places may be that of none.
    organizationId: given.get('organization') || undefined,
    ...(request.params as Readonly<Record<string, string>>),
    member: isForm ? '' : typedIn(given, 'member', LONGEST_NAME),
  };
}

/** How much of an id that is none is said again. */
const LONGEST_ID = 64;

const NOT_FOUND = {
  person: userNotFound,
  organization: organizationNotFound,
  group: groupNotFound,
  app: clientNotFound,
  invitation: invitationNotFound,
  adminKey: adminKeyNotFound,
} as const satisfies Partial<Record<keyof RouteObjects, (id: string) => Failure>>;

/**
 * Refuses what cannot be the id of an object before it is looked up: PostgreSQL compares ids with numbers alone.
 * @throws {Failure} `not found`
 */
export function requireIds(objects: RouteObjects, named: NamedObjects): void {
  const names: Readonly<Record<string, string | undefined>> = { ...named };
  for (const kind of Object.keys(NOT_FOUND) as (keyof typeof NOT_FOUND)[]) {
    for (const parameter of [objects[kind] ?? []].flat()) {
      requireId(kind, names[parameter] ?? '');
    }
  }
  // A page may name these without being about them.
  if (named.userId !== undefined) requireId('person', named.userId);
  if (objects.inOrganizationOfBody === true && named.organizationId !== undefined) {
    requireId('organization', named.organizationId);
  }
}

function requireId(kind: keyof typeof NOT_FOUND, id: string): void {
  if (!isSnowflake(id)) throw NOT_FOUND[kind](id.slice(0, LONGEST_ID));
}
