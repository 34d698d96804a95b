import type { AdminKeyView, RoleView } from './records.ts';

interface ChangedSettingsView {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly fields: readonly string[];
  readonly left: readonly string[];
  readonly disables: boolean;
}

/** What an operator made, as the admin API answers. */
export interface MadeView extends MadeAloneView {
  readonly through: readonly {
    readonly userId: string;
    readonly acts: readonly string[];
    readonly ends: boolean;
    readonly made: MadeAloneView;
  }[];
}

interface MadeAloneView {
  readonly adminKeys: readonly AdminKeyView[];
  readonly roles: readonly RoleView[];
  readonly apps: readonly { readonly clientId: string; readonly name: string; readonly acts: readonly string[] }[];
  readonly unblockedDomains: readonly string[];
  readonly settings: readonly ChangedSettingsView[];
  readonly upstreams: readonly {
    readonly upstreamId: string;
    readonly name: string;
    readonly acts: readonly string[];
  }[];
  readonly access: readonly { readonly kind: string }[];
  readonly hasMoreAccess: boolean;
  readonly changedRights: readonly {
    readonly kind: string;
    readonly clientId: string | null;
    readonly groupId: string | null;
    readonly organizationId: string | null;
    readonly userId: string | null;
    readonly role: string | null;
    readonly asBefore: boolean;
  }[];
  readonly hasMoreChangedRights: boolean;
  readonly accounts: readonly { readonly userId: string; readonly acts: readonly string[]; readonly ends: boolean }[];
  readonly hasMoreAccounts: boolean;
}

/** The option that ends it. */
export const END_MADE = [
  '--end-made',
  'end what it made, too, and what these made: keys, roles, what it did to apps, blocked domains, other providers and settings, whom it let in, and accounts that it created and nobody took over; rights of others that it raised are as they were before',
] as const;

const actsOf = (acts: readonly string[]): string => acts.join(', ').replaceAll('_', ' ');

const ACCESS = [
  ['assignment', 'assignment to an app', 'assignments to apps'],
  ['group_member', 'member of a group', 'members of groups'],
  ['member', 'member of an organization', 'members of organizations'],
] as const;

/** Whom an operator let in, counted. */
function accessOf(access: MadeView['access'], hasMore: boolean): readonly string[] {
  const counted = ACCESS.map(([name, one, several]) => {
    const count = access.filter(({ kind }) => kind === name).length;
    return count === 0 ? '' : `${count} ${count === 1 ? one : several}`;
  });
  return [...counted.filter((text) => text !== ''), ...(hasMore ? ['more assignments and members'] : [])];
}

/** Accounts that were created or changed, of which some end. */
const accountsText = ({ accounts, hasMoreAccounts }: MadeAloneView, which: boolean | 'all'): readonly string[] => [
  ...accounts
    .filter(({ ends }) => which === 'all' || ends === which)
    .map(({ userId, acts }) => `the account ${userId}: ${actsOf(acts)}`),
  ...(hasMoreAccounts ? ['more accounts'] : []),
];

/** Settings of apps, organizations and groups. */
const settingsOf = ({ settings }: MadeAloneView, which: 'fields' | 'left'): readonly string[] =>
  settings
    .filter((one) => one[which].length > 0)
    .map((one) => {
      const disabled = one.disables && which === 'fields' ? ', which is disabled, as nothing whole is left of it' : '';
      return `${one[which].join(', ')} of the ${one.kind} ${one.id} (${one.name})${disabled}`;
    });

/** Rights of others as they were before: those that are so again with the end, or those that were taken away or made less. */
const rightsOf = ({ changedRights, hasMoreChangedRights }: MadeAloneView, areAsBefore: boolean): readonly string[] => [
  ...changedRights
    .filter(({ asBefore }) => asBefore === areAsBefore)
    .map(({ kind, clientId, groupId, organizationId, userId, role }) => {
      const as = role === null ? '' : ` (${role})`;
      const holder = userId !== null ? `the user ${userId}` : groupId !== null ? `the group ${groupId}` : '';
      if (kind === 'assignment') {
        const to = holder === '' ? `the organization ${organizationId}` : holder;
        return `the assignment of ${to} to the app ${clientId}${as}`;
      }
      if (kind === 'member') return `the membership of ${holder} in the organization ${organizationId}${as}`;
      return `the role ${role} of ${holder}`;
    }),
  ...(hasMoreChangedRights ? ['perhaps more rights'] : []),
];

