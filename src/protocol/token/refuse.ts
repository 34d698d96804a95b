import { record } from '../../audit/audit.ts';
import type { Work } from '../../platform/database/database.ts';
import type { ErrorCode } from '../../platform/error-codes.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import type { AuthenticatedClient } from '../client-authentication/authenticate.ts';
import { type AboutCredential, columnOf, type RefusalRow } from '../refusals/row.ts';
import { type FactsOf, REFUSALS, type RefusalName } from './refusals.ts';

/** {@link refuseRequest} for one request. */
export type Refuse = <Name extends RefusalName>(name: Name, facts: FactsOf<Name>) => Work<OAuthError>;

/** The error of a refusal, as the client gets it. It is not recorded. */
export const refusal = <Name extends RefusalName>(name: Name, facts: FactsOf<Name>): OAuthError =>
  errorOf(REFUSALS[name] as RefusalRow<unknown>, facts);

/** RFC 6749 §5.2, and the contract's status of revoked access. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = { access_denied: 403, invalid_client: 401 };

function errorOf({ app, operator }: RefusalRow<unknown>, facts: unknown): OAuthError {
  const error = columnOf(app.error, facts);
  const reason = operator.reason && columnOf(operator.reason, facts);
  const trace = operator.trace && columnOf(operator.trace, facts);
  return new OAuthError(
    app.status ?? STATUSES[error] ?? 400,
    error,
    columnOf(app.description, facts),
    {},
    reason,
    trace,
  );
}

/** Part of the unit of work of a token request: records a refusal in the audit trail. @returns the error to answer with */
export function* refuseRequest<Name extends RefusalName>(
  { client, origin }: AuthenticatedClient,
  now: number,
  name: Name,
  facts: FactsOf<Name>,
): Work<OAuthError> {
  const row = REFUSALS[name] as RefusalRow<unknown>;
  const { event, details } = row.operator;
  if (event !== undefined) {
    const { accountId } = facts as AboutCredential;
    yield* record({
      at: now,
      type: columnOf(event, facts),
      outcome: 'failure',
      origin,
      clientId: client.id,
      ...(accountId !== undefined && { accountId }),
      ...(details && { details: columnOf(details, facts) }),
    });
  }
  return errorOf(row, facts);
}
