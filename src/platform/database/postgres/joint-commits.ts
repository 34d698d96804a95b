import type { DatabaseMeter, Step, Work } from '../database.ts';
import { type Ask, type Connections, type Deadline, startBy, unanswered } from './connections.ts';
import { isUndone, translate } from './errors.ts';
import {
  type Added,
  type Asker,
  addFor,
  grouped,
  isAnswerTo,
  isWithin,
  type JointQuery,
  note,
  type QueryGroup,
  readFor,
  writesOf,
} from './joint-queries.ts';
import type { ReadableQuery } from './readable-query.ts';
import { rowQueues } from './row-queues.ts';
import type { SharedStatements } from './shared-statements.ts';
import { transaction } from './transaction.ts';

/** How many units of work share a transaction at most. */
const MAX_UNITS = 64;

/** How many joint transactions run at once, as a rule, */
const MAX_TRANSACTIONS = 2;
/** and after how many milliseconds one no longer counts: those behind it do not wait for it any longer. */
const TURN = 250;

/** A joint transaction hardly ever waits for a lock. If one must be waited for, each of its units waits for itself. */
const BEGIN = 'BEGIN; SET LOCAL lock_timeout = 250';

/** Runs a unit of work in its own transaction. */
type RunAlone = <T>(work: () => Work<T>, until: Deadline, added: readonly Added[]) => Promise<T>;

