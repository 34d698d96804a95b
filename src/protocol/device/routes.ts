import type { FastifyInstance } from 'fastify';
import { registerCommandLine } from '../../clients/command-line.ts';
import { COMMAND_LINE_ID } from '../../clients/rules/command-line.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import { acceptClients, answer, fromClient } from '../client-authentication/client-requests.ts';
import { authorizeDeviceSchema } from './route-schemas.ts';
import { DEVICE_AUTHORIZATION_PATH, type DeviceServices, startDevice } from './start.ts';

/** HB-04: the apps of televisions are pages. */
const PAGES = { config: { readers: 'registered' } } as const;

/** The device authorization endpoint: RFC 8628 §3.1. */
export function deviceRoutes(app: FastifyInstance, services: DeviceServices): void {
  app.register(async (scope) => {
    acceptClients(scope);
    scope.post(DEVICE_AUTHORIZATION_PATH, { ...PAGES, schema: authorizeDeviceSchema }, async (request, reply) => {
      // Most installations never need it.
      if ((request.body as Parameters).get('client_id') === COMMAND_LINE_ID) await registerCommandLine(services);
      const { parameters, authenticated } = await fromClient(services, request, reply, DEVICE_AUTHORIZATION_PATH);
      return answer(reply, await startDevice(services, authenticated, parameters));
    });
  });
}