/** What of it ended, or goes on. */
function listOf(view: MadeAloneView, ended: boolean): readonly string[] {
  const { adminKeys, roles, apps, upstreams, access, hasMoreAccess } = view;
  return [
    ...adminKeys.map(({ id, name }) => `the admin key ${id} (${name})`),
    ...roles.map(({ userId, role }) => `the role ${role} of the user ${userId}`),
    ...apps.map(({ clientId, name, acts }) => `the app ${clientId} (${name}): ${actsOf(acts)}`),
    ...upstreams.map(({ upstreamId, name, acts }) => `the upstream ${upstreamId} (${name}): ${actsOf(acts)}`),
    ...view.unblockedDomains.map((domain) =>
      ended ? `the domain ${domain}, which is blocked again` : `the domain ${domain}: unblocked`,
    ),
    ...settingsOf(view, 'fields').map((text) => `the change of ${text}`),
    ...accessOf(access, hasMoreAccess),
    ...accountsText(view, ended ? true : 'all'),
  ];
}

/** An account whose ban or suspension was lifted. */
const LET_IN = 'let_in_again';

/** What becomes of an account of another, or became. */
function closesText(acts: readonly string[], ended: boolean): string {
  const closed = ended ? 'was signed out and has no password now' : 'is signed out and loses its password';
  const what = [
    ...(acts.some((act) => act !== LET_IN) ? [closed] : []),
    ...(acts.includes(LET_IN) ? ['is banned or suspended as before'] : []),
  ].join(', and ');
  return ended ? ` It ${what}.` : ` With --end-made, it ${what}.`;
}

/** The accounts of others with which a part of it was made. */
const throughText = ({ through }: MadeView, ended: boolean): readonly string[] =>
  through.map(({ userId, acts, ends, made }) => {
    const list = listOf(made, ended);
    const what = list.length === 0 ? 'nothing that still counts' : list.join(', ');
    return `Of these, made with the account of the user ${userId} (${actsOf(acts)}): ${what}.${ends ? closesText(acts, ended) : ''}`;
  });

/** What an operator made, in a sentence. */
export function describeMade(view: MadeView, ended: boolean): string {
  const { upstreams } = view;
  const made = listOf(view, ended);
  const through = throughText(view, ended);
  const others = ended ? accountsText({ ...view, hasMoreAccounts: false }, false) : [];
  const left = settingsOf(view, 'left');
  const [before, lost] = view.changedRights.length === 0 ? [[], []] : [rightsOf(view, true), rightsOf(view, false)];
  if (made.length + others.length + left.length + through.length + before.length + lost.length === 0)
    return 'It had made nothing that still counts.';
  const check =
    left.length > 0
      ? [
          `Check ${left.join('; ')}. What was closed there, or is closed again, stays closed; what somebody else changed since, or was changed very often, stays as it is now.`,
        ]
      : [];
  const lostRights =
    lost.length === 0
      ? []
      : [
          `It had taken these rights of others away, or made them less, and nobody has them again by this: ${lost.join(', ')}. Give them again where that was wrong.`,
        ];
  if (!ended) {
    const goesOn = `It had made, and these go on: ${made.join(', ')}. To end them as well, use --end-made.`;
    const raised = `It had raised these rights of others: ${before.join(', ')}. To make them what they were before, use --end-made.`;
    return [
      ...(made.length > 0 ? [goesOn] : []),
      ...through,
      ...(before.length > 0 ? [raised] : []),
      ...lostRights,
      ...check,
    ].join(' ');
  }
  const clients = upstreams.filter(({ acts }) => acts.includes('client_changed')).map(({ name }) => name);
  return [
    ...(made.length > 0 ? [`Ended with it: ${made.join(', ')}.`] : []),
    ...through,
    ...(before.length > 0 ? [`As they were before: ${before.join(', ')}.`] : []),
    ...lostRights,
    ...check,
    ...(others.length > 0 ? [`Check these, which go on: ${others.join(', ')}.`] : []),
    ...(clients.length > 0 ? [`Check the client ID and secret of ${clients.join(', ')}: they were left, too.`] : []),
  ].join(' ');
}
