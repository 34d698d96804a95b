import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Advice } from '../../clients/rules/unregistered-uri.ts';
import { namesHtml, wantsHtml } from '../../platform/http/accept.ts';
import { sendError, toOAuthError } from '../../platform/http/errors.ts';
import type { OAuthError } from '../../platform/oauth-error.ts';
import { copyable, fact, facts, foreign } from './components.ts';
import { type Html, html } from './html.ts';
import { type Site, sendPage } from './layout.ts';
import type { Messages } from './messages.ts';

/** Pages of ours to which an error leads. */
type Onward = keyof Messages['error']['onward'];

/** What an error says to a person, and what its developer learns beside the refusal itself. */
export interface ErrorPage {
  readonly title: string;
  readonly text: string;
  /** What is wrong, where the details say the rest of the refusal. */
  readonly reason?: string;
  /** What came, what was expected, what to do. */
  readonly details?: readonly Html[];
  /** Where a person goes on. */
  readonly onward?: Onward;
}

/** For the developer, below a line: the correlation id stands last, under which the log tells of the same request. */
export function technical({ error: text }: Messages, details: readonly Html[], correlationId: string): Html {
  const id = fact(text.correlation, copyable(correlationId, text, text.copyLabel), true);
  return html`<div class="technical"><h2>${text.forDeveloper}</h2>${facts([...details, id])}</div>`;
}

/** At most so much of what came is shown again. */
const LONGEST_SHOWN = 300;

/** A text of a request as it was sent: what is no plain ASCII is spelled out, for much of it looks like something else. */
function spelled(text: string): string {
  const shown = [...text.slice(0, LONGEST_SHOWN)].map((character) =>
    /[\x21-\x7e]/.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return shown.join('') + (text.length > LONGEST_SHOWN ? '…' : '');
}

const foreignCode = (text: string): Html => html`<bdi><code>${text}</code></bdi>`;

/** An address with what differs from another marked, in whole words: what stands between two of these signs. */
function marked(text: string, other: string): Html {
  const isSign = (index: number) => /[/:?#&=@.]/.test(text[index] ?? '/');
  let [start, end] = [0, 0];
  const room = Math.min(text.length, other.length);
  while (start < room && text[start] === other[start]) start++;
  while (end < room - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  while (start > 0 && !isSign(start - 1)) start--;
  while (end > 0 && !isSign(text.length - end)) end--;
  const [from, to] = [start, text.length - end];
  // Where nothing is the same, nothing need be marked.
  if (from >= to || to - from === text.length) return foreignCode(text);
  return html`<bdi><code>${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}</code></bdi>`;
}

/** What came, what it comes closest to, and what to do. */
export function adviceFacts(
  { error: text }: Messages,
  { app, came, nearest, remedy, command }: Advice,
): readonly Html[] {
  const sent = came && spelled(came.value);
  const known = nearest && spelled(nearest.registered);
  return [
    ...(app === undefined ? [] : [fact(text.app, foreign(app), true)]),
    ...(came && sent !== undefined
      ? [fact(text.came(came.name), known === undefined ? foreignCode(sent) : marked(sent, known), true)]
      : []),
    ...(nearest && sent !== undefined && known !== undefined
      ? [
          fact(text.nearest, marked(known, sent), true),
          fact(text.differs, nearest.differences.map((part) => text.differences[part]).join(', '), true),
        ]
      : []),
    fact(text.remedy, html`${remedy}${command !== undefined && copyable(command, text, text.copyCommand)}`, true),
  ];
}

function body({ messages, path }: Site, page: ErrorPage, refusal: OAuthError, correlationId: string): Html {
  const text = messages.error;
  const details = [
    fact(text.code, html`<code>${refusal.code}</code>`, true),
    fact(text.reason, page.reason ?? refusal.message, true),
    ...(page.details ?? []),
  ];
  return html`<section class="card"><header><h1>${page.title}</h1><p>${page.text}</p></header>${
    page.onward && html`<p><a href="${path(`/${page.onward}`)}">${text.onward[page.onward]}</a></p>`
  }${technical(messages, details, correlationId)}</section>`;
}

/** Answers with a refusal: as a page, or as JSON to a caller that would rather have that. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  refusal: OAuthError,
  page: ErrorPage,
): FastifyReply {
  request.refusal = { code: refusal.code, reason: refusal.reason };
  if (!wantsHtml(request)) return sendError(reply, refusal);
  reply.headers(refusal.headers);
  return sendPage(reply, refusal.status, site, {
    title: page.title,
    layout: 'narrow',
    body: body(site, page, refusal, request.id),
  });
}

/** Turns errors of a page's routes into pages. */
export const pageErrors =
  (site: Site) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = toOAuthError(error, request);
    sendErrorPage(request, reply, site, refusal, pageFor(refusal, site.messages));
  };

/** Where no person has business: errors there are JSON, whatever is asked for. */
const FOR_PROGRAMS = /^\/+(api|oauth|oidc|assets|avatars|app-pictures|health|metrics|\.well-known)(\/|$)/i;

/** Answers where no route does: a page for a browser at an address where a page might be, and JSON otherwise. */
export const strayErrors =
  (site: Site) =>
  (request: FastifyRequest, reply: FastifyReply, refusal: OAuthError): void => {
    const [path = ''] = (request.raw.url ?? '').split('?', 1);
    const base = site.path('');
    const below = path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    if (FOR_PROGRAMS.test(below) || !namesHtml(request)) sendError(reply, refusal);
    else sendErrorPage(request, reply, site, refusal, pageFor(refusal, site.messages));
  };

/** What a status says to a person. */
function pageFor({ status, headers }: OAuthError, { error: text }: Messages): ErrorPage {
  const seconds = Number(headers['retry-after']);
  const again = seconds > 0 ? ` ${text.again(seconds)}` : '';
  const known = Object.hasOwn(text.statuses, status)
    ? (status as keyof typeof text.statuses)
    : status < 500
      ? 400
      : 500;
  const { title, text: what } = text.statuses[known];
  return { title, text: what + again, ...((status === 404 || status === 405) && { onward: 'account' }) };
}
