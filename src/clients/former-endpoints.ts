import { ENDPOINT_SETS, type EndpointSet, FORMER_NAMES } from '../claims/endpoint-set.ts';
import { invalid } from '../platform/failure.ts';
import * as Type from '../platform/validation/type.ts';

/** `endpoints` under the name that it had in 0.1.0, and with its values then. Requests may have it until 1.0; responses do. */
export interface FormerEndpoints {
  readonly faces?: readonly string[];
}

const FORMER = Object.values(FORMER_NAMES);

export const formerEndpoints = Type.Array(
  Type.Unsafe<string>({ enum: FORMER, description: `one of ${FORMER.join(', ')}` }),
  {
    uniqueItems: true,
    minItems: 1,
    about: 'Deprecated, accepted until 1.0: use `endpoints`. contract stands for v2, standard for oidc.',
    description: `a list of different names out of ${FORMER.join(', ')}; use endpoints instead`,
  },
);

/** When `faces` became deprecated: the value of the `Deprecation` header of RFC 9745. */
export const FACES_DEPRECATED = '@1795651200';

export const formerNames = (endpoints: readonly EndpointSet[]): readonly string[] =>
  endpoints.map((name) => FORMER_NAMES[name]);

export const formerEndpointsRecord = Type.Array(Type.Unsafe<string>({ enum: FORMER }), {
  about: 'Deprecated, until 1.0: the former name of `endpoints`, with contract for v2 and standard for oidc.',
});

/** The fields with `endpoints` in place of its former name. @throws {Failure} `invalid` for both */
export function withoutFormerEndpoints<Fields extends { readonly endpoints?: readonly EndpointSet[] }>(
  given: Fields & FormerEndpoints,
): Omit<Fields, 'faces'> {
  const { faces, ...fields } = given;
  if (faces === undefined) return fields;
  if (fields.endpoints !== undefined) throw invalid('faces is the former name of endpoints: send endpoints alone.');
  return { ...fields, endpoints: ENDPOINT_SETS.filter((name) => faces.includes(FORMER_NAMES[name])) };
}
