import { formOf } from '../../test/support/agent.ts';
import { BASE_URL, type Wire, type WireAnswer } from './wire.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: BASE_URL };

/** A request of a browser, with the cookies that it has. */
export const getPage = (wire: Wire, path: string, cookie: string): Promise<WireAnswer> =>
  wire.send('GET', path, { accept: 'text/html', ...(cookie !== '' && { cookie }) });

export const postForm = (
  wire: Wire,
  path: string,
  cookie: string,
  fields: Readonly<Record<string, string>>,
): Promise<WireAnswer> =>
  wire.send('POST', path, { accept: 'text/html', cookie, ...FORM }, new URLSearchParams(fields).toString());

/** The cookies that an answer sets, by their names. */
export function agentCookies({ headers }: Pick<WireAnswer, 'headers'>): Map<string, string> {
  const lines = headers['set-cookie'];
  const found = new Map<string, string>();
  for (const line of Array.isArray(lines) ? (lines as readonly string[]) : []) {
    const pair = line.slice(0, line.indexOf(';'));
    const value = pair.slice(pair.indexOf('=') + 1);
    if (value !== '') found.set(pair.slice(0, pair.indexOf('=')), pair);
  }
  return found;
}

/** The hidden fields of a page's form; undefined where the page is another one. */
export function hiddenFields({ status, text }: WireAnswer, action: string): Record<string, string> | undefined {
  return status === 200 && text.includes(`action="${action}"`) ? formOf(text, action).hidden : undefined;
}
