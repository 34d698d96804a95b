import { lockCode } from '../../../credentials/code-store.ts';
import { lockDevice, recordPoll } from '../../../credentials/device-store.ts';
import { readUserCode } from '../../../credentials/rules/user-code.ts';
import { revokeFamily } from '../../../credentials/token-family-store.ts';
import { requireVersion } from '../../../keys/keys.ts';
import { digest, isSecretForm } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../../platform/http/parameters.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import type { Grant, TokenRequest } from '../grant.ts';
import { judgeCode, type RedeemableCode, type RedeemedCode, redeemCode, respondToCode } from '../redeem-code.ts';
import { refusal } from '../refuse.ts';
import { judgePoll } from '../rules/poll.ts';

interface PresentedDeviceCode {
  readonly text: string;
  /** The id of the family that it may be exchanged for. */
  readonly familyId: string;
}

/** RFC 8628 §3.4: a device asks for the tokens that a person allows it in a browser. */
export const deviceCodeGrant: Grant<PresentedDeviceCode, RedeemableCode, RedeemedCode> = {
  signsIdTokens: true,
  refusedResource: 'resource not granted',
  read: async ({ parts, rules }, parameters) => ({
    presented:
      rules.endpointSet === 'oidc'
        ? presentedDeviceCode(parameters, await parts.ids.next())
        : refusal('device grant at the v2 endpoints', {}),
  }),
  check,
  issue: redeemCode,
  respond: respondToCode,
};

function presentedDeviceCode(parameters: Parameters, familyId: string): PresentedDeviceCode | OAuthError {
  const text = parameters.get('device_code');
  if (text === undefined) {
    return missingParameter(parameters, 'device_code', 'send the one of the device authorization.');
  }
  return { text, familyId };
}

function* check(
  request: TokenRequest,
  { text, familyId }: PresentedDeviceCode,
  requestedResources: readonly string[],
): Work<RedeemableCode | OAuthError> {
  const { authenticated, keySet, now, refuse } = request;
  const hash = digest(text);
  const device = yield* lockDevice({ hash });
  if (device === undefined) {
    if (readUserCode(text) !== undefined) return yield* refuse('user code as device code', {});
    return yield* refuse(isSecretForm(text) ? 'unknown device code' : 'malformed device code', {});
  }
  if (device.clientId !== authenticated.client.id) return yield* refuse('device code of another client', {});
  if (device.outcome === 'denied') return yield* refuse('device denied', {});
  if (device.codeHash === null) {
    if (device.expiresAt <= now) return yield* refuse('expired device code', {});
    const { tooSoon, interval } = judgePoll(device, now);
    yield* recordPoll({ hash, now, interval });
    return yield* tooSoon ? refuse('device asked too soon', { interval }) : refuse('device not answered yet', {});
  }
  const code = yield* lockCode({ hash: device.codeHash });
  // Where the consent, the session or the account that it came from has ended, so has the code.
  if (code === undefined) return yield* refuse('device answer ended', {});
  requireVersion(keySet, code.keyVersion);
  let replayed: OAuthError | undefined;
  if (code.redeemed) {
    const { familyId: redeemedFor, accountId } = code;
    const hasEnded =
      redeemedFor !== null && (yield* revokeFamily({ familyId: redeemedFor, reason: 'code replayed', now }));
    replayed = yield* refuse('device code used before', { accountId, redeemedFor, hasEnded });
  }
  if (code.expiresAt <= now) return replayed ?? (yield* refuse('expired device code', {}));
  return yield* judgeCode(request, { hash: device.codeHash, familyId, code }, requestedResources, replayed);
}
