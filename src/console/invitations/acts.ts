import {
  CreateInvitationRequest,
  createInvitation,
  revokeInvitation,
} from '../../account-actions/invitations/invitations.ts';
import { requireRevocable } from '../../account-actions/operators/open-invitations.ts';
import { findInvitation } from '../../invitations/store.ts';
import type { Organization, Role } from '../../organizations/store.ts';
import { copyable, fact, facts, field, fieldProblem, isolate, selectField } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { invalid } from '../../platform/failure.ts';
import { validate } from '../../platform/validation/validate.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { organizationIn } from '../operators/acts.ts';
import { givableMemberRoles } from '../organizations/acts.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';
import { INVITATIONS } from './addresses.ts';

const backOf = ({ services: { site } }: ConsoleVisit, organization: Organization | null) => {
  const { back, invitations } = site.messages.operators;
  return {
    back: organization === null ? INVITATIONS : organizationAddress(organization.id, 'invitations'),
    backTo: back(invitations.title),
  };
};

const MEMBER_ROLES: readonly Role[] = ['MEMBER', 'ADMIN', 'OWNER'];

/** A role that was chosen. @throws {Failure} `invalid` */
function roleIn(chosen: string | undefined): Role {
  const role = MEMBER_ROLES.find((name) => name === chosen);
  if (role === undefined) throw invalid('role must be one of OWNER, ADMIN, MEMBER.');
  return role;
}

const invite = defineAct<Organization | null>({
  ...{ address: `${INVITATIONS}/new`, section: 'people', permission: 'invitations.manage' },
  objects: { inOrganizationOfBody: true },
  isDangerous: false,
  find: organizationIn,
  ask(visit, organization, given, problems) {
    const { site, mail } = visit.services;
    const { new: text } = site.messages.operators.invitations;
    const roles =
      organization === null
        ? undefined
        : givableMemberRoles(visit, organization).flatMap(([name, label]) =>
            name === '' ? [] : [[name, label] as const],
          );
    return {
      title: organization === null ? text.title : text.titleTo(isolate(organization.name)),
      lead: mail.available ? text.lead : text.leadWithoutMail,
      fields: html`${field({
        ...{ name: 'email', label: text.email, hint: text.emailHint, type: 'email', autocomplete: 'off', problems },
        ...{ required: false, value: given.get('email') ?? '' },
      })}${roles !== undefined && selectField({ name: 'role', label: text.role, value: given.get('role') ?? 'MEMBER', problems, options: roles })}${selectField({ name: 'days', label: text.days, value: given.get('days') ?? '7', problems, options: Object.entries(text.daysOf) })}`,
      ...{ submit: text.submit, back: backOf(visit, organization).back },
      about: organization === null ? {} : { organization: organization.id },
    };
  },
  async run(visit, organization, given) {
    const { site } = visit.services;
    const { new: text } = site.messages.operators.invitations;
    const email = (given.get('email') ?? '').trim();
    const asked = validate(CreateInvitationRequest, {
      ...(email !== '' && { email }),
      ...(organization !== null && { organizationId: organization.id, role: roleIn(given.get('role')) }),
      days: Number(given.get('days') ?? '7'),
    });
    const services = { ...visit.services, adminKeyId: null, operatorId: visit.account.id };
    const { invitation, link } = await createInvitation(services, asked, visit.origin);
    const shown = link && fact(text.link, copyable(link, site.messages.error, text.copy), true);
    return {
      title: text.done,
      now: link === undefined ? text.mailed(isolate(invitation.email ?? '')) : text.shown,
      more: shown && html`<section class="card">${facts([shown])}</section>`,
      ...backOf(visit, organization),
    };
  },
  problemOf(visit, { message }) {
    const { new: text } = visit.services.site.messages.operators.invitations;
    if (message.startsWith('email')) return fieldProblem('email', text.emailBad);
    if (message.startsWith('days')) return fieldProblem('days', text.daysBad);
    return message.startsWith('role') ? fieldProblem('role', text.roleBad) : undefined;
  },
});

const revoke = defineAct<string>({
  ...{ address: `${INVITATIONS}/revoke`, section: 'people', permission: 'invitations.manage' },
  objects: { invitation: 'id' },
  isDangerous: true,
  async find({ named: { id = '' }, operator, services }) {
    const invitation = await services.database.read(() => findInvitation({ id }));
    if (invitation !== undefined) requireRevocable(operator, invitation);
    return id;
  },
  ask(visit, id) {
    const { revocation: text } = visit.services.site.messages.operators.invitations;
    return { title: text.title, lead: text.lead, submit: text.submit, about: { id }, back: INVITATIONS };
  },
  async run(visit, id) {
    const { revocation: text } = visit.services.site.messages.operators.invitations;
    await revokeInvitation(visit.services, id, visit.origin);
    return { title: text.done, now: text.now, ...backOf(visit, null) };
  },
});

/** The acts on invitations. */
export const invitationActs: readonly ConsoleAct[] = [invite, revoke];
