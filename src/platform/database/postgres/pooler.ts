import type { ClientBase, QueryConfig, QueryResult } from 'pg';
import { type ConnectionSettings, settings } from './settings.ts';

/** A connection to a pooler, which may lead each transaction to another connection of the server. */
export interface Pooled {
  /** The query that begins each transaction, after BEGIN. */
  readonly opening: string;
  /** The server that was checked: when it was started. */
  readonly started: string;
}

/** What the opening of a transaction returns. */
export interface Opened {
  readonly pid: number;
  /** When the transaction began, in seconds. */
  readonly began: string;
  readonly started: string;
}

/** Sets for one transaction what a direct connection has for its life, and asks which process of which server runs it. */
export const openingOf = (connectionSettings: ConnectionSettings): string =>
  `SELECT ${settings(connectionSettings, true)}, pg_backend_pid() AS pid, extract(epoch FROM now())::text AS began, ` +
  'extract(epoch FROM pg_postmaster_start_time())::text AS started';

/**
 * Whether a pooler stands between: the process that answers is not the one that the connection was promised. It may be in session mode,
 * which cannot be told apart from transaction mode.
 */
export const isPooled = (client: ClientBase, { pid }: { pid: number }): boolean =>
  Reflect.get(client, 'processID') !== pid;

type Ask = (query: QueryConfig) => Promise<QueryResult>;

/**
 * Makes queries independent of what the pooler did between two transactions: no prepared statements, and settings for each transaction. A
 * query outside of a transaction gets one of its own. All of it is sent without waiting, so it costs no round trip.
 *
 * No answer is believed before that of the opening: a connection that a pooler leads to another server may be to a standby, or to a
 * primary that was replaced.
 * @param check throws where the opening shows another server
 */
export function throughPooler(ask: Ask, opening: string, check: (opened: Opened) => void): Ask {
  /** The check of the transaction that is open. */
  let checked: Promise<QueryResult> | undefined;

  function begin(query: QueryConfig): Promise<QueryResult> {
    // In one message, before what the query itself sets.
    const text = query.text.replace(/^[^;]*/, (begin) => `${begin}; ${opening}`);
    checked = ask({ ...query, text }).then((answer) => {
      // The driver returns a list for several statements.
      const [, opened] = [answer].flat();
      check(opened?.rows[0] as Opened);
      return answer;
    });
    return checked;
  }

  async function alone(query: QueryConfig): Promise<QueryResult> {
    const begun = begin({ text: 'BEGIN' });
    const answer = ask(query);
    const ended = ask({ text: 'COMMIT' });
    checked = undefined;
    return after([begun, answer, ended], answer);
  }

  return ({ name: _, ...query }) => {
    if (query.text.startsWith('BEGIN')) return begin(query);
    if (checked === undefined) return alone(query);
    const answer = after([checked], ask(query));
    if (query.text === 'COMMIT' || query.text === 'ROLLBACK') checked = undefined;
    return answer;
  };
}

/** Waits for all of them, because others use the connection afterwards; throws the first error. */
async function after<T>(earlier: readonly Promise<unknown>[], last: Promise<T>): Promise<T> {
  await Promise.allSettled([...earlier, last]);
  for (const one of earlier) await one;
  return last;
}
