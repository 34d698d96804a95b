import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError, toOAuthError } from '../http/errors.ts';
import type { OAuthError } from '../oauth-error.ts';
import { fact, facts } from './components.ts';
import { type Html, html } from './html.ts';
import { type Site, sendPage } from './layout.ts';
import type { Messages } from './messages.ts';

interface ErrorPage {
  readonly title: string;
  readonly text: string;
  /** For the developer, below a line. */
  readonly technical?: { readonly code: string; readonly description: string; readonly correlationId: string };
  readonly homeLink?: boolean;
}

function body({ messages, path }: Site, page: ErrorPage): Html {
  const { technical } = page;
  const text = messages.error;
  return html`<section class="card"><header><h1>${page.title}</h1><p>${page.text}</p></header>${
    page.homeLink && html`<p><a href="${path('/account')}">${text.home}</a></p>`
  }${
    technical !== undefined &&
    html`<div class="technical"><h2>${text.forDeveloper}</h2>${facts([
      fact(text.code, html`<code>${technical.code}</code>`, true),
      fact(text.reason, technical.description, true),
      fact(text.correlation, copyable(technical.correlationId, messages), true),
    ])}</div>`
  }</section>`;
}

/** A value with a button that copies it, where there is script. */
function copyable(value: string, { error: text }: Messages): Html {
  return html`<span class="copyable"><code>${value}</code><button class="small" type="button" hidden data-copy="${value}" data-other="${text.copied}" aria-label="${text.copyLabel}">${text.copy}</button></span>`;
}

export function sendErrorPage(reply: FastifyReply, status: number, site: Site, page: ErrorPage): FastifyReply {
  reply.header('x-request-id', reply.request.id);
  return sendPage(reply, status, site, { title: page.title, layout: 'narrow', body: body(site, page) });
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
