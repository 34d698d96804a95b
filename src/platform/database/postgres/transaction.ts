import type { QueryResult } from 'pg';
import { type DatabaseMeter, StoreUnavailable } from '../database.ts';
import type { Ask } from './connections.ts';
import { isUndone } from './errors.ts';

/** Sends a statement whose answer is awaited with that of the commit. */
export type SendAhead = (answer: Promise<QueryResult>) => void;

interface TransactionOptions {
  /** Begins the transaction. */
  readonly begin?: string;
  /** How many units of work it commits, asked before the commit. */
  units?(): number;
  readonly meter: DatabaseMeter | undefined;
}

/**
 * Runs a transaction on a connection. Statements without results (BEGIN, commands, COMMIT) are sent without waiting for earlier answers.
 * PostgreSQL runs them in order, and nothing after one that failed.
 */
export async function transaction<T>(
  send: Ask,
  { begin = 'BEGIN', units = () => 1, meter }: TransactionOptions,
  run: (ask: Ask, sendAhead: SendAhead) => Promise<T>,
): Promise<T> {
  const sent: Promise<QueryResult>[] = [];
  const sendAhead: SendAhead = (answer) => {
    answer.catch(() => {});
    sent.push(answer);
  };
  try {
    const begun = send({ text: begin }).catch(notBegun);
    sendAhead(begun);
    const ask: Ask = async (query) => {
      const answer = await send(query);
      await begun;
      return answer;
    };
    const result = await run(ask, sendAhead);
    const began = performance.now();
    const commit = send({ text: 'COMMIT' });
    sendAhead(commit);
    for (const answer of sent) await answer;
    // An earlier failure is reported by its own answer; COMMIT would only answer ROLLBACK, without an error.
    if ((await commit).command !== 'COMMIT') throw new Error('a transaction was not committed');
    meter?.committed(units(), (performance.now() - began) / 1000);
    return result;
  } catch (error) {
    // Not sent if an answer is missing: it would wait behind that. Such a connection is closed, which rolls back.
    await send({ text: 'ROLLBACK' }).catch(() => {});
    // Later statements failed only because of the first failure, so that one is reported.
    for (const answer of sent) await answer;
    throw error;
  }
}

/** What was sent behind it was executed without a transaction. So it must not count as undone, and not run again. */
function notBegun(error: unknown): never {
  throw isUndone(error) ? new StoreUnavailable('a transaction did not begin', { cause: error }) : error;
}
