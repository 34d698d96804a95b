import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesHtml, wantsHtml } from '../http/accept.ts';
import { sendError, toOAuthError } from '../http/errors.ts';
import type { OAuthError } from '../oauth-error.ts';
import { copyable, fact, facts } from './components.ts';
import { type Html, html } from './html.ts';
import { type Site, sendPage } from './layout.ts';
import type { Messages } from './messages.ts';

/** What an error says to a person, and what its developer learns beside the refusal itself. */
export interface ErrorPage {
  readonly title: string;
  readonly text: string;
  /** What came, what was expected, what to do. */
  readonly details?: readonly Html[];
  readonly homeLink?: boolean;
}

/** For the developer, below a line: the correlation id stands last, under which the log tells of the same request. */
export function technical({ error: text }: Messages, details: readonly Html[], correlationId: string): Html {
  const id = fact(text.correlation, copyable(correlationId, text, text.copyLabel), true);
  return html`<div class="technical"><h2>${text.forDeveloper}</h2>${facts([...details, id])}</div>`;
}

function body({ messages, path }: Site, page: ErrorPage, refusal: OAuthError, correlationId: string): Html {
  const text = messages.error;
  const details = [
    fact(text.code, html`<code>${refusal.code}</code>`, true),
    fact(text.reason, refusal.message, true),
    ...(page.details ?? []),
  ];
  return html`<section class="card"><header><h1>${page.title}</h1><p>${page.text}</p></header>${
    page.homeLink && html`<p><a href="${path('/account')}">${text.home}</a></p>`
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
  return { title, text: what + again, homeLink: status === 404 || status === 405 };
}
