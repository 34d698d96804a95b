import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError, toOAuthError } from '../http/errors.ts';
import type { OAuthError } from '../oauth-error.ts';
import { type Html, html } from './html.ts';
import { type Site, sendPage } from './layout.ts';

interface ErrorPage {
  readonly title: string;
  readonly text: string;
  /** For the developer, below a line. */
  readonly technical?: { readonly code: string; readonly description: string; readonly correlationId: string };
  readonly homeLink?: boolean;
}

function body({ messages, path }: Site, page: ErrorPage): Html {
  const { technical } = page;
  return html`<div class="narrow"><section class="card"><header><h1>${page.title}</h1></header><p>${page.text}</p>${
    page.homeLink && html`<p><a href="${path('/account')}">${messages.error.home}</a></p>`
  }${
    technical !== undefined &&
    html`<div class="tech"><h2>${messages.error.forDeveloper}</h2><p><code>${technical.code}</code>: ${technical.description}</p><p>${messages.error.correlation}: <code>${technical.correlationId}</code></p></div>`
  }</section></div>`;
}

export function sendErrorPage(reply: FastifyReply, status: number, site: Site, page: ErrorPage): FastifyReply {
  return sendPage(reply, status, site, { title: page.title, body: body(site, page) });
}

/** Whether the caller reads pages: a browser asks for HTML, a program that wants JSON says so. */
export function wantsHtml(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  return accept.includes('text/html') || !accept.includes('application/json');
}

/** Turns errors of a page's routes into pages. */
export function pageErrors(site: Site) {
  const { messages } = site;
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = toOAuthError(error, request);
    if (!wantsHtml(request)) {
      sendError(request, reply, refusal);
      return;
    }
    reply.headers(refusal.headers);
    sendErrorPage(reply, refusal.status, site, {
      title: messages.error.title,
      text: textFor(refusal, site),
      technical: { code: refusal.code, description: refusal.message, correlationId: request.id },
    });
  };
}

function textFor({ status }: OAuthError, { messages }: Site): string {
  if (status === 404) return messages.error.notFound;
  if (status === 503) return messages.error.away;
  if (status === 403) return messages.error.foreignForm;
  return messages.error.fault;
}
