import { isSnowflake } from '../../../platform/ids/ids.ts';

/** The `claims` parameter, as far as it means something here: OpenID Connect Core 1.0 §5.5. */
export interface ClaimsParameter {
  readonly userinfo: readonly string[];
  readonly idToken: readonly string[];
  /** The people to whom the request is limited by a value of `sub`; null is anybody. */
  readonly subjects: readonly string[] | null;
  readonly acr: { readonly essential: boolean; readonly values: readonly unknown[] | null };
}

interface Problem {
  readonly problem: string;
}

/** More than there are claims. */
const MOST_CLAIMS = 100;

/** What is asked of one claim (§5.5.1). */
interface ClaimRequest {
  readonly essential: boolean;
  /** The values that it may have; null is any. */
  readonly values: readonly unknown[] | null;
}

/** Reads the parameter; a problem is phrased to follow "claims". */
export function parseClaims(text: string): ClaimsParameter | Problem {
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

/** The people who are in both sets; null is everybody. */
export function intersection(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return a.filter((id) => b.includes(id));
}

function parseMember(claims: Readonly<Record<string, unknown>>, name: string): Map<string, ClaimRequest> | Problem {
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

/** §5.5.1; members that it does not know are ignored. */
function parseRequest(asked: unknown): ClaimRequest | undefined {
  if (asked === null) return { essential: false, values: null };
  if (!isObject(asked)) return undefined;
  const { essential = false, values } = asked;
  if (typeof essential !== 'boolean' || (values !== undefined && !Array.isArray(values))) return undefined;
  const single = Object.hasOwn(asked, 'value') ? [asked['value']] : [];
  return { essential, values: values === undefined && single.length === 0 ? null : [...single, ...(values ?? [])] };
}

/** Those of the values that could be somebody's `sub`. */
const ids = (values: readonly unknown[]): readonly string[] =>
  values.filter((value): value is string => typeof value === 'string' && isSnowflake(value));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
