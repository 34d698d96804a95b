import type { ProbeResponse, ProbeResult } from '../http-probe.ts';

/** Whether this is the response of a running Tessera. */
export const answersLive = (asked: ProbeResult): boolean =>
  asked.kind === 'answer' && asked.status === 200 && asked.text === '{"status":"ok"}';

/** Whether a Tessera answers for which nothing exists at the path that it was sent. */
export const isElsewhere = (asked: ProbeResult): boolean =>
  asked.kind === 'answer' && asked.status === 404 && asked.text.includes('There is nothing at this address.');

/** Whether the certificate of the response is trusted. */
export const trustworthy = (answer: ProbeResponse): boolean => answer.tls?.trouble === undefined;

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** The attributes by their names in lower case, with an empty string for those without a value. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** RFC 6265 §5.2: a name, a value, and attributes with case-insensitive names. */
export function parseCookie(header: string): Cookie {
  const [pair = '', ...rest] = header.split(';');
  const cut = (part: string): [string, string] => {
    const at = part.indexOf('=');
    return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  };
  const [name, value] = cut(pair);
  return { name, value, attributes: new Map(rest.map(cut).map(([key, text]) => [key.toLowerCase(), text])) };
}

export const cookieNamed = (headers: readonly string[], name: string): Cookie | undefined =>
  headers.map(parseCookie).find((cookie) => cookie.name === name);
