import { hash } from 'node:crypto';
import { nearestUri } from '../../../clients/rules/unregistered-uri.ts';

const MAX_COMPARED = 2048;

/** The parts that differ, and not the URIs: those are not this request's own. */
export function adviceOnUri(issuedFor: string, presented: string): string {
  const differences = nearestUri(presented.slice(0, MAX_COMPARED), [issuedFor])?.differences ?? [];
  return `They differ in: ${differences.join(', ')}. Send the same one in both requests, character for character.`;
}

export const SEND_ANOTHER_VERIFIER =
  'Use letters, digits and the signs - . _ ~ only, and send the verifier that you used to create code_challenge.';

/** Tells usual mistakes from a verifier of another request. */
export function adviceOnVerifier(verifier: string, challenge: string | null): string {
  if (verifier === challenge) {
    return 'code_challenge and code_verifier are equal. Send BASE64URL(SHA256(code_verifier)) as code_challenge, and code_verifier itself here.';
  }
  if (hash('sha256', Buffer.from(verifier, 'base64url'), 'base64url') === challenge) {
    return 'The challenge is the hash of the decoded bytes of the verifier: hash its characters instead.';
  }
  return 'Use the verifier saved for this sign-in; a second tab, a reload or another server may have overwritten it.';
}
