import { ENDPOINT_RULES } from '../../src/claims/endpoint-set.ts';
import type { DescribedRoute } from '../../src/openapi/document.ts';
import type { Operation, OperationExample } from '../../src/platform/http/operation.ts';
import { FORM_TYPE } from '../../src/platform/http/operation.ts';
import { sample } from '../../src/platform/http/samples.ts';
import type { Agent } from '../support/agent.ts';
import { newApi } from '../support/api-scopes.ts';
import { newDeviceClient } from '../support/devices.ts';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  redeem,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
} from '../support/flow.ts';
import { newUnregisteredClient } from '../support/metadata-publisher.ts';
import { newInitialToken, newSelfRegistered } from '../support/registration.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';

export const examplesOf = (described: readonly DescribedRoute[], operationId: string): readonly OperationExample[] =>
  described.find(({ schema }) => schema.operationId === operationId)?.schema.examples ?? [];

/** Where the values of examples come from. */
export interface Fixture {
  readonly server: TestServer;
  readonly user: TestUser;
  readonly browser: Agent;
  /** Whether each call gets things of its own, as one that changes them needs; otherwise ids are unknown ones. */
  readonly fresh: boolean;
}

export async function fixture(server: TestServer): Promise<Fixture> {
  const user = await newUser(server);
  return { server, user, browser: await signedIn(server, user), fresh: true };
}

