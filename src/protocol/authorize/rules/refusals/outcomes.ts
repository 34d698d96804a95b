import { MESSAGES } from '../../../../verdict/rules.ts';
import { DETAILS_OF_ENDED } from '../../../token/refuse-verdict.ts';
import { NO_PAGE, redirectRow } from './row.ts';

const WITHOUT_NONE = 'remove prompt=none to show the page on which the user can do that';

/** Of the person: the steps that no page may show, or that lead nowhere. */
export const PEOPLE = {
  'account banned': redirectRow({
    when: 'The account is banned.',
    error: 'access_denied',
    cause: MESSAGES.banned,
    operatorRemedy: DETAILS_OF_ENDED.banned.remedy ?? '',
  }),
  'account suspended': redirectRow({
    when: 'The account is suspended.',
    error: 'access_denied',
    cause: MESSAGES.suspended,
    operatorRemedy: DETAILS_OF_ENDED.suspended.remedy ?? '',
  }),
  'another user': redirectRow({
    when: '`id_token_hint` or `claims` names a user who is not the one that signed in.',
    error: 'login_required',
    cause: 'the user who was asked for is not signed in',
    remedy: 'leave id_token_hint and the sub in claims out, to let any user sign in',
    rule: 'OpenID Connect Core 1.0 §3.1.2.2',
  }),
  'not signed in': redirectRow({
    when: '`prompt=none`, and the user is not signed in.',
    error: 'login_required',
    cause: 'the user is not signed in',
    remedy: 'remove prompt=none to show the sign-in page',
    rule: NO_PAGE,
    expected: 'a browser in which the user is signed in, as prompt=none demands',
  }),
  'not signed in, in a frame': redirectRow({
    when: '`prompt=none` in a frame of another site, to which browsers send no cookies.',
    error: 'login_required',
    cause: 'the request is in a frame, where browsers send no cookies of this service, so the user seems signed out',
    remedy: 'use the top-level window or a popup, and a refresh token instead of silent renewal',
    rule: NO_PAGE,
    expected: 'a request in the top-level window or a popup',
  }),
  'another user in claims': redirectRow({
    when: '`prompt=none`, and `claims` names another user than the one who is signed in.',
    error: 'login_required',
    cause: 'the signed-in user is not the one whom the sub in claims names',
    remedy: 'leave sub out of claims to accept any user, or remove prompt=none to show the sign-in page',
    rule: 'OpenID Connect Core 1.0 §5.5.1',
  }),
  'another user in the hint': redirectRow({
    when: '`prompt=none`, and `id_token_hint` names another user than the one who is signed in.',
    error: 'login_required',
    cause: 'the signed-in user is not the one whom id_token_hint names',
    remedy: 'leave the hint out to accept any user, or remove prompt=none to show the sign-in page',
    rule: 'OpenID Connect Core 1.0 §3.1.2.2',
  }),
  'sign-in too old': redirectRow({
    when: '`prompt=none`, and the sign-in is older than `max_age`, or the `defaultMaxAge` of the client, allows.',
    error: 'login_required',
    cause: 'the user must sign in again, because max_age, or the defaultMaxAge of the registration, has passed',
    remedy: 'remove prompt=none to show the sign-in page',
    rule: NO_PAGE,
  }),
  'stronger factor': redirectRow({
    when: '`prompt=none`, and the user must authenticate with a stronger factor.',
    error: 'login_required',
    cause: 'the user must authenticate with a stronger factor',
    remedy: WITHOUT_NONE,
    rule: NO_PAGE,
  }),
  'another provider': redirectRow({
    when: '`prompt=none`, and the organization of the user has its apps used only through another provider.',
    error: 'login_required',
    cause: 'the user must sign in through the provider of their organization',
    remedy: 'remove prompt=none to lead them there',
    rule: NO_PAGE,
  }),
  'provider disabled': redirectRow({
    when: 'The organization of the user has its apps used only through another provider, which is disabled.',
    error: 'access_denied',
    cause: 'the provider through which the user must sign in is disabled',
    remedy: 'ask the operator of this service',
    operatorRemedy:
      'Enable the provider: tessera upstream enable NAME. Or let the members sign in as they like: tessera org require-upstream ORGANIZATION --none',
  }),
  'factor not set up': redirectRow({
    when: 'A second factor is required, and the user has none.',
    error: 'unmet_authentication_requirements',
    cause: 'the user has not set up the factor that is required',
    remedy: 'an authenticator app or a passkey, on the Security page of the account',
    operatorRemedy:
      'The user sets up an authenticator app or a passkey on the Security page of the account. As an essential claim, acr offers it in the sign-in.',
  }),
  'factor not set up, without a page': redirectRow({
    when: '`prompt=none`, a second factor is required, and the user has none.',
    error: 'login_required',
    cause: 'the user has set up no factor that meets what is required',
    remedy:
      'have them do it on the Security page of the account, or request acr as an essential claim, without prompt=none',
    rule: NO_PAGE,
  }),
  'factor declined': redirectRow({
    when: 'The user left the page on which the required factor is set up.',
    error: 'unmet_authentication_requirements',
    cause: 'the user did not set up the factor that is required',
    remedy: 'offer to try again',
  }),
  'not assigned': redirectRow({
    when: 'The app is open to assigned people only, and the user is none of them.',
    error: 'access_denied',
    cause: 'this account may not use the app',
    remedy: 'ask the person who manages it for access',
    expected: 'an account that is assigned to the app, by itself, by a group or by an organization',
    received: 'an account that is not',
    operatorRemedy: 'Assign the person, or one of their groups: tessera client assign CLIENT_ID --user USER',
  }),
  'consent missing': redirectRow({
    when: '`prompt=none`, and the user has not consented to everything that is requested.',
    error: 'consent_required',
    cause: 'the user has not consented yet',
    remedy: 'remove prompt=none to show the consent page',
    rule: NO_PAGE,
  }),
  'consent each time': redirectRow({
    when: '`prompt=none` of a public client whose redirect URI any local program could claim, or of an app that no operator registered.',
    error: 'consent_required',
    cause:
      'the user must consent each time, because any local program could claim this redirect_uri, or no operator registered the app',
    remedy: 'remove prompt=none to show the consent page',
    rule: 'RFC 8252 §8.6',
  }),
  denied: redirectRow({
    when: 'The user declined.',
    error: 'access_denied',
    cause: 'User denied the request',
    operatorRemedy: 'Nothing to correct: the app offers to try again.',
  }),
};

