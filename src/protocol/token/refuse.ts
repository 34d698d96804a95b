import { type AuditEvent, record } from '../../audit/audit.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { isUnregistered } from '../../clients/rules/unregistered.ts';
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

/** A refusal that cost its caller nothing: {@link recordRefusal} records it at a bounded rate. */
class ThrottledRefusal extends OAuthError {
  readonly event: AuditEvent;

  constructor({ status, code, message, headers, reason, detail }: OAuthError, event: AuditEvent) {
    super(status, code, message, headers, reason, detail);
    this.event = event;
  }
}

/** Anyone can act as a public client, and can make a client that no operator has accepted. */
const costsNothing = ({ client, proof }: AuthenticatedClient): boolean =>
  proof.kind === 'public' || isUnregistered(client);

/** What the refusal of a client's request is recorded with. */
interface RefusalServices {
  readonly recordThrottled: RecordThrottled;
}

/** Records a refusal that {@link refuseRequest} left to be recorded, after the commit. @returns the error to answer with */
export async function recordRefusal({ recordThrottled }: RefusalServices, refused: OAuthError): Promise<OAuthError> {
  if (refused instanceof ThrottledRefusal) await recordThrottled(refused.event);
  return refused;
}

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

/**
 * Refuses a request, inside its unit of work; {@link recordRefusal} follows the commit. An event that anyone could cause in great number is not
 * written here, as each would be a write.
 * @returns the error to answer with
 */
export function* refuseRequest<Name extends RefusalName>(
  authenticated: AuthenticatedClient,
  now: number,
  name: Name,
  facts: FactsOf<Name>,
): Work<OAuthError> {
  const row = REFUSALS[name] as RefusalRow<unknown>;
  const { event: type, details, isEnding } = row.operator;
  const error = errorOf(row, facts);
  if (type === undefined) return error;
  const { client, origin } = authenticated;
  const { accountId } = facts as AboutCredential;
  const event: AuditEvent = {
    at: now,
    type: columnOf(type, facts),
    outcome: 'failure',
    origin,
    clientId: client.id,
    ...(accountId !== undefined && { accountId }),
    ...(details && { details: columnOf(details, facts) }),
  };
  if (costsNothing(authenticated) && isEnding?.(facts) !== true) return new ThrottledRefusal(error, event);
  yield* record(event);
  return error;
}
