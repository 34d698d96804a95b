import { IDENTITY_SCOPES } from '../../claims/permissions.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, ID_TOKEN_ALGS, type IdTokenAlg } from '../../keys/algorithms.ts';
import { canonicalEmail } from '../../platform/domain-name.ts';
import { nearestName } from '../../platform/nearest-text.ts';
import { formats } from '../../platform/validation/formats.ts';
import { findMisspelled } from '../../platform/validation/misspelled-parameter.ts';
import type { Client } from '../store.ts';
import { DOCUMENT_FIELDS } from './metadata-document.ts';
import { isList, MAX_URIS, readKeys, readName, readServerUri, readUris, readWebAddress } from './metadata-readers.ts';
import { destinationOf, redirectUriProblem } from './redirect-uri.ts';
import { AUTH_METHODS, type AuthMethod, DEFAULT_GRANT_TYPES, presentsSecret } from './registration.ts';

/** The fields of a client that it decides on when it registers itself. */
export const SELF_REGISTERED_FIELDS = [
  ...DOCUMENT_FIELDS,
  ...(['idTokenSignedResponseAlg', 'userinfoSignedResponseAlg', 'defaultMaxAge', 'contacts'] as const),
  'backchannelLogoutSessionRequired',
] as const;

export type SelfRegisteredFields = Pick<Client, (typeof SELF_REGISTERED_FIELDS)[number]>;

/** Whether a client decides on a field as long as it manages its registration. */
export const isSelfRegisteredField = (field: string): boolean => SELF_REGISTERED_FIELDS.some((name) => name === field);

/** RFC 7591 §3.2.2. */
export interface MetadataFault {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly field: string;
  /** What is wrong, and what to send. */
  readonly problem: string;
  readonly remedy: string;
}

/** Metadata as it is registered: what the service does not support, or does not take from strangers, is left out (RFC 7591 §2). */
export interface ReadMetadata {
  readonly fields: SelfRegisteredFields;
  /** What was sent and is not registered as it was. */
  readonly ignored: readonly string[];
}

const MAX_CONTACTS = 10;
/** As many seconds as the column holds. */
const LONGEST_AGE = 2_147_483_647;

/** Members by which a client asks for more protection than it would get: ignoring them would leave it with less than it believes. */
const UNSUPPORTED: Readonly<Record<string, readonly unknown[]>> = {
  subject_type: ['public'],
  require_signed_request_object: [false],
  require_pushed_authorization_requests: [false],
  dpop_bound_access_tokens: [false],
  tls_client_certificate_bound_access_tokens: [false],
  id_token_encrypted_response_alg: [],
  userinfo_encrypted_response_alg: [],
};

const LISTS = ['redirect_uris', 'grant_types', 'response_types', 'contacts', 'post_logout_redirect_uris'] as const;
const TEXTS = [
  ...(['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'scope', 'jwks_uri'] as const),
  ...(['token_endpoint_auth_method', 'backchannel_logout_uri', 'software_id', 'software_version'] as const),
] as const;

type Members = Readonly<Record<string, unknown>>;

const fault = (field: string, problem: string, remedy: string): MetadataFault => ({
  error: 'invalid_client_metadata',
  field,
  problem,
  remedy,
});

const redirectFault = (problem: string, remedy: string): MetadataFault => ({
  error: 'invalid_redirect_uri',
  field: 'redirect_uris',
  problem,
  remedy,
});

/**
 * Reads the metadata of a client that registers itself: RFC 7591 §2 and OpenID Connect Registration 1.0 §2. Null and empty texts count as
 * omitted (RFC 7592 §2.2). Unknown members are ignored, as RFC 7591 §2 demands.
 */
export function readRegistration(body: unknown): ReadMetadata | MetadataFault {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return fault('body', 'The body is not a JSON object.', 'Send the metadata as one JSON object.');
  }
  const members: Members = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && value !== ''),
  );
  return typeFault(members) ?? unsupportedFault(members) ?? readMembers(members);
}

