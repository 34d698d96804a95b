import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import type { IdTokenAlg } from '../../../keys/algorithms.ts';
import type { Parameters } from '../../../platform/http/parameters.ts';
import type { StepFacts } from '../../../traces/step.ts';

/**
 * What the trace of a token response says of the algorithm of its ID token. Libraries that read the discovery document expect RS256, and send
 * forms; the v2 endpoints sign with HS256, as their contract says.
 */
export function adviceOnAlgorithm(
  { alg, rules, parameters }: { alg: IdTokenAlg; rules: EndpointRules; parameters: Parameters },
  clientId: string,
): Pick<StepFacts, 'reason' | 'remedy'> {
  if (alg !== 'HS256') return {};
  const reason = 'The ID token is signed with HS256 and the client secret, and not with a published key.';
  if (rules.endpointSet !== 'v2' || !('repeated' in parameters)) return { reason };
  const { authorizationPath, tokenPath } = ENDPOINT_RULES.oidc;
  return {
    reason,
    remedy:
      `If the library expects RS256, have it use the endpoints of the discovery document, ${authorizationPath} and ${tokenPath}, or run: ` +
      `tessera client update ${clientId} --id-token-signed-response-alg RS256`,
  };
}
