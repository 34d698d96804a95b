import { lockCode } from '../../../credentials/code-store.ts';
import { revokeFamily } from '../../../credentials/token-family-store.ts';
import { requireVersion } from '../../../keys/keys.ts';
import { digest } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../../platform/http/parameters.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import type { Grant, TokenRequest } from '../grant.ts';
import { judgeCode, type RedeemableCode, type RedeemedCode, redeemCode, respondToCode } from '../redeem-code.ts';
import { redemption } from '../rules/redemption.ts';

interface PresentedCode {
  readonly text: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
  /** The id of the family that the code may be exchanged for. */
  readonly familyId: string;
  /** The parameters that change nothing: the authorization request had the scopes. */
  readonly ignored: readonly string[];
}

/** RFC 6749 §4.1.3: exchanges an authorization code for tokens. */
export const authorizationCodeGrant: Grant<PresentedCode, RedeemableCode, RedeemedCode> = {
  signsIdTokens: true,
  refusedResource: 'resource not granted',
  read: async ({ parts }, parameters) => ({ presented: presentedCode(parameters, await parts.ids.next()) }),
  check,
  issue: redeemCode,
  respond: respondToCode,
};

function presentedCode(parameters: Parameters, familyId: string): PresentedCode | OAuthError {
  const text = parameters.get('code');
  if (text === undefined) return missingParameter(parameters, 'code', 'send the code from the redirect.');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) {
    return missingParameter(parameters, 'redirect_uri', 'repeat the one of the authorization request.');
  }
  // code_verifier= is a wrong verifier, and not the absence of one.
  const codeVerifier = parameters.has('code_verifier') ? (parameters.get('code_verifier') ?? '') : undefined;
  const ignored = ['scope', 'audience'].filter((name) => parameters.has(name));
  return { text, redirectUri, codeVerifier, familyId, ignored };
}

function* check(
  request: TokenRequest,
  { text, redirectUri, codeVerifier, familyId, ignored }: PresentedCode,
  requestedResources: readonly string[],
): Work<RedeemableCode | OAuthError> {
  const { authenticated, rules, keySet, now, refuse } = request;
  const { client, proof } = authenticated;
  const hash = digest(text);
  const code = yield* lockCode({ hash });
  if (code === undefined) return yield* refuse('unknown code', { text });
  requireVersion(keySet, code.keyVersion);

  const about = { accountId: code.accountId };
  const { endpointSet } = rules;
  const pkceRequired = proof.kind === 'public';
  const presented = { endpointSet, clientId: client.id, redirectUri, codeVerifier, pkceRequired };
  const use = redemption(code, presented, now);
  if (use.kind === 'refuse') return yield* refuse(use.refusal, { ...about, code, presented, text });

  let replayed: OAuthError | undefined;
  if (use.kind === 'replay') {
    const { familyId: redeemedFor } = code;
    const hasEnded =
      redeemedFor !== null && (yield* revokeFamily({ familyId: redeemedFor, reason: 'code replayed', now }));
    replayed = yield* refuse('code used before', { ...about, redeemedFor, hasEnded });
    // In the order of the verdict, expiry comes before the state of the account.
    if (code.expiresAt <= now) return replayed;
  }
  return yield* judgeCode(request, { hash, familyId, code, ignored }, requestedResources, replayed);
}
