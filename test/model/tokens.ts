import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  liveSecrets,
  newAccessToken,
  newFamily,
  newLeaf,
  type Presenter,
  redeemOutcome,
  refreshOutcome,
} from './model.ts';
import { type Code, type Family, pick, type RefreshToken, type State } from './state.ts';
import { step } from './step.ts';
import type { WireAnswer } from './wire.ts';
import { checkIdToken, OPTIONAL, otherEndpoints, redeemNow, refreshNow, same, type World } from './world.ts';

const nat = fc.nat(11);

/** How a request goes wrong, if it does. */
const FAULTS = ['none', 'client', 'endpointSet', 'unknown secret', 'ended secret', 'redirect', 'verifier'] as const;
type Fault = (typeof FAULTS)[number];
const wrong = fc.constantFrom(...FAULTS.filter((fault) => fault !== 'none'));

function presenterOf(
  state: State,
  { client: owner, endpointSet }: Pick<Code, 'client' | 'endpointSet'>,
  fault: Fault,
  which: number,
): Presenter {
  const at = fault === 'endpointSet' ? otherEndpoints(endpointSet) : endpointSet;
  const client = fault === 'client' ? pick(state.clients, owner.index + 1) : owner;
  if (fault === 'unknown secret') return { at, client, secret: undefined };
  if (fault === 'ended secret') {
    return { at, client, secret: client.secrets.find(({ until }) => until <= state.now) };
  }
  // Any secret that holds is as good as another.
  return { at, client, secret: pick(liveSecrets(client, state.now), which) };
}

async function redeem(state: State, world: World, code: Code, fault: Fault, which: number): Promise<void> {
  const presenter = presenterOf(state, code, fault, which);
  const right = { redirect: fault !== 'redirect', verifier: fault !== 'verifier' };
  const expected = redeemOutcome(state, code, presenter, right);
  const answer = await redeemNow(world, code, presenter, right);
  same(answer, expected.answer, `redemption, ${fault}`);
  if (expected.move === 'kill' && code.family !== undefined) code.family.dead = true;
  if (expected.move !== 'redeem') return;
  const family = newFamily(state, code);
  takeTokens(state, world, family, { answer, presenter, scopes: undefined });
  world.texts.set(newLeaf(state, family), answer.body.refresh_token);
}

/** Keeps the access token of a response, and checks what else it says. */
function takeTokens(
  state: State,
  world: World,
  family: Family,
  { answer, presenter, scopes }: { answer: WireAnswer; presenter: Presenter; scopes: readonly string[] | undefined },
): void {
  const token = newAccessToken(state, family, scopes);
  world.texts.set(token, answer.body.access_token);
  checkIdToken(world, answer, presenter, token);
  if (family.endpointSet === 'v2') return;
  // Decisions §10: the response of the OIDC endpoints always names the scopes.
  assert.deepEqual(String(answer.body.scope).split(' ').sort(), [...token.fixed, ...token.scopes].sort());
}

type Narrowing = 'all' | 'less' | 'more' | 'plain';

/** The `scope` parameter of a refresh: all that was granted, less, something that was not, or nothing of OpenID Connect. */
function scopesFor({ scopes, fixed }: Family, narrowing: Narrowing): readonly string[] | undefined {
  const plain = [...fixed, ...scopes].filter((scope) => scope !== 'openid');
  if (narrowing === 'all') return undefined;
  const fewer = narrowing === 'plain' ? plain : [...fixed, ...scopes.slice(1)];
  if (narrowing !== 'more') return fewer.length === 0 ? undefined : fewer;
  return ['openid', ...scopes, OPTIONAL.find((scope) => !scopes.includes(scope)) ?? 'social'];
}

