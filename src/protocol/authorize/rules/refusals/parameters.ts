import { ACR_VALUES } from '../../../../authenticators/rules/authentication-context.ts';
import { MAX_RESOURCES } from '../../../../claims/permissions.ts';
import { MOST_API_SCOPES } from '../../../../claims/rules/api-scopes.ts';
import { describeMalformedScope, describeUnknownScope } from '../../../../claims/rules/scope-advice.ts';
import { type AuthorizationErrorCode, LARGEST_REQUEST, PROMPTS, RESPONSE_MODES } from '../request.ts';
import { NO_PAGE, redirectRow } from './row.ts';

const CORE = 'OpenID Connect Core 1.0 §3.1.2.1';
const PKCE = 'RFC 7636 §4.3';
const RESOURCES = 'RFC 8707 §2';
const CODE_ONLY = 'response_type must be code';
const SEND_CHALLENGE = 'send the SHA-256 of the verifier as code_challenge, in base64url, with the method S256';

/** Of the parameters, in the order of the checks. */
export const PARAMETERS = {
  'parameter repeated': redirectRow<{ name: string }>({
    when: 'A parameter was sent more than once.',
    error: 'invalid_request',
    cause: ({ name }) => `${name} was sent more than once`,
    remedy: ({ name }) =>
      `send ${name} once, and percent-encode the values of other parameters, because an & in one begins a new parameter`,
    reason: 'a parameter was repeated',
    rule: 'RFC 6749 §3.1',
    example: { name: 'state' },
  }),
  'parameter malformed': redirectRow<{ name: string }>({
    when: 'A parameter is not percent-encoded UTF-8.',
    error: 'invalid_request',
    cause: ({ name }) => `${name} is not percent-encoded UTF-8`,
    remedy: ({ name }) => `encode ${name} once, for example with URLSearchParams`,
    reason: 'a parameter is malformed',
    rule: 'RFC 6749 appendix B',
    example: { name: 'state' },
  }),
  'request object': redirectRow({
    when: 'The parameter `request` was sent.',
    error: 'request_not_supported',
    cause: 'request objects are not supported',
    remedy: 'send each parameter by itself, and switch request objects (JAR) off in the library',
    rule: NO_PAGE,
  }),
  request_uri: redirectRow({
    when: 'The parameter `request_uri` was sent.',
    error: 'request_uri_not_supported',
    cause: 'request_uri is not supported',
    remedy: 'send each parameter by itself, and switch pushed authorization requests (PAR) off in the library',
    rule: NO_PAGE,
  }),
  registration: redirectRow({
    when: 'The parameter `registration` was sent.',
    error: 'registration_not_supported',
    cause: 'registration is not supported',
    remedy: 'register the app first, and send its client_id',
    rule: NO_PAGE,
    operatorRemedy: 'Register the app: tessera client create',
  }),
  'code grant not registered': redirectRow<{ clientId: string; grantTypes: readonly string[] }>({
    when: 'The client is not registered for the grant `authorization_code`.',
    error: 'unauthorized_client',
    cause: 'the client is not registered for the code grant',
    remedy: 'have authorization_code added to grantTypes of its registration',
    operatorRemedy: ({ clientId, grantTypes }) =>
      `Add the grant, beside those that the app has: tessera client update ${clientId} ${[...grantTypes, 'authorization_code'].map((grant) => `--grant-type ${grant}`).join(' ')}`,
    example: { clientId: 'CLIENT_ID', grantTypes: ['client_credentials'] },
  }),
  'other endpoints only': redirectRow<{ path: string }>({
    when: 'The client is registered for the other set of endpoints only.',
    error: 'unauthorized_client',
    cause: ({ path }) => `the client is registered for ${path} only`,
    remedy: ({ path }) => `send the user to ${path}, or have the other set added to endpoints of the registration`,
    reason: 'registered for the other endpoints only',
    example: { path: '/api/v2/oauth/authorize' },
  }),
  'response_type missing': redirectRow<{ sent: string | undefined }>({
    when: '`response_type` is missing.',
    error: 'invalid_request',
    cause: ({ sent }) =>
      sent === undefined ? 'response_type is missing' : `response_type is missing, and ${sent} was sent`,
    remedy: ({ sent }) =>
      sent === undefined ? 'send response_type=code' : `rename the parameter ${sent} to response_type`,
    reason: 'response_type is missing',
    rule: 'RFC 6749 §3.1.1',
    example: { sent: undefined },
  }),
  'token request': redirectRow<{ path: string }>({
    when: 'The request has `grant_type` and no `response_type`, as a token request.',
    error: 'invalid_request',
    cause: 'this is the authorization endpoint, and the request has grant_type, as a token request',
    remedy: ({ path }) => `POST it to the token endpoint, ${path}`,
    reason: 'a token request at the authorization endpoint',
    rule: 'RFC 6749 §3.2',
    expected: 'response_type=code',
    received: 'grant_type, and no response_type',
    example: { path: '/oidc/token' },
  }),
  'response_type not code': redirectRow<{ responseType: string; error: AuthorizationErrorCode }>({
    when: '`response_type` is not `code`. At `/oidc/authorize`, `unsupported_response_type`.',
    error: ({ error }) => error,
    cause: CODE_ONLY,
    remedy: ({ responseType }) =>
      responseType.split(' ').some((part) => part === 'token' || part === 'id_token')
        ? 'tokens are not sent in redirects (implicit and hybrid flow), so exchange a code, with PKCE in a browser'
        : 'send response_type=code',
    rule: 'RFC 6749 §3.1.1',
    expected: 'response_type=code',
    example: { responseType: 'token', error: 'invalid_request' },
  }),
  'response_mode unknown': redirectRow({
    when: '`response_mode` is not one of this service.',
    error: 'invalid_request',
    cause: `response_mode must be ${RESPONSE_MODES.join(' or ')}`,
    remedy: 'leave response_mode out, which means query',
    rule: 'OAuth 2.0 Multiple Response Type Encoding Practices §2.1',
  }),
  'form_post unusable': redirectRow<{ problem: string }>({
    when: '`response_mode=form_post` cannot be used with this `redirect_uri` or `state`.',
    error: 'invalid_request',
    cause: ({ problem }) => problem,
    remedy: 'change that, or leave response_mode out',
    operatorRemedy: 'Leave response_mode out, or change redirect_uri or state as the description says',
    reason: 'form_post unusable',
    rule: 'OAuth 2.0 Form Post Response Mode §2',
    example: { problem: 'response_mode=form_post needs a redirect_uri with https or on a loopback host' },
  }),
  'scope malformed': redirectRow<{ text: string }>({
    when: '`scope` is malformed.',
    error: 'invalid_scope',
    cause: ({ text }) => describeMalformedScope(text).cause,
    remedy: ({ text }) => describeMalformedScope(text).remedy,
    reason: 'scope is malformed',
    rule: 'RFC 6749 §3.3',
    example: { text: '["openid"]' },
  }),
  'scope unknown': redirectRow<{ scope: string; known: readonly string[]; allow: string | undefined }>({
    when: 'A scope is unknown. At `/oidc/authorize`, only if no other scope is left.',
    error: 'invalid_scope',
    cause: ({ scope, known }) => describeUnknownScope(scope, known).cause,
    remedy: ({ scope, known }) => describeUnknownScope(scope, known).remedy,
    reason: ({ allow }) => (allow === undefined ? 'unknown scope' : 'scope of an API that the client may not request'),
    rule: 'RFC 6749 §3.3',
    expected: ({ known }) => known.join(' '),
    received: ({ scope }) => scope,
    operatorRemedy: ({ scope, known, allow }) =>
      allow === undefined
        ? describeUnknownScope(scope, known).remedy
        : `Leave the scope out, or let the app request this scope of an API: ${allow}`,
    example: { allow: undefined, scope: 'organization', known: ['openid', 'email', 'organization.read'] },
  }),
  'scope not registered': redirectRow<{ scope: string; registered: readonly string[]; clientId: string }>({
    when: 'The client is not registered for a scope. At `/oidc/authorize`, only if no other scope is left.',
    error: 'invalid_scope',
    cause: ({ scope }) => `the client is not registered for the scope ${scope}`,
    remedy: 'leave it out, or have it added to scopes of the registration',
    reason: 'the client is not registered for the scope',
    rule: 'RFC 6749 §3.3',
    expected: ({ registered }) => registered.join(' '),
    received: ({ scope }) => scope,
    operatorRemedy: ({ scope, registered, clientId }) =>
      `Leave the scope out, or add it: tessera client update ${clientId} ${[...registered, scope].map((name) => `--scope ${name}`).join(' ')}`,
    example: { scope: 'phone', registered: ['openid', 'email'], clientId: 'CLIENT_ID' },
  }),
  'no refresh tokens': redirectRow<{ clientId: string; grantTypes: readonly string[] }>({
    when: '`offline_access` is the only scope left at `/oidc/authorize`, and the client gets no refresh tokens.',
    error: 'invalid_scope',
    cause: 'offline_access asks for a refresh token, and the client is not registered for the grant refresh_token',
    remedy: 'send other scopes, such as openid, or have refresh_token added to grantTypes of the registration',
    reason: 'offline_access without refresh tokens',
    rule: 'OpenID Connect Core 1.0 §11',
    expected: 'scopes of what the app gets',
    received: 'offline_access',
    operatorRemedy: ({ clientId, grantTypes }) =>
      `Have the app send other scopes, or add the grant: tessera client update ${clientId} ${[...grantTypes, 'refresh_token'].map((grant) => `--grant-type ${grant}`).join(' ')}`,
    example: { clientId: 'CLIENT_ID', grantTypes: ['authorization_code'] },
  }),
  'scope of an unnamed API': redirectRow<{ scope: string }>({
    when: 'Several APIs have a scope of this name, and the request names none of them.',
    error: 'invalid_scope',
    cause: 'the scope belongs to an API that the request does not name',
    remedy: ({ scope }) => `send the resource of the API that ${scope} is for`,
    rule: RESOURCES,
    expected: 'resource',
    received: ({ scope }) => scope,
    example: { scope: 'notes.read' },
  }),
  'too many scopes of APIs': redirectRow({
    when: `The request has more than ${MOST_API_SCOPES} scopes of APIs.`,
    error: 'invalid_scope',
    cause: `a request may have at most ${MOST_API_SCOPES} scopes of APIs`,
    remedy: 'ask for fewer scopes',
  }),
  'too many APIs': redirectRow({
    when: `The scopes belong to more than ${MAX_RESOURCES} APIs.`,
    error: 'invalid_scope',
    cause: `the scopes belong to more APIs than a token can be for, which are ${MAX_RESOURCES}, UserInfo included`,
    remedy: 'name some of the APIs with resource',
    rule: RESOURCES,
  }),
  'nonce too long': redirectRow<{ most: number }>({
    when: '`nonce` is too long.',
    error: 'invalid_request',
    cause: ({ most }) => `nonce must be at most ${most} characters`,
    remedy: 'send random characters, and keep data in the session',
    reason: 'nonce too long',
    rule: CORE,
    example: { most: 1024 },
  }),
  'resource malformed': redirectRow({
    when: 'A `resource` is not an absolute URI, or there are more than five.',
    error: 'invalid_target',
    cause: `resource must be an absolute URI without a fragment, and there may be ${MAX_RESOURCES} at most`,
    remedy: 'send the resource of a registered API, such as https://api.example.com/',
    rule: RESOURCES,
  }),
  'resource unknown': redirectRow<{ resource: string; nearest: string | undefined }>({
    when: 'No active client is registered with a `resource`.',
    error: 'invalid_target',
    cause: ({ resource }) => `unknown resource${shownUri(resource)}`,
    remedy: ({ nearest }) =>
      `${nearest === undefined ? 'send the resource of a registered API.' : `did you mean ${nearest}?`} It must match the registered one exactly`,
    reason: 'unknown resource',
    rule: RESOURCES,
    expected: ({ nearest }) => nearest ?? 'the resource of an active client, character for character',
    received: ({ resource }) => `resource=${resource}`,
    operatorRemedy: ({ nearest }) =>
      nearest === undefined
        ? 'Correct the app, or register the API: tessera client update CLIENT_ID --resource URI'
        : `Have the app send resource=${nearest}`,
    example: { resource: 'https://api.example.com/notes/', nearest: 'https://api.example.com/notes' },
  }),
  'challenge missing': redirectRow<{ sent: string | undefined }>({
    when: '`code_challenge_method` was sent without `code_challenge`.',
    error: 'invalid_request',
    cause: ({ sent }) => `code_challenge is missing, and ${sent ?? 'code_challenge_method'} was sent`,
    remedy: ({ sent }) =>
      sent === undefined ? 'send both parameters, or neither' : `rename the parameter ${sent} to code_challenge`,
    reason: 'code_challenge is missing, and code_challenge_method was sent',
    rule: PKCE,
    example: { sent: undefined },
  }),
  'PKCE required': redirectRow<{ sent: string | undefined }>({
    when: 'A public client, or one with `requirePkce`, sent no `code_challenge`.',
    error: 'invalid_request',
    cause: ({ sent }) =>
      sent === undefined
        ? 'code_challenge is missing, and this client must use PKCE (S256)'
        : `code_challenge is missing, and ${sent} was sent`,
    remedy: ({ sent }) =>
      sent === undefined
        ? `switch PKCE on in the library, or ${SEND_CHALLENGE}`
        : `rename the parameter ${sent} to code_challenge`,
    reason: 'code_challenge is missing, and this client must use PKCE (S256)',
    rule: PKCE,
    example: { sent: undefined },
  }),
  'challenge method': redirectRow<{ method: string | undefined }>({
    when: '`code_challenge_method` is not `S256`.',
    error: 'invalid_request',
    cause: ({ method }) => `code_challenge_method must be S256, and ${describeMethod(method)}`,
    remedy: 'send BASE64URL(SHA256(code_verifier)) with S256',
    reason: 'code_challenge_method must be S256',
    rule: PKCE,
    example: { method: 'plain' },
  }),
  'challenge malformed': redirectRow<{ challenge: string }>({
    when: '`code_challenge` is not 43 base64url characters.',
    error: 'invalid_request',
    cause: 'code_challenge must be 43 base64url characters',
    remedy: ({ challenge }) => describeChallenge(challenge),
    rule: PKCE,
    example: { challenge: 'ab'.repeat(32) },
  }),
  'prompt unknown': redirectRow<{ text: string }>({
    when: '`prompt` has an unknown value.',
    error: 'invalid_request',
    cause: `prompt must be made of ${PROMPTS.join(', ')}`,
    remedy: ({ text }) => describePrompt(text),
    reason: 'prompt has an unknown value',
    rule: CORE,
    example: { text: 'signup' },
  }),
  'prompt none with another': redirectRow({
    when: '`prompt=none` was sent with another value.',
    error: 'invalid_request',
    cause: 'prompt=none goes with no other value',
    remedy: 'send none alone, or leave prompt out',
    rule: CORE,
  }),
  'max_age malformed': redirectRow({
    when: '`max_age` is not a number.',
    error: 'invalid_request',
    cause: 'max_age must be a whole number of seconds, in digits only',
    remedy: 'send max_age=3600 for an hour, for example',
    rule: CORE,
  }),
  'claims malformed': redirectRow<{ problem: string }>({
    when: '`claims` is malformed.',
    error: 'invalid_request',
    cause: ({ problem }) => `claims ${problem}`,
    remedy: 'send JSON with double quotes, encoded once',
    reason: 'claims is malformed',
    rule: 'OpenID Connect Core 1.0 §5.5',
    example: { problem: 'must be a JSON object' },
  }),
  'acr not offered': redirectRow({
    when: 'An essential `acr` is not offered.',
    error: 'unmet_authentication_requirements',
    cause: 'the acr that is requested as essential is not offered',
    remedy: `request one of ${ACR_VALUES.join(', ')}`,
    operatorRemedy: 'Have the app request one of acr_values_supported in the discovery document.',
    rule: 'OpenID Connect Core 1.0 §5.5.1.1',
  }),
  'request too large': redirectRow<{ size: number; name: string; bytes: number }>({
    when: `The request takes more than ${LARGEST_REQUEST} bytes.`,
    error: 'invalid_request',
    cause: ({ size, name, bytes }) =>
      `the request takes ${size} bytes, ${bytes} of them for ${name}, and at most ${LARGEST_REQUEST} are kept`,
    remedy: ({ name }) => `shorten ${name}, and keep data in the session of the app`,
    reason: ({ name }) => `${name} too large`,
    example: { size: 5000, name: 'state', bytes: 4200 },
  }),
};

