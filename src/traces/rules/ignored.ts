/** What of a request changes nothing, and what to do instead, for names that are a common mistake. */
export interface Ignored {
  /** Scopes that the endpoint does not know, or that the client is not registered for. */
  readonly scopes?: readonly string[];
  readonly parameters?: readonly string[] | undefined;
  /** Other parts of a request, in words of our own. */
  readonly others?: readonly string[];
  readonly scopeAdvice?: (name: string) => string | undefined;
  readonly parameterAdvice?: (name: string) => string | undefined;
}

/** How much of what is ignored a trace names, and what a name of it looks like. */
const MOST_NAMED = 10;
const SCOPE = /^[A-Za-z][A-Za-z0-9._:/-]{0,63}$/;
/** What is shown of a scope of another form. */
const LONGEST_ODD_SCOPE = 40;
/** How many of each kind are looked at: a request has room for thousands, and advice compares each with all that are known. */
const MOST_READ = 50;
const PARAMETER = /^[a-z][a-z_-]{0,39}$/;

const noAdvice = () => undefined;

/**
 * What of a request changes nothing, for its trace; undefined where all of it counts. Of a parameter only the name is told, and only one
 * that looks like a parameter of some standard: anything else may be confidential.
 */
export function describeIgnored(ignored: Ignored): string | undefined {
  const { scopes = [], parameters = [], others = [], scopeAdvice = noAdvice, parameterAdvice = noAdvice } = ignored;
  const count = scopes.length + parameters.length + others.length;
  if (count === 0) return undefined;
  const withAdvice = (name: string, advice: string | undefined) =>
    advice === undefined ? name : `${name} (${advice})`;
  const named = [
    ...scopes.slice(0, MOST_READ).map((scope) => `scope ${withAdvice(shownScope(scope), scopeAdvice(scope))}`),
    ...parameters
      .slice(0, MOST_READ)
      .filter((name) => PARAMETER.test(name) || parameterAdvice(name) !== undefined)
      .map((name) => `parameter ${withAdvice(name, parameterAdvice(name))}`),
    ...others.slice(0, MOST_READ),
  ].slice(0, MOST_NAMED);
  const more = count - named.length;
  const rest = named.length === 0 ? `${more} with names that no standard has` : `${more} more`;
  return [...named, ...(more > 0 ? [rest] : [])].join(', ');
}

/** A name of a member or a claim, as far as it looks like one of some standard; undefined for any other, which may be confidential. */
export const shownName = (name: string): string | undefined => (PARAMETER.test(name) ? name : undefined);

/** A scope as it was sent. One with a sign that scopes seldom have is quoted and cut, with everything but printable ASCII replaced. */
function shownScope(scope: string): string {
  if (SCOPE.test(scope)) return scope;
  const cut = scope.length > LONGEST_ODD_SCOPE ? `${scope.slice(0, LONGEST_ODD_SCOPE)}...` : scope;
  return `"${cut.replace(/[^\x21\x23-\x5b\x5d-\x7e]/g, '?')}"`;
}
