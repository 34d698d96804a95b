import type { ResponseMode } from './parameters.ts';
import type { RedirectedError } from './request.ts';

interface Target {
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  readonly state: string | null;
}

/** An answer to a client, on its way through the browser. */
export interface ClientResponse {
  readonly redirectUri: string;
  readonly mode: ResponseMode;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Adds parameters, if there are any, to a registered URI, whose own query stays as it is (RFC 6749 §3.1.2). */
export function withQuery(uri: string, parameters: Readonly<Record<string, string>>): string {
  if (Object.keys(parameters).length === 0) return uri;
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return uri + separator + new URLSearchParams(parameters).toString();
}

const stateOf = ({ state }: Target) => (state === null ? {} : { state });

const responseTo = (
  { redirectUri, responseMode: mode }: Target,
  parameters: ClientResponse['parameters'],
): ClientResponse => ({ redirectUri, mode, parameters });

/** Contract §4.1 with RFC 9207: what takes a code to its client. */
export const successResponse = (target: Target, code: string, issuer: string): ClientResponse =>
  responseTo(target, { code, ...stateOf(target), iss: issuer });

/** Contract §7 with RFC 9207: what takes an error to its client. */
export const errorResponse = (
  target: Target,
  { error, description }: Pick<RedirectedError, 'error' | 'description'>,
  issuer: string,
): ClientResponse => responseTo(target, { error, error_description: description, ...stateOf(target), iss: issuer });

/** The address that carries an answer in its query. */
export const addressOf = ({ redirectUri, parameters }: ClientResponse): string => withQuery(redirectUri, parameters);

/**
 * The CSP sources under which a form may end at a redirect URI. Browsers check the whole chain of redirects, which goes on
 * behind the client's own address, often to another of its hosts: so schemes are named, and no hosts.
 */
export function formActionSources(redirectUri: string): readonly string[] {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' ? ['https:'] : [protocol, 'https:'];
}