function typeFault(members: Members): MetadataFault | undefined {
  for (const name of LISTS) {
    const value = members[name];
    if (value === undefined || isList(value)) continue;
    if (name === 'redirect_uris') {
      return redirectFault('redirect_uris is not a list of texts.', 'Send a JSON array, also for a single one.');
    }
    return fault(name, `${name} is not a list of texts.`, 'Send a JSON array, also for a single one.');
  }
  const other = TEXTS.find((name) => members[name] !== undefined && typeof members[name] !== 'string');
  return other && fault(other, `${other} is not a text.`, 'Send a JSON string.');
}

function unsupportedFault(members: Members): MetadataFault | undefined {
  for (const [name, allowed] of Object.entries(UNSUPPORTED)) {
    const value = members[name];
    if (value === undefined || allowed.includes(value)) continue;
    const [only] = allowed;
    return only === undefined
      ? fault(name, `${name} is not supported.`, 'Leave it out.')
      : fault(name, `${name} is not supported with this value.`, `Send ${only}, or leave it out.`);
  }
  return undefined;
}

function readMembers(members: Members): ReadMetadata | MetadataFault {
  // RFC 7591 §2: client_secret_basic by default. Libraries leave it out and send the secret in the body, so either one is taken then.
  const method = members['token_endpoint_auth_method'] ?? null;
  const isMethod = (value: unknown): value is AuthMethod => AUTH_METHODS.some((name) => name === value);
  if (method !== null && !isMethod(method)) {
    return fault(
      'token_endpoint_auth_method',
      'token_endpoint_auth_method is not supported.',
      `Send one of ${AUTH_METHODS.join(', ')}.`,
    );
  }
  const type = method === 'none' ? 'public' : 'confidential';
  const redirectUris = readRedirectUris(members, type);
  if ('error' in redirectUris) return redirectUris;
  const grantTypes = readGrantTypes(members);
  if ('error' in grantTypes) return grantTypes;
  const keys = readKeys(members);
  if ('problem' in keys)
    return fault('jwks', withoutQuotes(keys.problem), 'Send public keys only, by jwks or by jwks_uri.');
  if (method === 'private_key_jwt' && keys.jwks === null && keys.jwksUri === null) {
    return fault('jwks', 'private_key_jwt needs the public keys of the client.', 'Send jwks or jwks_uri.');
  }
  const algs = readAlgorithms(members, presentsSecret({ type, tokenEndpointAuthMethod: method }));
  if ('error' in algs) return algs;
  const logout = readLogout(members, type, algs.idTokenSignedResponseAlg);
  if ('error' in logout) return logout;
  const maxAge = members['default_max_age'] ?? null;
  if (maxAge !== null && !(typeof maxAge === 'number' && Number.isInteger(maxAge) && maxAge >= 0)) {
    return fault('default_max_age', 'default_max_age is not a number of seconds.', 'Send a whole number from 0 on.');
  }
  const [firstUri = ''] = redirectUris.uris;
  const { scope } = members;
  const fields: SelfRegisteredFields = {
    name: readName(members['client_name']) ?? destinationOf(firstUri).slice(0, 64),
    homepageUrl: readWebAddress(members['client_uri']),
    policyUrl: readWebAddress(members['policy_uri']),
    termsUrl: readWebAddress(members['tos_uri']),
    redirectUris: redirectUris.uris,
    scopes: typeof scope === 'string' ? IDENTITY_SCOPES.filter((name) => scope.split(' ').includes(name)) : null,
    grantTypes: grantTypes.grants,
    type,
    tokenEndpointAuthMethod: method,
    ...keys,
    ...algs,
    ...logout,
    defaultMaxAge: maxAge === null ? null : Math.min(maxAge, LONGEST_AGE),
    contacts: readContacts(members['contacts']),
  };
  return { fields, ignored: ignoredMembers(members, fields) };
}

