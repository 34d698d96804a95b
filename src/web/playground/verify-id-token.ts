import { createLocalJWKSet } from 'jose/jwks/local';
import { compactVerify } from 'jose/jws/compact/verify';
import { isSignedWith } from '../../keys/tokens.ts';
import { bodyOf, type PlaygroundSession } from './rules/progress.ts';

/**
 * Whether an ID token verifies with what the app has: its secret at the v2 endpoints, the published keys at the OIDC endpoints
 * (OpenID Connect Core 1.0 §3.1.3.7).
 */
export async function verifiesIdToken(
  { endpoints, clientSecret, keySet }: PlaygroundSession,
  idToken: string,
): Promise<boolean> {
  if (endpoints === 'v2') return isSignedWith(clientSecret, idToken);
  if (keySet === null) return false;
  try {
    await compactVerify(idToken, createLocalJWKSet(JSON.parse(bodyOf(keySet))));
    return true;
  } catch {
    return false;
  }
}
