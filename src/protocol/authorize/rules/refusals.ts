import { columnOf } from '../../refusals/row.ts';
import { PEOPLE, SERVICE } from './refusals/outcomes.ts';
import { PARAMETERS } from './refusals/parameters.ts';
import type { AuthorizationRefusal } from './refusals/row.ts';
import type { RedirectedError } from './request.ts';

/** Every error that the authorization endpoint sends to the redirect URI. */
export const AUTHORIZATION_REFUSALS = { ...PARAMETERS, ...PEOPLE, ...SERVICE };

type AuthorizationRefusalName = keyof typeof AUTHORIZATION_REFUSALS;

type FactsOfRow<Name extends AuthorizationRefusalName> =
  (typeof AUTHORIZATION_REFUSALS)[Name] extends AuthorizationRefusal<infer Facts> ? Facts : never;

/** The error of a row, for the client. Rows whose texts depend on nothing take no facts. */
export function refuseByRedirect<Name extends AuthorizationRefusalName>(
  name: Name,
  ...[facts]: unknown extends FactsOfRow<Name> ? [] : [facts: FactsOfRow<Name>]
): RedirectedError {
  const { app, operator } = AUTHORIZATION_REFUSALS[name] as AuthorizationRefusal<unknown>;
  const reason = operator.reason && columnOf(operator.reason, facts);
  const detail = operator.trace && columnOf(operator.trace, facts);
  return {
    kind: 'redirect',
    error: columnOf(app.error, facts),
    description: columnOf(app.description, facts),
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
  };
}
