import {
  banAccount,
  getAccount,
  reinstateAccount,
  signOutEverywhere,
  suspendAccount,
  unbanAccount,
} from '../../account-actions/accounts/accounts.ts';
import { revokeAccessOf, revokedAccess } from '../../account-actions/connections/connections.ts';
import { endSessions } from '../../account-actions/sign-in/end-sessions.ts';
import {
  type PersonalFactor,
  remindToVerify,
  removeLostFactor,
  sendRecovery,
  unlockAccount,
} from '../../account-actions/support/help.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { BanRequest, SuspensionRequest } from '../../accounts/schema.ts';
import type { Account } from '../../accounts/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { isolate, NO_PROBLEMS, type Problems, revocationText } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { notFound } from '../../platform/failure.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { findProblem, validate } from '../../platform/validation/validate.ts';
import { isSid } from '../../sessions/list.ts';
import { barAsked } from '../operators/made.ts';
import type { ConsoleServices, ConsoleVisit } from '../visit.ts';

export type ActName = keyof Messages['operators']['acts']['act'];

/** What an act did, beside what its text says; undefined where there was nothing left to do. */
interface Done {
  readonly detail?: Html | string | undefined;
  /** What the person made as an operator. */
  readonly made?: HtmlPart;
}

/** The parameters of an act: of the address of its page, or of its form. */
type Given = Pick<RepeatableParameters, 'get'>;

/** An act of an operator on a person. */
interface PersonAct {
  readonly permission: Permission;
  /** Whether the operator first proves who they are. */
  readonly asksProof: boolean;
  readonly isDangerous: boolean;
  /** Whether it ends everything that is signed in. */
  readonly endsAll: boolean;
  /** Whether it bars the account, so that what its person made as an operator may end, too. */
  readonly bars: boolean;
  readonly tellsPerson: boolean;
  /** Which other object it is about, besides the person. */
  readonly names?: 'factor' | 'session' | 'app';
  /** The fields in which the operator types. */
  readonly fields: readonly ('reason' | 'until')[];
  /** Whether it is offered on the person's page. */
  readonly isOffered: (account: Account, services: ConsoleServices) => boolean;
  run(visit: ConsoleVisit, id: string, given: Given): Promise<Done | undefined>;
}

const always = (): boolean => true;
const never = (): boolean => false;

const isActive = (account: Account, { clock }: ConsoleServices): boolean => mayAct(account, clock());

/** What was typed for a reason; nothing for none. */
const reasonOf = (given: Given): { readonly reason?: string } => {
  const reason = (given.get('reason') ?? '').trim();
  return reason === '' ? {} : { reason };
};

/** The end of the day that was chosen. */
const untilOf = (given: Given): { readonly until?: string } => {
  const day = (given.get('until') ?? '').trim();
  return day === '' ? {} : { until: `${day}T23:59:59Z` };
};

const plain = {
  asksProof: false,
  isDangerous: false,
  endsAll: false,
  bars: false,
  tellsPerson: false,
  fields: [],
} as const;
const grave = {
  asksProof: true,
  isDangerous: true,
  endsAll: true,
  bars: false,
  tellsPerson: true,
  fields: [],
} as const;

