import type { AccountGrant } from '../../access/operator-grant-store.ts';
import type { Made } from '../../account-actions/makers/list-made.ts';
import { madeByMembership, removeMember, setMember } from '../../account-actions/makers/memberships.ts';
import { grantOfMembership } from '../../account-actions/operators/grants.ts';
import { rolesIn } from '../../account-actions/operators/roles-in-organization.ts';
import {
  CreateOrganizationRequest,
  createOrganization,
  deleteOrganization,
  updateOrganization,
} from '../../account-actions/organizations/organizations.ts';
import type { Account } from '../../accounts/store.ts';
import { excessOf } from '../../operators/rights.ts';
import {
  findMemberRole,
  findOrganization,
  type Organization,
  organizationNotFound,
  type Role,
} from '../../organizations/store.ts';
import { field, fieldProblem, generalProblem, isolate, selectField } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import { joinList } from '../../pages/lists.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Work } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { validate } from '../../platform/validation/validate.ts';
import { type ConsoleAct, defineAct, type Given } from '../act.ts';
import { getSubject } from '../named-person.ts';
import { endedMade, endMadeChoice, isMadeToEnd } from '../operators/made.ts';
import type { ConsoleVisit } from '../visit.ts';
import { ORGANIZATIONS, organizationAddress } from './addresses.ts';

const textsOf = ({ services }: ConsoleVisit): Messages['operators']['organizations'] =>
  services.site.messages.operators.organizations;

async function getOrganizationOf({ services: { database }, named: { id = '' } }: ConsoleVisit): Promise<Organization> {
  const found = await database.read(() => findOrganization({ id }));
  if (found === undefined) throw organizationNotFound(id);
  return found;
}

const backTo = ({ services: { site } }: ConsoleVisit, { id, name }: Organization) => ({
  back: organizationAddress(id),
  backTo: site.messages.operators.back(isolate(name)),
});

const text = (given: Given, name: string): string => (given.get(name) ?? '').trim();

const create = defineAct<undefined>({
  ...{ address: `${ORGANIZATIONS}/create`, section: 'organizations', permission: 'organizations.create' },
  ...{ objects: {}, isDangerous: false },
  async find() {
    return undefined;
  },
  ask(visit, _nothing, given, problems) {
    const { create: words } = textsOf(visit);
    const input = (name: 'name' | 'domain', label: string, hint: string) =>
      field({ ...{ name, label, hint, problems, type: 'text', autocomplete: 'off' }, value: given.get(name) ?? '' });
    return {
      ...{ title: words.title, lead: words.lead, submit: words.submit, about: {}, back: ORGANIZATIONS },
      fields: html`${input('name', words.name, words.nameHint)}${input('domain', words.domain, words.domainHint)}`,
    };
  },
  async run(visit, _nothing, given) {
    const { create: words } = textsOf(visit);
    const asked = validate(CreateOrganizationRequest, { name: text(given, 'name'), domain: text(given, 'domain') });
    const organization = await createOrganization(visit.services, asked, visit.origin);
    return { title: words.done(isolate(organization.name)), now: words.now, ...backTo(visit, organization) };
  },
  problemOf(visit, { kind, message }) {
    const { create: words } = textsOf(visit);
    if (kind === 'conflict') return fieldProblem('name', words.nameTaken);
    if (message.startsWith('name')) return fieldProblem('name', words.nameBad);
    return message.startsWith('domain') ? fieldProblem('domain', words.domainBad) : undefined;
  },
});

interface MemberOf {
  readonly organization: Organization;
  readonly account: Account;
  /** Undefined for a person who is not in it yet. */
  readonly role: Role | null | undefined;
  /** The roles of the organization that the person holds beside the membership. */
  readonly roles: readonly AccountGrant[];
  /** What the person made in a role that ends; undefined for others. */
  readonly made: Made | undefined;
}

