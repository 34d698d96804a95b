import assert from 'node:assert/strict';
import type { Agent } from './agent.ts';
import { connectIdentity, newProviderRecord } from './connected-identity.ts';
import { admin, newClient, newUser } from './flow.ts';
import { query } from './outcome.ts';
import type { TestServer } from './server.ts';

/** What an act of the console is about, so that it changes something, and what is typed into its form. */
export interface PreparedAct {
  readonly about: Readonly<Record<string, string>>;
  readonly typed: Readonly<Record<string, string>>;
}

let names = 0;
const newOrganization = async (server: TestServer): Promise<{ readonly id: string; readonly name: string }> =>
  (await admin(server, 'POST', '/organizations', { name: `acts-${++names}`, domain: 'acts.example' })).body;

async function newMember(server: TestServer): Promise<{ readonly id: string; readonly user: string }> {
  const [{ id }, user] = [await newOrganization(server), await newUser(server)];
  await admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, { role: 'MEMBER' });
  return { id, user: user.id };
}

async function newScopeRequest(server: TestServer): Promise<{ readonly app: string; readonly asked: string }> {
  const app = (await newClient(server)).clientId;
  const body = { scope: 'groups', reason: 'To show teams.' };
  return { app, asked: (await admin(server, 'POST', `/clients/${app}/scope-requests`, body)).body.id };
}

/** How each act of the console is prepared for an operator who is an admin at least, by its address. */
const PREPARED_ACTS: Readonly<Record<string, (server: TestServer, operatorId: string) => Promise<PreparedAct>>> = {
  '/console/organizations/create': async () => ({
    about: {},
    typed: { name: `acts-${++names}`, domain: 'made.example' },
  }),
  '/console/organizations/member': async (server) => ({
    about: await newMember(server),
    typed: { role: 'ADMIN' },
  }),
  '/console/organizations/remove-member': async (server) => ({ about: await newMember(server), typed: {} }),
  async '/console/organizations/requirement'(server, operatorId) {
    const { id } = await newOrganization(server);
    await admin(server, 'PUT', `/organizations/${id}/members/${operatorId}`, { role: 'OWNER' });
    return { about: { id }, typed: { required: 'yes' } };
  },
  async '/console/organizations/delete'(server) {
    const { id, name } = await newOrganization(server);
    return { about: { id }, typed: { typed: name } };
  },
  '/console/operators/grant': async (server) => ({
    about: { user: (await newUser(server)).id },
    typed: { role: 'auditor' },
  }),
  async '/console/operators/revoke'(server) {
    const { id } = await newUser(server);
    await admin(server, 'PUT', `/users/${id}/roles/auditor`, {});
    return { about: { user: id, held: 'auditor' }, typed: {} };
  },
  '/console/apps/preview': async (server) => ({
    about: { app: (await newClient(server)).clientId, user: (await newUser(server)).id },
    typed: { scope: 'openid email' },
  }),
  async '/console/apps/delete'(server) {
    const { clientId } = await newClient(server, { name: `acts-${++names}` });
    return { about: { app: clientId }, typed: { typed: `acts-${names}` } };
  },
  '/console/apps/request-scope': async (server) => ({
    about: { app: (await newClient(server)).clientId },
    typed: { scope: 'groups', resource: '', reason: 'To show teams.' },
  }),
  '/console/apps/approve-scope': async (server) => ({ about: await newScopeRequest(server), typed: { answer: '' } }),
  '/console/apps/decline-scope': async (server) => ({ about: await newScopeRequest(server), typed: { answer: 'No.' } }),
  '/console/apps/withdraw-scope': async (server) => ({ about: await newScopeRequest(server), typed: {} }),
  '/console/keys/new': async () => ({ about: {}, typed: { name: 'A program', role: 'auditor' } }),
  '/console/people/correct': async (server) => ({
    about: { id: (await newUser(server)).id },
    typed: { displayName: 'Another Name', username: `corrected-${++names}`, email: `corrected-${names}@example.com` },
  }),
  '/console/people/offboard': async (server) => ({
    about: { id: (await newUser(server)).id },
    typed: { days: '30', reason: 'Left' },
  }),
  async '/console/people/cancel-deletion'(server) {
    const { id } = await newUser(server);
    await admin(server, 'PUT', `/users/${id}/deletion`, {});
    return { about: { id }, typed: {} };
  },
  async '/console/people/delete'(server) {
    const { id, username } = await newUser(server);
    return { about: { id }, typed: { typed: username } };
  },
  async '/console/people/remove-identity'(server) {
    const { id } = await newUser(server);
    return { about: { id, identity: await connectIdentity(server, id) }, typed: {} };
  },
  '/console/upstreams/create': async () => ({
    about: { provider: 'oidc' },
    typed: { name: `acts-${++names}`, issuer: 'https://id.example', clientId: 'tessera', signUp: 'nobody' },
  }),
  '/console/upstreams/change': async (server) => ({
    about: { id: (await newProviderRecord(server)).id },
    typed: { displayName: 'Another Name', clientId: 'tessera', signUp: 'anyone' },
  }),
  '/console/upstreams/domains': async (server) => ({
    about: { id: (await newProviderRecord(server)).id },
    typed: { domains: `domain-${++names}.example` },
  }),
  '/console/upstreams/secret': async (server) => ({
    about: { id: (await newProviderRecord(server)).id },
    typed: { clientSecret: 'the next secret' },
  }),
  '/console/upstreams/test': async (server) => ({ about: { id: (await newProviderRecord(server)).id }, typed: {} }),
  '/console/upstreams/preview': async (server) => ({
    about: { id: (await newProviderRecord(server)).id },
    typed: { token: '{"sub":"1234"}' },
  }),
  '/console/upstreams/switch-off': async (server) => ({
    about: { id: (await newProviderRecord(server)).id },
    typed: { end: 'yes' },
  }),
  async '/console/upstreams/switch-on'(server) {
    const { id } = await newProviderRecord(server);
    await admin(server, 'POST', `/upstreams/${id}/disable`, {});
    return { about: { id }, typed: {} };
  },
  async '/console/upstreams/delete'(server) {
    const { id, name } = await newProviderRecord(server);
    await admin(server, 'POST', `/upstreams/${id}/disable`, {});
    return { about: { id }, typed: { typed: name } };
  },
  async '/console/organizations/only-upstream'(server) {
    const { id } = await newOrganization(server);
    return { about: { id }, typed: { upstream: (await newProviderRecord(server)).id } };
  },
  '/console/system/mail/test': async () => ({ about: {}, typed: { to: 'test@example.com' } }),
  '/console/invitations/new': async () => ({ about: {}, typed: { email: '', days: '7' } }),
  async '/console/invitations/revoke'(server) {
    const { body } = await admin(server, 'POST', '/invitations', {});
    return { about: { id: body.id }, typed: {} };
  },
  async '/console/keys/revoke'(server) {
    const { body } = await admin(server, 'POST', '/admin-keys', { name: 'A program', role: 'auditor' });
    return { about: { id: body.id }, typed: {} };
  },
};

