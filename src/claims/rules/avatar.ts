/** Where avatars are served, for `avatar.baseUrl`. */
export const avatarBaseUrl = (issuer: string): string => `${issuer}/avatars`;

/**
 * The path of one account's picture, to be joined to the base.
 * @param picture the name of what was uploaded, which changes with it; null is the initials
 */
export const avatarPath = (accountId: string, picture: string | null): string =>
  picture === null ? `/${accountId}.svg` : `/${accountId}/${picture}`;

/** The address of an account's picture: the two of them joined. */
export const pictureUrl = (issuer: string, accountId: string, picture: string | null): string =>
  `${avatarBaseUrl(issuer)}${avatarPath(accountId, picture)}`;

/** The letters that stand for a person: of the first and the last word of the name. */
export function initials(displayName: string): string {
  const words = displayName.split(/\s+/).filter((word) => word !== '');
  const first = [...(words[0] ?? '')][0] ?? '?';
  const last = words.length > 1 ? ([...(words.at(-1) ?? '')][0] ?? '') : '';
  return (first + last).toUpperCase();
}
