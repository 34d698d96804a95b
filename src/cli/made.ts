import { grantView } from '../account-actions/operators/grants.ts';
import type { Made } from '../account-actions/operators/made.ts';
import { adminKeyView } from '../admin/keys.ts';

/** What an operator made, as the admin API gives it. */
export const madeRecord = ({ adminKeys, roles }: Made) => ({
  adminKeys: adminKeys.map((key) => adminKeyView(key, Date.now())),
  roles: roles.map(grantView),
});

/** What an operator made, in a sentence. */
export function describeMade({ adminKeys, roles }: Made, ended: boolean): string {
  const made = [
    ...adminKeys.map(({ id, name }) => `the admin key ${id} (${name})`),
    ...roles.map(({ accountId, role }) => `the role ${role} of the user ${accountId}`),
  ];
  if (made.length === 0) return 'It had made no other keys and roles.';
  return ended
    ? `Ended with it: ${made.join(', ')}.`
    : `It had made, and these go on: ${made.join(', ')}. To end them as well, use --end-made.`;
}
