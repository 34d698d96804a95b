import fc from 'fast-check';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { withData } from '../support/forged-token.ts';
import { GRACE, SESSION_IDLE, SESSION_LIFE } from './model.ts';
import { type Family, pick, type State } from './state.ts';
import { step } from './step.ts';
import { moveOf, refresh } from './tokens.ts';
import { advance, observe, type World } from './world.ts';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** The instants still to come at which something ends, the next one first. */
function ends(state: Readonly<State>): number[] {
  const all = [
    ...state.codes.map(({ expires }) => expires),
    ...state.pending.map(({ expires }) => expires),
    ...[...state.access, ...state.refresh].map(({ expires }) => expires * SECOND),
    ...state.families.flatMap(({ rotated, ends: end }) => [rotated + GRACE, end]),
    ...state.users.map(({ bannedUntil }) => bannedUntil),
    ...state.clients.flatMap(({ secrets }) => secrets.map(({ until }) => until)),
    ...state.browsers.flatMap(({ session }) =>
      session === undefined ? [] : [session.used + SESSION_IDLE, session.began + SESSION_LIFE],
    ),
  ];
  const later = all.filter((instant) => instant > state.now + 1 && Number.isFinite(instant));
  return [...new Set(later)].sort((one, other) => one - other);
}

/**
 * Keeps a family alive to its very end, so that the end itself is seen: decisions §4, 90 days at the latest.
 * @param late to the end itself, not only to the millisecond before it
 */
export async function growOld(state: State, world: World, family: Family, late: boolean): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    const { leaf } = family;
    if (leaf === undefined || leaf.expires * SECOND <= state.now) return;
    await refresh(state, world, leaf);
    const next = (family.leaf?.expires ?? 0) * SECOND - SECOND;
    if (family.dead || family.leaf === leaf) return;
    if (next > state.now) advance(state, world, next - state.now);
    if (family.leaf?.expires === Math.floor(family.ends / SECOND)) break;
  }
  if (family.leaf !== undefined) await refresh(state, world, family.leaf);
  await observe(state, world);
  const left = family.ends - state.now - (late ? 0 : 1);
  if (left > 0) advance(state, world, left);
  await observe(state, world);
}

/** The families whose last retired token would be answered by its successor now, and still in a while. */
const inGrace = (state: Readonly<State>): Family[] =>
  state.families.filter(
    ({ predecessor, rotated }) =>
      predecessor !== undefined && state.now < rotated + GRACE - 1 && moveOf(state, predecessor) === 'repeat',
  );

/** A step without this one takes no time at all: most of a run happens within one millisecond. */
export const timeSteps = {
  advance: step({
    weight: 1,
    argument: fc.constantFrom(1, SECOND, 30 * SECOND, 60 * SECOND, 1800 * SECOND, DAY, 6 * DAY),
    act: async (state, world, milliseconds) => advance(state, world, milliseconds),
  }),
  advanceToAnEnd: step({
    weight: 3,
    argument: fc.record({ which: fc.nat(3), offset: fc.constantFrom(-1, 0, 1) }),
    applies: (state) => ends(state).length > 0,
    async act(state, world, { which, offset }) {
      advance(state, world, pick(ends(state).slice(0, which + 1), which) + offset - state.now);
    },
  }),
  /** RT-03: the grace window to the millisecond. */
  retryAtTheEndOfGrace: step({
    weight: 2,
    argument: fc.record({ which: fc.nat(11), offset: fc.constantFrom(-1, 0) }),
    applies: (state) => inGrace(state).length > 0,
    async act(state, world, { which, offset }) {
      const { rotated, predecessor } = pick(inGrace(state), which);
      advance(state, world, rotated + GRACE + offset - state.now);
      if (predecessor !== undefined) await refresh(state, world, predecessor);
    },
  }),
  growOld: step({
    weight: 0.2,
    argument: fc.record({ which: fc.nat(11), late: fc.boolean() }),
    applies: (state) => state.families.length > 0,
    act: (state, world, { which, late }) => growOld(state, world, pick(state.families, which), late),
  }),
  /** ST-06: cleaning up at any moment changes no answer. */
  sweep: step({
    weight: 1,
    argument: fc.constant(0),
    async act(state, { server }) {
      await withData(server, ({ database }) => sweep(database, state.now));
    },
  }),
  restart: step({
    weight: 0.5,
    argument: fc.constant(0),
    act: (_state, world) => world.server.restart(),
  }),
};
