import type { ErrorCode } from '../../platform/error-codes.ts';
import { type ResponseDescription, refusalResponses } from '../../platform/http/operation.ts';

/** The error responses of every admin route, and those of one route in addition. */
export const adminErrors = (
  more: Readonly<Record<number, readonly ErrorCode[]>> = {},
): Record<number, ResponseDescription> =>
  refusalResponses({
    401: ['invalid_token'],
    403: ['insufficient_permission'],
    429: ['rate_limit_exceeded'],
    ...more,
  });

/** For a route about a record that may not exist. */
export const MAY_BE_MISSING = { 404: ['not_found'] } as const;
/** For a route that changes or deletes a record, which may have another version than the caller says. */
export const MAY_HAVE_CHANGED = { 412: ['precondition_failed'] } as const;
/** For a route that may find a name taken, or a state that does not allow the change. */
export const MAY_CONFLICT = { 409: ['conflict'] } as const;
