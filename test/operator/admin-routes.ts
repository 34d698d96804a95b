import fastify from 'fastify';
import { adminRoutes } from '../../src/admin/routes.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { pictures } from '../../src/pictures/pictures.ts';
import { HASH_COST, passwords } from '../../src/platform/crypto/passwords.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { OutgoingFailed } from '../../src/platform/http/outgoing.ts';
import { compileValidator } from '../../src/platform/http/parameters.ts';
import { leasedIds } from '../../src/platform/ids/ids.ts';
import { readConfig } from '../../src/settings/config.ts';
import { untraced } from '../../src/traces/recorder.ts';
import { NO_MAIL } from '../support/no-mail.ts';

export interface AdminRoute {
  readonly method: string;
  readonly url: string;
}

/** Every route of the admin API, as the server registers it: a new one is in every matrix by itself. */
export async function adminRouteTable(): Promise<AdminRoute[]> {
  const database = await openSqlite(':memory:', toCurrentSchema);
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => JSON.stringify);
  const routes: AdminRoute[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, url });
  });
  adminRoutes(app, {
    ...NO_MAIL,
    database,
    clock: Date.now,
    ids: leasedIds(database, Date.now),
    passwords: passwords(1, HASH_COST),
    breaches: { includes: async () => false },
    pictures: pictures(),
    limits: readConfig({}).limits,
    secondFactor: 'offered',
    signUp: { mode: 'closed', domains: [] },
    developers: { policy: 'off', mostApps: 20 },
    outgoing: () => Promise.reject(new OutgoingFailed('nothing is sent')),
    adminKey: undefined,
    keys: {} as never,
    commandLineSignIn: true,
    recordThrottled: async () => {},
    refusals: { database, recordThrottled: async () => {} },
    traces: untraced,
    traceRetention: null,
  });
  await app.ready();
  await app.close();
  await database.close();
  return routes;
}
