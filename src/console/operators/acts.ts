import { grantRole } from '../../account-actions/makers/grant-role.ts';
import type { Made } from '../../account-actions/makers/list-made.ts';
import { madeByRole, revokeRole } from '../../account-actions/makers/revoke-role.ts';
import type { Account } from '../../accounts/store.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../../operators/permissions.ts';
import { findOrganization, type Organization, organizationNotFound } from '../../organizations/store.ts';
import { generalProblem, isolate } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { notFound } from '../../platform/failure.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { getSubject } from '../named-person.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';
import { OPERATORS } from './addresses.ts';
import { chosenGrant, givableRoles, grantProblem, roleFields } from './givable.ts';
import { endedMade, endMadeChoice, isMadeToEnd } from './made.ts';

/** The organization that a page or form names; null for none. @throws {Failure} `not found` */
export async function organizationIn({ services: { database }, named }: ConsoleVisit): Promise<Organization | null> {
  const { organizationId: id } = named;
  if (id === undefined) return null;
  const found = await database.read(() => findOrganization({ id }));
  if (found === undefined) throw organizationNotFound(id);
  return found;
}

const identified = ({ id, profile }: Account): Html =>
  html`${isolate(profile.username)} · <span class="figures">${id}</span>`;

interface Granted {
  readonly account: Account;
  readonly organization: Organization | null;
}

const backOf = ({ services: { site } }: ConsoleVisit, organization: Organization | null) =>
  organization === null
    ? { back: OPERATORS, backTo: site.messages.operators.back(site.messages.operators.operators.title) }
    : {
        back: organizationAddress(organization.id, 'roles'),
        backTo: site.messages.operators.back(isolate(organization.name)),
      };

const grant = defineAct<Granted>({
  ...{ address: `${OPERATORS}/grant`, section: 'operators', permission: 'operators.manage' },
  objects: { person: 'userId', inOrganizationOfBody: true },
  pageObjects: { inOrganizationOfBody: true },
  isDangerous: false,
  async find(visit) {
    const organization = await organizationIn(visit);
    return { account: await getSubject(visit, organization?.id ?? null), organization };
  },
  ask(visit, { account, organization }, given, problems) {
    const { site } = visit.services;
    const { grant: text } = site.messages.operators.operators;
    const roles = givableRoles(visit.operator, organization?.id ?? null, true);
    return {
      ...{ title: text.title(isolate(account.profile.displayName)), object: identified(account) },
      lead: organization === null ? text.lead : text.leadIn(isolate(organization.name)),
      fields: roleFields(site, roles, given, problems),
      ...{ submit: text.submit, back: backOf(visit, organization).back },
      about: { user: account.id, ...(organization !== null && { organization: organization.id }) },
    };
  },
  async run(visit, { account, organization }, given) {
    const { site } = visit.services;
    const { operators: text, roles } = site.messages.operators;
    const wanted = chosenGrant(given, organization?.id ?? null);
    const { made } = await grantRole(visit.services, account.id, wanted, visit.origin);
    const title = text.grant.done(isolate(account.profile.displayName), roles[wanted.role]);
    return { title, now: text.grant.now, more: endedMade(site, visit, made, false), ...backOf(visit, organization) };
  },
  problemOf: (visit, failure) => grantProblem(visit.services.site, failure),
});

interface Revoked extends Granted {
  readonly role: OperatorRole;
  readonly made: Made;
}

const revoke = defineAct<Revoked>({
  ...{ address: `${OPERATORS}/revoke`, section: 'operators', permission: 'operators.manage' },
  objects: { person: 'userId', inOrganizationOfBody: true },
  pageObjects: { inOrganizationOfBody: true },
  isDangerous: true,
  async find(visit, given) {
    const organization = await organizationIn(visit);
    const account = await getSubject(visit, organization?.id ?? null);
    const role = OPERATOR_ROLES.find((name) => name === given.get('held'));
    if (role === undefined) throw notFound('There is no such role.');
    const which = { role, organizationId: organization?.id ?? null };
    const made = await visit.services.database.read(() => madeByRole(account.id, which, visit.services.clock()));
    return { account, organization, role, made };
  },
  ask(visit, { account, organization, role, made }, given) {
    const { site } = visit.services;
    const { operators: text, roles } = site.messages.operators;
    return {
      title: text.removal.title(isolate(account.profile.displayName), roles[role]),
      ...{ object: identified(account), lead: text.removal.lead, submit: text.removal.submit },
      fields: endMadeChoice(site, visit, made, isMadeToEnd(given)),
      back: backOf(visit, organization).back,
      about: { user: account.id, held: role, ...(organization !== null && { organization: organization.id }) },
    };
  },
  async run(visit, { account, organization, role }, given) {
    const { site } = visit.services;
    const { operators: text, roles } = site.messages.operators;
    const endMade = isMadeToEnd(given);
    const which = { role, organizationId: organization?.id ?? null };
    const made = await revokeRole(visit.services, account.id, which, visit.origin, { endMade });
    const title = text.removal.done(isolate(account.profile.displayName), roles[role]);
    const more = endedMade(site, visit, made, endMade);
    return { title, now: text.removal.now, more, ...backOf(visit, organization) };
  },
  problemOf: (visit, { kind, message }) =>
    generalProblem(
      kind === 'conflict' && message.includes('last owner')
        ? visit.services.site.messages.operators.operators.lastOwner
        : message,
    ),
});

/** The acts on roles of people. */
export const roleActs: readonly ConsoleAct[] = [grant, revoke];
