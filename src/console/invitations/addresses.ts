export const INVITATIONS = '/console/invitations';

/** Where a person is invited, or an invitation is revoked. */
export function invitationActAddress(act: 'new' | 'revoke', about: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(about).toString();
  return `${INVITATIONS}/${act}${query === '' ? '' : `?${query}`}`;
}