export async function refresh(
  state: State,
  world: World,
  token: RefreshToken,
  { fault = 'none', which = 0, narrowing = 'all' }: { fault?: Fault; which?: number; narrowing?: Narrowing } = {},
): Promise<void> {
  const { family } = token;
  const presenter = presenterOf(state, family, fault, which);
  const scopes = scopesFor(family, narrowing);
  const expected = refreshOutcome(state, token, presenter, scopes);
  const answer = await refreshNow(world, token, presenter, scopes?.join(' '));
  same(answer, expected.answer, `refresh, ${fault}`);
  if (expected.move === 'kill') family.dead = true;
  if (expected.answer.status !== 200) return;
  takeTokens(state, world, family, { answer, presenter, scopes });
  const texts = new Set(world.texts.values());
  if (expected.move === 'rotate') {
    assert.ok(!texts.has(answer.body.refresh_token), 'every rotation gives another refresh token');
    world.texts.set(newLeaf(state, family), answer.body.refresh_token);
  } else {
    const leaf = family.leaf && world.texts.get(family.leaf);
    assert.equal(answer.body.refresh_token, leaf, 'a retry gets the very same refresh token again');
  }
}

const fresh = ({ codes }: Readonly<State>) => codes.filter((code) => code.family === undefined);
const used = ({ codes }: Readonly<State>) => codes.filter((code) => code.family !== undefined);
const leaves = ({ families }: Readonly<State>) => families.flatMap(({ leaf }) => leaf ?? []);
const retired = ({ families }: Readonly<State>) => families.flatMap(({ predecessor }) => predecessor ?? []);
/** What a refresh token would do now, rightly presented. */
export function moveOf(state: Readonly<State>, token: RefreshToken) {
  const { client, endpointSet: at } = token.family;
  return refreshOutcome(state, token, { at, client, secret: liveSecrets(client, state.now).at(-1) }, undefined).move;
}

const deadly = (state: Readonly<State>) => state.refresh.filter((token) => moveOf(state, token) === 'kill');
const older = (state: Readonly<State>) => deadly(state).filter((token) => token !== token.family.predecessor);

/** Newest first: a step aims at what is alive more often than not. */
const newest = <T>(list: readonly T[], which: number): T => pick(list, list.length - 1 - (which % list.length));
const few = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: nat });
const narrowing = fc.constantFrom<Narrowing>('all', 'all', 'all', 'less', 'more', 'plain');

export const tokenSteps = {
  redeem: step({
    weight: 12,
    argument: fc.record({ code: few, secret: nat }),
    applies: (state) => fresh(state).length > 0,
    act: (state, world, { code, secret }) => redeem(state, world, newest(fresh(state), code), 'none', secret),
  }),
  redeemWrongly: step({
    weight: 2,
    argument: fc.record({ code: few, fault: wrong }),
    applies: ({ codes }) => codes.length > 0,
    act: (state, world, { code, fault }) => redeem(state, world, newest(state.codes, code), fault, 0),
  }),
  replay: step({
    weight: 2,
    argument: few,
    applies: (state) => used(state).length > 0,
    act: (state, world, code) => redeem(state, world, newest(used(state), code), 'none', 0),
  }),
  refreshLeaf: step({
    weight: 7,
    argument: fc.record({ token: few, which: nat, narrowing }),
    applies: (state) => leaves(state).length > 0,
    act: (state, world, { token, ...rest }) => refresh(state, world, newest(leaves(state), token), rest),
  }),
  refreshPredecessor: step({
    weight: 3,
    argument: fc.record({ token: few, narrowing }),
    applies: (state) => retired(state).length > 0,
    act: (state, world, { token, ...rest }) => refresh(state, world, newest(retired(state), token), rest),
  }),
  /** RT-03: what is older than the direct predecessor has no grace at any time. */
  refreshOlder: step({
    weight: 2,
    argument: few,
    applies: (state) => older(state).length > 0,
    act: (state, world, token) => refresh(state, world, newest(older(state), token)),
  }),
  refreshAny: step({
    weight: 1,
    argument: nat,
    applies: (state) => state.refresh.length > 0,
    act: (state, world, token) => refresh(state, world, pick(state.refresh, token)),
  }),
  refreshWrongly: step({
    weight: 1,
    argument: fc.record({
      token: few,
      fault: fc.constantFrom<Fault>('client', 'endpointSet', 'unknown secret', 'ended secret'),
    }),
    applies: (state) => leaves(state).length > 0,
    act: (state, world, { token, fault }) => refresh(state, world, newest(leaves(state), token), { fault }),
  }),
};