/** RFC 7591 §2: flows with redirection require registered redirect URIs, and no other flow is offered. */
function readRedirectUris(
  members: Members,
  type: Client['type'],
): { readonly uris: readonly string[] } | MetadataFault {
  const uris = readUris(members['redirect_uris'] ?? []);
  if (uris === undefined || uris.length === 0) {
    const found = findMisspelled('redirect_uris', Object.keys(members));
    const meant = found ?? Object.keys(members).find((name) => nearestName(name, ['redirect_uris']) !== undefined);
    const similar =
      found !== undefined
        ? ` ${found} was found: write redirect_uris.`
        : meant === undefined || meant === 'redirect_uris'
          ? ''
          : ' The name of the member is redirect_uris.';
    return redirectFault(
      `redirect_uris must be 1 to ${MAX_URIS} different redirect URIs.`,
      `Send every address to which a code may be sent, each once, as a JSON array.${similar}`,
    );
  }
  for (const uri of uris) {
    const problem = redirectUriProblem(uri, type);
    // A redirect URI is repeated to its sender only if an error description may have all its characters (RFC 6749 §5.2).
    const shown = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(uri) ? uri : 'One of redirect_uris';
    if (problem === undefined) continue;
    const native = /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]*:/i.test(uri) && type === 'confidential';
    return redirectFault(
      `${shown} must ${withoutQuotes(problem)}.`,
      native ? 'An app with such a scheme sends token_endpoint_auth_method none.' : 'Correct or remove it.',
    );
  }
  return { uris };
}

/** RFC 6749 §5.2: a description has neither quotes nor characters beyond ASCII. */
const withoutQuotes = (text: string): string => text.replaceAll('"', "'").replaceAll('…', '...');

/** RFC 7591 §2.1: the code of an authorization response is exchanged by the grant `authorization_code`. */
function readGrantTypes(members: Members): { readonly grants: SelfRegisteredFields['grantTypes'] } | MetadataFault {
  const grants = members['grant_types'] ?? ['authorization_code'];
  const responses = members['response_types'] ?? ['code'];
  if (!isList(responses) || !responses.includes('code')) {
    return fault(
      'response_types',
      'response_types has no code, and this service offers no other response type.',
      'Send a list with code in it, or leave response_types out.',
    );
  }
  if (!isList(grants) || !grants.includes('authorization_code')) {
    return fault(
      'grant_types',
      'grant_types lacks authorization_code, by which a registered app gets its first tokens.',
      'Send authorization_code, with refresh_token if the app refreshes, or leave it out.',
    );
  }
  return { grants: DEFAULT_GRANT_TYPES.filter((grant) => grants.includes(grant)) };
}

type Algorithms = Pick<Client, 'idTokenSignedResponseAlg' | 'userinfoSignedResponseAlg'>;

/** OpenID Connect Registration 1.0 §2: RS256 by default. */
function readAlgorithms(members: Members, hasSecret: boolean): Algorithms | MetadataFault {
  const idToken = members['id_token_signed_response_alg'] ?? 'RS256';
  const allowed: readonly IdTokenAlg[] = hasSecret ? ID_TOKEN_ALGS : ASYMMETRIC_ALGS;
  const idTokenSignedResponseAlg = allowed.find((alg) => alg === idToken);
  if (idTokenSignedResponseAlg === undefined) {
    return fault(
      'id_token_signed_response_alg',
      'id_token_signed_response_alg is not supported for this client.',
      `Send one of ${allowed.join(', ')}.`,
    );
  }
  const userinfo = members['userinfo_signed_response_alg'];
  const userinfoSignedResponseAlg: AsymmetricAlg | undefined = ASYMMETRIC_ALGS.find((alg) => alg === userinfo);
  if (userinfo !== undefined && userinfoSignedResponseAlg === undefined) {
    return fault(
      'userinfo_signed_response_alg',
      'userinfo_signed_response_alg is not supported.',
      `Send one of ${ASYMMETRIC_ALGS.join(', ')}, or leave it out for JSON.`,
    );
  }
  return { idTokenSignedResponseAlg, userinfoSignedResponseAlg: userinfoSignedResponseAlg ?? null };
}

