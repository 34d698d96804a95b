/** The rows of the Profile page, by what they are called in addresses. */
export type ProfileRowName =
  | 'change-picture'
  | 'change-name'
  | 'change-username'
  | 'email-address'
  | 'appearance'
  | 'change-phone'
  | 'details'
  | 'links'
  | 'organization'
  | 'account-id';

/** The Profile page with one of its rows open. */
export const profileRow = (name: ProfileRowName): string => `/account?row=${name}#${name}`;
