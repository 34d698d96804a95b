import { type Address, type Driver, load, type Measurement } from './load.ts';
import { loopTime, processorTime } from './processor-time.ts';
import { say } from './say.ts';
import { type Summary, summaryOf } from './statistics.ts';

/** The result of one round of one cell. */
export interface Row extends Measurement {
  /** CPU microseconds of the server per request. */
  readonly userMicros: number;
  readonly systemMicros: number;
  /** Those of its event loop; of several processes, that of the first. */
  readonly loopMicros: number;
  /** CPU microseconds of the database server per request, user and system. */
  readonly databaseMicros: number;
}

/** One cell of a comparison: a workload on one target. */
export interface Cell {
  readonly work: string;
  readonly target: string;
  readonly connections: number;
  readonly people: number;
  warmUp(): Promise<unknown>;
  round(): Promise<Row>;
}

export interface Result extends Pick<Cell, 'work' | 'target' | 'connections' | 'people'> {
  readonly summary: Summary;
}

/** A server that is measured. Its processor time is known if its process is on this machine. */
export interface Measured {
  readonly process: { readonly pid?: number | undefined };
  readonly port: Address;
  readonly database?: number | undefined;
}

/** Runs a load and measures the CPU time of the target's processes. */
export async function accounted(target: Measured, run: () => Promise<Measurement>): Promise<Row> {
  const time = () => ({
    server: target.process.pid === undefined ? { user: 0, system: 0 } : processorTime(target.process.pid),
    loop: target.process.pid === undefined ? 0 : loopTime(target.process.pid),
    database: target.database === undefined ? { user: 0, system: 0 } : processorTime(target.database),
  });
  const before = time();
  const measured = await run();
  const after = time();
  const micros = (milliseconds: number) => (milliseconds * 1000) / measured.requests;
  return {
    ...measured,
    userMicros: micros(after.server.user - before.server.user),
    systemMicros: micros(after.server.system - before.server.system),
    loopMicros: micros(after.loop - before.loop),
    databaseMicros: micros(after.database.user + after.database.system - before.database.user - before.database.system),
  };
}

export const measure = (target: Measured, connections: number, seconds: number, driver: Driver): Promise<Row> =>
  accounted(target, () => load(target.port, connections, seconds, driver));

/** Runs all cells in turn, round after round, so that noise of the machine affects all of them. */
export async function compare(what: string, cells: readonly Cell[], rounds: number): Promise<Result[]> {
  say(`${what}: warming up …`);
  const rows = new Map<Cell, Row[]>(cells.map((cell) => [cell, []]));
  for (const cell of cells) await cell.warmUp();
  for (let round = 0; round < rounds; round++) {
    say(`${what}: round ${round + 1} of ${rounds} …`);
    for (const cell of cells) rows.get(cell)?.push(await cell.round());
  }
  return cells.map((cell) => {
    const { work, target, connections, people } = cell;
    return { work, target, connections, people, summary: summaryOf(rows.get(cell) ?? []) };
  });
}
