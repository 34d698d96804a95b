import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as Type from 'typebox/type';
import {
  banAccount,
  createAccount,
  deleteAccount,
  getAccount,
  reinstateAccount,
  suspendAccount,
  unbanAccount,
  updateAccount,
} from '../accounts/accounts.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { AccountChange, Ban, NewAccount, Suspension } from '../accounts/schema.ts';
import { listAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { createClient, deleteClient, endSecret, getClient, rotateSecret, updateClient } from '../clients/clients.ts';
import { ClientChange, NewClient, NewSecret } from '../clients/schema.ts';
import { listClients, liveSecrets } from '../clients/store.ts';
import { clientView, secretView } from '../clients/view.ts';
import type { Clock } from '../clock.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../consent/connections.ts';
import type { Database } from '../database/database.ts';
import type { Origin } from '../events/audit.ts';
import { eventTypes } from '../events/audit.ts';
import { listEvents } from '../events/list.ts';
import { acceptJson } from '../http/bodies.ts';
import { originOf } from '../http/origin.ts';
import type { RepeatableParameters } from '../http/parameters.ts';
import type { Ids } from '../identifiers/ids.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { invalidRequest, invalidToken, notFound, OAuthError } from '../oauth-error.ts';
import {
  createOrganization,
  getOrganization,
  Membership,
  NewOrganization,
  organizationView,
  removeMember,
  setMember,
} from '../organizations/organizations.ts';
import { listOrganizations } from '../organizations/store.ts';
import { equalSecrets } from '../secrets.ts';
import { bearerToken } from '../userinfo/bearer.ts';
import { validate } from '../validation/validate.ts';
import { findAdminKey } from './keys.ts';
import { page, readPage, readSearch } from './paging.ts';

export interface AdminParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly passwords: Passwords;
  /** The admin key of the configuration, if one is set. */
  readonly adminKey: string | undefined;
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
    async (admin) => {
      acceptJson(admin);
      admin.decorateRequest('operator', undefined);
      // Before the body is read, so that nobody without a key makes the server work.
      admin.addHook('onRequest', async (request) => {
        request.operator = originOf(request, { type: 'admin', id: await authenticate(request) });
      });
      admin.addHook('onSend', async (_request, reply) => {
        reply.header('cache-control', 'no-store');
      });

      userRoutes(admin);
      clientRoutes(admin);
      organizationRoutes(admin);
      eventRoutes(admin);
    },
    { prefix: '/api/v2/admin' },
  );

  async function authenticate(request: FastifyRequest): Promise<string | null> {
    const key = adminKeyOf(request);
    if (parts.adminKey !== undefined && equalSecrets(key, parts.adminKey)) return null;
    const id = await findAdminKey(parts, key);
    if (id === undefined) throw invalidToken('The admin key is not valid: it is unknown, or was revoked.');
    return id;
  }

  function userRoutes(admin: FastifyInstance): void {
    admin.post('/users', async (request, reply) => {
      const account = await createAccount(parts, body(NewAccount, request), operator(request));
      return reply.code(201).send(accountView(account, clock()));
    });
    admin.get('/users', async (request) => {
      const query = request.query as RepeatableParameters;
      const text = readSearch(query);
      const read = (at: { after: string; limit: number }) => database.read(() => listAccounts({ ...at, text }));
      return page(readPage(query, ['q']), read, (account) => accountView(account, clock()));
    });
    admin.get('/users/:id', async (request) => accountView(await getAccount(parts, id(request)), clock()));
    admin.patch('/users/:id', async (request) =>
      accountView(await updateAccount(parts, id(request), body(AccountChange, request), operator(request)), clock()),
    );
    admin.delete('/users/:id', async (request, reply) => {
      await deleteAccount(parts, id(request), operator(request));
      return reply.code(204).send();
    });
    admin.put('/users/:id/ban', async (request) =>
      accountView(await banAccount(parts, id(request), body(Ban, request), operator(request)), clock()),
    );
    admin.delete('/users/:id/ban', async (request) =>
      accountView(await unbanAccount(parts, id(request), operator(request)), clock()),
    );
    admin.put('/users/:id/suspension', async (request) =>
      accountView(await suspendAccount(parts, id(request), body(Suspension, request), operator(request)), clock()),
    );
    admin.delete('/users/:id/suspension', async (request) =>
      accountView(await reinstateAccount(parts, id(request), operator(request)), clock()),
    );
    admin.get('/users/:id/connections', async (request) => {
      const { id: accountId } = await getAccount(parts, id(request));
      return { items: (await connectionsOf(parts, accountId)).map(connectionView), nextCursor: null };
    });
    admin.delete('/users/:id/connections/:clientId', async (request, reply) => {
      await revokeAccessOf(parts, id(request), id(request, 'clientId'), operator(request));
      return reply.code(204).send();
    });
  }

  function clientRoutes(admin: FastifyInstance): void {
    admin.post('/clients', async (request, reply) => {
      const created = await createClient(parts, body(NewClient, request), operator(request));
      return reply.code(201).send({ ...clientView(created), clientSecret: created.clientSecret });
    });
    admin.get('/clients', async (request) => {
      const now = clock();
      return page(
        readPage(request.query as RepeatableParameters),
        (query) =>
          database.read(function* read() {
            const found = [];
            for (const client of yield* listClients(query)) {
              found.push({ id: client.id, client, secrets: yield* liveSecrets(client.id, now) });
            }
            return found;
          }),
        (found) => clientView(found),
      );
    });
    admin.get('/clients/:clientId', async (request) => clientView(await getClient(parts, id(request, 'clientId'))));
    admin.patch('/clients/:clientId', async (request) =>
      clientView(await updateClient(parts, id(request, 'clientId'), body(ClientChange, request), operator(request))),
    );
    admin.delete('/clients/:clientId', async (request, reply) => {
      await deleteClient(parts, id(request, 'clientId'), operator(request));
      return reply.code(204).send();
    });
    admin.post('/clients/:clientId/secrets', async (request, reply) => {
      const input = body(NewSecret, request);
      const { secret, secrets, clientSecret } = await rotateSecret(
        parts,
        id(request, 'clientId'),
        input,
        operator(request),
      );
      return reply.code(201).send({ ...secretView(secret), clientSecret, secrets: secrets.map(secretView) });
    });
    admin.delete('/clients/:clientId/secrets/:id', async (request, reply) => {
      await endSecret(parts, id(request, 'clientId'), id(request), operator(request));
      return reply.code(204).send();
    });
  }

  function organizationRoutes(admin: FastifyInstance): void {
    admin.post('/organizations', async (request, reply) => {
      const organization = await createOrganization(parts, body(NewOrganization, request), operator(request));
      return reply.code(201).send(organizationView(organization));
    });
    admin.get('/organizations', async (request) =>
      page(
        readPage(request.query as RepeatableParameters),
        (query) => database.read(() => listOrganizations(query)),
        organizationView,
      ),
    );
    admin.get('/organizations/:id', async (request) => {
      const { organization, members } = await getOrganization(parts, id(request));
      return { ...organizationView(organization), members };
    });
    admin.put('/organizations/:id/members/:userId', async (request) => {
      const { role = null } = body(Membership, request);
      const member = { organizationId: id(request), accountId: id(request, 'userId'), role };
      await setMember(parts, member, operator(request));
      return { organizationId: member.organizationId, userId: member.accountId, role };
    });
    admin.delete('/organizations/:id/members/:userId', async (request, reply) => {
      await removeMember(parts, id(request), id(request, 'userId'), operator(request));
      return reply.code(204).send();
    });
  }

  function eventRoutes(admin: FastifyInstance): void {
    admin.get('/audit-events', async (request) => {
      const query = request.query as RepeatableParameters;
      const at = readPage(query, ['type', 'userId', 'clientId']);
      const type = query.get('type') ?? '';
      if (type !== '' && !Object.hasOwn(eventTypes, type)) {
        throw invalidRequest(`type must be one of ${Object.keys(eventTypes).join(', ')}.`);
      }
      const filter = { type, userId: idFilter(query, 'userId'), clientId: idFilter(query, 'clientId') };
      return page(
        at,
        (part) => listEvents(database, { ...part, ...filter }),
        (event) => event,
      );
    });
  }
}

