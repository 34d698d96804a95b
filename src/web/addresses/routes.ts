import type { FastifyInstance } from 'fastify';
import type { PageServices } from '../sign-in/routes.ts';
import { secureAccountRoutes } from './secure.ts';

/** The pages that links in messages about an address or an account open. */
export function addressRoutes(app: FastifyInstance, services: PageServices): void {
  secureAccountRoutes(app, services);
}
