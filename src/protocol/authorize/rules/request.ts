import { ENDPOINT_RULES, type EndpointSet, endpointSetCodec } from '../../../claims/endpoint-set.ts';
import { type RequestedClaims, scopesOfClaims } from '../../../claims/permissions.ts';
import { NOT_ON_RECORD } from '../../../clients/rules/metadata-document.ts';
import type { RefusalDetail } from '../../../platform/oauth-error.ts';

/** How a response reaches its client: in the query of the redirect URI, or in a form that the browser sends there. */
export const RESPONSE_MODES = ['query', 'form_post'] as const;
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/** A device asks for its answer itself (RFC 8628 §3.4): the browser only shows that there is one. */
const DEVICE_MODE = 'device';

/** The values of `prompt`: OpenID Connect Core 1.0 §3.1.2.1. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

export interface Prompt {
  /** Respond without any page. */
  readonly none: boolean;
  /** Authenticate again. */
  readonly login: boolean;
  /** Show the consent page whatever was decided before. */
  readonly consent: boolean;
  /** Ask which account to continue with. */
  readonly select: boolean;
}

/**
 * The error codes of this endpoint: those of RFC 6749 §4.1.2.1, of OpenID Connect Core 1.0 §3.1.2.6, and the one of OpenID
 * Connect Core Unmet Authentication Requirements 1.0.
 */
export const AUTHORIZATION_ERRORS = [
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'access_denied',
  'invalid_scope',
  'invalid_target',
  'server_error',
  'temporarily_unavailable',
  'login_required',
  'consent_required',
  'unmet_authentication_requirements',
  'request_not_supported',
  'request_uri_not_supported',
  'registration_not_supported',
] as const;
export type AuthorizationErrorCode = (typeof AUTHORIZATION_ERRORS)[number];

/** An error for the client, sent to its redirect URI. Only `refuseByRedirect` makes one, from a row of the catalogue. */
export interface RedirectedError {
  readonly kind: 'redirect';
  readonly error: AuthorizationErrorCode;
  readonly description: string;
  /** A short text for the log and the metrics, where the description varies. */
  readonly reason?: string;
  /** The facts of the refusal, for traces. */
  readonly detail?: RefusalDetail;
}

/** Where the responses to a request go. */
interface ResponseTarget {
  /** For a device, the page on which the person typed its code. */
  readonly redirectUri: string;
  readonly responseMode: ResponseMode | typeof DEVICE_MODE;
  readonly state: string | null;
}

/** A device as the consent page shows it. */
interface RequestingDevice {
  /** The digest of its code: the key of its row. */
  readonly hash: string;
  /** The network that it asked from; null where it is unknown. */
  readonly network: string | null;
  readonly askedAt: number;
}

/** A valid request, as it is stored until it is answered. */
export interface AuthorizationRequest extends ResponseTarget {
  /** Of the authorization endpoint that received it; nothing later changes it. */
  readonly endpointSet: EndpointSet;
  /** The id on record; that of no client while the client is only described by its metadata document. */
  readonly clientId: string;
  /** The URL of that document, which is the client's `client_id`; absent for a client with a number. */
  readonly metadataUrl?: string;
  /** The client's generation at the time of the request: one that was disabled since must send another request. */
  readonly clientGeneration: string;
  readonly scopes: readonly string[];
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  readonly prompt: Prompt;
  /** The seconds since the last sign-in after which the person must sign in again; null is no limit. */
  readonly maxAge: number | null;
  /** The only accounts that the response may be about; null is any. */
  readonly subjects: readonly string[] | null;
  /** The account that a verified ID token names, for the sign-in page. */
  readonly hinted: string | null;
  /** `login_hint`: what the client wants in the first field of the sign-in page. */
  readonly loginHint: string | null;
  /** `upstream`: the name of another provider through which the person is to sign in; absent where it was not sent. */
  readonly upstream?: string;
  /** `domain_hint`: the domain of the person's address, in ASCII and lower case; absent where it was not sent, or is none. */
  readonly domainHint?: string;
  /** `organization`: the name of the person's organization; absent where it was not sent, or is no such name. */
  readonly organization?: string;
  /** The classes of authentication of which one satisfies the request; absent where any will do. */
  readonly acrs?: readonly string[];
  /** Whether they are those of an essential claim, which the person may set up a factor for. */
  readonly acrIsEssential?: true;
  /** Individual claims that were requested beside the scopes. */
  readonly claims: RequestedClaims | null;
  /** The resources that tokens are requested for (RFC 8707 §2.1); absent where there is none. */
  readonly resources?: readonly string[];
  /** The device that waits for the answer (RFC 8628); absent where that is sent to the redirect URI. */
  readonly device?: RequestingDevice;
  /** What of the request changes nothing, for its trace; absent where there is nothing, and once it is stored. */
  readonly ignored?: string;
  /** The parameters as they were sent, for its trace; absent once it is stored. */
  readonly sent?: string;
}

/** The id of a client for rows that refer to it: null for one that is not on record. */
export const recordedId = (clientId: string): string | null => (clientId === NOT_ON_RECORD ? null : clientId);

/** Every scope that a person is asked about: those of `scope`, and those that cover the claims of `claims`. */
export const consentScopes = ({
  endpointSet,
  scopes,
  claims,
}: Pick<AuthorizationRequest, 'endpointSet' | 'scopes' | 'claims'>): readonly string[] =>
  claims === null
    ? scopes
    : [...new Set([...scopes, ...scopesOfClaims(claims, ENDPOINT_RULES[endpointSet].claimScopes)])];

