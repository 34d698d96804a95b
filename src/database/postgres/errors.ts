import { DatabaseUnusable, StoreUnavailable } from '../database.ts';

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
 * lock that was not had in time, and a database or server that is not in the state for it.
 */
const OUTAGE = /^(08...|28...|3D000|53...|57P0.|57014|58...|25006|25P03|55...|XX...)$/;

/** Errors of the socket and of the pool, which have other codes or none. */
const SOCKET = /^(E[A-Z]+|ERR_[A-Z_]+)$/;
const POOL =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable/;

/** An outage as the one error that says so; anything else as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (error instanceof DatabaseUnusable) return new StoreUnavailable(error.message, { cause: error });
  const away = OUTAGE.test(code) || SOCKET.test(code) || POOL.test(error.message) || error instanceof AggregateError;
  return away ? new StoreUnavailable(error.message || code, { cause: error }) : error;
}
