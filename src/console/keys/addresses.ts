export const KEYS = '/console/keys';

export const keyAddress = (id: string): string => `${KEYS}/${id}`;

/** The page about what was made with a key. */
export const keyMadeAddress = (id: string): string => `${keyAddress(id)}/made`;

/** Where a key is made or revoked. */
export function keyActAddress(act: 'new' | 'revoke', about: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(about).toString();
  return `${KEYS}/${act}${query === '' ? '' : `?${query}`}`;
}
