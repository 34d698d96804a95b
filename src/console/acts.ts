import type { ConsoleAct } from './act.ts';
import { appDeletionActs } from './apps/deletion.ts';
import { appPreviewActs } from './apps/preview.ts';
import { scopeActs } from './apps/scope-acts.ts';
import { invitationActs } from './invitations/acts.ts';
import { keyActs } from './keys/acts.ts';
import { roleActs } from './operators/acts.ts';
import { organizationActs } from './organizations/acts.ts';
import { identityActs } from './people/identity-acts.ts';
import { recordActs } from './people/record-acts.ts';
import { systemActs } from './system/acts.ts';
import { upstreamActs } from './upstreams/acts.ts';
import { onlyUpstreamActs } from './upstreams/only.ts';

/** The acts with a page and an answer of the common shape. */
export const consoleActs: readonly ConsoleAct[] = [
  ...organizationActs,
  ...roleActs,
  ...keyActs,
  ...appPreviewActs,
  ...appDeletionActs,
  ...scopeActs,
  ...invitationActs,
  ...recordActs,
  ...identityActs,
  ...systemActs,
  ...upstreamActs,
  ...onlyUpstreamActs,
];
