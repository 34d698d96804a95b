/** How much of what is ignored a trace names, and what a name of it looks like. */
const MOST_NAMED = 10;
const SCOPE = /^[A-Za-z][A-Za-z0-9._:/-]{0,63}$/;
const PARAMETER = /^[a-z][a-z_-]{0,39}$/;

/**
 * What of a request changes nothing, for its trace; undefined where all of it counts. Of a parameter only the name is told, and only one
 * that looks like a parameter of some standard: anything else may be confidential.
 */
export function describeIgnored(scopes: readonly string[], parameters: readonly string[] = []): string | undefined {
  const count = scopes.length + parameters.length;
  if (count === 0) return undefined;
  const named = [
    ...scopes.filter((scope) => SCOPE.test(scope)).map((scope) => `scope ${scope}`),
    ...parameters.filter((name) => PARAMETER.test(name)).map((name) => `parameter ${name}`),
  ].slice(0, MOST_NAMED);
  const more = count - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
