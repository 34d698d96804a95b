/** What of a request changes nothing, and what to do instead, for names that are a common mistake. */
export interface Ignored {
  /** Scopes that the endpoint does not know, or that the client is not registered for. */
  readonly scopes?: readonly string[];
  readonly parameters?: readonly string[] | undefined;
  /** Members of `claims` that stand beside `userinfo` and `id_token`. */
  readonly claims?: readonly string[];
  readonly scopeAdvice?: (name: string) => string | undefined;
  readonly parameterAdvice?: (name: string) => string | undefined;
}

/** How much of what is ignored a trace names, and what a name of it looks like. */
const MOST_NAMED = 10;
const SCOPE = /^[A-Za-z][A-Za-z0-9._:/-]{0,63}$/;
/** How many of each kind are looked at: a request has room for thousands, and advice compares each with all that are known. */
const MOST_READ = 50;
const PARAMETER = /^[a-z][a-z_-]{0,39}$/;

const noAdvice = () => undefined;

/**
 * What of a request changes nothing, for its trace; undefined where all of it counts. Of a parameter only the name is told, and only one
 * that looks like a parameter of some standard: anything else may be confidential.
 */
export function describeIgnored(ignored: Ignored): string | undefined {
  const { scopes = [], parameters = [], claims = [], scopeAdvice = noAdvice, parameterAdvice = noAdvice } = ignored;
  const count = scopes.length + parameters.length + claims.length;
  if (count === 0) return undefined;
  const withAdvice = (name: string, advice: string | undefined) =>
    advice === undefined ? name : `${name} (${advice})`;
  const named = [
    ...scopes
      .slice(0, MOST_READ)
      .filter((scope) => SCOPE.test(scope))
      .map((scope) => `scope ${withAdvice(scope, scopeAdvice(scope))}`),
    ...parameters
      .slice(0, MOST_READ)
      .filter((name) => PARAMETER.test(name) || parameterAdvice(name) !== undefined)
      .map((name) => `parameter ${withAdvice(name, parameterAdvice(name))}`),
    ...claims
      .filter((name) => PARAMETER.test(name))
      .map((name) => `member ${name} of claims (put it into userinfo or id_token)`),
  ].slice(0, MOST_NAMED);
  const more = count - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
