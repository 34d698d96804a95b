import { DISPLAYED, PENDING, Rules, SLOW_DOWN, STALE } from './expected.ts';
import { type Moment, OK, type Operation } from './history.ts';
import { isFault, type Known, know, type Refresh } from './known.ts';

export const FAULTS = [
  /** After an acknowledged revocation, ban, suspension, sign-out, disabling, replay or reuse. */
  'accepted though dead',
  /** Refused once, and accepted by a request that came after that refusal. */
  'alive again',
  'redeemed twice',
  /** Two people allowed one device. */
  'answered twice',
  'forked family',
  /** Nothing that came before or ran beside it could have ended what was presented. */
  'refused though alive',
  /** Rightly refused, with the status or message of something else. */
  'wrong refusal',
  'server fault',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Violation {
  readonly fault: Fault;
  readonly operation: Operation;
  readonly text: string;
}

/**
 * Checks a whole history of concurrent operations against the decisions. Each operation took effect at some point between
 * its start and its end; what that leaves open is allowed, and nothing else is.
 * @param interruptions when processes were killed: what was under way then may have no answer, and may have been done or not
 */
export function check(operations: readonly Operation[], interruptions: readonly Moment[] = []): Violation[] {
  const history = [...operations].sort((one, other) => one.start - other.start);
  const known = know(history);
  const rules = new Rules(known);
  const isExcused = ({ outcome, start, end }: Operation): boolean =>
    isFault(outcome) && interruptions.some((one) => one.start < end && one.end > start);
  const violations = history
    .filter((operation) => !isExcused(operation))
    .flatMap((operation) => wrongAnswer(operation, rules.expected(operation)) ?? []);
  return [...violations, ...revived(known), ...redeemedTwice(known), ...answeredTwice(known), ...forked(known)];
}

const accepted = ({ kind, outcome }: Operation): boolean =>
  outcome === OK || (kind === 'authorize' && outcome === 'consent');

function wrongAnswer(operation: Operation, expected: ReadonlySet<string>): Violation | undefined {
  const { outcome } = operation;
  if (expected.has(outcome)) return undefined;
  const text = `expected ${[...expected].join(' or ')}`;
  if (isFault(outcome)) return { fault: 'server fault', operation, text };
  if (accepted(operation) && outcome === OK) return { fault: 'accepted though dead', operation, text };
  const alive = expected.size === 1 && expected.has(OK);
  return { fault: alive ? 'refused though alive' : 'wrong refusal', operation, text };
}

/** Decisions §5: what has been refused is never accepted again, by whichever node. */
function revived({ codes, sessions }: Known): Violation[] {
  // A page about the client, or a consent page that is shown again, says nothing of the session.
  const ofSessions = [...sessions.values()].map(({ uses }) =>
    uses.filter(({ outcome }) => outcome !== DISPLAYED && outcome !== STALE),
  );
  const ofCodes = [...codes.values()].flatMap(({ redemptions, uses }) => [redemptions, uses]);
  return [...ofSessions, ...ofCodes].flatMap((uses: readonly Operation[]) => {
    // A device that is to ask again was not refused.
    const waits = ({ outcome }: Operation) => outcome === PENDING || outcome === SLOW_DOWN;
    const refusals = uses.filter((use) => !accepted(use) && !isFault(use.outcome) && !waits(use));
    const first = refusals.reduce<Operation | undefined>(
      (earliest, use) => (earliest === undefined || use.end < earliest.end ? use : earliest),
      undefined,
    );
    if (first === undefined) return [];
    const later = uses.filter((use) => accepted(use) && use.start >= first.end);
    return later.map(
      (operation): Violation => ({ fault: 'alive again', operation, text: `refused by #${first.number}` }),
    );
  });
}

/** Decisions §3: of all redemptions of a code one answers 200 at the most. */
const redeemedTwice = ({ codes }: Known): Violation[] =>
  [...codes.values()].flatMap(({ redemptions }) => {
    const [first, ...others] = redemptions.filter(({ outcome }) => outcome === OK);
    return others.map(
      (operation): Violation => ({ fault: 'redeemed twice', operation, text: `redeemed by #${first?.number}` }),
    );
  });

/** RFC 8628 §3.3: one person connects a device. */
const answeredTwice = ({ devices }: Known): Violation[] =>
  [...devices.values()].flatMap(({ answers }) => {
    const [first, ...others] = answers.filter(({ outcome, decision }) => outcome === OK && decision === 'allow');
    return others.map(
      (operation): Violation => ({ fault: 'answered twice', operation, text: `answered by #${first?.number}` }),
    );
  });

/** Decisions §4: a refresh token has one successor, and a successor one predecessor. */
function forked({ codes, refreshes }: Known): Violation[] {
  const origins = new Map<string, string>();
  for (const { redemptions } of codes.values()) {
    for (const { refresh, number } of redemptions)
      if (refresh !== undefined) origins.set(refresh, `redemption ${number}`);
  }
  const successors = new Map<string, Refresh>();
  const violations: Violation[] = [];
  for (const uses of refreshes.values()) {
    for (const operation of uses) {
      const { token, refresh } = operation;
      if (refresh === undefined) continue;
      const first = successors.get(token) ?? operation;
      successors.set(token, first);
      const origin = origins.get(refresh) ?? token;
      origins.set(refresh, origin);
      if (first.refresh !== refresh) {
        violations.push({ fault: 'forked family', operation, text: `#${first.number} gave ${first.refresh}` });
      } else if (origin !== token) {
        violations.push({ fault: 'forked family', operation, text: `${refresh} came of ${origin}` });
      }
    }
  }
  return violations;
}

/** The operations that have to do with a violation: of the same person or of the same client. */
export function relevant(history: readonly Operation[], { operation }: Violation): Operation[] {
  const { families, codes } = know([...history].sort((one, other) => one.start - other.start));
  const about = (one: Operation): readonly (string | undefined)[] => {
    if (one.kind === 'redeem') return peopleOf(codes.get(one.code));
    if (one.kind === 'poll') return peopleOf(codes.get(one.device));
    if (one.kind === 'refresh') return peopleOf(families.get(one.token));
    if (one.kind === 'userinfo') return peopleOf(families.get(one.access));
    return ['user' in one ? one.user : undefined, 'client' in one ? one.client : undefined];
  };
  const [user, client] = about(operation);
  return history.filter((one) => {
    const [otherUser, otherClient] = about(one);
    return (
      (otherUser ?? user) === user && (otherClient ?? client) === client && (otherUser ?? otherClient) !== undefined
    );
  });
}

const peopleOf = (code: { readonly user: string; readonly client: string } | undefined) => [code?.user, code?.client];
