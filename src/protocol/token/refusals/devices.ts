import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { type AboutCredential, AGAIN_ON_DEVICE, recorded, row } from '../../refusals/row.ts';
import type { ReplayedCode } from './codes.ts';

const UNKNOWN = `The device code was refused: it is unknown, or was issued long ago. ${AGAIN_ON_DEVICE}`;

const OWN_CODE = {
  rule: 'RFC 8628 §3.4',
  expected: 'the device_code that this client got at the device authorization endpoint',
};
const ANSWERED = { rule: 'RFC 8628 §3.5', expected: 'a device code that is still valid' };

/** Of device codes: the grant of RFC 8628. */
export const DEVICES = {
  'device grant at the v2 endpoints': row({
    when: 'A device code is sent to `/api/v2/oauth/token`.',
    app: {
      error: 'unsupported_grant_type',
      description: `Device codes are exchanged at ${ENDPOINT_RULES.oidc.tokenPath}: send the request there.`,
    },
    operator: {
      trace: {
        rule: 'RFC 8628 §3.4',
        expected: `a device code at ${ENDPOINT_RULES.oidc.tokenPath}`,
        received: `one at ${ENDPOINT_RULES.v2.tokenPath}`,
        remedy: `Send the request to ${ENDPOINT_RULES.oidc.tokenPath}, as token_endpoint in the discovery document says.`,
      },
    },
  }),
  // RFC 8628 §3.5. A device asks every few seconds, so this is no event.
  'device not answered yet': row({
    when: 'The user has not answered the device yet.',
    app: {
      error: 'authorization_pending',
      description: 'The user has not answered yet. Ask again after the interval of the device authorization.',
    },
    operator: {},
  }),
  'device asked too soon': row<AboutCredential & { readonly interval: number }>({
    when: 'The device did not wait for its interval, which grows by five seconds, to sixty at most.',
    app: {
      error: 'slow_down',
      description: ({ interval }) =>
        `The device asked again too soon. Wait ${interval} seconds from now on before each request.`,
    },
    operator: {
      trace: ({ interval }) => ({
        rule: 'RFC 8628 §3.5',
        expected: `a pause of ${interval} seconds before each request`,
        received: 'a request before that',
        remedy: 'Have the app wait for the interval of the response, and five seconds longer after each slow_down.',
      }),
    },
    example: { interval: 10 },
  }),
  'device denied': row({
    when: 'The user did not allow the device.',
    app: { error: 'access_denied', status: 400, description: 'User denied the request' },
    operator: {
      ...recorded('the user denied the device'),
      trace: { expected: 'the consent of the user', remedy: 'Nothing is wrong: offer the user to begin again.' },
    },
  }),
  'expired device code': row({
    when: 'The device code is older than ten minutes.',
    app: {
      error: 'expired_token',
      description: `The device code has expired: the user has ten minutes to answer. ${AGAIN_ON_DEVICE}`,
    },
    operator: {
      reason: 'the device code has expired',
      trace: {
        ...ANSWERED,
        received: 'a device code that is more than ten minutes old',
        remedy: `${AGAIN_ON_DEVICE} Show the user the new code, and stop asking with the old one after expires_in seconds.`,
      },
    },
  }),
  'unknown device code': row({
    when: 'The device code is unknown.',
    app: { error: 'invalid_grant', description: UNKNOWN },
    operator: {
      ...recorded('the device code is unknown'),
      trace: {
        ...OWN_CODE,
        received: 'a device code that this server has not issued, or that expired and was removed',
        remedy: `Send the member device_code of the response unchanged, to the server that issued it. ${AGAIN_ON_DEVICE}`,
      },
    },
  }),
  'malformed device code': row({
    when: 'The text is too short or too long for a device code.',
    app: {
      error: 'invalid_grant',
      description:
        'The device code was refused, because it was cut off or changed: a device code has 43 characters. Send the member device_code of the response whole.',
    },
    operator: {
      ...recorded('a malformed device code'),
      trace: {
        ...OWN_CODE,
        received: 'a text that is no device code: it was cut off or changed',
        remedy: 'Send the member device_code of the response whole.',
      },
    },
  }),
  'user code as device code': row({
    when: 'The code that the user types is sent in place of the device code.',
    app: {
      error: 'invalid_grant',
      description:
        'This is a user_code, which the user types on the page of the service. Send the device_code of the same response.',
    },
    operator: {
      ...recorded('a user code in place of the device code'),
      trace: {
        ...OWN_CODE,
        received: 'the user_code, which people type',
        remedy: 'Send the member device_code of the same response.',
      },
    },
  }),
  'device code of another client': row({
    when: 'The device code was issued to another client. The response does not say so.',
    app: { error: 'invalid_grant', description: UNKNOWN },
    operator: {
      reason: 'the device code was issued to another client',
      event: 'token.foreign_client',
      details: { reason: 'the device code was issued to another client' },
      trace: {
        ...OWN_CODE,
        received: 'a device code that was issued to another client',
        remedy: 'Use the client_id of the device authorization request in the token request as well.',
      },
    },
  }),
  'device answer ended': row({
    when: 'What the user allowed the device has ended since: the session, the consent or the account.',
    app: {
      error: 'invalid_grant',
      description: `The device code was refused: the access that the user gave has ended since then. ${AGAIN_ON_DEVICE}`,
    },
    operator: {
      ...recorded('what the user allowed the device has ended'),
      trace: {
        ...ANSWERED,
        received: 'a device code whose session, consent or account has ended since',
        remedy: AGAIN_ON_DEVICE,
      },
    },
  }),
  'device code used before': row<AboutCredential & ReplayedCode>({
    when: 'The device code was exchanged before. The tokens from the first exchange end.',
    app: {
      error: 'invalid_grant',
      description: `The device code was refused: it was used before, so the tokens that it gave have ended. ${AGAIN_ON_DEVICE}`,
    },
    operator: {
      reason: 'the device code was used before',
      event: 'token.code_replayed',
      details: ({ redeemedFor }) => ({ ...(redeemedFor !== null && { familyId: redeemedFor }) }),
      isEnding: ({ hasEnded }) => hasEnded,
      trace: {
        ...OWN_CODE,
        received: 'a device code that was exchanged before',
        remedy: `Stop asking once there was an answer with tokens. ${AGAIN_ON_DEVICE}`,
      },
    },
    example: { redeemedFor: null, hasEnded: false },
  }),
};