type LogoutFields = Pick<
  Client,
  'postLogoutRedirectUris' | 'backchannelLogoutUri' | 'backchannelLogoutSessionRequired'
>;

/** OpenID Connect RP-Initiated Logout 1.0 §3.1 and Back-Channel Logout 1.0 §2.2. */
function readLogout(members: Members, type: Client['type'], alg: IdTokenAlg | null): LogoutFields | MetadataFault {
  const uris = readUris(members['post_logout_redirect_uris'] ?? []);
  if (uris === undefined || uris.some((uri) => redirectUriProblem(uri, type) !== undefined)) {
    return fault(
      'post_logout_redirect_uris',
      `post_logout_redirect_uris must be at most ${MAX_URIS} different addresses by the rules of redirect URIs.`,
      'Correct or remove those that are not.',
    );
  }
  const sent = members['backchannel_logout_uri'];
  const backchannelLogoutUri = sent === undefined ? null : readServerUri(sent);
  if (sent !== undefined && backchannelLogoutUri === null) {
    return fault('backchannel_logout_uri', 'backchannel_logout_uri is not an absolute https URL.', 'Correct it.');
  }
  if (backchannelLogoutUri !== null && alg === 'HS256') {
    return fault(
      'id_token_signed_response_alg',
      'A logout token cannot be signed with HS256.',
      'Leave id_token_signed_response_alg out, or send RS256.',
    );
  }
  const required = members['backchannel_logout_session_required'] ?? true;
  if (typeof required !== 'boolean') {
    const name = 'backchannel_logout_session_required';
    return fault(name, `${name} is not true or false.`, 'Send a JSON boolean.');
  }
  return { postLogoutRedirectUris: uris, backchannelLogoutUri, backchannelLogoutSessionRequired: required };
}

const readContacts = (value: unknown): readonly string[] =>
  isList(value)
    ? [...new Set(value.filter((text) => text.length <= 254 && formats.email(text)).map(canonicalEmail))].slice(
        0,
        MAX_CONTACTS,
      )
    : [];

/** What an app is told to do instead, in the trace, where it cannot register a member itself. */
export const adviceForMetadata = (name: string): string | undefined =>
  Object.hasOwn(ADVICE, name) ? ADVICE[name] : undefined;

const BY_OPERATOR = 'an operator sets it, once the app is accepted';

const ADVICE: Readonly<Record<string, string>> = {
  scope: `an app can register these by itself: ${IDENTITY_SCOPES.join(' ')}. An operator gives it scopes of an API: tessera client allow-scopes`,
  software_statement: 'not supported: send its members themselves',
  logo_uri: BY_OPERATOR,
  require_pushed_authorization_requests: 'there are no pushed authorization requests',
  dpop_bound_access_tokens: 'DPoP is not supported, and access tokens are Bearer tokens',
  tls_client_certificate_bound_access_tokens: 'not supported, and access tokens are Bearer tokens',
};

/** What was sent and has another value in the registration, or none, for the trace. */
function ignoredMembers(members: Members, fields: SelfRegisteredFields): readonly string[] {
  const kept: Readonly<Record<string, unknown>> = {
    client_name: fields.name,
    client_uri: fields.homepageUrl,
    policy_uri: fields.policyUrl,
    tos_uri: fields.termsUrl,
    grant_types: fields.grantTypes,
    response_types: ['code'],
    contacts: fields.contacts,
    scope: fields.scopes === null ? undefined : fields.scopes.join(' '),
    logo_uri: undefined,
    software_statement: undefined,
  };
  const isSame = (left: unknown, right: unknown) => sorted(left) === sorted(right);
  return Object.keys(kept).filter((name) => members[name] !== undefined && !isSame(members[name], kept[name]));
}

const sorted = (value: unknown): string =>
  JSON.stringify((isList(value) ? [...value] : typeof value === 'string' ? value.split(' ') : [value]).sort());
