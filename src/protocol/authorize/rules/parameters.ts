import { ACR_VALUES } from '../../../authenticators/rules/authentication-context.ts';
import { SCOPES } from '../../../claims/permissions.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { nearestName } from '../../../platform/nearest-text.ts';
import * as Type from '../../../platform/validation/type.ts';
import { LARGEST_REQUEST, PROMPTS, RESPONSE_MODES } from './request.ts';

/** It is stored, and repeated in the ID token, which clients may send in headers. */
export const LONGEST_NONCE = 1024;

/** RFC 7636 §4.2: the base64url of a SHA-256. */
export const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

const text = (about: string, more: Readonly<Record<string, unknown>> = {}) =>
  Type.Optional(Type.String({ about, ...more }));
const rejected = (error: string) => text(`Rejected with \`${error}\`; nothing is ever fetched.`);

/** The parameters that the endpoint knows; unknown ones are ignored (RFC 6749 §3.1). */
export const AuthorizationParameters = Type.Object({
  response_type: Type.Unsafe<'code'>({ type: 'string', enum: ['code'] }),
  client_id: Type.String({ about: 'The client.' }),
  redirect_uri: Type.String({ about: 'A registered redirect URI, character for character.' }),
  scope: text(`Scopes, separated by single spaces: ${SCOPES.join(', ')}. Default: openid.`),
  state: text(
    'Returned unchanged, as a protection against CSRF. All parameters together are limited to 4 KiB, so that 2 KiB of state always fit.',
    {
      maxLength: LARGEST_REQUEST,
    },
  ),
  nonce: text('Included in the ID token, as a protection against replay.', { maxLength: LONGEST_NONCE }),
  code_challenge: text('PKCE: the base64url of the SHA-256 of the verifier.', { pattern: CHALLENGE.source }),
  code_challenge_method: text('Required with code_challenge.', { enum: ['S256'] }),
  prompt: text(`Values, separated by spaces: ${PROMPTS.join(', ')}. none goes with no other.`),
  max_age: text('The seconds since the last sign-in after which the person must sign in again.', {
    pattern: '^\\d{1,10}$',
  }),
  login_hint: text('The initial value of the first field of the sign-in page.'),
  upstream: text(
    'The name of another provider through which the person is to sign in, without the sign-in page. One that is not offered is ignored.',
  ),
  domain_hint: text(
    'The domain of the address of the person. If another provider is authoritative for it, they sign in there, without the sign-in page.',
  ),
  organization: text(
    'The name of the organization of the person. If its members are let in only through another provider, they sign in there, without the sign-in page.',
  ),
  id_token_hint: text('Limits the response to the account that this ID token names.'),
  claims: text('Individual claims: a JSON object as in OpenID Connect Core 1.0 §5.5.'),
  acr_values: text(
    `The classes of authentication of which one is required, and acr in the ID token; ${ACR_VALUES.join(', ')} are offered, and others ignored.`,
  ),
  ui_locales: text('Accepted; there is one language.'),
  claims_locales: text('Accepted; there is one language.'),
  display: text('Accepted; there is one kind of page.'),
  response_mode: text('How the response is returned. Default: query.', { enum: RESPONSE_MODES }),
  request: rejected('request_not_supported'),
  request_uri: rejected('request_uri_not_supported'),
  registration: rejected('registration_not_supported'),
  resource: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 5,
      about:
        'The resource server that tokens are for (RFC 8707): an absolute URI without a fragment. It may be repeated.',
    }),
  ),
});

export const PARAMETER_NAMES = Object.keys(AuthorizationParameters.properties);

/** The parameters that must not be repeated, and whose errors are sent to the redirect URI (RFC 6749 §3.1). */
export const SINGLE_NAMES = PARAMETER_NAMES.filter(
  (name) => name !== 'client_id' && name !== 'redirect_uri' && name !== 'resource',
);

/** Accepted, because standards name them, and without effect. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['display', 'ui_locales', 'claims_locales']);

const UPSTREAM_HINT = 'send upstream, which names another provider here';

/** What to do instead of sending a parameter that other servers read, or that belongs elsewhere. */
const ADVICE: Readonly<Record<string, string>> = {
  audience: 'send resource, which names an API here',
  client_secret:
    'it belongs in the token request alone; this address is kept in histories and logs, so rotate the secret',
  code_verifier: 'it belongs in the token request alone',
  grant_type: 'it belongs in the token request',
  acr_values: `none of its values is offered: those are ${ACR_VALUES.join(', ')}`,
  access_type: 'request the scope offline_access',
  approval_prompt: 'send prompt=consent',
  connection: UPSTREAM_HINT,
  kc_idp_hint: UPSTREAM_HINT,
  idp: UPSTREAM_HINT,
  idp_hint: UPSTREAM_HINT,
  identity_provider: UPSTREAM_HINT,
  hd: 'send domain_hint, which names the domain of an address here',
  dpop_jkt: 'DPoP is not supported, and access tokens are Bearer tokens',
  display: 'there is one kind of page',
  ui_locales: 'the pages are in English only',
  claims_locales: 'each claim has one value, whatever the language',
};

/** What to do about a parameter that changes nothing; undefined where nothing is wrong with sending it. */
export function adviceForParameter(name: string): string | undefined {
  if (Object.hasOwn(ADVICE, name)) return ADVICE[name];
  if (!/^[A-Za-z_-]{1,40}$/.test(name)) return undefined;
  const nearest = nearestName(name, PARAMETER_NAMES);
  return nearest && `did you mean ${nearest}?`;
}

/** The names of parameters that change nothing. */
export const ignoredParameters = (parameters: Pick<RepeatableParameters, 'get' | 'names'>): readonly string[] =>
  parameters.names.filter(
    (name) =>
      !PARAMETER_NAMES.includes(name) ||
      WITHOUT_EFFECT.has(name) ||
      (name === 'acr_values' && !offersOneOf(parameters.get(name) ?? '')),
  );

const offersOneOf = (acrValues: string): boolean =>
  acrValues.split(' ').some((value) => ACR_VALUES.some((acr) => acr === value));
