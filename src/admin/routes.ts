import type { FastifyInstance, FastifyReply } from 'fastify';
import { getAccount, openAccount, setPicture, signOutEverywhere } from '../account-actions/accounts/accounts.ts';
import { createAccount } from '../account-actions/accounts/create-account.ts';
import { releaseUsername } from '../account-actions/accounts/usernames.ts';
import { createRecoveryLink } from '../account-actions/addresses/operator-link.ts';
import { updateAccount } from '../account-actions/addresses/update-account.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../account-actions/connections/connections.ts';
import { withSharedNames } from '../account-actions/connections/shared-names.ts';
import { endSessions } from '../account-actions/sign-in/end-sessions.ts';
import { endWeakerAccess } from '../account-actions/sign-in/end-weaker.ts';
import { type Account, listAccounts, searchAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { searchEvents } from '../audit/search-store.ts';
import {
  createClient,
  deleteClient,
  endSecret,
  getClient,
  listClientsWithSecrets,
  readClientRecord,
  rotateSecret,
  setClientPicture,
  updateClient,
} from '../clients/clients.ts';
import { refuseBuiltIn } from '../clients/command-line.ts';
import { approveConsent, withdrawApproval } from '../clients/consent-approval.ts';
import { FACES_DEPRECATED, type FormerEndpoints } from '../clients/former-endpoints.ts';
import { clientView, secretView } from '../clients/view.ts';
import { listMails, mailView } from '../mail/operate.ts';
import { LARGEST_PICTURE, PICTURE_TYPES, requirePicture } from '../pictures/pictures.ts';
import { type Clock, iso } from '../platform/clock.ts';
import { invalid } from '../platform/failure.ts';
import { acceptJson } from '../platform/http/bodies.ts';
import type { SchemaTypes } from '../platform/http/operation.ts';
import { acceptFiles, uploadFlows } from '../platform/http/uploads.ts';
import { isSid, listSessions, sessionView } from '../sessions/list.ts';
import { appLog } from '../traces/app-log.ts';
import { getTrace, listSteps } from '../traces/read-trace.ts';
import { assignmentRoutes, groupRoutes } from './access-routes.ts';
import type { AdminApp } from './admin-app.ts';
import { apiScopeRoutes } from './api-scope-routes.ts';
import { type AdminServices, callerOf, requireAdminKey } from './guard.ts';
import { answerOnce } from './idempotency.ts';
import { operatorRoutes } from './operator-routes.ts';
import { adminInvitationRoutes, organizationRoutes } from './organization-routes.ts';
import { readBoundedPage, readPage } from './paging.ts';
import { ADMIN_PATH } from './path.ts';
import * as clients from './route-schemas/clients.ts';
import { approveConsentSchema, withdrawApprovalSchema } from './route-schemas/consent-approval.ts';
import * as events from './route-schemas/events.ts';
import { listMailSchema } from './route-schemas/mail.ts';
import * as pictures from './route-schemas/pictures.ts';
import { endWeakerAccessSchema } from './route-schemas/second-factor.ts';
import * as sessionSchemas from './route-schemas/sessions.ts';
import { listTraceStepsSchema, readAppLogSchema, readTraceSchema } from './route-schemas/traces.ts';
import * as users from './route-schemas/users.ts';
import { scopeRequestRoutes } from './scope-request-routes.ts';
import { standingRoutes } from './standing-routes.ts';
import { supportRoutes } from './support-routes.ts';
import { unregisteredRoutes } from './unregistered-routes.ts';
import { identityRoutes, upstreamRoutes } from './upstream-routes.ts';
import { versionRecords } from './versions.ts';

/** The admin API: decisions §7. Every route requires an admin key. */
export function adminRoutes(app: FastifyInstance, services: AdminServices): void {
  app.register(
    async (scope) => {
      requireAdminKey(scope, services);
      adminOperations(scope, services.clock);
    },
    { prefix: ADMIN_PATH },
  );
}

/**
 * The routes themselves, in a scope that says who calls. They use the services of their caller, whose database checks what the caller may
 * do, and are given no others.
 */
export function adminOperations(scope: FastifyInstance, clock: Clock): void {
  const admin = scope.withTypeProvider<SchemaTypes>();
  acceptJson(admin);
  // A request without a body sets no fields. The JSON text `null` is a body, and is rejected by the schema.
  admin.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
  admin.addHook('preHandler', async ({ method, params, routeOptions: { schema } }) => {
    if (method === 'GET' || method === 'HEAD') return;
    for (const name of schema?.objects?.app ?? []) refuseBuiltIn((params as Readonly<Record<string, unknown>>)[name]);
  });
  versionRecords(admin);
  answerOnce(admin);
  admin.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });

  userRoutes(admin, clock);
  standingRoutes(admin, clock);
  supportRoutes(admin);
  clientRoutes(admin, clock);
  pictureRoutes(admin, clock);
  secondFactorRoutes(admin);
  organizationRoutes(admin, clock);
  groupRoutes(admin);
  assignmentRoutes(admin);
  apiScopeRoutes(admin);
  scopeRequestRoutes(admin, clock);
  unregisteredRoutes(admin, clock);
  upstreamRoutes(admin);
  identityRoutes(admin);
  adminInvitationRoutes(admin);
  mailRoutes(admin);
  eventRoutes(admin);
  traceRoutes(admin, clock);
  operatorRoutes(admin, clock);
}

