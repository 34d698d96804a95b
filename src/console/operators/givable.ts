import { OPERATOR_ROLES, type OperatorRole } from '../../operators/permissions.ts';
import { excessOf, type Operator } from '../../operators/rights.ts';
import { field, fieldProblem, type Problems, selectField } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { type Failure, invalid } from '../../platform/failure.ts';
import type { Given } from '../act.ts';

/** The roles of an organization that are no roles of its members, and reach no account. */
const OF_ORGANIZATIONS: readonly OperatorRole[] = ['auditor', 'developer'];

/**
 * The roles that an operator may give in a place.
 * @param ofPeople owners and admins of an organization are its members with that role; a key can have it nevertheless
 */
export const givableRoles = (
  operator: Operator,
  organizationId: string | null,
  ofPeople: boolean,
): readonly OperatorRole[] =>
  OPERATOR_ROLES.filter((role) => {
    if (organizationId !== null && role === 'support') return false;
    if (organizationId !== null && ofPeople && !OF_ORGANIZATIONS.includes(role)) return false;
    return excessOf(operator, { role, organizationId, expiresAt: null }) === undefined || isBounded(operator, role);
  });

/** A role that the operator holds for a time may be given for no longer. */
const isBounded = ({ grants }: Operator, role: OperatorRole): boolean =>
  grants.some((grant) => grant.role === role && grant.expiresAt !== null);

/** The fields of a role and its end. */
export function roleFields({ messages }: Site, roles: readonly OperatorRole[], given: Given, problems: Problems): Html {
  const { operators: text } = messages.operators;
  const least = roles.at(-1) ?? '';
  return html`${selectField({
    ...{ name: 'role', label: text.grant.role, value: given.get('role') ?? least, problems },
    options: roles.map((role) => [role, text.roleLabels[role]] as const),
  })}${field({
    ...{ name: 'until', label: text.grant.until, hint: text.grant.untilHint, type: 'date', autocomplete: 'off' },
    ...{ required: false, value: given.get('until') ?? '', problems },
  })}`;
}

/** The role and the end that were chosen. @throws {Failure} `invalid` */
export function chosenGrant(
  given: Given,
  organizationId: string | null,
): { readonly role: OperatorRole; readonly organizationId: string | null; readonly expiresAt: string | null } {
  const role = OPERATOR_ROLES.find((name) => name === given.get('role'));
  if (role === undefined) throw invalid('role');
  const day = (given.get('until') ?? '').trim();
  if (day !== '' && !/^\d{4}-\d\d-\d\d$/.test(day)) throw invalid('expiresAt');
  const expiresAt = day === '' ? null : `${day}T23:59:59Z`;
  if (expiresAt !== null && Number.isNaN(Date.parse(expiresAt))) throw invalid('expiresAt');
  return { role, organizationId, expiresAt };
}

/** The field that a refusal is about. */
export function grantProblem({ messages }: Site, { message }: Failure): Problems | undefined {
  const { grant: text } = messages.operators.operators;
  if (message === 'role') return fieldProblem('role', text.roleBad);
  return message.startsWith('expiresAt') ? fieldProblem('until', text.untilBad) : undefined;
}
