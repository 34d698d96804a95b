import { IDENTITY_SCOPES } from '../../claims/permissions.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { hostOf } from '../../platform/domain-name.ts';
import { findMisspelled } from '../../platform/validation/misspelled-parameter.ts';
import type { Client } from '../store.ts';
import { isList, MAX_URIS, readKeys, readName, readServerUri, readUris, readWebAddress } from './metadata-readers.ts';
import { redirectUriProblem, serverUriProblem } from './redirect-uri.ts';
import { DEFAULT_GRANT_TYPES, registrationProblem } from './registration.ts';

/** The id of a client that is described by its document, and not on record. No client has it. */
export const NOT_ON_RECORD = '0';

/** Longer URLs could not be shown to a person. */
const LONGEST_URL = 512;
/** Each label of the host is a domain that may be blocked. */
const MOST_LABELS = 10;
/** The part of a URL before its path. */
const ORIGIN = /^https?:\/\/([^/?#]+)/;
/** A path segment of one or two dots, which may be percent-encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?]|$)/i;

/** How long a copy of a document is used: what its response says, within these bounds. */
const SHORTEST_LIFETIME = 5 * MINUTE;
const LONGEST_LIFETIME = DAY;
const DEFAULT_LIFETIME = HOUR;

/** The fields of a client that its metadata document decides on. */
export const DOCUMENT_FIELDS = [
  ...(['name', 'homepageUrl', 'policyUrl', 'termsUrl', 'redirectUris', 'postLogoutRedirectUris', 'scopes'] as const),
  ...(['grantTypes', 'type', 'tokenEndpointAuthMethod', 'jwks', 'jwksUri', 'backchannelLogoutUri'] as const),
] as const;

export type DocumentFields = Pick<Client, (typeof DOCUMENT_FIELDS)[number]>;

/** Whether nothing but its metadata document may set a field of a client. */
export const isDocumentField = (field: string): boolean => DOCUMENT_FIELDS.some((name) => name === field);

/** What is wrong, phrased to follow "must" for a URL and as a sentence for a document. */
interface Problem {
  readonly problem: string;
}

/**
 * What is wrong with the URL of a metadata document, phrased to follow "must": draft-ietf-oauth-client-id-metadata-document-03 §3.
 * It is compared character for character, so it is never normalized.
 */
export function metadataUrlProblem(url: string): string | undefined {
  if (url.length > LONGEST_URL) return `be at most ${LONGEST_URL} characters long`;
  const problem = serverUriProblem(url);
  if (problem !== undefined) return problem;
  const [start = '', authority = ''] = ORIGIN.exec(url) ?? [];
  const host = authority.replace(/:\d+$/, '');
  // A parser reads other spellings of a host, such as 127.1, as another text than the one that is compared.
  if (start === '' || host !== hostOf(url)) {
    return 'have its scheme in lower case, and its host as it is resolved: in lower case, without a dot at its end';
  }
  if (authority.split('.').length > MOST_LABELS) return `have a host of at most ${MOST_LABELS} labels`;
  if (!url.startsWith('/', start.length)) return 'have a path';
  return DOT_SEGMENT.test(url.slice(start.length)) ? 'have no path segment of one or two dots' : undefined;
}

/** Whether a `client_id` is meant as the URL of a metadata document. Those of registered clients are numbers. */
export const isUrlForm = (clientId: string): boolean => /^https?:/i.test(clientId);

/** Whether a list of domains has a host. A domain with a dot in front is for everything below it as well. */
export const hasHost = (domains: readonly string[], host: string): boolean =>
  domains.some((domain) => (domain.startsWith('.') ? `.${host}`.endsWith(domain) : host === domain));

/** Every entry of a list of domains that would have a host. */
export function domainsOf(host: string): readonly string[] {
  const labels = host.split('.');
  return [host, ...labels.map((_, index) => `.${labels.slice(index).join('.')}`)];
}

/**
 * Reads a metadata document: §4, with the metadata of RFC 7591 §2. What the service has no use for is ignored.
 * @param url where it was fetched
 */
export function readDocument(document: unknown, url: string): DocumentFields | Problem {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { problem: 'The document is not a JSON object.' };
  }
  const members: Readonly<Record<string, unknown>> = { ...document };
  // §4: so that nobody can publish a document for the URL of another client.
  if (members['client_id'] !== url) {
    return { problem: `The document must have its own URL as client_id, and has ${shownId(members['client_id'])}.` };
  }
  // §4.1: nobody could have agreed on a secret.
  const secret = ['client_secret', 'client_secret_expires_at'].find((name) => Object.hasOwn(members, name));
  if (secret !== undefined) return { problem: `The document must not have ${secret}.` };
  const method = members['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none' && method !== 'private_key_jwt') {
    return { problem: 'token_endpoint_auth_method in the document must be none or private_key_jwt.' };
  }
  const metadata = readMetadata(members, method, hostOf(url));
  if ('problem' in metadata) return { problem: inDocument(metadata.problem) };
  const problem = registrationProblem({ ...UNUSED, ...metadata });
  return problem === undefined ? metadata : { problem: inDocument(problem) };
}

/** A problem of the metadata, as one of the document: its first word is the name of a member, or begins a sentence. */
const inDocument = (problem: string): string =>
  `In the metadata document, ${problem.replace(/^(This|The|An?) /, (word) => word.toLowerCase())}`;

/** A client_id of another document, where it can be shown on a page. */
const shownId = (id: unknown): string =>
  typeof id === 'string' && /^https?:\/\/[\x21-\x7e]{1,200}$/.test(id)
    ? id
    : id === undefined
      ? 'none'
      : 'another text';

/** What such a client never has. */
const UNUSED = {
  idTokenSignedResponseAlg: null,
  requirePkce: true,
  resource: null,
  resourceScopes: null,
  roles: [],
  claimNames: null,
  consent: 'ask',
} as const;

/** The metadata of RFC 7591 §2 that the service uses. */
function readMetadata(
  members: Readonly<Record<string, unknown>>,
  method: 'none' | 'private_key_jwt',
  host: string,
): DocumentFields | Problem {
  const type = method === 'none' ? 'public' : 'confidential';
  const redirectUris = readUris(members['redirect_uris']);
  if (redirectUris === undefined || redirectUris.length === 0) {
    const found = findMisspelled('redirect_uris', Object.keys(members));
    const advice = found === undefined ? '' : ` ${found} was found: write redirect_uris.`;
    return { problem: `redirect_uris must be 1 to ${MAX_URIS} different redirect URIs.${advice}` };
  }
  for (const uri of redirectUris) {
    const problem = redirectUriProblem(uri, type);
    if (problem !== undefined) return { problem: `redirect_uris: ${uri} must ${problem}.` };
  }
  const grants = members['grant_types'] ?? DEFAULT_GRANT_TYPES;
  const responses = members['response_types'] ?? ['code'];
  if (!isList(grants) || !grants.includes('authorization_code') || !isList(responses) || !responses.includes('code')) {
    return { problem: 'grant_types must have authorization_code, and response_types code, or be left out.' };
  }
  const keys = readKeys(members);
  if ('problem' in keys) return keys;
  const scope = members['scope'];
  return {
    name: readName(members['client_name']) ?? host,
    homepageUrl: readWebAddress(members['client_uri']),
    policyUrl: readWebAddress(members['policy_uri']),
    termsUrl: readWebAddress(members['tos_uri']),
    redirectUris,
    postLogoutRedirectUris: (readUris(members['post_logout_redirect_uris']) ?? []).filter(
      (uri) => redirectUriProblem(uri, type) === undefined,
    ),
    scopes: typeof scope === 'string' ? IDENTITY_SCOPES.filter((name) => scope.split(' ').includes(name)) : null,
    grantTypes: DEFAULT_GRANT_TYPES.filter((grant) => grants.includes(grant)),
    type,
    tokenEndpointAuthMethod: method,
    ...keys,
    backchannelLogoutUri: readServerUri(members['backchannel_logout_uri']),
  };
}

/** §5.2: how long a copy of a document is used, by the headers of its response (RFC 9111 §§4.2.1, 5.2.2), in milliseconds. */
export function documentLifetime(cacheControl: string, age: string): number {
  const directives = cacheControl.toLowerCase();
  if (/\bno-(store|cache)\b/.test(directives)) return SHORTEST_LIFETIME;
  const [, maxAge] = /\bmax-age="?(\d{1,9})/.exec(directives) ?? [];
  const [used = '0'] = /^\d{1,9}$/.exec(age.trim()) ?? [];
  const lifetime = maxAge === undefined ? DEFAULT_LIFETIME : (Number(maxAge) - Number(used)) * SECOND;
  return Math.min(Math.max(lifetime, SHORTEST_LIFETIME), LONGEST_LIFETIME);
}
