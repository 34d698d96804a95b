import type { Permission } from '../../operators/permissions.ts';
import { holds, holdsSomewhere, INSTALLATION, type Operator } from '../../operators/rights.ts';
import type { Messages } from '../../pages/messages.ts';
import { INVITATIONS, invitationActAddress } from '../invitations/addresses.ts';
import { KEYS } from '../keys/addresses.ts';
import { addressOf, sectionsOf } from '../layout.ts';
import { ORGANIZATIONS } from '../organizations/addresses.ts';
import { SYSTEM, systemAddress } from '../system/frame.ts';
import { NEW_UPSTREAM } from '../upstreams/addresses.ts';

/** A page that is about no object. */
interface PlaceOfConsole {
  readonly title: string;
  readonly address: string;
}

interface Further extends PlaceOfConsole {
  readonly permission: Permission;
  /** Whether it takes a role of the installation. */
  readonly ofInstallation?: true;
}

const furtherPlaces = ({ operators: text }: Messages): readonly Further[] => [
  { title: text.invitations.title, address: INVITATIONS, permission: 'invitations.read' },
  { title: text.keys.title, address: KEYS, permission: 'operators.read' },
  { title: text.system.tabs.mail, address: systemAddress('mail'), permission: 'mail.read' },
  { title: text.system.tabs.settings, address: systemAddress('settings'), permission: 'service.read' },
  {
    ...{ title: text.invitations.invite, address: invitationActAddress('new'), permission: 'invitations.manage' },
    ofInstallation: true,
  },
  { title: text.apps.create, address: '/console/apps/new', permission: 'apps.create' },
  { title: text.organizations.create.title, address: `${ORGANIZATIONS}/create`, permission: 'organizations.create' },
  { title: text.upstreams.add, address: NEW_UPSTREAM, permission: 'upstreams.manage' },
  { title: text.system.test.title, address: `${SYSTEM}/mail/test`, permission: 'mail.manage' },
];

/** The pages that an operator may open and whose title contains a text: the sections first. */
export function placesFor(operator: Operator, messages: Messages, typed: string): readonly PlaceOfConsole[] {
  const sections = sectionsOf({ operator }).map((name) => ({
    title: messages.operators[name].title,
    address: addressOf(name),
  }));
  const further = furtherPlaces(messages).filter(({ permission, ofInstallation }) =>
    ofInstallation ? holds(operator, permission, INSTALLATION) : holdsSomewhere(operator, permission),
  );
  return [...sections, ...further].filter(({ title }) => title.toLowerCase().includes(typed.toLowerCase()));
}
