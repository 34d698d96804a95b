import type { RedirectedError } from './request.ts';

interface Target {
  readonly redirectUri: string;
  readonly state: string | null;
}

/** Adds parameters to a registered URI, whose own query stays as it is (RFC 6749 §3.1.2). */
function withQuery(uri: string, parameters: Readonly<Record<string, string>>): string {
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return uri + separator + new URLSearchParams(parameters).toString();
}

const stateOf = ({ state }: Target) => (state === null ? {} : { state });

/** Contract §4.1 with RFC 9207: the address that takes a code to its client. */
export const successRedirect = (target: Target, code: string, issuer: string): string =>
  withQuery(target.redirectUri, { code, ...stateOf(target), iss: issuer });

/** Contract §7 with RFC 9207: the address that takes an error to its client. */
export const errorRedirect = (
  target: Target,
  { error, description }: Pick<RedirectedError, 'error' | 'description'>,
  issuer: string,
): string => withQuery(target.redirectUri, { error, error_description: description, ...stateOf(target), iss: issuer });

/**
 * The CSP sources under which a form may end at a redirect URI. Browsers check the whole chain of redirects, which goes on
 * behind the client's own address, often to another of its hosts: so schemes are named, and no hosts.
 */
export function formActionSources(redirectUri: string): readonly string[] {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' ? ['https:'] : [protocol, 'https:'];
}