function userRoutes(admin: AdminApp, clock: Clock): void {
  const view = (account: Account) => accountView(account, clock());

  admin.post('/users', { schema: users.createUserSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const by = { kind: 'operator', operator: services.operator } as const;
    const account = await createAccount(services, request.body, by, origin);
    return reply.code(201).send(view(account));
  });
  admin.get('/users', { schema: users.listUsersSchema }, async (request) => {
    const { database } = callerOf(request).services;
    const { query } = request;
    const { q: text } = query;
    if (text === undefined) return readPage(query, (page) => database.read(() => listAccounts(page)), view);
    return readBoundedPage(query, (page) => searchAccounts(database, { ...page, text }), view);
  });
  admin.get('/users/:id', { schema: users.readUserSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return view(await openAccount(services, request.params.id, 'record', origin));
  });
  admin.patch('/users/:id', { schema: users.updateUserSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return view(await updateAccount(services, request.params.id, request.body, origin));
  });
  admin.post(
    '/users/:id/recovery-link',
    { schema: sessionSchemas.createRecoveryLinkSchema },
    async (request, reply) => {
      const { services, origin } = callerOf(request);
      const { resetFactors = false, address } = request.body;
      const asked = { resetFactors, address };
      const { url, expiresAt, email } = await createRecoveryLink(services, request.params.id, asked, origin);
      return reply.code(201).send({ url, expiresAt: iso(expiresAt), email });
    },
  );
  admin.delete('/held-usernames/:username', { schema: users.releaseUsernameSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await releaseUsername(services, request.params.username.toLowerCase(), origin);
    return reply.code(204).send();
  });
  admin.get('/users/:id/connections', { schema: sessionSchemas.listConnectionsSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { id } = await openAccount(services, request.params.id, 'connections', origin);
    return { items: (await connectionsOf(services, id)).map(connectionView), nextCursor: null };
  });
  admin.delete(
    '/users/:id/connections/:clientId',
    { schema: sessionSchemas.revokeConnectionSchema },
    async (request, reply) => {
      const { services, origin } = callerOf(request);
      await revokeAccessOf(services, request.params.id, request.params.clientId, origin);
      return reply.code(204).send();
    },
  );
  admin.get('/users/:id/sessions', { schema: sessionSchemas.listSessionsSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const account = await openAccount(services, request.params.id, 'sessions', origin);
    return { items: (await listSessions(services, account)).map(sessionView), nextCursor: null };
  });
  admin.delete('/users/:id/sessions', { schema: sessionSchemas.endSessionsSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await signOutEverywhere(services, request.params.id, origin);
    return reply.code(204).send();
  });
  admin.delete('/users/:id/sessions/:sessionId', { schema: sessionSchemas.endSessionSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const account = await getAccount(services, request.params.id);
    const { sessionId: sid } = request.params;
    const { sessions } = isSid(sid) ? await endSessions(services, account, { sid }, origin) : { sessions: [] };
    return { ended: sessions.length > 0 };
  });
}

/** RFC 9745: the answer to a request that uses a deprecated field says so. */
function announceRemoval({ faces }: FormerEndpoints, reply: FastifyReply): void {
  if (faces !== undefined) reply.header('deprecation', FACES_DEPRECATED);
}

function clientRoutes(admin: AdminApp, clock: Clock): void {
  admin.post('/clients', { schema: clients.createClientSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const created = await createClient(services, request.body, origin);
    announceRemoval(request.body, reply);
    return reply.code(201).send({ ...clientView(created), clientSecret: created.clientSecret });
  });
  admin.get('/clients', { schema: clients.listClientsSchema }, async (request) => {
    const { services, reach } = callerOf(request);
    const { database } = services;
    const now = clock();
    return readPage(
      request.query,
      (page) => database.read(() => listClientsWithSecrets(page, now, reach)),
      (listed) => clientView(listed),
    );
  });
  admin.get('/clients/:clientId', { schema: clients.readClientSchema }, async (request) => {
    const { services } = callerOf(request);
    return clientView(await getClient(services, request.params.clientId));
  });
  admin.patch('/clients/:clientId', { schema: clients.updateClientSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    announceRemoval(request.body, reply);
    return clientView(await updateClient(services, request.params.clientId, request.body, origin));
  });
  const approval = '/clients/:clientId/consent-approval';
  admin.put(approval, { schema: approveConsentSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { scopes, organizationId = null } = request.body;
    return clientView(await approveConsent(services, request.params.clientId, { scopes, organizationId }, origin));
  });
  admin.delete(approval, { schema: withdrawApprovalSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await withdrawApproval(services, request.params.clientId, origin);
    return reply.code(204).send();
  });
  admin.delete('/clients/:clientId', { schema: clients.deleteClientSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await deleteClient(services, request.params.clientId, origin);
    return reply.code(204).send();
  });
  admin.post('/clients/:clientId/secrets', { schema: clients.rotateSecretSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    const rotated = await rotateSecret(services, request.params.clientId, request.body, origin);
    const { secret, secrets, clientSecret } = rotated;
    return reply.code(201).send({ ...secretView(secret), clientSecret, secrets: secrets.map(secretView) });
  });
  admin.delete('/clients/:clientId/secrets/:id', { schema: clients.endSecretSchema }, async (request, reply) => {
    const { services, origin } = callerOf(request);
    await endSecret(services, request.params.clientId, request.params.id, origin);
    return reply.code(204).send();
  });
}

