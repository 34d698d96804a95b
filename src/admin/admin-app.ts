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
import type { RouteObjects } from '../account-actions/admission/admission.ts';
import type { Permission } from '../operators/permissions.ts';
import type { SchemaTypes } from '../platform/http/operation.ts';

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
