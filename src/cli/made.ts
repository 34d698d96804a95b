import type { AdminKeyView, RoleView } from './records.ts';

/** What an operator made, as the admin API answers. */
export interface MadeView {
  readonly adminKeys: readonly AdminKeyView[];
  readonly roles: readonly RoleView[];
}

/** What an operator made, in a sentence. */
export function describeMade({ adminKeys, roles }: MadeView, ended: boolean): string {
  const made = [
    ...adminKeys.map(({ id, name }) => `the admin key ${id} (${name})`),
    ...roles.map(({ userId, role }) => `the role ${role} of the user ${userId}`),
  ];
  if (made.length === 0) return 'It had made no other keys and roles.';
  return ended
    ? `Ended with it: ${made.join(', ')}.`
    : `It had made, and these go on: ${made.join(', ')}. To end them as well, use --end-made.`;
}
