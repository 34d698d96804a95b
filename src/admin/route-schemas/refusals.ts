import { type ResponseDescription, refusalResponses } from '../../platform/http/operation.ts';
import type { ErrorCode } from '../../platform/oauth-error.ts';

/** What every call of the admin API may refuse, and what more a call does. */
export const adminRefusals = (
  more: Readonly<Record<number, readonly ErrorCode[]>> = {},
): Record<number, ResponseDescription> =>
  refusalResponses({ 401: ['invalid_token'], 429: ['rate_limit_exceeded'], ...more });

/** A call about something that has an id. */
export const ABOUT_ONE = { 404: ['not_found'] } as const;
/** A call that may meet a name which is taken, or a state which does not allow it. */
export const MAY_CONFLICT = { 409: ['conflict'] } as const;