/** The checked body. A body that was not sent has no fields; the JSON text `null` is a body, and no object. */
const body = <S extends Type.TSchema>(schema: S, request: FastifyRequest): Type.Static<S> =>
  validate(schema, request.body === undefined ? {} : request.body);

/** @throws {OAuthError} 401 where no key was sent, as RFC 6750 §3.1 has it for a missing token */
function adminKeyOf(request: FastifyRequest): string {
  try {
    return bearerToken(request.headers.authorization);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const remedy = 'Send an admin key: Authorization: Bearer <key>. Make one with: tessera admin-key create';
    throw new OAuthError(error.status, error.code, remedy, error.headers);
  }
}

/** Who acts. The guard has run before any route, so this fails only where a route was put outside of it. */
function operator(request: FastifyRequest): Origin {
  if (request.operator === undefined) throw new Error('an admin route was reached without its guard');
  return request.operator;
}

/** An id of the path. What cannot be an id is nobody's. */
function id(request: FastifyRequest, name = 'id'): string {
  const value = (request.params as Readonly<Record<string, string>>)[name] ?? '';
  if (!isSnowflake(value)) throw notFound('There is nothing with this id.');
  return value;
}

function idFilter(query: RepeatableParameters, name: string): string {
  const value = query.get(name);
  if (value !== undefined && !isSnowflake(value)) throw invalidRequest(`${name} must be an id.`);
  return value ?? '0';
}