/** A unit of work that waits for a transaction. */
interface Unit {
  readonly work: () => Work<unknown>;
  readonly until: Deadline;
  /** When it must have begun: see {@link startBy}. */
  readonly latest: Deadline;
  readonly run: Work<unknown>;
  readonly first: Step;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A unit of work in a joint transaction. */
interface Member extends Asker {
  readonly unit: Unit;
  run: Work<unknown>;
  /** The additions that it meets again, because it starts again. */
  known: Added[];
  /** The row for which it left the transaction, because another member or transaction has it. */
  row: string | undefined;
  /** Undefined if it left the transaction, to run alone. */
  result: { readonly value: unknown } | undefined;
}

export interface JointCommits {
  commit<T>(work: () => Work<T>, until: Deadline): Promise<T>;
  /** How many units of work wait for a transaction, or for others that need the same row. */
  waiting(): number;
}

/**
 * Runs units of work that arrive together in one transaction, in lockstep: each step is one query for all units that take it. What they
 * write is sent at the end, when all of them have decided. So nothing is written for a unit that leaves before, to run alone:
 *
 * - one whose row is locked by another transaction, or named by another unit: those for one row run one after the other
 * - one that takes a step that cannot be shared, or reads after it wrote, or throws
 *
 * A unit that adds to a number goes on before it gets the sum, and starts again if that is above the limit.
 *
 * If the transaction fails, all of its units run alone, after what they add. If it is unknown whether it was committed, none of them does.
 */
export function jointCommits(
  writers: Connections,
  prepare: SharedStatements,
  runAlone: RunAlone,
  meter?: DatabaseMeter,
): JointCommits {
  let queue: Unit[] = [];
  let running = 0;
  const rows = rowQueues();
  /** Statements for several units; they are prepared while the first units run alone. */
  const ready = new Map<Step['statement'], ReadableQuery>();

  function queryOf(step: Step): JointQuery | undefined {
    const prepared = prepare(step.statement);
    if (prepared.kind !== 'read' && step.statement.build.joint === undefined) return undefined;
    // Without a list of values, there is nothing that numbers the callers.
    if (prepared.placeholders === 0) return undefined;
    const query = ready.get(step.statement);
    if (query !== undefined) return { step, values: prepared.bind(step.params), prepared, query };
    prepared.shared().then(
      (shared) => ready.set(step.statement, shared),
      () => {},
    );
    return undefined;
  }

  function flush(): void {
    const now = performance.now();
    // In the order in which they arrived.
    while (queue[0] !== undefined && queue[0].latest < now) queue.shift()?.reject(unanswered());
    while (running < MAX_TRANSACTIONS && queue.length > 0) {
      const units = alike(queue);
      queue = queue.filter((unit) => !units.includes(unit));
      running++;
      let counts = true;
      const next = (): void => {
        if (!counts) return;
        counts = false;
        running--;
        flush();
      };
      const timer = setTimeout(next, TURN);
      void run(units).finally(() => {
        clearTimeout(timer);
        next();
      });
    }
  }

  async function run(units: readonly Unit[]): Promise<void> {
    try {
      const members = await writers.lend(lastDeadline(units), (send) => runTogether(send, units));
      for (const { unit, result, row, added } of members) {
        const alone = () => runAlone(unit.work, unit.until, added);
        if (result !== undefined) unit.resolve(result.value);
        else unit.resolve(row === undefined ? alone() : rows.run(row, alone));
      }
    } catch (error) {
      if (isUndone(error)) {
        meter?.retried();
        for (const same of alikeAdditions(units)) void addFirst(same);
      } else {
        for (const unit of units) unit.reject(translate(error));
      }
    }
  }

  /**
   * Runs units alone that first add to the same number. That is done for all of them at once, and committed: otherwise they would hold the
   * number one after the other, each while it waits for its rows, and the transactions behind them would fail as well.
   */
  async function addFirst(units: readonly Unit[]): Promise<void> {
    const members = units.map(memberOf);
    for (const member of members) member.adds = queryOf(member.unit.first);
    const [group] = grouped(members, 'adds');
    const sum = group?.first.step.statement.build.joint?.sum;
    let committed = false;
    if (group !== undefined && sum !== undefined) {
      try {
        await writers.lend(lastDeadline(units), (send) =>
          transaction(send, { units: () => 0, meter }, async (ask) => note(group, await addFor(ask, group, sum), sum)),
        );
        committed = true;
      } catch (error) {
        if (!isUndone(error)) {
          for (const unit of units) unit.reject(translate(error));
          return;
        }
      }
    }
    for (const { unit, added } of members) unit.resolve(runAlone(unit.work, unit.until, committed ? added : []));
  }

  function runTogether(send: Ask, units: readonly Unit[]): Promise<readonly Member[]> {
    const members = units.map(memberOf);
    const holders = new Map<string, Member>();

    /** Runs a member up to the next step whose answer it needs. */
    function advance(member: Member, begin: () => IteratorResult<Step, unknown>): void {
      member.asks = undefined;
      try {
        for (let next = begin(); ; ) {
          if (next.done) {
            member.result = { value: next.value };
            return;
          }
          const step = next.value;
          const { sum, certain } = step.statement.build.joint ?? {};
          const known = member.known.findIndex((one) => isAnswerTo(one, step));
          if (known !== -1) {
            next = member.run.next(member.known.splice(known, 1)[0]?.rows ?? []);
            continue;
          }
          const query = queryOf(step);
          if (query === undefined || !hold(member, step)) return;
          if (step.effect || certain) {
            member.writes.push(query);
            next = member.run.next(step.effect ? [] : [{}]);
            continue;
          }
          // It would not see what it wrote itself.
          if (member.writes.length > 0) return;
          if (sum === undefined) {
            member.asks = query;
            return;
          }
          if (member.adds !== undefined) return;
          member.adds = query;
          next = member.run.next([{ [sum.total]: step.params[sum.amount] }]);
        }
      } catch {
        // The error may depend on what others are changing. It is reported if the unit meets it alone, too.
      }
    }

    /** @returns false if another member holds the row */
    function hold(member: Member, step: Step): boolean {
      const name = rowOf(step);
      if (name === undefined) return true;
      const holder = holders.get(name) ?? member;
      holders.set(name, holder);
      if (holder !== member) member.row = name;
      return holder === member;
    }

    /** Starts again with what was added, which is above the limit; also one that has left, as it may have no need of its row then. */
    function restart(member: Member): void {
      member.run = member.unit.work();
      member.row = undefined;
      member.result = undefined;
      member.writes = [];
      member.known = [...member.added];
      advance(member, () => member.run.next());
    }

    async function add(ask: Ask, group: QueryGroup<Member>): Promise<void> {
      const { sum } = group.first.step.statement.build.joint ?? {};
      if (sum === undefined) return;
      const answers = await addFor(ask, group, sum);
      note(group, answers, sum);
      for (const [index, member] of group.members.entries()) {
        member.adds = undefined;
        if (!isWithin(group.first.step, sum, answers[index]?.[0])) restart(member);
      }
    }

    async function answer(ask: Ask, group: QueryGroup<Member>, added: Promise<unknown>): Promise<void> {
      const [answers] = await Promise.all([readFor(ask, group), added]);
      for (const [index, member] of group.members.entries()) {
        const query = group.queries[index];
        // It has started again since.
        if (query === undefined || member.asks !== query) continue;
        const rows = answers[index] ?? [];
        const { prepared, step, values } = query;
        if (prepared.kind === 'lock' && rows.length === 0) {
          // Whether there is no such row, or another transaction has locked it, the unit finds out alone.
          member.row = rowOf(step) ?? JSON.stringify(values);
          member.asks = undefined;
        } else {
          advance(member, () => member.run.next(rows));
        }
      }
    }

    const stayed = () => members.filter(({ result }) => result !== undefined).length;
    return transaction(send, { begin: BEGIN, units: stayed, meter }, async (ask, sendAhead) => {
      for (const member of members) {
        const first: IteratorYieldResult<Step> = { done: false, value: member.unit.first };
        advance(member, () => first);
      }
      for (;;) {
        const [adding, asking] = [grouped(members, 'adds'), grouped(members, 'asks')];
        if (adding.length + asking.length === 0) break;
        const added = Promise.all(adding.map((group) => add(ask, group)));
        await Promise.all([added, ...asking.map((group) => answer(ask, group, added))]);
      }
      const staying = members.filter(({ result }) => result !== undefined);
      for (const query of writesOf(staying)) sendAhead(ask(query));
      return members;
    });
  }

  return {
    async commit<T>(work: () => Work<T>, until: Deadline): Promise<T> {
      const run = work();
      const first = run.next();
      // Looked at before it waits with others, so that units that cannot share a transaction do not wait for one.
      const canJoin =
        !first.done && first.value.statement.build.joint !== undefined && queryOf(first.value) !== undefined;
      if (!canJoin) return runAlone(work, until, []);
      return new Promise((resolve, reject) => {
        if (queue.length === 0) setImmediate(flush);
        const unit = { work, until, latest: startBy(until), run, first: first.value, reject };
        queue.push({ ...unit, resolve: resolve as Unit['resolve'] });
      });
    },
    waiting: () => queue.length + rows.waiting(),
  };
}

/** The first of these units, and those that begin as it does: they mostly take the same steps, and do not wait for longer ones. */
function alike(units: readonly Unit[]): readonly Unit[] {
  const statement = units[0]?.first.statement;
  return units.filter(({ first }) => first.statement === statement).slice(0, MAX_UNITS);
}

/** Units that begin alike, by the number that they first add to. */
function alikeAdditions(units: readonly Unit[]): Iterable<readonly Unit[]> {
  const numbers = Map.groupBy(units, ({ first: { statement, params } }) => {
    const { sum } = statement.build.joint ?? {};
    return sum && JSON.stringify([sum.of, ...sum.common].map((parameter) => params[parameter]));
  });
  return numbers.values();
}

/** A unit may get its answer later than it would alone, but not fail because others of its transaction have waited for longer. */
const lastDeadline = (units: readonly Unit[]): Deadline => Math.max(...units.map(({ until }) => until));

/** The row that a step locks or writes. */
function rowOf({ statement, params }: Step): string | undefined {
  const { row } = statement.build.joint ?? {};
  return row && JSON.stringify(row.map((parameter) => params[parameter]));
}

const memberOf = (unit: Unit): Member => ({
  ...{ unit, run: unit.run, adds: undefined, asks: undefined, writes: [], added: [], known: [] },
  ...{ row: undefined, result: undefined },
});
