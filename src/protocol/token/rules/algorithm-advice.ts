import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import type { IdTokenAlg } from '../../../keys/algorithms.ts';
import type { StepFacts } from '../../../traces/step.ts';

/**
 * What the trace of a token response says of the algorithm of its ID token. Libraries that read the discovery document expect RS256; the v2
 * endpoints sign with HS256, as their contract says.
 * @param client.isChosen whether its registration names the algorithm
 */
export function adviceOnAlgorithm(
  { alg, rules }: { readonly alg: IdTokenAlg; readonly rules: EndpointRules },
  { id: clientId, isChosen }: { readonly id: string; readonly isChosen: boolean },
): Pick<StepFacts, 'reason' | 'remedy'> {
  if (alg !== 'HS256') return {};
  const reason = 'The ID token is signed with HS256 and the client secret, and not with a published key.';
  if (rules.endpointSet !== 'v2' || isChosen) return { reason };
  const { authorizationPath, tokenPath } = ENDPOINT_RULES.oidc;
  return {
    reason,
    remedy:
      `If the library expects RS256, have it use the endpoints of the discovery document, ${authorizationPath} and ${tokenPath}, or run: ` +
      `tessera client update ${clientId} --id-token-signed-response-alg RS256`,
  };
}
