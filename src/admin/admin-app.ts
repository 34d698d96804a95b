import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifySchema,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
} from 'fastify';
import type { Permission } from '../operators/permissions.ts';
import type { SchemaTypes } from '../platform/http/operation.ts';

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
  /** The body names a person, a group or an organization that is to use the app. */
  readonly assigned?: true;
}

declare module 'fastify' {
  interface FastifySchema {
    /** The permission that a route of the admin API requires. */
    permission?: Permission;
    objects?: RouteObjects;
    /** Whether it makes a link that can be used later. */
    handsOut?: true;
  }
}

/** The description of a route of the admin API. */
export interface AdminSchema extends FastifySchema {
  permission: Permission;
}

type AdminMethod = <const S extends AdminSchema>(
  url: string,
  options: { readonly schema: S },
  handler: RouteHandlerMethod<
    RawServerDefault,
    RawRequestDefaultExpression,
    RawReplyDefaultExpression,
    RouteGenericInterface,
    ContextConfigDefault,
    S,
    SchemaTypes,
    FastifyBaseLogger
  >,
) => unknown;

/** The app as the routes of the admin API see it: a route without a permission does not compile. */
export type AdminApp = Readonly<Record<'get' | 'post' | 'put' | 'patch' | 'delete', AdminMethod>>;