/** @param leaves whether the person is to leave, with which every role of the organization ends */
async function getMemberOf(visit: ConsoleVisit, { leaves }: { readonly leaves: boolean }): Promise<MemberOf> {
  const organization = await getOrganizationOf(visit);
  const account = await getSubject(visit, organization.id);
  const member = { accountId: account.id, organizationId: organization.id };
  const { database, clock } = visit.services;
  return database.read(function* read(): Work<MemberOf> {
    const found = yield* findMemberRole(member);
    const roles = yield* rolesIn(member);
    const isOperator = grantOfMembership(organization.id, found?.role ?? null) !== undefined;
    const loses = isOperator || (leaves && roles.length > 0);
    const made = loses ? yield* madeByMembership(member, clock(), { leaves }) : undefined;
    return { organization, account, role: found?.role, roles, made };
  });
}

const identified = ({ id, profile }: Account) =>
  html`${isolate(profile.username)} · <span class="figures">${id}</span>`;

const CHOICES = ['MEMBER', 'ADMIN', 'OWNER', ''] as const;

/** The roles that an operator may give in an organization, each with its name. */
export function givableMemberRoles({ services, operator }: ConsoleVisit, { id }: Organization) {
  const { asMember } = services.site.messages.operators.organizations.member;
  return CHOICES.filter((role) => {
    const grant = grantOfMembership(id, role === '' ? null : role);
    return grant === undefined || excessOf(operator, grant) === undefined;
  }).map((role) => [role, asMember[role]] as const);
}

function roleOf(given: Given): Role | null {
  const role = given.get('role') ?? '';
  if (role === '') return null;
  const known = CHOICES.find((name) => name === role);
  if (known === undefined || known === '') throw invalid('role must be one of OWNER, ADMIN, MEMBER, or empty.');
  return known;
}

/** What was made in a role that may be taken away, with the choice to end it; nothing for a person without such a role. */
const endMadeIfAny = (visit: ConsoleVisit, made: Made | undefined, given: Given): HtmlPart =>
  made && endMadeChoice(visit.services.site, visit, made, isMadeToEnd(given));

const member = defineAct<MemberOf>({
  ...{ address: `${ORGANIZATIONS}/member`, section: 'organizations', permission: 'members.manage' },
  objects: { organization: 'id', person: 'userId' },
  pageObjects: { organization: 'id' },
  isDangerous: false,
  find: (visit) => getMemberOf(visit, { leaves: false }),
  ask(visit, { organization, account, role, made }, given, problems) {
    const { member: words } = textsOf(visit);
    const options = givableMemberRoles(visit, organization);
    const value = given.get('role') ?? (role === undefined ? 'MEMBER' : (role ?? ''));
    return {
      title: words.title(isolate(account.profile.displayName), isolate(organization.name)),
      object: identified(account),
      ...{ lead: words.lead, submit: words.submit, back: organizationAddress(organization.id) },
      about: { id: organization.id, user: account.id },
      fields: html`${selectField({ name: 'role', label: words.role, value, problems, options })}${endMadeIfAny(visit, made, given)}`,
    };
  },
  async run(visit, { organization, account }, given) {
    const { member: words } = textsOf(visit);
    const role = roleOf(given);
    const member = { organizationId: organization.id, accountId: account.id, role };
    const endMade = isMadeToEnd(given);
    const made = await setMember(visit.services, member, visit.origin, { endMade });
    const names = [isolate(account.profile.displayName), isolate(organization.name)] as const;
    const title = words.done(names[0], names[1], words.asMember[role ?? '']);
    const more = endedMade(visit.services.site, visit, made, endMade);
    return { title, now: words.now, more, ...backTo(visit, organization) };
  },
});

/** The names of roles, in a sentence. */
const namesOf = ({ services: { site } }: ConsoleVisit, roles: readonly AccountGrant[]): HtmlPart =>
  joinList(
    roles.map(({ role }) => site.messages.operators.roles[role]),
    site.messages,
  );