/** Prepares an act, which this file knows: a new one is entered here. */
export function prepareAct(address: string, server: TestServer, operatorId: string): Promise<PreparedAct> {
  const prepare = PREPARED_ACTS[address];
  assert.ok(prepare !== undefined, `${address} is not prepared`);
  return prepare(server, operatorId);
}

/** The page of a prepared act. */
export const preparedAddress = (address: string, { about }: PreparedAct): string =>
  `${address}?${new URLSearchParams(about)}`;

/** The pages with the forms of an act on many people: one that makes a list, one that begins the act, and one that stops it. */
export async function bulkPages(
  server: TestServer,
  browser: Agent,
): Promise<Readonly<Record<'new' | 'start' | 'stop', string>>> {
  const { username } = await newUser(server);
  const make = '/console/people/bulk/new?act=end-sessions';
  const lists: string[] = [];
  for (let index = 0; index < 2; index++) {
    const made = await browser.submit(await browser.get(make), { names: username }, '/console/people/bulk/new');
    lists.push(/name="id" value="(\d+)"/.exec(made.text)?.[1] ?? assert.fail(made.text));
  }
  const [frozen, running] = lists;
  // It waits for ever, so that it can be stopped.
  await query(
    server,
    `UPDATE bulk_act SET state = 'running', due_at = ${Number.MAX_SAFE_INTEGER} WHERE id = '${running}'`,
  );
  const list = (id: string | undefined): string => `/console/people/bulk/lists/${id}`;
  return { new: make, start: list(frozen), stop: list(running) };
}
