/** What to do instead of sending a parameter that the token endpoint ignores. */
const ADVICE: Readonly<Record<string, string>> = {
  audience: 'send resource, which names an API here',
  scope: 'a code has the scopes of its authorization request',
};

/** What to do about a parameter that changes nothing at the token endpoint. */
export const adviceForTokenParameter = (name: string): string | undefined =>
  Object.hasOwn(ADVICE, name) ? ADVICE[name] : undefined;
