import type { FastifyInstance } from 'fastify';
import type { PageServices } from '../sign-in/routes.ts';
import { secureAccountRoutes } from './secure.ts';
import { undoRoutes } from './undo.ts';
import { confirmAddressRoutes } from './verify.ts';

/** The pages that links in messages about an address or an account open. */
export function addressRoutes(app: FastifyInstance, services: PageServices): void {
  secureAccountRoutes(app, services);
  confirmAddressRoutes(app, services);
  undoRoutes(app, services);
}
