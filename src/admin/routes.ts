import type { FastifyInstance } from 'fastify';
import {
  banAccount,
  createAccount,
  deleteAccount,
  getAccount,
  reinstateAccount,
  setPicture,
  signOutEverywhere,
  suspendAccount,
  unbanAccount,
  updateAccount,
} from '../accounts/accounts.ts';
import { listAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { listEvents } from '../audit/search-store.ts';
import {
  createClient,
  deleteClient,
  endSecret,
  getClient,
  rotateSecret,
  setClientPicture,
  updateClient,
} from '../clients/clients.ts';
import { listClients, liveSecrets } from '../clients/store.ts';
import { clientView, secretView } from '../clients/view.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../consent/connections.ts';
import { endSessions } from '../credentials/end-sessions.ts';
import {
  createOrganization,
  getOrganization,
  organizationView,
  removeMember,
  setMember,
} from '../organizations/organizations.ts';
import { listOrganizations } from '../organizations/store.ts';
import { LARGEST_PICTURE, PICTURE_TYPES, requirePicture } from '../pictures/pictures.ts';
import type { Clock } from '../platform/clock.ts';
import { acceptJson } from '../platform/http/bodies.ts';
import type { SchemaTypes, TypedApp } from '../platform/http/operation.ts';
import { acceptFiles, uploadFlows } from '../platform/http/uploads.ts';
import { isSid, listSessions, sessionView } from '../sessions/list.ts';
import { type AdminParts, operator, partsOf, requireAdminKey } from './guard.ts';
import { type PageQuery, page } from './paging.ts';
import * as clients from './route-schemas/clients.ts';
import * as events from './route-schemas/events.ts';
import * as organizations from './route-schemas/organizations.ts';
import * as pictures from './route-schemas/pictures.ts';
import * as users from './route-schemas/users.ts';

/** The admin API: decisions §7. No route of it is reached without an admin key. */
export function adminRoutes(app: FastifyInstance, parts: AdminParts): void {
  const { clock } = parts;

  app.register(
    async (scope) => {
      const admin = scope.withTypeProvider<SchemaTypes>();
      acceptJson(admin);
      requireAdminKey(admin, parts);
      // A body that was not sent has no fields; the JSON text `null` is a body, and no object.
      admin.addHook('preValidation', async (request) => {
        if (request.body === undefined) request.body = {};
      });
      admin.addHook('onSend', async (_request, reply) => {
        reply.header('cache-control', 'no-store');
      });

      // None of these is given the database: each works with that of its caller.
      userRoutes(admin, clock);
      clientRoutes(admin, clock);
      pictureRoutes(admin, clock);
      organizationRoutes(admin);
      eventRoutes(admin);
    },
    { prefix: '/api/v2/admin' },
  );
}

function userRoutes(admin: TypedApp, clock: Clock): void {
  admin.post('/users', { schema: users.createUserSchema }, async (request, reply) => {
    const account = await createAccount(partsOf(request), request.body, operator(request));
    return reply.code(201).send(accountView(account, clock()));
  });
  admin.get('/users', { schema: users.listUsersSchema }, async (request) => {
    const { query } = request;
    const read = (at: PageQuery) => partsOf(request).database.read(() => listAccounts({ ...at, text: query.q }));
    return page(query, read, (account) => accountView(account, clock()));
  });
  admin.get('/users/:id', { schema: users.readUserSchema }, async (request) =>
    accountView(await getAccount(partsOf(request), request.params.id), clock()),
  );
  admin.patch('/users/:id', { schema: users.updateUserSchema }, async (request) =>
    accountView(await updateAccount(partsOf(request), request.params.id, request.body, operator(request)), clock()),
  );
  admin.delete('/users/:id', { schema: users.deleteUserSchema }, async (request, reply) => {
    await deleteAccount(partsOf(request), request.params.id, operator(request));
    return reply.code(204).send();
  });
  admin.put('/users/:id/ban', { schema: users.banUserSchema }, async (request) =>
    accountView(await banAccount(partsOf(request), request.params.id, request.body, operator(request)), clock()),
  );
  admin.delete('/users/:id/ban', { schema: users.unbanUserSchema }, async (request) =>
    accountView(await unbanAccount(partsOf(request), request.params.id, operator(request)), clock()),
  );
  admin.put('/users/:id/suspension', { schema: users.suspendUserSchema }, async (request) =>
    accountView(await suspendAccount(partsOf(request), request.params.id, request.body, operator(request)), clock()),
  );
  admin.delete('/users/:id/suspension', { schema: users.reinstateUserSchema }, async (request) =>
    accountView(await reinstateAccount(partsOf(request), request.params.id, operator(request)), clock()),
  );
  admin.get('/users/:id/connections', { schema: users.listConnectionsSchema }, async (request) => {
    const { id } = await getAccount(partsOf(request), request.params.id);
    return { items: (await connectionsOf(partsOf(request), id)).map(connectionView), nextCursor: null };
  });
  admin.delete('/users/:id/connections/:clientId', { schema: users.revokeConnectionSchema }, async (request, reply) => {
    await revokeAccessOf(partsOf(request), request.params.id, request.params.clientId, operator(request));
    return reply.code(204).send();
  });
  admin.get('/users/:id/sessions', { schema: users.listSessionsSchema }, async (request) => {
    const account = await getAccount(partsOf(request), request.params.id);
    return { items: (await listSessions(partsOf(request), account)).map(sessionView), nextCursor: null };
  });
  admin.delete('/users/:id/sessions', { schema: users.endSessionsSchema }, async (request, reply) => {
    await signOutEverywhere(partsOf(request), request.params.id, operator(request));
    return reply.code(204).send();
  });
  admin.delete('/users/:id/sessions/:sessionId', { schema: users.endSessionSchema }, async (request, reply) => {
    const account = await getAccount(partsOf(request), request.params.id);
    const { sessionId: sid } = request.params;
    if (isSid(sid)) await endSessions(partsOf(request), account, { sid }, operator(request));
    return reply.code(204).send();
  });
}

function clientRoutes(admin: TypedApp, clock: Clock): void {
  admin.post('/clients', { schema: clients.createClientSchema }, async (request, reply) => {
    const created = await createClient(partsOf(request), request.body, operator(request));
    return reply.code(201).send({ ...clientView(created), clientSecret: created.clientSecret });
  });
  admin.get('/clients', { schema: clients.listClientsSchema }, async (request) => {
    const now = clock();
    return page(
      request.query,
      (at) =>
        partsOf(request).database.read(function* read() {
          const found = [];
          for (const client of yield* listClients(at)) {
            found.push({ id: client.id, client, secrets: yield* liveSecrets(client.id, now) });
          }
          return found;
        }),
      (found) => clientView(found),
    );
  });
  admin.get('/clients/:clientId', { schema: clients.readClientSchema }, async (request) =>
    clientView(await getClient(partsOf(request), request.params.clientId)),
  );
  admin.patch('/clients/:clientId', { schema: clients.updateClientSchema }, async (request) =>
    clientView(await updateClient(partsOf(request), request.params.clientId, request.body, operator(request))),
  );
  admin.delete('/clients/:clientId', { schema: clients.deleteClientSchema }, async (request, reply) => {
    await deleteClient(partsOf(request), request.params.clientId, operator(request));
    return reply.code(204).send();
  });
  admin.post('/clients/:clientId/secrets', { schema: clients.rotateSecretSchema }, async (request, reply) => {
    const { params, body } = request;
    const { secret, secrets, clientSecret } = await rotateSecret(
      partsOf(request),
      params.clientId,
      body,
      operator(request),
    );
    return reply.code(201).send({ ...secretView(secret), clientSecret, secrets: secrets.map(secretView) });
  });
  admin.delete('/clients/:clientId/secrets/:id', { schema: clients.endSecretSchema }, async (request, reply) => {
    await endSecret(partsOf(request), request.params.clientId, request.params.id, operator(request));
    return reply.code(204).send();
  });
}

function pictureRoutes(admin: TypedApp, clock: Clock): void {
  admin.register(async (scope) => {
    const files = scope.withTypeProvider<SchemaTypes>();
    acceptFiles(files, PICTURE_TYPES, LARGEST_PICTURE);
    files.put('/users/:id/picture', { schema: pictures.setUserPictureSchema }, async (request) => {
      const picture = await requirePicture(partsOf(request).pictures, request.body, uploadFlows(request));
      return accountView(await setPicture(partsOf(request), request.params.id, picture, operator(request)), clock());
    });
    files.put('/clients/:clientId/picture', { schema: pictures.setClientPictureSchema }, async (request) => {
      const picture = await requirePicture(partsOf(request).pictures, request.body, uploadFlows(request));
      return clientView(await setClientPicture(partsOf(request), request.params.clientId, picture, operator(request)));
    });
  });
  admin.delete('/users/:id/picture', { schema: pictures.removeUserPictureSchema }, async (request) =>
    accountView(await setPicture(partsOf(request), request.params.id, null, operator(request)), clock()),
  );
  admin.delete('/clients/:clientId/picture', { schema: pictures.removeClientPictureSchema }, async (request) =>
    clientView(await setClientPicture(partsOf(request), request.params.clientId, null, operator(request))),
  );
}

function organizationRoutes(admin: TypedApp): void {
  admin.post('/organizations', { schema: organizations.createOrganizationSchema }, async (request, reply) => {
    const organization = await createOrganization(partsOf(request), request.body, operator(request));
    return reply.code(201).send(organizationView(organization));
  });
  admin.get('/organizations', { schema: organizations.listOrganizationsSchema }, async (request) =>
    page(request.query, (at) => partsOf(request).database.read(() => listOrganizations(at)), organizationView),
  );
  admin.get('/organizations/:id', { schema: organizations.readOrganizationSchema }, async (request) => {
    const { organization, members } = await getOrganization(partsOf(request), request.params.id);
    return { ...organizationView(organization), members };
  });
  admin.put('/organizations/:id/members/:userId', { schema: organizations.setMemberSchema }, async (request) => {
    const { role = null } = request.body;
    const { id: organizationId, userId } = request.params;
    await setMember(partsOf(request), { organizationId, accountId: userId, role }, operator(request));
    return { organizationId, userId, role };
  });
  admin.delete(
    '/organizations/:id/members/:userId',
    { schema: organizations.removeMemberSchema },
    async (request, reply) => {
      await removeMember(partsOf(request), request.params.id, request.params.userId, operator(request));
      return reply.code(204).send();
    },
  );
}

function eventRoutes(admin: TypedApp): void {
  admin.get('/audit-events', { schema: events.listEventsSchema }, async (request) => {
    const { limit, cursor, order, ...filter } = request.query;
    return page(
      { limit, ...(cursor !== undefined && { cursor }) },
      (at) => listEvents(partsOf(request).database, { ...at, order, filter }),
      (event) => event,
    );
  });
}
