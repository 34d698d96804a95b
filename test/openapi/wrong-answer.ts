import { subscribe } from 'node:diagnostics_channel';
import { after, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Run by answer-checker.test.ts: a server whose answers about one user have an undocumented field.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('preSerialization', async (request, _reply, payload) =>
    request.method === 'GET' && request.routeOptions.url === '/api/v2/admin/users/:id'
      ? { ...(payload as object), passwordHash: 'x' }
      : payload,
  );
});

const server = await startServer();
after(() => server.close());

test('one that looks at nothing', async () => {
  const { id } = await newUser(server, { password: undefined });
  await admin(server, 'GET', `/users/${id}`);
});
test('another one', async () => {
  await admin(server, 'GET', '/users');
});
