import {
  type AdminKeyWithMade,
  CreateAdminKeyRequest,
  createAdminKey,
  getAdminKey,
  revokeAdminKey,
} from '../../account-actions/makers/admin-keys.ts';
import { type AdminKey, findAdminKey } from '../../admin-keys/store.ts';
import { holds } from '../../operators/rights.ts';
import type { Organization } from '../../organizations/store.ts';
import { copyable, fact, facts, field, fieldProblem, isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { validate } from '../../platform/validation/validate.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { organizationIn } from '../operators/acts.ts';
import { chosenGrant, givableRoles, grantProblem, roleFields } from '../operators/givable.ts';
import { endedMade, endMadeChoice, isMadeToEnd } from '../operators/made.ts';
import { placeIn } from '../organizations/addresses.ts';
import { KEYS, keyAddress } from './addresses.ts';

interface NewKey {
  /** Where it will count; null for the installation. */
  readonly organization: Organization | null;
  /** The key in whose place it is made. */
  readonly like: AdminKey | undefined;
}

const create = defineAct<NewKey>({
  ...{ address: `${KEYS}/new`, section: 'operators', permission: 'operators.manage' },
  objects: { inOrganizationOfBody: true },
  isDangerous: false,
  async find(visit, given) {
    const id = given.get('like') ?? '';
    const organization = await organizationIn(visit);
    const like = isSnowflake(id) ? await visit.services.database.read(() => findAdminKey({ id })) : undefined;
    // What is outside of the operator’s reach is as if it were not there.
    const isSeen = like !== undefined && holds(visit.operator, 'operators.read', placeIn(like.organizationId));
    return { organization, like: isSeen ? like : undefined };
  },
  ask(visit, { organization, like }, given, problems) {
    const { site } = visit.services;
    const { new: text } = site.messages.operators.keys;
    const roles = givableRoles(visit.operator, organization?.id ?? null, false);
    const value = (name: string) => given.get(name) ?? (name === 'role' ? (like?.role ?? undefined) : undefined);
    return {
      title: text.title,
      lead: organization === null ? text.lead : text.leadIn(isolate(organization.name)),
      fields: html`${field({
        ...{ name: 'name', label: text.name, hint: text.nameHint, type: 'text', autocomplete: 'off', problems },
        value: given.get('name') ?? like?.name ?? '',
      })}${roleFields(site, roles, { get: value }, problems)}`,
      ...{ submit: text.submit, back: KEYS },
      about: organization === null ? {} : { organization: organization.id },
    };
  },
  async run(visit, { organization }, given) {
    const { site } = visit.services;
    const { back, keys } = site.messages.operators;
    const wanted = chosenGrant(given, organization?.id ?? null);
    const asked = validate(CreateAdminKeyRequest, { name: (given.get('name') ?? '').trim(), ...wanted });
    const { key, adminKey } = await createAdminKey(visit.services, asked, visit.origin);
    const name = isolate(key.name);
    const shown = fact(keys.new.key, copyable(adminKey, site.messages.error, keys.copy), true);
    return {
      ...{ title: keys.new.done(name), now: keys.new.now, back: keyAddress(key.id), backTo: back(name) },
      more: html`<section class="card">${facts([shown])}</section>`,
    };
  },
  problemOf: (visit, failure) =>
    failure.message.startsWith('name')
      ? fieldProblem('name', visit.services.site.messages.operators.keys.new.nameBad)
      : grantProblem(visit.services.site, failure),
});

const revoke = defineAct<AdminKeyWithMade>({
  ...{ address: `${KEYS}/revoke`, section: 'operators', permission: 'operators.manage' },
  objects: { adminKey: 'id' },
  isDangerous: true,
  find: ({ services, named }) => getAdminKey(services, named.id ?? ''),
  ask(visit, { key, made }, given) {
    const { site } = visit.services;
    const { revocation: text } = site.messages.operators.keys;
    return {
      ...{ title: text.title(isolate(key.name)), lead: text.lead, submit: text.submit, back: keyAddress(key.id) },
      about: { id: key.id },
      fields: endMadeChoice(site, visit, made, isMadeToEnd(given)),
    };
  },
  async run(visit, { key }, given) {
    const { site } = visit.services;
    const { back, keys } = site.messages.operators;
    const endMade = isMadeToEnd(given);
    const { made } = await revokeAdminKey(visit.services, key.id, visit.origin, { endMade });
    const name = isolate(key.name);
    const common = { title: keys.revocation.done(name), now: keys.revocation.now, back: KEYS };
    return { ...common, backTo: back(keys.title), more: endedMade(site, visit, made, endMade) };
  },
});

/** The acts on admin keys. */
export const keyActs: readonly ConsoleAct[] = [create, revoke];
