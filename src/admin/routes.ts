import type { FastifyInstance, FastifyRequest } from 'fastify';
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
import type { Passwords } from '../accounts/passwords.ts';
import { listAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
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
import type { Clock } from '../clock.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../consent/connections.ts';
import type { Database } from '../database/database.ts';
import type { Origin } from '../events/audit.ts';
import { listEvents } from '../events/list.ts';
import type { Note } from '../events/notes.ts';
import { acceptJson } from '../http/bodies.ts';
import type { SchemaTypes, TypedApp } from '../http/operation.ts';
import { originOf } from '../http/origin.ts';
import { acceptFiles } from '../http/uploads.ts';
import type { Ids } from '../identifiers/ids.ts';
import { invalidToken, OAuthError } from '../oauth-error.ts';
import {
  createOrganization,
  getOrganization,
  organizationView,
  removeMember,
  setMember,
} from '../organizations/organizations.ts';
import { listOrganizations } from '../organizations/store.ts';
import { LARGEST_PICTURE, PICTURE_TYPES, type Pictures, requirePicture } from '../pictures/pictures.ts';
import { equalSecrets } from '../secrets.ts';
import { endSessions } from '../sessions/ending.ts';
import { isSid, sessionsOf, sessionView } from '../sessions/sessions.ts';
import { bearerToken } from '../userinfo/bearer.ts';
import { findAdminKey } from './keys.ts';
import * as clients from './operations/clients.ts';
import * as events from './operations/events.ts';
import * as organizations from './operations/organizations.ts';
import * as pictures from './operations/pictures.ts';
import * as users from './operations/users.ts';
import { type PageQuery, page } from './paging.ts';

export interface AdminParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly pictures: Pictures;
  /** The admin key of the configuration, if one is set. */
  readonly adminKey: string | undefined;
  readonly note: Note;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls the admin API: set by its guard, before any of its routes. */
    operator: Origin | undefined;
  }
}