export interface Call {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

let made = 0;

/** The values that stand for those of the examples, as far as a request names them. */
async function valuesFor({ server, user, browser }: Fixture, text: string): Promise<Readonly<Record<string, string>>> {
  const names = (name: keyof typeof sample) => text.includes(sample[name]);
  // What only one account or organization may have.
  const values: Record<string, string> = {
    [`"${sample.username}"`]: `"ada-${++made}"`,
    '"ada@example.com"': `"ada-${made}@example.com"`,
    '"analytical-engines"': `"analytical-engines-${made}"`,
    '"analysts"': `"analysts-${made}"`,
    '"name":"google"': `"name":"google-${made}"`,
  };
  if (names('userId')) {
    values[sample.userId] = (await newUser(server, { password: undefined })).id;
  }
  if (names('heldUsername')) {
    const { id, username } = await newUser(server, { password: undefined });
    await admin(server, 'PATCH', `/users/${id}`, { username: `${username}.x` });
    values[sample.heldUsername] = username;
  }
  if (names('requestId')) {
    const refused = await fetch(`${server.baseUrl}/api/v2/oauth/userinfo`);
    values[sample.requestId] = refused.headers.get('x-request-id') ?? '';
  }
  if (names('organizationId')) {
    const { body } = await admin(server, 'POST', '/organizations', {
      name: `engines-${made}`,
      domain: 'engines.example',
    });
    values[sample.organizationId] = body.id;
    const member = values[sample.userId];
    if (member !== undefined) await admin(server, 'PUT', `/organizations/${body.id}/members/${member}`, {});
  }
  if (names('groupId')) {
    const { body } = await admin(server, 'POST', '/groups', { name: `group-${made}` });
    values[sample.groupId] = body.id;
    const member = values[sample.userId];
    if (member !== undefined) await admin(server, 'PUT', `/groups/${body.id}/members/${member}`);
  }
  if (names('invitationId')) {
    values[sample.invitationId] = (await admin(server, 'POST', '/invitations', {})).body.id;
  }
  if (names('adminKeyId')) {
    values[sample.adminKeyId] = (await admin(server, 'POST', '/admin-keys', { name: 'ops', role: 'admin' })).body.id;
  }
  if (names('operatorId')) {
    values[sample.operatorId] = (await newUser(server, { password: undefined, emailVerified: true })).id;
    await admin(server, 'PUT', `/users/${values[sample.operatorId]}/roles/support`, {});
  }
  if (names('clientId') || names('accessToken')) Object.assign(values, await ofClient());
  if (names('operatorClientId'))
    values[sample.operatorClientId] = (await newClient(server, { consent: 'operator' })).clientId;
  if (names('metadataClientId')) values[sample.metadataClientId] = await newUnregisteredClient(server);
  if (names('selfRegisteredId')) {
    const { clientId, registration } = await newSelfRegistered(server);
    values[sample.selfRegisteredId] = clientId;
    values[sample.registrationAccessToken] = registration.registration_access_token;
  }
  if (names('initialTokenId')) values[sample.initialTokenId] = (await newInitialToken(server)).id;
  if (names('upstreamId')) values[sample.upstreamId] = await newUpstreamRecord(server, false);
  if (names('upstreamToDeleteId')) values[sample.upstreamToDeleteId] = await newUpstreamRecord(server, true);
  if (names('blockedDomain')) await admin(server, 'PUT', `/blocked-domains/${sample.blockedDomain}`);
  if (names('deviceClientId')) values[sample.deviceClientId] = (await newDeviceClient(server)).clientId;
  if (names('apiId')) {
    const api = await newApi(server, ['notes.read', 'notes.write']);
    values[sample.apiId] = api.clientId;
    const path = `/clients/${api.clientId}/allowed-clients/${values[sample.clientId]}`;
    if (names('clientId')) await admin(server, 'PUT', path, { scopes: ['notes.read'] });
  }
  if (names('assignmentId')) {
    const path = `/clients/${values[sample.clientId]}/assignments`;
    values[sample.assignmentId] = (await admin(server, 'POST', path, { userId: user.id })).body.id;
  }
  if (names('scopeRequestId')) {
    const path = `/clients/${values[sample.clientId]}/scope-requests`;
    const asked = await admin(server, 'POST', path, { scope: 'groups', reason: 'To show teams.' });
    values[sample.scopeRequestId] = asked.body.id;
  }
  return values;

  async function ofClient() {
    const registered: TestClient = await newClient(server);
    const client = Object.values(ENDPOINT_RULES.oidc).some((path) => text.includes(`"${path}"`))
      ? standard(registered)
      : registered;
    const own: Record<string, string> = {
      [sample.clientId]: client.clientId,
      [sample.clientSecret]: client.clientSecret,
    };
    if (names('secretId')) {
      const { body } = await admin(server, 'GET', `/clients/${client.clientId}`);
      own[sample.secretId] = body.secrets[0].id;
      await admin(server, 'POST', `/clients/${client.clientId}/secrets`, {});
    }
    if (!names('code') && !names('accessToken') && !names('refreshToken')) return own;
    const code = await codeFor(server, client, user, { scope: 'openid profile email' }, { browser });
    if (names('code')) return { ...own, [sample.code]: code };
    const { body } = await redeem(server, client, code);
    return { ...own, [sample.accessToken]: body.access_token, [sample.refreshToken]: body.refresh_token };
  }
}

const CREDENTIALS: Partial<Readonly<Record<Operation['caller'], string>>> = {
  'admin key': ADMIN_KEY,
  'access token': sample.accessToken,
  'registration access token': sample.registrationAccessToken,
};

/** The request of an example, with real values in the place of the shown ones. */
export async function callExample(
  fixture: Fixture,
  { method, url, schema }: DescribedRoute,
  { params = {}, query = {}, body, file }: OperationExample,
): Promise<Call> {
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  const isForm = schema.consumes?.includes(FORM_TYPE) && !schema.consumes.includes('application/json');
  const credential = CREDENTIALS[schema.caller];
  const call = {
    method,
    address: path + (Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''),
    headers: {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': isForm ? FORM_TYPE : 'application/json' }),
    },
    ...(body !== undefined && {
      body: isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body),
    }),
  };
  if (!fixture.fresh) return call;
  const octets = file === undefined ? undefined : Buffer.from(file, 'base64');
  const texts = JSON.stringify(call);
  const values = await valuesFor(fixture, texts);
  const filled = (text: string) =>
    Object.entries(values).reduce((so, [shown, real]) => so.replaceAll(shown, real), text);
  return {
    method,
    address: filled(call.address),
    headers: {
      ...Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, filled(value)])),
      ...(octets !== undefined && { 'content-type': schema.consumes?.[0] ?? '' }),
    },
    ...(octets !== undefined && { body: octets }),
    ...(call.body !== undefined && { body: filled(call.body) }),
  };
}

export async function send({ baseUrl }: TestServer, { method, address, headers, body }: Call) {
  const answer = await fetch(baseUrl + address, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

let upstreams = 0;

/** A provider through which people sign in. */
async function newUpstreamRecord(server: TestServer, isDisabled: boolean): Promise<string> {
  const name = `example-${++upstreams}`;
  const input = { name, issuer: 'https://provider.example', clientId: 'tessera' };
  const { id } = (await admin(server, 'POST', '/upstreams', input)).body;
  if (isDisabled) await admin(server, 'POST', `/upstreams/${id}/disable`, {});
  return id;
}