/** No longer URI is repeated. */
const LONGEST_SHOWN = 200;

/** RFC 6749 §4.1.2.1: the characters of a description. */
const shownUri = (uri: string): string =>
  uri.length <= LONGEST_SHOWN && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(uri) ? ` ${uri}` : '';

function describeMethod(method: string | undefined): string {
  if (method === undefined) return 'it is missing, which means plain';
  if (method === 'plain') return 'plain is not supported';
  return /^s-?256$/i.test(method) ? 'it is spelled differently' : 'another value was sent';
}

/** Values that are joined by another sign than a space, or unknown ones. */
function describePrompt(text: string): string {
  const lower = text.toLowerCase();
  if (lower !== text && lower.split(' ').every((value) => (PROMPTS as readonly string[]).includes(value))) {
    return `write the values in lower case, as in prompt=${lower}`;
  }
  const values = text.split(/[ ,;|+]+/);
  return values.length > 1 && values.every((value) => (PROMPTS as readonly string[]).includes(value))
    ? `separate the values by spaces, as in prompt=${values.join(' ')}`
    : 'send these values only, separated by spaces, or leave prompt out';
}

/** How a challenge of another form is usually made. It repeats nothing of it. */
function describeChallenge(challenge: string): string {
  if (/^[0-9a-f]{64}$/i.test(challenge)) return 'it is hexadecimal, so encode the bytes of the SHA-256 as base64url';
  if (/[+/= ]/.test(challenge)) return 'it is base64, so use - for +, _ for / and no = at the end';
  return 'send BASE64URL(SHA256(code_verifier))';
}