/** A pending request as it is stored: `state` as bytes, for JSON can take six of them for one of its characters. */
export interface StoredRequest {
  /** The rest of it, as JSON. */
  readonly json: string;
  readonly state: Uint8Array | null;
  /** How many bytes all of it takes. */
  readonly size: number;
}

/** How many bytes are stored of a request: any client may start one, and it stays for an hour. */
export const LARGEST_REQUEST = 4096;

/** The other columns of its row: four hashes of 43 characters, an id, two times, an outcome. */
const OTHER_COLUMNS = 256;

/** What is ignored was recorded when the request came. */
export function storedRequest({
  state,
  endpointSet,
  ignored: _,
  sent: __,
  ...rest
}: AuthorizationRequest): StoredRequest {
  const json = JSON.stringify({ face: endpointSetCodec.encode(endpointSet), ...rest });
  const octets = state === null ? null : Buffer.from(state);
  return { json, state: octets, size: OTHER_COLUMNS + Buffer.byteLength(json) + (octets?.length ?? 0) };
}

/** The request of a row that {@link storedRequest} made. */
export function restoredRequest(json: string, octets: Uint8Array | null): AuthorizationRequest {
  const { face, ...rest } = JSON.parse(json) as StoredMembers;
  const request = { ...rest, endpointSet: endpointSetCodec.decode(face), state: null };
  return octets === null
    ? request
    : { ...request, state: Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('utf8') };
}

/** The endpoint set is stored as `face`, by its former name. */
type StoredMembers = Omit<AuthorizationRequest, 'endpointSet' | 'state'> & { readonly face: string };

/**
 * Whether a request is larger than what is stored of one. It is refused also where it need not be stored: whether a page is needed depends
 * on the person, and a client must be able to rely on what it sends.
 */
export function findExcess(request: AuthorizationRequest): RequestExcess | undefined {
  const { size, state } = storedRequest(request);
  if (size <= LARGEST_REQUEST) return undefined;
  const json = (value: unknown) => Buffer.byteLength(JSON.stringify(value ?? null));
  const parameters: readonly (readonly [name: string, bytes: number])[] = [
    ['state', state?.length ?? 0],
    ['nonce', json(request.nonce)],
    ['claims', json(request.claims) + json(request.subjects)],
    ['resource', json(request.resources)],
    ['login_hint', json(request.loginHint)],
    ['redirect_uri', json(request.redirectUri)],
  ];
  const [name, bytes] = parameters.reduce((largest, parameter) => (parameter[1] > largest[1] ? parameter : largest));
  return { size, name, bytes };
}

/** How large a request is, and its largest parameter. */
export interface RequestExcess {
  readonly size: number;
  readonly name: string;
  readonly bytes: number;
}

/** A request that came from a device, whose code a person typed: RFC 8628. The page is shown whatever was decided before (§5.4). */
export const deviceRequest = (
  device: {
    readonly hash: string;
    readonly clientId: string;
    readonly clientGeneration: string;
    readonly scopes: string;
    readonly resources: readonly string[] | null;
    readonly network: string | null;
    readonly createdAt: number;
  },
  { defaultMaxAge }: { readonly defaultMaxAge: number | null },
  page: string,
): AuthorizationRequest => ({
  endpointSet: 'oidc',
  clientId: device.clientId,
  clientGeneration: device.clientGeneration,
  redirectUri: page,
  responseMode: DEVICE_MODE,
  state: null,
  scopes: device.scopes.split(' '),
  nonce: null,
  codeChallenge: null,
  prompt: { none: false, login: false, consent: true, select: false },
  maxAge: defaultMaxAge,
  subjects: null,
  hinted: null,
  loginHint: null,
  claims: null,
  ...(device.resources !== null && { resources: device.resources }),
  device: { hash: device.hash, network: device.network, askedAt: device.createdAt },
});

/** A response to a client, through the browser. */
export interface ClientResponse {
  readonly redirectUri: string;
  readonly mode: ResponseTarget['responseMode'];
  readonly parameters: Readonly<Record<string, string>>;
}

const stateOf = ({ state }: ResponseTarget) => (state === null ? {} : { state });

/** Contract §4.1 with RFC 9207: a code. */
export const successResponse = (target: ResponseTarget, code: string, issuer: string): ClientResponse => ({
  redirectUri: target.redirectUri,
  mode: target.responseMode,
  parameters: target.responseMode === DEVICE_MODE ? {} : { code, ...stateOf(target), iss: issuer },
});

/** Contract §7 with RFC 9207: an error. */
export const errorResponse = (
  target: ResponseTarget,
  { error, description }: Pick<RedirectedError, 'error' | 'description'>,
  issuer: string,
): ClientResponse => ({
  redirectUri: target.redirectUri,
  mode: target.responseMode,
  parameters: { error, error_description: description, ...stateOf(target), iss: issuer },
});

/** The redirect URI with a response in its query. */
export const locationOf = ({ redirectUri, parameters }: ClientResponse): string => withQuery(redirectUri, parameters);

/** Adds parameters, if there are any, to a registered URI, whose own query is retained (RFC 6749 §3.1.2). */
export function withQuery(uri: string, parameters: Readonly<Record<string, string>>): string {
  if (Object.keys(parameters).length === 0) return uri;
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return uri + separator + new URLSearchParams(parameters).toString();
}

/**
 * The CSP sources of `form-action` for a form that ends at a redirect URI. Browsers check the whole chain of redirects, which may
 * continue at other hosts of the client: so the sources are schemes, without hosts.
 */
export function formActionSources(redirectUri: string): readonly string[] {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' ? ['https:'] : [protocol, 'https:'];
}
