import { isSnowflake } from '../../../platform/ids/ids.ts';

/** The `claims` parameter, as far as it is supported: OpenID Connect Core 1.0 §5.5. */
export interface ClaimsParameter {
  readonly userinfo: readonly string[];
  readonly idToken: readonly string[];
  /** The accounts to which a value of `sub` limits the request; null is any. */
  readonly subjects: readonly string[] | null;
  readonly acr: { readonly essential: boolean; readonly values: readonly unknown[] | null };
}

/** What is wrong with the parameter, phrased to follow "claims". */
interface ClaimsProblem {
  readonly problem: string;
}

/** More than there are claims. */
const MOST_CLAIMS = 100;

/** How one claim is requested (§5.5.1). */
interface ClaimRequest {
  readonly essential: boolean;
  /** The values that it may have; null is any. */
  readonly values: readonly unknown[] | null;
}

export function parseClaims(text: string): ClaimsParameter | ClaimsProblem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'must be JSON' };
  }
  if (!isObject(value)) return { problem: 'must be a JSON object' };
  const userinfo = parseMember(value, 'userinfo');
  if ('problem' in userinfo) return userinfo;
  const idToken = parseMember(value, 'id_token');
  if ('problem' in idToken) return idToken;
  const subjects = [userinfo.get('sub')?.values ?? null, idToken.get('sub')?.values ?? null];
  return {
    userinfo: [...userinfo.keys()],
    idToken: [...idToken.keys()],
    subjects: subjects.reduce<readonly string[] | null>(
      (all, values) => intersection(all, values && ids(values)),
      null,
    ),
    acr: idToken.get('acr') ?? { essential: false, values: null },
  };
}

/** The members of the parameter that are ignored, as they would be by any provider (§5.5). */
export function ignoredMembers(text: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.keys(value).filter((name) => name !== 'userinfo' && name !== 'id_token') : [];
  } catch {
    return [];
  }
}

/** The ids that are in both sets; null is every id. */
export function intersection(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return a.filter((id) => b.includes(id));
}

function parseMember(
  claims: Readonly<Record<string, unknown>>,
  name: string,
): Map<string, ClaimRequest> | ClaimsProblem {
  const member = Object.hasOwn(claims, name) ? claims[name] : {};
  if (!isObject(member)) return { problem: `must have an object as ${name}` };
  const entries = Object.entries(member);
  if (entries.length > MOST_CLAIMS) return { problem: `must ask for at most ${MOST_CLAIMS} claims as ${name}` };
  const requests = new Map<string, ClaimRequest>();
  for (const [claim, asked] of entries) {
    const request = parseRequest(asked);
    if (request === undefined) {
      return { problem: `must have null, or an object with essential, value or values, for each claim of ${name}` };
    }
    requests.set(claim, request);
  }
  return requests;
}

/** §5.5.1. Unknown members are ignored. */
function parseRequest(asked: unknown): ClaimRequest | undefined {
  if (asked === null) return { essential: false, values: null };
  if (!isObject(asked)) return undefined;
  const { essential = false, values } = asked;
  if (typeof essential !== 'boolean' || (values !== undefined && !Array.isArray(values))) return undefined;
  const single = Object.hasOwn(asked, 'value') ? [asked['value']] : [];
  return { essential, values: values === undefined && single.length === 0 ? null : [...single, ...(values ?? [])] };
}

/** The values that are valid as `sub`. */
const ids = (values: readonly unknown[]): readonly string[] =>
  values.filter((value): value is string => typeof value === 'string' && isSnowflake(value));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
