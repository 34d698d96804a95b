import { DatabaseError } from 'pg';
import { StoreUnavailable, UnusableDatabase } from '../database.ts';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A unique value is there already, or a row is not there that another one hangs on. */
export const isConstraint = (error: unknown): boolean => ['23505', '23503'].includes(codeOf(error));

/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization failure, deadlock, and a row that another
 * transaction wrote or deleted after this one had looked: run again, the unit sees that and answers as it should.
 */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(codeOf(error)) || isConstraint(error);

/**
 * Classes of errors that say "not now": connection, being let in, resources, operator intervention, system, read-only, a
 * lock that was not had in time, a deadlock, and a database or server that is not in the state for it.
 */
const OUTAGE = /^(08...|28...|3D000|40001|40P01|53...|57P0.|57014|58...|25006|25P03|55...|XX...)$/;

/**
 * What was prepared on a connection no longer fits: a table has changed under it, or a pooler gave us another connection of
 * its own. PostgreSQL has no code for the first alone, and its text may be in any language: the function that says it has not.
 */
const isStale = (error: DatabaseError): boolean =>
  error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery');

/** Whether a connection is of no use after this: it ends, what it prepared is stale, or its server takes no writes any more. */
export const leavesUnusable = (error: DatabaseError): boolean =>
  isLast(error) || error.code === '25006' || isStale(error);

/** Whether the server ends the connection with this. By its code as well, since the severity may be in any language. */
export const isLast = ({ severity, code = '' }: DatabaseError): boolean =>
  severity === 'FATAL' || severity === 'PANIC' || /^(57P0[1-5]|25P03|08...)$/.test(code);

/** Errors of the socket and of the pool, which have other codes or none. */
const SOCKET = /^(E[A-Z]+|ERR_[A-Z_]+)$/;
const POOL =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable/;

/** An outage as the one error that says so; anything else as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (error instanceof UnusableDatabase) return new StoreUnavailable(error.message, { cause: error });
  const stale = error instanceof DatabaseError && isStale(error);
  const away =
    stale || OUTAGE.test(code) || SOCKET.test(code) || POOL.test(error.message) || error instanceof AggregateError;
  return away ? new StoreUnavailable(error.message || code, { cause: error }) : error;
}
