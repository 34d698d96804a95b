import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { formOf } from '../test/support/agent.ts';
import { certificate } from '../test/support/certificate.ts';
import type { Person } from './issuer.ts';

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The address that a redirect names, made absolute. */
  readonly location: URL | undefined;
}

/** A browser as far as HTTP goes: it keeps cookies and sends forms. All addresses are on one host, whose ports share cookies. */
export interface Browser {
  get(address: string): Promise<Answer>;
  post(address: string, form: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a page's form: its hidden fields, with these laid over them. */
  submit(origin: string, page: Answer, fields: Readonly<Record<string, string>>, action?: string): Promise<Answer>;
}

/**
 * What browsers send when a person follows a link. Clients answer a script differently, and `fetch` always sends the headers of a
 * script, so this browser does not use it.
 */
const NAVIGATION = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

export function newBrowser(): Browser {
  const jar = new Map<string, string>();

  async function send(method: string, address: string, body?: URLSearchParams): Promise<Answer> {
    const url = new URL(address);
    const headers = {
      ...NAVIGATION,
      cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin }),
    };
    // mod_auth_openidc 2.4.12 sends a second body after that of an error.
    const options = { method, headers, agent: false, insecureHTTPParser: true } as const;
    const sent =
      url.protocol === 'https:' ? secureRequest(url, { ...options, ca: certificate }) : request(url, options);
    sent.end(body?.toString());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    sent.on('error', reject).on('response', (response) => {
      for (const line of response.headers['set-cookie'] ?? []) take(line);
      const { statusCode: status = 0, headers } = response;
      const location = headers.location === undefined ? undefined : new URL(headers.location, url);
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status, text, location })).on('error', reject);
    });
    return promise;
  }

  function take(line: string): void {
    const [pair = '', ...attributes] = line.split(';');
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const ended = attributes.some((attribute) => /^\s*(Max-Age=0|Expires=\w+, 01.Jan.1970)/i.test(attribute));
    if (ended || value === '') jar.delete(name);
    else jar.set(name, value);
  }

  const post: Browser['post'] = (address, form) => send('POST', address, new URLSearchParams(form));
  return {
    get: (address) => send('GET', address),
    post,
    submit(origin, page, fields, action) {
      const form = formOf(page.text, action);
      return post(new URL(form.action, origin).href, { ...form.hidden, ...fields });
    },
  };
}

/** Opens an address and goes where it leads, filling in the issuer's forms, until a page comes that has none. */
export async function open(browser: Browser, address: string, person: Person): Promise<Answer> {
  const { origin } = new URL(address);
  let answer = await browser.get(address);
  for (let hop = 0; hop < 20; hop++) {
    const form = /action="([^"]*\/(?:login|consent))"/.exec(answer.text)?.[1];
    if (answer.location !== undefined) answer = await browser.get(answer.location.href);
    else if (form === undefined) return answer;
    else answer = await browser.submit(origin, answer, fieldsFor(form, answer, person), form);
  }
  throw new Error(`more than 20 redirects from ${address}`);
}

function fieldsFor(form: string, page: Answer, { username, password }: Person): Record<string, string> {
  if (form.endsWith('/login')) return { identifier: username, password };
  // Allows all that is asked for.
  const switches = [...page.text.matchAll(/name="(allow [a-z._]+)"/g)].map(([, name]) => [name, 'on']);
  return { ...Object.fromEntries(switches), decision: 'allow' };
}

/** Whether an address of the issuer leads to the sign-in page, because this browser has no session there. */
export async function asksForPassword(browser: Browser, address: string): Promise<boolean> {
  let answer = await browser.get(address);
  for (let hop = 0; hop < 5 && answer.location !== undefined; hop++) answer = await browser.get(answer.location.href);
  return answer.text.includes('name="password"');
}
