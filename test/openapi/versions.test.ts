// store: SQLite
/** Decisions §13: what has an `ETag` is not changed by a request that carries another one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRouted } from '../security/routes.ts';
import { callExample, fixture, send } from './examples.ts';

const server = await startRouted({ TESSERA_MAILBOX: 'on', TESSERA_REGISTRATION: 'open' });
after(() => server.close());
const made = await fixture(server);
const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Requests below the path of a record that decide on nothing that its version tells of. */
const APART: Readonly<Record<string, string>> = {
  previewTokens: 'changes nothing',
  createAssignment: 'makes a record with a version of its own',
  addGroupMember: 'the version of a group is not that of its members',
  removeGroupMember: 'the version of a group is not that of its members',
  askForScope: 'asks for what the version of the app does not have',
  approveScopeRequest: 'answers a request, which has a state of its own',
  declineScopeRequest: 'answers a request, which has a state of its own',
  withdrawScopeRequest: 'ends a request, which has a state of its own',
  endSelfRegistration: 'ends a credential of the app itself, which its version does not have',
  testUpstream: 'changes nothing',
  previewClaims: 'changes nothing',
  createRecoveryLink: 'sends or makes something that the version does not have',
  revokeConnection: 'the version of a user is not that of what they connected',
  signOutUser: 'the version of a user is not that of their sessions',
  endUserSession: 'the version of a user is not that of their sessions',
  sendRecovery: 'sends or makes something that the version does not have',
  removeFactorOfUser: 'the version of a user is not that of their factors',
  remindUserToVerify: 'sends or makes something that the version does not have',
  unlockUser: 'ends a wait, which the version does not have',
  removeIdentityOfUser: 'the version of a user is not that of what they connected',
};

const records = server.described.filter(({ method, schema }) => method === 'GET' && schema.versioned !== undefined);
const writes = server.described.filter(({ method }) => !isRead(method));

test('every write at the path of a record, and below it, heeds its version, or does not for a reason', () => {
  const apart = new Set<string>();
  for (const { url, schema: read } of records) {
    for (const { url: at, schema } of writes) {
      if (at === url) assert.equal(schema.versioned, read.versioned, schema.operationId);
      else if (at.startsWith(`${url}/`) && schema.versioned === undefined) apart.add(schema.operationId);
    }
  }
  assert.ok(records.length > 9);
  assert.deepEqual([...apart].sort(), Object.keys(APART).sort());
});

test('every write that heeds a version refuses a stale one', async () => {
  const heeding = writes.filter(({ schema }) => schema.versioned !== undefined);
  for (const route of heeding) {
    const { schema } = route;
    const example = schema.examples.find(({ status }) => status < 300) ?? assert.fail(schema.operationId);
    const call = await callExample(made, route, example);
    const answer = await send(server, { ...call, headers: { ...call.headers, 'if-match': '"stale"' } });
    assert.deepEqual([schema.operationId, answer.status], [schema.operationId, 412], answer.text.slice(0, 300));
  }
  assert.ok(heeding.length > 30);
});