/** The admin API: decisions §7. No route of it is reached without an admin key. */
export function adminRoutes(app: FastifyInstance, parts: AdminParts): void {
  const { database, clock } = parts;

  app.register(
    async (scope) => {
      const admin = scope.withTypeProvider<SchemaTypes>();
      acceptJson(admin);
      admin.decorateRequest('operator', undefined);
      // Before the body is read, so that nobody without a key makes the server work.
      admin.addHook('onRequest', async (request) => {
        request.operator = originOf(request, { type: 'admin', id: await authenticate(request) });
      });
      // A body that was not sent has no fields; the JSON text `null` is a body, and no object.
      admin.addHook('preValidation', async (request) => {
        if (request.body === undefined) request.body = {};
      });
      admin.addHook('onSend', async (_request, reply) => {
        reply.header('cache-control', 'no-store');
      });

      userRoutes(admin);
      clientRoutes(admin);
      pictureRoutes(admin);
      organizationRoutes(admin);
      eventRoutes(admin);
    },
    { prefix: '/api/v2/admin' },
  );

  async function authenticate(request: FastifyRequest): Promise<string | null> {
    const key = adminKeyOf(request);
    if (parts.adminKey !== undefined && equalSecrets(key, parts.adminKey)) return null;
    const id = await findAdminKey(parts, key);
    if (id !== undefined) return id;
    await parts.note({ at: clock(), type: 'admin_key.refused', outcome: 'failure', origin: originOf(request) });
    throw invalidToken('The admin key is not valid: it is unknown, or was revoked.', 'unknown admin key');
  }

  function userRoutes(admin: TypedApp): void {
    admin.post('/users', { schema: users.createUser }, async (request, reply) => {
      const account = await createAccount(parts, request.body, operator(request));
      return reply.code(201).send(accountView(account, clock()));
    });
    admin.get('/users', { schema: users.listUsers }, async ({ query }) => {
      const read = (at: PageQuery) => database.read(() => listAccounts({ ...at, text: query.q }));
      return page(query, read, (account) => accountView(account, clock()));
    });
    admin.get('/users/:id', { schema: users.readUser }, async ({ params }) =>
      accountView(await getAccount(parts, params.id), clock()),
    );
    admin.patch('/users/:id', { schema: users.updateUser }, async (request) =>
      accountView(await updateAccount(parts, request.params.id, request.body, operator(request)), clock()),
    );
    admin.delete('/users/:id', { schema: users.deleteUser }, async (request, reply) => {
      await deleteAccount(parts, request.params.id, operator(request));
      return reply.code(204).send();
    });
    admin.put('/users/:id/ban', { schema: users.banUser }, async (request) =>
      accountView(await banAccount(parts, request.params.id, request.body, operator(request)), clock()),
    );
    admin.delete('/users/:id/ban', { schema: users.unbanUser }, async (request) =>
      accountView(await unbanAccount(parts, request.params.id, operator(request)), clock()),
    );
    admin.put('/users/:id/suspension', { schema: users.suspendUser }, async (request) =>
      accountView(await suspendAccount(parts, request.params.id, request.body, operator(request)), clock()),
    );
    admin.delete('/users/:id/suspension', { schema: users.reinstateUser }, async (request) =>
      accountView(await reinstateAccount(parts, request.params.id, operator(request)), clock()),
    );
    admin.get('/users/:id/connections', { schema: users.listConnections }, async ({ params }) => {
      const { id } = await getAccount(parts, params.id);
      return { items: (await connectionsOf(parts, id)).map(connectionView), nextCursor: null };
    });
    admin.delete('/users/:id/connections/:clientId', { schema: users.revokeConnection }, async (request, reply) => {
      await revokeAccessOf(parts, request.params.id, request.params.clientId, operator(request));
      return reply.code(204).send();
    });
    admin.get('/users/:id/sessions', { schema: users.listSessions }, async ({ params }) => {
      const account = await getAccount(parts, params.id);
      return { items: (await sessionsOf(parts, account)).map(sessionView), nextCursor: null };
    });
    admin.delete('/users/:id/sessions', { schema: users.endSessions }, async (request, reply) => {
      await signOutEverywhere(parts, request.params.id, operator(request));
      return reply.code(204).send();
    });
    admin.delete('/users/:id/sessions/:sessionId', { schema: users.endSession }, async (request, reply) => {
      const account = await getAccount(parts, request.params.id);
      const { sessionId: sid } = request.params;
      if (isSid(sid)) await endSessions(parts, account, { sid }, operator(request));
      return reply.code(204).send();
    });
  }

  function clientRoutes(admin: TypedApp): void {
    admin.post('/clients', { schema: clients.createClient }, async (request, reply) => {
      const created = await createClient(parts, request.body, operator(request));
      return reply.code(201).send({ ...clientView(created), clientSecret: created.clientSecret });
    });
    admin.get('/clients', { schema: clients.listClients }, async ({ query }) => {
      const now = clock();
      return page(
        query,
        (at) =>
          database.read(function* read() {
            const found = [];
            for (const client of yield* listClients(at)) {
              found.push({ id: client.id, client, secrets: yield* liveSecrets(client.id, now) });
            }
            return found;
          }),
        (found) => clientView(found),
      );
    });
    admin.get('/clients/:clientId', { schema: clients.readClient }, async ({ params }) =>
      clientView(await getClient(parts, params.clientId)),
    );
    admin.patch('/clients/:clientId', { schema: clients.updateClient }, async (request) =>
      clientView(await updateClient(parts, request.params.clientId, request.body, operator(request))),
    );
    admin.delete('/clients/:clientId', { schema: clients.deleteClient }, async (request, reply) => {
      await deleteClient(parts, request.params.clientId, operator(request));
      return reply.code(204).send();
    });
    admin.post('/clients/:clientId/secrets', { schema: clients.rotateSecret }, async (request, reply) => {
      const { params, body } = request;
      const { secret, secrets, clientSecret } = await rotateSecret(parts, params.clientId, body, operator(request));
      return reply.code(201).send({ ...secretView(secret), clientSecret, secrets: secrets.map(secretView) });
    });
    admin.delete('/clients/:clientId/secrets/:id', { schema: clients.endSecret }, async (request, reply) => {
      await endSecret(parts, request.params.clientId, request.params.id, operator(request));
      return reply.code(204).send();
    });
  }

  function pictureRoutes(admin: TypedApp): void {
    admin.register(async (scope) => {
      const files = scope.withTypeProvider<SchemaTypes>();
      acceptFiles(files, PICTURE_TYPES, LARGEST_PICTURE);
      files.put('/users/:id/picture', { schema: pictures.setUserPicture }, async (request) => {
        const picture = await requirePicture(parts.pictures, request.body);
        return accountView(await setPicture(parts, request.params.id, picture, operator(request)), clock());
      });
      files.put('/clients/:clientId/picture', { schema: pictures.setClientPicture }, async (request) => {
        const picture = await requirePicture(parts.pictures, request.body);
        return clientView(await setClientPicture(parts, request.params.clientId, picture, operator(request)));
      });
    });
    admin.delete('/users/:id/picture', { schema: pictures.removeUserPicture }, async (request) =>
      accountView(await setPicture(parts, request.params.id, null, operator(request)), clock()),
    );
    admin.delete('/clients/:clientId/picture', { schema: pictures.removeClientPicture }, async (request) =>
      clientView(await setClientPicture(parts, request.params.clientId, null, operator(request))),
    );
  }

  function organizationRoutes(admin: TypedApp): void {
    admin.post('/organizations', { schema: organizations.createOrganization }, async (request, reply) => {
      const organization = await createOrganization(parts, request.body, operator(request));
      return reply.code(201).send(organizationView(organization));
    });
    admin.get('/organizations', { schema: organizations.listOrganizations }, async ({ query }) =>
      page(query, (at) => database.read(() => listOrganizations(at)), organizationView),
    );
    admin.get('/organizations/:id', { schema: organizations.readOrganization }, async ({ params }) => {
      const { organization, members } = await getOrganization(parts, params.id);
      return { ...organizationView(organization), members };
    });
    admin.put('/organizations/:id/members/:userId', { schema: organizations.setMember }, async (request) => {
      const { role = null } = request.body;
      const { id: organizationId, userId } = request.params;
      await setMember(parts, { organizationId, accountId: userId, role }, operator(request));
      return { organizationId, userId, role };
    });
    admin.delete(
      '/organizations/:id/members/:userId',
      { schema: organizations.removeMember },
      async (request, reply) => {
        await removeMember(parts, request.params.id, request.params.userId, operator(request));
        return reply.code(204).send();
      },
    );
  }

  function eventRoutes(admin: TypedApp): void {
    admin.get('/audit-events', { schema: events.listEvents }, async ({ query }) => {
      const { limit, cursor, order, ...filter } = query;
      return page(
        { limit, ...(cursor !== undefined && { cursor }) },
        (at) => listEvents(database, { ...at, order, filter }),
        (event) => event,
      );
    });
  }
}

/** @throws {OAuthError} 401 where no key was sent, as RFC 6750 §3.1 has it for a missing token */
function adminKeyOf(request: FastifyRequest): string {
  try {
    return bearerToken(request.headers.authorization);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const remedy = 'Send an admin key: Authorization: Bearer <key>. Make one with: npx tessera admin-key create';
    throw new OAuthError(error.status, error.code, remedy, error.headers);
  }
}

/** Who acts. The guard has run before any route, so this fails only where a route was put outside of it. */
function operator(request: FastifyRequest): Origin {
  if (request.operator === undefined) throw new Error('an admin route was reached without its guard');
  return request.operator;
}
