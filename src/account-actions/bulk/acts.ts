import { type Account, findAccount } from '../../accounts/store.ts';
import { findGroupMember } from '../../groups/member-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import type { Operator } from '../../operators/rights.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { addToGroup, removeFromGroup } from '../access/groups.ts';
import { reinstateAccount, signOutEverywhere, suspendAccount } from '../accounts/accounts.ts';
import type { RouteObjects } from '../admission/admission.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { scheduleDeletion } from '../personal-data/deletion.ts';
import { remindToVerify, sendRecovery } from '../support/help.ts';

/** What an act on one person needs. */
export interface BulkActServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** What was typed for an act. */
export interface BulkParameters {
  readonly reason?: string;
  /** After how many days the accounts are deleted. */
  readonly days?: number;
  readonly groupId?: string;
}

interface BulkActKind {
  readonly permission: Permission;
  readonly objects: RouteObjects;
  /** Whether it bars the person, so that what they made as an operator is noted: it goes on. */
  readonly bars?: boolean;
  /** Whether it would change anything, at the beginning of the unit of work that acts. */
  isNeeded(accountId: string, parameters: BulkParameters): Work<boolean>;
  /** Acts on one person, in a single commit. */
  run(
    services: BulkActServices & { readonly operator: Operator },
    accountId: string,
    parameters: BulkParameters,
    origin: Origin,
  ): Promise<unknown>;
}

const PERSON: RouteObjects = { person: 'id' };
const MEMBER: RouteObjects = { person: 'userId', group: 'id' };

/** Whether an account is as an act expects it. Where there is none, the act says so. */
const where = (isSo: (account: Account) => boolean) =>
  function* isNeeded(accountId: string): Work<boolean> {
    const account = yield* findAccount({ id: accountId });
    return account === undefined || isSo(account);
  };

const always = where(() => true);
const ofGroup = ({ groupId }: BulkParameters): string => groupId ?? '0';

function* isMember(accountId: string, parameters: BulkParameters): Work<boolean> {
  return (yield* findGroupMember({ groupId: ofGroup(parameters), accountId })) !== undefined;
}

/** The acts that are offered for many people, each as it is done to one. */
const BULK_ACTS = {
  suspend: {
    ...{ permission: 'users.suspend', objects: PERSON, bars: true },
    isNeeded: where(({ suspendedAt }) => suspendedAt === null),
    run: (services, id, { reason }, origin) =>
      suspendAccount(services, id, reason === undefined ? {} : { reason }, origin),
  },
  reinstate: {
    ...{ permission: 'users.reinstate', objects: PERSON, isNeeded: where(({ suspendedAt }) => suspendedAt !== null) },
    run: (services, id, _parameters, origin) => reinstateAccount(services, id, origin),
  },
  'end-sessions': {
    ...{ permission: 'users.end_sessions', objects: PERSON, isNeeded: always },
    run: (services, id, _parameters, origin) => signOutEverywhere(services, id, origin),
  },
  'add-to-group': {
    ...{ permission: 'groups.manage', objects: MEMBER },
    *isNeeded(accountId, parameters) {
      return !(yield* isMember(accountId, parameters));
    },
    run: (services, id, parameters, origin) => addToGroup(services, ofGroup(parameters), id, origin),
  },
  'remove-from-group': {
    ...{ permission: 'groups.manage', objects: MEMBER },
    isNeeded: isMember,
    run: (services, id, parameters, origin) => removeFromGroup(services, ofGroup(parameters), id, origin),
  },
  'send-recovery': {
    ...{ permission: 'users.send_recovery', objects: PERSON, isNeeded: always },
    run: (services, id, _parameters, origin) => sendRecovery(services, id, origin),
  },
  'remind-verification': {
    permission: 'users.remind_verification',
    ...{ objects: PERSON, isNeeded: where(({ profile }) => !profile.emailVerified) },
    run: (services, id, _parameters, origin) => remindToVerify(services, id, origin),
  },
  offboard: {
    ...{ permission: 'users.delete', objects: PERSON, bars: true },
    isNeeded: where(({ deletionDueAt }) => deletionDueAt === null),
    run: (services, id, { groupId: _, ...asked }, origin) => scheduleDeletion(services, id, asked, origin),
  },
} as const satisfies Readonly<Record<string, BulkActKind>>;

export type BulkActName = keyof typeof BULK_ACTS;

export const bulkActNames = Object.keys(BULK_ACTS) as readonly BulkActName[];

export const bulkActKind = (name: BulkActName): BulkActKind => BULK_ACTS[name];
