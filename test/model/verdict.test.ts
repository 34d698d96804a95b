// store: none
/** Decisions §5: the verdict's order, over every combination of what can have happened (AC-02). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CredentialState, judge, judgeSession } from '../../src/verdict/rules.ts';
import { verdict } from './model.ts';
import { newState, pick } from './state.ts';

const NOW = 1_000_000;
const FACTS = [
  'account gone',
  'client gone',
  'grant gone',
  'family gone',
  'family ended',
  'client disabled',
  'banned',
  'suspended',
  'revoked',
  'account secured',
  'client was disabled',
  'access lost',
  'family dead',
] as const;
type Fact = (typeof FACTS)[number];

function stateOf(has: (fact: Fact) => boolean): CredentialState {
  const account = {
    bannedAt: has('banned') ? NOW : null,
    bannedUntil: null,
    suspendedAt: has('suspended') ? NOW : null,
    generation: has('account secured') ? 'later' : 'first',
  };
  const client = {
    status: has('client disabled') ? 'disabled' : 'active',
    generation: has('client was disabled') ? 'later' : 'first',
  };
  const family = { endsAt: has('family ended') ? NOW : NOW + 1, deadAt: has('family dead') ? 0 : null };
  return {
    account: has('account gone') ? null : account,
    client: has('client gone') ? null : client,
    grant: has('grant gone') ? null : { revokedAt: has('revoked') ? NOW : null },
    family: has('family gone') ? null : family,
    hasAccess: !has('access lost'),
  };
}

/** The same, in the terms of the model. */
function modelled(has: (fact: Fact) => boolean): string {
  const state = newState(NOW, 1, 1, [0]);
  const user = pick(state.users, 0);
  const client = pick(state.clients, 0);
  user.exists = !has('account gone');
  user.bannedUntil = has('banned') ? Number.POSITIVE_INFINITY : 0;
  user.suspended = has('suspended');
  client.enabled = !has('client disabled') && !has('client gone');
  // The verdict is the same for both.
  const endpointSet = 'v2' as const;
  const grant = {
    endpointSet,
    user,
    client,
    scopes: new Set<string>(),
    declined: new Set<string>(),
    fixed: new Set<string>(),
    askAgain: false,
    revoked: has('revoked'),
  };
  const generations = {
    userGeneration: has('account secured') ? -1 : user.generation,
    clientGeneration: has('client was disabled') ? -1 : client.generation,
  };
  client.access = 'assigned';
  const path = {
    assignment: { id: '1', client, to: user, role: null, ended: has('access lost') },
    membership: undefined,
  };
  const expired = has('family ended') || has('family gone') || has('grant gone');
  return verdict(
    { endpointSet, user, client, grant, path, ...generations },
    { now: NOW, expired, dead: has('family dead') },
  );
}

test('every combination of events gets the verdict of the order', () => {
  const inherited = { accountGeneration: 'first', clientGeneration: 'first' };
  for (let set = 0; set < 2 ** FACTS.length; set++) {
    const has = (fact: Fact) => (set & (1 << FACTS.indexOf(fact))) !== 0;
    const facts = FACTS.filter(has).join(', ');
    assert.equal(judge(stateOf(has), inherited, NOW).kind, modelled(has), facts);
  }
});

test('a session has no family and no client, and the same verdict otherwise', () => {
  const { account } = stateOf(() => false);
  assert.equal(judgeSession(account, 'first', NOW).kind, 'live');
  assert.equal(judgeSession(account, 'before', NOW).kind, 'invalid');
  assert.equal(judgeSession(null, 'first', NOW).kind, 'invalid');
  assert.equal(judgeSession(stateOf((fact) => fact === 'banned').account, 'before', NOW).kind, 'banned');
});
