import type { AdminKeyView, RoleView } from './records.ts';

/** What an operator made, as the admin API answers. */
export interface MadeView {
  readonly adminKeys: readonly AdminKeyView[];
  readonly roles: readonly RoleView[];
  readonly apps: readonly { readonly clientId: string; readonly name: string; readonly acts: readonly string[] }[];
}

/** What an operator made, in a sentence. */
export function describeMade({ adminKeys, roles, apps }: MadeView, ended: boolean): string {
  const made = [
    ...adminKeys.map(({ id, name }) => `the admin key ${id} (${name})`),
    ...roles.map(({ userId, role }) => `the role ${role} of the user ${userId}`),
    ...apps.map(({ clientId, name, acts }) => `the app ${clientId} (${name}): ${acts.join(', ').replaceAll('_', ' ')}`),
  ];
  if (made.length === 0) return 'It had made nothing that still counts.';
  const changed = apps.filter(({ acts }) => acts.includes('redirect_uris_changed')).map(({ clientId }) => clientId);
  const check =
    changed.length === 0 ? '' : ` Check the redirect URIs of ${changed.join(', ')}: they were left as they are.`;
  return ended
    ? `Ended with it: ${made.join(', ')}.${check}`
    : `It had made, and these go on: ${made.join(', ')}. To end them as well, use --end-made.`;
}
