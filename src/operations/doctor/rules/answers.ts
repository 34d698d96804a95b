import type { ProbeResponse, ProbeResult } from '../http-probe.ts';

/** Whether this is how a living Tessera answers. */
export const answersLive = (asked: ProbeResult): boolean =>
  asked.kind === 'answer' && asked.status === 200 && asked.text === '{"status":"ok"}';

/** Whether a Tessera answers here, for which there is nothing at the path that reached it. */
export const isElsewhere = (asked: ProbeResult): boolean =>
  asked.kind === 'answer' && asked.status === 404 && asked.text.includes('There is nothing at this address.');

/** Whether the one who answers has proved to be the host that was asked. */
export const trustworthy = (answer: ProbeResponse): boolean => answer.tls?.trouble === undefined;

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** The attributes by their names in lower case; those without a value have an empty one. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** RFC 6265 §5.2: a name, a value, and attributes whose names have no case. */
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
