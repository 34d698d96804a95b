import { type AccountEvent, passkeysOf } from './notice-text.ts';

/** How many entries a message lists; more than there are kinds of notices, so that the latest of each kind is always among them. */
const MOST_ENTRIES = 20;

/** What an entry tells. When an account is deleted is what the last request says. */
const toldBy = ({ facts: { dueAt: _, ...facts } }: AccountEvent): string => JSON.stringify(facts);

const isLike = (one: AccountEvent, other: AccountEvent): boolean =>
  one.notice === other.notice && toldBy(one) === toldBy(other);

/** Two entries as one, with the facts of the later one. */
function joined(earlier: AccountEvent, later: AccountEvent): AccountEvent {
  const passkeys = passkeysOf({ ...later, passkeys: [...passkeysOf(earlier), ...passkeysOf(later)] });
  return {
    ...later,
    count: earlier.count + later.count,
    firstAt: Math.min(earlier.firstAt, later.firstAt),
    ...(passkeys.length > 0 && { passkeys }),
  };
}

/**
 * What one message says of several events, in the order of the latest time of each entry. What happened again in the same way is one
 * entry with its count. Beyond {@link MOST_ENTRIES}, the oldest entry of the most frequent kind is counted with the next of that kind: an
 * act that is repeated hides no act of another kind.
 */
export function withEvent(events: readonly AccountEvent[], event: AccountEvent): readonly AccountEvent[] {
  const same = events.find((other) => isLike(other, event));
  const all =
    same === undefined ? [...events, event] : [...events.filter((other) => other !== same), joined(same, event)];
  return all.length <= MOST_ENTRIES ? all : withFewer(all);
}

function withFewer(events: readonly AccountEvent[]): readonly AccountEvent[] {
  const ofKind = Map.groupBy(events, ({ notice }) => notice);
  const [[first, second] = []] = [...ofKind.values()].sort((one, other) => other.length - one.length);
  if (first === undefined || second === undefined) return events;
  return events.flatMap((event) => (event === first ? [] : event === second ? [joined(first, second)] : [event]));
}
