import { DatabaseError } from 'pg';
import { StoreUnavailable, UnusableDatabase } from '../database.ts';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A value that its type cannot hold, such as a number out of range, or a text with U+0000. */
export const isData = (error: unknown): boolean => codeOf(error).startsWith('22');

/** A unique value exists already, or a referenced row does not exist. */
export const isConstraint = (error: unknown): boolean => ['23505', '23503'].includes(codeOf(error));

/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization failure, deadlock, and a row that another
 * transaction wrote or deleted after this one had read. Run again, the unit of work sees the change.
 */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(codeOf(error)) || isConstraint(error);

/**
 * Errors that may be temporary: connection, authorization, resources, operator intervention, system, read-only, lock timeout, deadlock,
 * and a database or server that is not in the required state.
 */
const OUTAGE = /^(08...|28...|3D000|40001|40P01|53...|57P0.|57014|58...|25006|25P03|55...|XX...)$/;

/**
 * The prepared statements of a connection are no longer valid: a table has changed, or a pooler switched to another connection.
 * PostgreSQL has no specific code for the former, and its messages may be in any language, but the name of the function is stable.
 */
const isStale = (error: DatabaseError): boolean =>
  error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery');

/** Whether a connection is unusable after this: it is closing, its statements are stale, or its server takes no writes any more. */
export const leavesUnusable = (error: DatabaseError): boolean =>
  isLast(error) || error.code === '25006' || isStale(error);

/** Whether the server closes the connection with this error. Checked by code as well, since the severity may be in any language. */
export const isLast = ({ severity, code = '' }: DatabaseError): boolean =>
  severity === 'FATAL' || severity === 'PANIC' || /^(57P0[1-5]|25P03|08...)$/.test(code);

/** Whether the server has answered, and certainly undone the transaction. */
export const isUndone = (error: unknown): boolean => error instanceof DatabaseError && !isLast(error);

/** Errors of the socket and the pool, which have other codes or none. */
const SOCKET = /^(E[A-Z]+|ERR_[A-Z_]+)$/;
const POOL =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable/;

/** Converts errors of an outage to {@link StoreUnavailable}; returns others unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (error instanceof UnusableDatabase) return new StoreUnavailable(error.message, { cause: error });
  const stale = error instanceof DatabaseError && isStale(error);
  const away =
    stale || OUTAGE.test(code) || SOCKET.test(code) || POOL.test(error.message) || error instanceof AggregateError;
  return away ? new StoreUnavailable(error.message || code, { cause: error }) : error;
}
