import assert from 'node:assert/strict';
import { cookieStyle, nameSuffix } from '../../src/web/browser/browser.ts';

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The address that a redirect names, made absolute. */
  readonly location: URL | undefined;
}

/**
 * A browser as far as HTTP goes: it keeps cookies and sends forms. It follows no redirect by itself but that of a form to the page with
 * new recovery codes, which are in no other answer.
 */
export interface Agent {
  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(
    address: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Sends a page's form: its hidden fields, with these laid over them. */
  submit(page: Answer, fields: Readonly<Record<string, string>>, action?: string): Promise<Answer>;
  /** Sends a page's form as browsers send one with a file. */
  upload(page: Answer, parts: Readonly<Record<string, string | File>>, action: string): Promise<Answer>;
  /** A cookie by its former name, without what the base URL adds to it. */
  cookie(name: string): string | undefined;
  setCookie(name: string, value: string): void;
  clearCookies(): void;
}

/** The name of a cookie at a base URL without TLS, by that without its suffix. */
export const cookieName = (baseUrl: string, name: string): string => name + nameSuffix(baseUrl);

/** A header with the identity and the session of a browser, for a request that is written by hand. */
export const cookiesFor = (baseUrl: string, browser: Agent): string =>
  ['tessera_browser', 'tessera_session']
    .map((name) => `${cookieName(baseUrl, name)}=${browser.cookie(name)}`)
    .join('; ');

/**
 * @param nodeOf where a request for the base URL really goes: to any of several nodes behind it
 * @param always what every request carries
 */
export function agent(
  baseUrl: string,
  nodeOf: () => string = () => baseUrl,
  always: Readonly<Record<string, string>> = {},
): Agent {
  const jar = new Map<string, string>();
  const { startedPrefix, attributes, ...named } = cookieStyle(baseUrl);
  /** The name of a cookie at this base URL, by that without a suffix. */
  const currentName = (name: string) =>
    Object.values(named).find((each) => each.replace(nameSuffix(baseUrl), '') === name) ?? name;

  async function send(address: string, init: RequestInit): Promise<Answer> {
    const url = new URL(address, baseUrl);
    const headers = new Headers({ ...always, ...(init.headers as Record<string, string>) });
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    const target = url.origin === new URL(baseUrl).origin ? url.href.replace(url.origin, nodeOf()) : url;
    const response = await fetch(target, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const dead = attributes.some((attribute) => /^\s*(Max-Age=0|Expires=Thu, 01 Jan 1970)/i.test(attribute));
      if (dead || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (init.method === 'POST' && location !== null && new URL(location, url).pathname.endsWith('/recovery-codes')) {
      return send(location, {});
    }
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url),
    };
  }

  const post: Agent['post'] = (address, form, headers = {}) =>
    send(address, {
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(baseUrl).origin, ...headers },
    });

  return {
    get: (address, headers = {}) => send(address, { headers }),
    post,
    submit(page, fields, action) {
      const form = formOf(page.text, action);
      return post(form.action, { ...form.hidden, ...fields });
    },
    upload(page, parts, action) {
      const body = new FormData();
      for (const [name, value] of Object.entries({ ...formOf(page.text, action).hidden, ...parts }))
        body.append(name, value);
      return send(action, { method: 'POST', body, headers: { origin: new URL(baseUrl).origin } });
    },
    cookie: (name) => jar.get(currentName(name)) ?? jar.get(name),
    setCookie: (name, value) => void jar.set(currentName(name), value),
    clearCookies: () => jar.clear(),
  };
}

/** The form of a page: the one with this action, or the only one beside that which asks for a message again. */
export function formOf(html: string, action?: string): { action: string; hidden: Record<string, string> } {
  const forms = [...html.matchAll(/<form[^>]* method="post" action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
  const found =
    action === undefined
      ? forms.findLast(([form]) => !form.includes(' data-wait='))
      : forms.find((form) => form[1] === action);
  assert.ok(found?.[1] !== undefined && found[2] !== undefined, `no form ${action ?? ''} in: ${html.slice(0, 2000)}`);
  const hidden: Record<string, string> = {};
  for (const [, name, value] of found[2].matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)) {
    if (name !== undefined && value !== undefined) hidden[name] = decode(value);
  }
  return { action: decode(found[1]), hidden };
}

const decode = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
