import { ACR } from '../../../authenticators/rules/authentication-context.ts';
import { SCOPES } from '../../../claims/scopes.ts';
import * as Type from '../../../platform/validation/type.ts';
import { LARGEST_REQUEST, PROMPTS, RESPONSE_MODES } from './request.ts';

/** It is stored, and repeated in the ID token, which clients may send in headers. */
export const LONGEST_NONCE = 1024;

/** RFC 7636 §4.2: the base64url of a SHA-256. */
export const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

const text = (about: string, more: Readonly<Record<string, unknown>> = {}) =>
  Type.Optional(Type.String({ about, ...more }));
const refused = (error: string) => text(`Refused with \`${error}\`; nothing is ever fetched.`);

/** The parameters that the endpoint knows; unknown ones are ignored (RFC 6749 §3.1). */
export const AuthorizationParameters = Type.Object({
  response_type: Type.Unsafe<'code'>({ type: 'string', enum: ['code'] }),
  client_id: Type.String({ about: 'The client.' }),
  redirect_uri: Type.String({ about: 'A registered address, character for character.' }),
  scope: text(`Scopes, separated by single spaces, out of ${SCOPES.join(', ')}. Without it: openid.`),
  state: text('Comes back unchanged: against forged answers. All parameters together have 4 KiB; 2 KiB of state fit.', {
    maxLength: LARGEST_REQUEST,
  }),
  nonce: text('Is put into the ID token: against replayed ones.', { maxLength: LONGEST_NONCE }),
  code_challenge: text('PKCE: the base64url of the SHA-256 of the verifier.', { pattern: CHALLENGE.source }),
  code_challenge_method: text('Goes with code_challenge.', { enum: ['S256'] }),
  prompt: text(`Out of ${PROMPTS.join(', ')}, separated by spaces; none stands alone.`),
  max_age: text('The seconds since the last sign-in after which the person signs in again.', {
    pattern: '^\\d{1,10}$',
  }),
  login_hint: text('Is written into the first field of the sign-in page.'),
  id_token_hint: text('Limits the answer to the person whom this ID token names.'),
  claims: text('Single claims: a JSON object as in OpenID Connect Core 1.0 §5.5.'),
  acr_values: text(`Puts acr into the ID token; the one that is offered is ${ACR}.`),
  ui_locales: text('Accepted; there is one language.'),
  claims_locales: text('Accepted; there is one language.'),
  display: text('Accepted; there is one kind of page.'),
  response_mode: text('How the answer comes back. Without it: query.', { enum: RESPONSE_MODES }),
  request: refused('request_not_supported'),
  request_uri: refused('request_uri_not_supported'),
  registration: refused('registration_not_supported'),
  resource: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 5,
      about: 'What tokens are asked for (RFC 8707): an absolute URI without a fragment. It may stand several times.',
    }),
  ),
});

export const PARAMETER_NAMES = Object.keys(AuthorizationParameters.properties);

/** The parameters that must not be repeated, and whose errors are sent to the redirect URI (RFC 6749 §3.1). */
export const SINGLE_NAMES = PARAMETER_NAMES.filter(
  (name) => name !== 'client_id' && name !== 'redirect_uri' && name !== 'resource',
);