function pictureRoutes(root: FastifyInstance, clock: Clock): void {
  const admin: AdminApp = root;
  root.register(async (scope) => {
    acceptFiles(scope.withTypeProvider<SchemaTypes>(), PICTURE_TYPES, LARGEST_PICTURE);
    const files: AdminApp = scope;
    files.put('/users/:id/picture', { schema: pictures.setUserPictureSchema }, async (request) => {
      const { services, origin } = callerOf(request);
      const picture = await requirePicture(services.pictures, request.body, uploadFlows(request));
      return accountView(await setPicture(services, request.params.id, picture, origin), clock());
    });
    files.put('/clients/:clientId/picture', { schema: pictures.setClientPictureSchema }, async (request) => {
      const { services, origin } = callerOf(request);
      const picture = await requirePicture(services.pictures, request.body, uploadFlows(request));
      return clientView(await setClientPicture(services, request.params.clientId, picture, origin));
    });
  });
  admin.delete('/users/:id/picture', { schema: pictures.removeUserPictureSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return accountView(await setPicture(services, request.params.id, null, origin), clock());
  });
  admin.delete('/clients/:clientId/picture', { schema: pictures.removeClientPictureSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    return clientView(await setClientPicture(services, request.params.clientId, null, origin));
  });
}

function secondFactorRoutes(admin: AdminApp): void {
  admin.post('/end-weaker-access', { schema: endWeakerAccessSchema }, async (request) => {
    const { services, origin } = callerOf(request);
    const { organizationId, clientId, everyone = false } = request.body;
    if ([organizationId, clientId, everyone || undefined].filter((given) => given !== undefined).length !== 1) {
      throw invalid('name exactly one of organizationId, clientId and everyone: true');
    }
    if (organizationId !== undefined) return endWeakerAccess(services, { organizationId }, origin);
    return endWeakerAccess(services, clientId === undefined ? { everyone: true } : { clientId }, origin);
  });
}

function mailRoutes(admin: AdminApp): void {
  admin.get('/mail', { schema: listMailSchema }, async (request) => {
    const { status, ...query } = request.query;
    const { database } = callerOf(request).services;
    return readPage(query, (page) => database.read(() => listMails({ ...page, status })), mailView);
  });
}

function eventRoutes(admin: AdminApp): void {
  admin.get('/audit-events', { schema: events.listEventsSchema }, async (request) => {
    const { limit, cursor, order, ...filter } = request.query;
    return readBoundedPage(
      { limit, ...(cursor !== undefined && { cursor }) },
      (page) => searchEvents(callerOf(request).services.database, { ...page, order, filter }),
      (event) => event,
    );
  });
}

function traceRoutes(admin: AdminApp, clock: Clock): void {
  admin.get('/trace-steps', { schema: listTraceStepsSchema }, async (request) => {
    const { clientId = null, order, ...query } = request.query;
    const { database, traces } = callerOf(request).services;
    await traces.flush();
    return readPage(
      query,
      (page) => database.read(() => listSteps({ ...page, clientId, order })),
      (step) => step,
    );
  });
  admin.get('/clients/:clientId/trace-steps', { schema: readAppLogSchema }, async (request) => {
    const { requestId, order, ...query } = request.query;
    const { services } = callerOf(request);
    const { clientId } = request.params;
    await services.traces.flush();
    return readPage(
      query,
      (page) =>
        services.database.read(function* read() {
          // There may be no steps of a client that does not exist.
          const client = yield* readClientRecord(clientId);
          return yield* withSharedNames(client, yield* appLog({ ...page, clientId, requestId, order }));
        }),
      (step) => step,
    );
  });
  admin.get('/traces/:id', { schema: readTraceSchema }, async (request) => {
    const { database, traces, traceRetention } = callerOf(request).services;
    await traces.flush();
    return getTrace(database, request.params.id, { now: clock(), retention: traceRetention });
  });
}
