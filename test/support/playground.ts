import assert from 'node:assert/strict';
import type { Agent, Answer } from './agent.ts';
import { type TestUser, walk } from './flow.ts';

/** The text of a piece of a page. */
export const decoded = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const FIGURES = /<figure class="(received|sent)">(.*?)<\/figure>|<pre><bdi>(.*?)<\/bdi><\/pre>/gs;
const PARTS = /<pre[^>]*><bdi>(.*?)<\/bdi><\/pre>/gs;

/** The messages of a page: of each exchange the request and then the response, which the page shows first; JSON is indented. */
export function wire({ text }: Answer): string[] {
  const messages: string[] = [];
  let received = '';
  for (const [, kind, figure = '', alone = ''] of text.matchAll(FIGURES)) {
    const [head = '', body = ''] = [...figure.matchAll(PARTS)].map(([, part = '']) => decoded(part));
    const message = `${head}\n\n${body}`;
    if (kind === 'received') received = message;
    else messages.push(...(kind === 'sent' ? [message, received] : [decoded(alone)]));
  }
  return messages;
}

export const commandOn = ({ text }: Answer): string => decoded(/<pre id="command">(.*?)<\/pre>/s.exec(text)?.[1] ?? '');

/**
 * Presses a button of the playground, and answers the page that comes then.
 * @param endpoints of a button that starts a visit
 */
export async function press(
  browser: Agent,
  action: string,
  page?: Answer,
  base = '',
  endpoints = 'v2',
): Promise<Answer> {
  const shown = page ?? (await browser.get(`${base}/playground`));
  const form = [...shown.text.matchAll(/<form method="post" action="[^"]*\/playground">(.*?)<\/form>/gs)]
    .map(([, fields = '']) =>
      Object.fromEntries([...fields.matchAll(/name="(\w+)" value="([^"]*)"/g)].map((found) => [found[1], found[2]])),
    )
    .find((fields) => fields['action'] === action && (fields['endpoints'] ?? endpoints) === endpoints);
  assert.ok(form !== undefined, `no button ${action}: ${shown.text}`);
  const answer = await browser.post(`${base}/playground`, form);
  if (answer.status !== 303) return answer;
  assert.equal(answer.location?.pathname, `${base}/playground`);
  return browser.get(`${base}/playground`);
}

export const requestOn = ({ text }: Answer): string => decoded(/class="primary" href="([^"]+)"/.exec(text)?.[1] ?? '');

/** From the request on the page to the answer at the playground, through sign-in and consent. */
export async function authorize(
  browser: Agent,
  page: Answer,
  user: TestUser,
  { decision = 'allow', base = '' }: { decision?: 'allow' | 'deny'; base?: string } = {},
): Promise<Answer> {
  const back = await walk(browser, requestOn(page), { user, decision });
  assert.equal(back.pathname, `${base}/playground/callback`);
  const answer = await browser.get(back.href);
  assert.equal(answer.status, 302);
  assert.equal(answer.location?.search, '', 'the code leaves the address');
  return browser.get(`${base}/playground`);
}

/** The JSON body of a request or an answer that is shown. */
export const json = (text: string | undefined) => JSON.parse(text?.split('\n\n').at(-1) ?? '');