/** Of the service itself. */
export const SERVICE = {
  'too many codes': redirectRow({
    when: 'Too many authorizations of one user for one app.',
    error: 'temporarily_unavailable',
    cause: 'too many authorizations for this app in a short time',
    remedy: 'try again later, and look for a redirect loop in the app',
    operatorRemedy: 'Look for a redirect loop in the app. The limit is TESSERA_LIMIT_AUTHORIZATION.',
  }),
  'too many sign-ins begun': redirectRow({
    when: 'Too many sign-ins were begun from one address.',
    error: 'temporarily_unavailable',
    cause: 'too many sign-ins were begun from this address',
    remedy: 'try again in a minute',
    operatorRemedy: 'The limit is TESSERA_LIMIT_PENDING_ADDRESS.',
  }),
  'too much room for sign-ins': redirectRow({
    when: 'The sign-ins that were begun at one address take too much room.',
    error: 'temporarily_unavailable',
    cause: 'the sign-ins that wait for an answer at this address take too much room',
    remedy: 'try again later',
    operatorRemedy: 'The limit is TESSERA_LIMIT_PENDING_BYTES_ADDRESS.',
  }),
  unavailable: redirectRow<{ reason: string | undefined }>({
    when: 'The service cannot answer at this moment.',
    error: 'temporarily_unavailable',
    cause: 'try again in a moment',
    reason: ({ reason }) => reason ?? 'unavailable',
    operatorRemedy: 'Run on the server: tessera doctor',
    example: { reason: undefined },
  }),
  'internal error': redirectRow<{ id: string }>({
    when: 'An internal error.',
    error: 'server_error',
    cause: ({ id }) => `correlation id ${id}`,
    operatorRemedy: 'Look in the log for the line with this reqId: it has the cause.',
    example: { id: '6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11' },
  }),
};
