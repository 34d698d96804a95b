import type { DatabaseMeter, Step, Work } from '../database.ts';
import { type Ask, type Connections, type Deadline, startBy, unanswered } from './connections.ts';
import { isUndone, translate } from './errors.ts';
import {
  type Added,
  addFor,
  grouped,
  isAnswerTo,
  isWithin,
  type JointMember,
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
interface Member extends JointMember {
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

/** The queries of steps that units of work can share. */
class JointStatements {
  readonly #shared: SharedStatements;
  /** Statements for several units; they are prepared while the first units run alone. */
  readonly #ready = new Map<Step['statement'], ReadableQuery>();

  constructor(shared: SharedStatements) {
    this.#shared = shared;
  }

  /** Undefined where a step cannot be shared, or not yet. */
  queryOf(step: Step): JointQuery | undefined {
    const prepared = this.#shared(step.statement);
    if (prepared.kind !== 'read' && step.statement.build.joint === undefined) return undefined;
    // Without a list of values, there is nothing that numbers the callers.
    if (prepared.placeholders === 0) return undefined;
    const query = this.#ready.get(step.statement);
    if (query !== undefined) return { step, values: prepared.bind(step.params), prepared, query };
    prepared.shared().then(
      (shared) => this.#ready.set(step.statement, shared),
      () => {},
    );
    return undefined;
  }
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
class CommitQueue implements JointCommits {
  readonly #writers: Connections;
  readonly #statements: JointStatements;
  readonly #runAlone: RunAlone;
  readonly #meter: DatabaseMeter | undefined;
  readonly #rows = rowQueues();
  #queue: Unit[] = [];
  /** How many transactions count as running. */
  #running = 0;

  constructor(writers: Connections, shared: SharedStatements, runAlone: RunAlone, meter: DatabaseMeter | undefined) {
    this.#writers = writers;
    this.#statements = new JointStatements(shared);
    this.#runAlone = runAlone;
    this.#meter = meter;
  }

  async commit<T>(work: () => Work<T>, until: Deadline): Promise<T> {
    const run = work();
    const first = run.next();
    // Looked at before it waits with others, so that units that cannot share a transaction do not wait for one.
    const canJoin =
      !first.done &&
      first.value.statement.build.joint !== undefined &&
      this.#statements.queryOf(first.value) !== undefined;
    if (!canJoin) return this.#runAlone(work, until, []);
    return new Promise((resolve, reject) => {
      if (this.#queue.length === 0) setImmediate(() => this.#flush());
      const unit = { work, until, latest: startBy(until), run, first: first.value, reject };
      this.#queue.push({ ...unit, resolve: resolve as Unit['resolve'] });
    });
  }

  waiting(): number {
    return this.#queue.length + this.#rows.waiting();
  }

  #flush(): void {
    const now = performance.now();
    // In the order in which they arrived.
    while (this.#queue[0] !== undefined && this.#queue[0].latest < now) this.#queue.shift()?.reject(unanswered());
    while (this.#running < MAX_TRANSACTIONS && this.#queue.length > 0) {
      const units = sameBeginning(this.#queue);
      this.#queue = this.#queue.filter((unit) => !units.includes(unit));
      this.#running++;
      let counts = true;
      const next = (): void => {
        if (!counts) return;
        counts = false;
        this.#running--;
        this.#flush();
      };
      const timer = setTimeout(next, TURN);
      void this.#run(units).finally(() => {
        clearTimeout(timer);
        next();
      });
    }
  }

  async #run(units: readonly Unit[]): Promise<void> {
    try {
      const members = await this.#writers.lend(lastDeadline(units), (send) =>
        new JointTransaction(units, this.#statements).run(send, this.#meter),
      );
      for (const { unit, result, row, added } of members) {
        const alone = () => this.#runAlone(unit.work, unit.until, added);
        if (result !== undefined) unit.resolve(result.value);
        else unit.resolve(row === undefined ? alone() : this.#rows.run(row, alone));
      }
    } catch (error) {
      if (isUndone(error)) {
        this.#meter?.retried();
        for (const same of byAddition(units)) void this.#addFirst(same);
      } else {
        for (const unit of units) unit.reject(translate(error));
      }
    }
  }

  /**
   * Runs units alone that first add to the same number. That is done for all of them at once, and committed: otherwise they would hold the
   * number one after the other, each while it waits for its rows, and the transactions behind them would fail as well.
   */
  async #addFirst(units: readonly Unit[]): Promise<void> {
    const meter = this.#meter;
    const members = units.map(memberOf);
    for (const member of members) member.adds = this.#statements.queryOf(member.unit.first);
    const [group] = grouped(members, 'adds');
    const sum = group?.first.step.statement.build.joint?.sum;
    let committed = false;
    if (group !== undefined && sum !== undefined) {
      try {
        await this.#writers.lend(lastDeadline(units), (send) =>
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
    for (const { unit, added } of members) {
      unit.resolve(this.#runAlone(unit.work, unit.until, committed ? added : []));
    }
  }
}

export const jointCommits = (
  writers: Connections,
  shared: SharedStatements,
  runAlone: RunAlone,
  meter?: DatabaseMeter,
): JointCommits => new CommitQueue(writers, shared, runAlone, meter);

/** One transaction of several units of work. */
class JointTransaction {
  readonly #statements: JointStatements;
  readonly #members: readonly Member[];
  /** Which member has a row. */
  readonly #holders = new Map<string, Member>();

  constructor(units: readonly Unit[], statements: JointStatements) {
    this.#members = units.map(memberOf);
    this.#statements = statements;
  }

  run(send: Ask, meter: DatabaseMeter | undefined): Promise<readonly Member[]> {
    const members = this.#members;
    const staying = () => members.filter(({ result }) => result !== undefined);
    return transaction(send, { begin: BEGIN, units: () => staying().length, meter }, async (ask, sendAhead) => {
      for (const member of members) {
        const first: IteratorYieldResult<Step> = { done: false, value: member.unit.first };
        this.#advance(member, () => first);
      }
      for (;;) {
        const [adding, asking] = [grouped(members, 'adds'), grouped(members, 'asks')];
        if (adding.length + asking.length === 0) break;
        const added = Promise.all(adding.map((group) => this.#add(ask, group)));
        await Promise.all([added, ...asking.map((group) => this.#answer(ask, group, added))]);
      }
      for (const query of writesOf(staying())) sendAhead(ask(query));
      return members;
    });
  }

  /** Runs a member up to the next step whose answer it needs. */
  #advance(member: Member, begin: () => IteratorResult<Step, unknown>): void {
    member.asks = undefined;
    try {
      for (let next: IteratorResult<Step, unknown> | undefined = begin(); next !== undefined; ) {
        if (next.done) {
          member.result = { value: next.value };
          return;
        }
        next = this.#take(member, next.value);
      }
    } catch {
      // The error may depend on what others are changing. It is reported if the unit meets it alone, too.
    }
  }

  /** Takes a step of a member. @returns what comes next; undefined if the member waits for an answer, or leaves */
  #take(member: Member, step: Step): IteratorResult<Step, unknown> | undefined {
    const { sum, certain } = step.statement.build.joint ?? {};
    const known = member.known.findIndex((one) => isAnswerTo(one, step));
    if (known !== -1) return member.run.next(member.known.splice(known, 1)[0]?.rows ?? []);
    const query = this.#statements.queryOf(step);
    if (query === undefined || !this.#hold(member, step)) return undefined;
    if (step.effect || certain) {
      member.writes.push(query);
      return member.run.next(step.effect ? [] : [{}]);
    }
    // It would not see what it wrote itself.
    if (member.writes.length > 0) return undefined;
    if (sum === undefined) {
      member.asks = query;
      return undefined;
    }
    if (member.adds !== undefined) return undefined;
    member.adds = query;
    return member.run.next([{ [sum.total]: step.params[sum.amount] }]);
  }

  /** @returns false if another member holds the row */
  #hold(member: Member, step: Step): boolean {
    const name = rowOf(step);
    if (name === undefined) return true;
    const holder = this.#holders.get(name) ?? member;
    this.#holders.set(name, holder);
    if (holder !== member) member.row = name;
    return holder === member;
  }

  /** Starts again with what was added, which is above the limit; also one that has left, as it may have no need of its row then. */
  #restart(member: Member): void {
    member.run = member.unit.work();
    member.row = undefined;
    member.result = undefined;
    member.writes = [];
    member.known = [...member.added];
    this.#advance(member, () => member.run.next());
  }

  async #add(ask: Ask, group: QueryGroup<Member>): Promise<void> {
    const { sum } = group.first.step.statement.build.joint ?? {};
    if (sum === undefined) return;
    const answers = await addFor(ask, group, sum);
    note(group, answers, sum);
    for (const [index, member] of group.members.entries()) {
      member.adds = undefined;
      if (!isWithin(group.first.step, sum, answers[index]?.[0])) this.#restart(member);
    }
  }

  async #answer(ask: Ask, group: QueryGroup<Member>, added: Promise<unknown>): Promise<void> {
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
        this.#advance(member, () => member.run.next(rows));
      }
    }
  }
}

/** The first of these units, and those that begin as it does: they mostly take the same steps, and do not wait for longer ones. */
function sameBeginning(units: readonly Unit[]): readonly Unit[] {
  const statement = units[0]?.first.statement;
  return units.filter(({ first }) => first.statement === statement).slice(0, MAX_UNITS);
}

/** Units that begin alike, by the number that they first add to. */
function byAddition(units: readonly Unit[]): Iterable<readonly Unit[]> {
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
