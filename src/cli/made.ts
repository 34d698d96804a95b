import type { AdminKeyView, RoleView } from './records.ts';

/** What an operator made, as the admin API answers. */
export interface MadeView {
  readonly adminKeys: readonly AdminKeyView[];
  readonly roles: readonly RoleView[];
  readonly apps: readonly { readonly clientId: string; readonly name: string; readonly acts: readonly string[] }[];
  readonly upstreams: readonly {
    readonly upstreamId: string;
    readonly name: string;
    readonly acts: readonly string[];
  }[];
  readonly access: readonly { readonly kind: string }[];
  readonly hasMoreAccess: boolean;
}

/** The option that ends it. */
export const END_MADE = [
  '--end-made',
  'end what it made, too, and what these made: keys, roles, what it did to apps and other providers, and whom it let in',
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

/** What an operator made, in a sentence. */
export function describeMade(
  { adminKeys, roles, apps, upstreams, access, hasMoreAccess }: MadeView,
  ended: boolean,
): string {
  const made = [
    ...adminKeys.map(({ id, name }) => `the admin key ${id} (${name})`),
    ...roles.map(({ userId, role }) => `the role ${role} of the user ${userId}`),
    ...apps.map(({ clientId, name, acts }) => `the app ${clientId} (${name}): ${actsOf(acts)}`),
    ...upstreams.map(({ upstreamId, name, acts }) => `the upstream ${upstreamId} (${name}): ${actsOf(acts)}`),
    ...accessOf(access, hasMoreAccess),
  ];
  if (made.length === 0) return 'It had made nothing that still counts.';
  if (!ended) return `It had made, and these go on: ${made.join(', ')}. To end them as well, use --end-made.`;
  const changed = apps.filter(({ acts }) => acts.includes('redirect_uris_changed')).map(({ clientId }) => clientId);
  const clients = upstreams.filter(({ acts }) => acts.includes('client_changed')).map(({ name }) => name);
  return [
    `Ended with it: ${made.join(', ')}.`,
    ...(changed.length > 0 ? [`Check the redirect URIs of ${changed.join(', ')}: they were left as they are.`] : []),
    ...(clients.length > 0 ? [`Check the client ID and secret of ${clients.join(', ')}: they were left, too.`] : []),
  ].join(' ');
}
