export const OPERATORS = '/console/operators';

/** Where a role is given or taken away. */
export const roleActAddress = (act: 'grant' | 'revoke', about: Readonly<Record<string, string>>): string =>
  `${OPERATORS}/${act}?${new URLSearchParams(about)}`;