const remove = defineAct<MemberOf>({
  ...{ address: `${ORGANIZATIONS}/remove-member`, section: 'organizations', permission: 'members.manage' },
  objects: { organization: 'id', person: 'userId' },
  isDangerous: true,
  find: (visit) => getMemberOf(visit, { leaves: true }),
  ask(visit, { organization, account, roles, made }, given) {
    const { removal: words } = textsOf(visit);
    return {
      title: words.title(isolate(account.profile.displayName), isolate(organization.name)),
      object: identified(account),
      ...{ lead: words.lead, submit: words.submit, back: organizationAddress(organization.id) },
      fields: html`${roles.length > 0 && html`<p>${words.roles(namesOf(visit, roles))}</p>`}${endMadeIfAny(visit, made, given)}`,
      about: { id: organization.id, user: account.id },
    };
  },
  async run(visit, { organization, account }, given) {
    const { removal: words } = textsOf(visit);
    const endMade = isMadeToEnd(given);
    const { services, origin } = visit;
    const { change, roles, made } = await removeMember(services, organization.id, account.id, origin, { endMade });
    const title = words.done(isolate(account.profile.displayName), isolate(organization.name));
    const ended = roles.length > 0 && html`<p>${words.rolesEnded(namesOf(visit, roles))}</p>`;
    const more = html`${ended}${endedMade(services.site, visit, made, endMade)}`;
    return { title, now: words.now(change.ended, change.kept), more, ...backTo(visit, organization) };
  },
});

const requirement = defineAct<Organization>({
  ...{ address: `${ORGANIZATIONS}/requirement`, section: 'organizations', permission: 'organizations.update' },
  objects: { organization: 'id' },
  isDangerous: false,
  find: getOrganizationOf,
  ask(visit, organization) {
    const { requirement: words } = textsOf(visit);
    const { id, name, requireSecondFactor } = organization;
    return {
      ...{ title: words.title(isolate(name)), lead: words.lead, submit: words.submit, back: organizationAddress(id) },
      about: { id },
      fields: html`<label class="check"><input type="checkbox" name="required" value="yes"${requireSecondFactor && html` checked`}><span>${words.label}</span></label>`,
    };
  },
  async run(visit, { id }, given) {
    const words = textsOf(visit);
    const change = { requireSecondFactor: given.get('required') === 'yes' };
    const changed = await updateOrganization(visit.services, id, change, visit.origin);
    const now = changed.requireSecondFactor ? words.required : words.notRequired;
    return { title: words.requirement.done(isolate(changed.name)), now, ...backTo(visit, changed) };
  },
});

const deletion = defineAct<Organization>({
  ...{ address: `${ORGANIZATIONS}/delete`, section: 'organizations', permission: 'organizations.delete' },
  objects: { organization: 'id' },
  isDangerous: true,
  find: getOrganizationOf,
  ask(visit, { id, name }, given, problems) {
    const { deletion: words } = textsOf(visit);
    return {
      ...{ title: words.title(isolate(name)), lead: words.lead, submit: words.submit, back: organizationAddress(id) },
      about: { id },
      fields: field({
        ...{ name: 'typed', label: words.typed, hint: words.typedHint, type: 'text', autocomplete: 'off', problems },
        value: given.get('typed') ?? '',
      }),
    };
  },
  async run(visit, { id, name }, given) {
    const { deletion: words, removal } = textsOf(visit);
    if (text(given, 'typed') !== name) throw invalid('typed');
    const change = await deleteOrganization(visit.services, id, visit.origin);
    const now = removal.now(change.ended, change.kept);
    return { title: words.done(isolate(name)), now, back: ORGANIZATIONS, backTo: words.backTo };
  },
  problemOf: (visit, { message }) =>
    message === 'typed' ? fieldProblem('typed', textsOf(visit).deletion.typedBad) : generalProblem(message),
});

/** The acts on organizations and their members. */
export const organizationActs: readonly ConsoleAct[] = [create, member, remove, requirement, deletion];
