import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeveloperAdvice } from '../clients/rules/developer-advice.ts';
import { Failure } from '../platform/failure.ts';
import { namesHtml, wantsHtml } from '../platform/http/accept.ts';
import { refusalOf, sendError, toOAuthError } from '../platform/http/errors.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { commandBlock, copyable, fact, facts, isolate, operator } from './components.ts';
import { type Html, html } from './html.ts';
import { type Page, type Site, sendPage } from './layout.ts';
import type { Messages } from './messages.ts';

/** The pages to which an error page links. */
type Onward = keyof Messages['error']['onward'];

/** What an error says to a person, and to the developer of an app beside the refusal itself. */
export interface ErrorPage {
  readonly title: string;
  readonly text: string;
  /** What is wrong, where the details say the rest. The message of the refusal unless set. */
  readonly reason?: string;
  /** What came, what was expected, and what to do. */
  readonly details?: readonly Html[];
  /** The page where a person can continue. */
  readonly onward?: Onward;
}

/**
 * Details for developers, folded: a person reads what to do above them. The last ones are the correlation id, and the command with which the
 * operator finds the reason by it.
 */
export function developerDetails({ error: text }: Messages, details: readonly Html[], correlationId: string): Html {
  const explain = commandBlock(`tessera explain ${correlationId}`, text, text.copyCommand);
  const all = facts([
    ...details,
    fact(text.correlation, copyable(correlationId, text, text.copyLabel), true),
    fact(text.explain, html`${text.explainText}${explain}`, true),
  ]);
  return html`<details class="technical"><summary>${text.forDeveloper}</summary>${all}</details>`;
}

/** How much of a parameter is shown again, in characters. */
const MAX_SHOWN = 300;

/** A parameter as it was sent, with everything but printable ASCII escaped: many characters look like others. */
function escaped(text: string): string {
  const shown = [...text.slice(0, MAX_SHOWN)].map((character) =>
    /[\x21-\x7e]/.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return shown.join('') + (text.length > MAX_SHOWN ? '…' : '');
}

const isolatedCode = (text: string): Html => html`<bdi><code>${text}</code></bdi>`;

/** A URI with its difference from another one marked, in whole words between delimiters. */
function marked(text: string, other: string): Html {
  const isSign = (index: number) => /[/:?#&=@.]/.test(text[index] ?? '/');
  let [start, end] = [0, 0];
  const room = Math.min(text.length, other.length);
  while (start < room && text[start] === other[start]) start++;
  while (end < room - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  while (start > 0 && !isSign(start - 1)) start--;
  while (end > 0 && !isSign(text.length - end)) end--;
  const [from, to] = [start, text.length - end];
  // Where everything differs, a mark says nothing.
  if (from >= to || to - from === text.length) return isolatedCode(text);
  return html`<bdi><code>${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}</code></bdi>`;
}

/** What came, what it is closest to, and what to do. */
export function adviceFacts(
  { error: text }: Messages,
  { app, came, nearest, remedy, call, command }: DeveloperAdvice,
): readonly Html[] {
  const sent = came && escaped(came.value);
  const known = nearest && escaped(nearest.registered);
  return [
    ...(app === undefined ? [] : [fact(text.app, isolate(app), true)]),
    ...(came && sent !== undefined
      ? [fact(text.came(came.name), known === undefined ? isolatedCode(sent) : marked(sent, known), true)]
      : []),
    ...(nearest && sent !== undefined && known !== undefined
      ? [
          fact(text.nearest, marked(known, sent), true),
          fact(text.differs, nearest.differences.map((part) => text.differences[part]).join(', '), true),
        ]
      : []),
    fact(text.remedy, remedy, true),
    ...(call === undefined ? [] : [fact(text.byApi, commandBlock(call, text, text.copyCall), true)]),
    ...(command === undefined ? [] : [fact(text.byCommand, commandBlock(command, text, text.copyCommand), true)]),
  ];
}

function body(site: Site, page: ErrorPage, refusal: OAuthError, correlationId: string): Html {
  const { messages, path } = site;
  const text = messages.error;
  const details = [
    fact(text.code, html`<code>${refusal.code}</code>`, true),
    fact(text.reason, page.reason ?? refusal.message, true),
    ...(page.details ?? []),
  ];
  return html`<section class="card"><header><h1>${page.title}</h1><p>${page.text}</p></header>${
    page.onward && html`<p><a href="${path(`/${page.onward}`)}">${text.onward[page.onward]}</a></p>`
  }<p class="muted">${text.help(operator(site), copyable(correlationId, text, text.copyLabel))}</p>${developerDetails(messages, details, correlationId)}</section>`;
}

/** Answers that a link or form no longer works, with a page of its own; as JSON where that is asked for. */
export function sendGone(reply: FastifyReply, site: Site, text: string, page: Page): FastifyReply {
  const { request } = reply;
  const refusal = new OAuthError(410, 'not_found', text, {}, 'a link that no longer works');
  request.refusal = refusalOf(refusal);
  return wantsHtml(request) ? sendPage(reply, 410, site, page) : sendError(reply, refusal);
}

/** Answers with a refusal: as a page, or as JSON to a caller that prefers it. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  refusal: OAuthError,
  page: ErrorPage,
): FastifyReply {
  request.refusal = refusalOf(refusal);
  if (!wantsHtml(request)) return sendError(reply, refusal);
  reply.headers(refusal.headers);
  return sendPage(reply, refusal.status, site, {
    title: page.title,
    layout: 'narrow',
    body: body(site, page, refusal, request.id),
  });
}

/** The error handler of page routes: answers with a page. */
export const pageErrors =
  (site: Site) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = toOAuthError(error, request);
    const isEnded = error instanceof Failure && error.kind === 'session ended';
    const ended = { ...site.messages.error.sessionEnded, onward: 'account' } as const;
    sendErrorPage(request, reply, site, refusal, isEnded ? ended : pageFor(refusal, site.messages));
  };

/** Paths for programs: errors there are JSON, whatever the Accept header says. */
const FOR_PROGRAMS = /^\/+(api|oauth|oidc|assets|avatars|app-pictures|health|metrics|\.well-known)(\/|$)/i;

/** Answers errors outside of any route: with a page for a browser at a path where a page might be, else with JSON. */
export const unroutedErrors =
  (site: Site) =>
  (request: FastifyRequest, reply: FastifyReply, refusal: OAuthError): void => {
    const [path = ''] = (request.raw.url ?? '').split('?', 1);
    const base = site.path('');
    const below = path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    if (FOR_PROGRAMS.test(below) || !namesHtml(request)) sendError(reply, refusal);
    else sendErrorPage(request, reply, site, refusal, pageFor(refusal, site.messages));
  };

/** The page for a status. */
function pageFor({ status, headers, message }: OAuthError, { error: text }: Messages): ErrorPage {
  const seconds = Number(headers['retry-after']);
  const again = seconds > 0 ? ` ${text.again(seconds)}` : '';
  const known = Object.hasOwn(text.statuses, status)
    ? (status as keyof typeof text.statuses)
    : status < 500
      ? 400
      : 500;
  const { title, text: what } = text.statuses[known];
  // What stands in the way is the person’s own affair, and no fault of a request.
  if (known === 409) return { title, text: message.includes(what) ? message : `${message} ${what}`, onward: 'account' };
  return { title, text: what + again, onward: 'account' };
}
