import type { ConsoleAct } from './act.ts';
import { invitationActs } from './invitations/acts.ts';
import { keyActs } from './keys/acts.ts';
import { roleActs } from './operators/acts.ts';
import { organizationActs } from './organizations/acts.ts';
import { recordActs } from './people/record-acts.ts';
import { systemActs } from './system/acts.ts';

/** The acts with a page and an answer of the common shape. */
export const consoleActs: readonly ConsoleAct[] = [
  ...organizationActs,
  ...roleActs,
  ...keyActs,
  ...invitationActs,
  ...recordActs,
  ...systemActs,
];
