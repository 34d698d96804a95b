import type { ServerWarning } from '../start.ts';

/** How many connections a server has for this user, by its settings. */
export interface Room {
  /** `max_connections`. */
  readonly most: number;
  /** `superuser_reserved_connections` and `reserved_connections`. */
  readonly reserved: number;
  /** The limits of the role and of the database; undefined where there is none. */
  readonly role: number | undefined;
  readonly database: number | undefined;
}

/** The connections of one process. A standby that hangs blocks all commits, and so all writers: reads have their own, and continue. */
export interface PoolSizes {
  readonly readers: number;
  readonly writers: number;
}

export const FULL: PoolSizes = { readers: 5, writers: 10 };

/** One more connection terminates those that do not answer: see `reaper.ts`. */
export const sizeOf = ({ readers, writers }: PoolSizes): number => readers + writers + 1;

/** With fewer, a process cannot work: one to read, one to write, and one for those that do not answer. */
export const LEAST = sizeOf({ readers: 1, writers: 1 });

/** Left for commands such as `tessera doctor`, and for the operator. */
const SPARE = 3;

/** How many connections there are for all processes of this user, and which setting says so. */
export function offered({ most, reserved, role, database }: Room): {
  readonly count: number;
  readonly by: string;
  raise(to: number): string;
} {
  const server = Math.max(0, most - reserved);
  const count = Math.min(server, role ?? server, database ?? server);
  if (count === role) {
    return { count, by: `the user has a limit of ${role}`, raise: (to) => `ALTER ROLE <user> CONNECTION LIMIT ${to};` };
  }
  if (count === database) {
    const raise = (to: number) => `ALTER DATABASE <database> CONNECTION LIMIT ${to};`;
    return { count, by: `the database has a limit of ${database}`, raise };
  }
  const by = `max_connections is ${most}, of which ${reserved} are reserved`;
  return { count, by, raise: (to) => `ALTER SYSTEM SET max_connections = ${to + reserved}; and restart the server` };
}

/** The pools of one process, where so many share what there is. */
export function poolsFor(room: Room, processes: number): PoolSizes {
  const { count } = offered(room);
  const share = Math.max(LEAST, Math.min(sizeOf(FULL), Math.floor((count - SPARE) / processes)));
  const readers = Math.max(1, Math.min(FULL.readers, Math.floor((share - 1) / 3)));
  return { readers, writers: share - 1 - readers };
}

/** Says where a node gets fewer connections than it uses, and what to change. */
export function roomWarnings(room: Room, processes: number): readonly ServerWarning[] {
  const { count, by, raise } = offered(room);
  const full = sizeOf(FULL);
  const wanted = full * processes;
  if (count >= wanted) return [];
  const each = sizeOf(poolsFor(room, processes));
  const fewer = Math.floor((count - SPARE) / full);
  const few = count < LEAST * processes ? ' That is too few: requests will get 503.' : '';
  return [
    {
      found:
        `The server offers ${count} connections (${by}), and ${processes === 1 ? 'one process uses' : `${processes} processes use`} ` +
        `up to ${wanted}: each gets ${each} instead of ${full}.${few}`,
      remedy:
        `Raise the limit to ${wanted + SPARE}, with ${full * processes} more for each other node (${raise(wanted + SPARE)})` +
        `${processes > 1 && fewer > 0 ? `, or set TESSERA_PROCESSES=${fewer}` : ''}.`,
    },
  ];
}
