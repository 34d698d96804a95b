/** The rows of the Security page, by what they are called in addresses. */
export type SecurityRowName =
  | 'change-password'
  | 'passkeys'
  | 'two-step'
  | 'upstreams'
  | 'recovery'
  | 'activity'
  | 'sign-out-everywhere';

/** The Security page with one of its rows open. */
export const securityRow = (name: SecurityRowName): string => `/account/security?row=${name}#${name}`;