/** Every act, with the permission and the function of its route in the admin API. */
export const PERSON_ACTS: Readonly<Record<ActName, PersonAct>> = {
  'send-recovery': {
    ...{ ...plain, permission: 'users.send_recovery', asksProof: true, tellsPerson: true },
    isOffered: (account, services) =>
      services.mail.available && account.profile.emailVerified && isActive(account, services),
    async run({ services, origin }, id) {
      await sendRecovery(services, id, origin);
      return {};
    },
  },
  unlock: {
    ...{ ...plain, permission: 'users.unlock', asksProof: true, tellsPerson: true },
    isOffered: isActive,
    async run({ services, origin }, id) {
      await unlockAccount(services, id, origin);
      return {};
    },
  },
  'remind-verification': {
    ...{ ...plain, permission: 'users.remind_verification' },
    isOffered: (account, services) =>
      services.mail.available && !account.profile.emailVerified && isActive(account, services),
    run: async ({ services, origin }, id) => ((await remindToVerify(services, id, origin)) ? {} : undefined),
  },
  'end-sessions': {
    // Sessions can always be ended, at once: a thief may be in one.
    ...{ ...grave, permission: 'users.end_sessions', asksProof: false, isOffered: always },
    async run({ services, origin }, id) {
      await signOutEverywhere(services, id, origin);
      return {};
    },
  },
  suspend: {
    ...{ ...grave, permission: 'users.suspend', bars: true, fields: ['reason'] },
    isOffered: ({ suspendedAt }) => suspendedAt === null,
    run: (visit, id, given) =>
      barAsked(visit, id, given, (services) =>
        suspendAccount(services, id, validate(SuspensionRequest, reasonOf(given)), visit.origin),
      ),
  },
  reinstate: {
    ...{ ...plain, permission: 'users.reinstate', asksProof: true },
    isOffered: ({ suspendedAt }) => suspendedAt !== null,
    async run({ services, origin }, id) {
      await reinstateAccount(services, id, origin);
      return {};
    },
  },
  ban: {
    ...{ ...grave, permission: 'users.ban', bars: true, fields: ['until', 'reason'] },
    isOffered: ({ bannedAt }) => bannedAt === null,
    run: (visit, id, given) =>
      barAsked(visit, id, given, (services) =>
        banAccount(services, id, validate(BanRequest, { ...untilOf(given), ...reasonOf(given) }), visit.origin),
      ),
  },
  unban: {
    ...{ ...plain, permission: 'users.ban', asksProof: true },
    isOffered: ({ bannedAt }) => bannedAt !== null,
    async run({ services, origin }, id) {
      await unbanAccount(services, id, origin);
      return {};
    },
  },
  'remove-factor': {
    ...{ ...grave, permission: 'users.remove_factor', names: 'factor', isOffered: never },
    async run({ services, origin }, id, given) {
      return (await removeLostFactor(services, id, given.get('factor') ?? '', origin)) ? {} : undefined;
    },
  },
  'end-session': {
    ...{ ...plain, permission: 'users.end_sessions', isDangerous: true, names: 'session', isOffered: never },
    async run({ services, origin }, id, given) {
      const sid = given.get('session') ?? '';
      if (!isSid(sid)) return undefined;
      const account = await getAccount(services, id);
      const { sessions, ...summary } = await endSessions(services, account, { sid }, origin);
      return sessions.length === 0 ? undefined : { detail: revocationText(summary, services.site.messages) };
    },
  },
  'revoke-app': {
    ...{ ...plain, permission: 'users.revoke_connections', isDangerous: true, names: 'app', isOffered: never },
    async run({ services, origin }, id, given) {
      const clientId = given.get('app') ?? '';
      if (!isSnowflake(clientId)) throw notFound('There is no such app.');
      await revokeAccessOf(services, id, clientId, origin);
      const revoked = await revokedAccess(services, id, clientId);
      return revoked === undefined ? undefined : { detail: revocationText(revoked, services.site.messages) };
    },
  },
};

export const actNames = Object.keys(PERSON_ACTS) as readonly ActName[];

/** The acts that the operator may do, in the state that the person is in. */
export const offeredActs = (services: ConsoleServices, { operator }: ConsoleVisit, account: Account) =>
  actNames
    .map((name) => ({ ...PERSON_ACTS[name], name }))
    .filter((act) => act.isOffered(account, services) && holds(operator, act.permission, INSTALLATION));

export const actPath = (name: ActName): string => `/console/people/${name}`;

/** Where an act is confirmed. */
export const actAddress = (name: ActName, about: Readonly<Record<string, string>>): string =>
  `${actPath(name)}?${new URLSearchParams(about)}`;

/** A factor as people call it. */
export function factorName({ messages }: Site, { kind, name }: Pick<PersonalFactor, 'kind' | 'name'>): Html {
  const text = messages.operators.person;
  return kind === 'totp' ? html`${text.app}` : html`${text.passkey(isolate(name ?? ''))}`;
}

/** What is wrong with what was typed. */
export function actProblems(
  act: PersonAct,
  given: Given,
  { operators: { acts: text } }: Messages,
  now: number,
): Problems {
  const { until } = untilOf(given);
  const isPast = until !== undefined && !(Date.parse(until) > now);
  const isBadReason = findProblem(SuspensionRequest, reasonOf(given)) !== undefined;
  const fields = {
    ...(act.fields.includes('until') && isPast && { until: text.badUntil }),
    ...(act.fields.includes('reason') && isBadReason && { reason: text.badReason }),
  };
  return Object.keys(fields).length === 0 ? NO_PROBLEMS : { fields, general: [] };
}
