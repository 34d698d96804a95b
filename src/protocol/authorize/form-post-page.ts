import type { FastifyReply } from 'fastify';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { foreign } from '../../web/kit/components.ts';
import { html } from '../../web/kit/html.ts';
import { type Site, sendPage } from '../../web/kit/layout.ts';
import { type ClientResponse, formActionSources } from './rules/request.ts';

/**
 * OAuth 2.0 Form Post Response Mode §2: an answer as the fields of a form that the browser sends to the client. It sends itself
 * where there is script, and has a button everywhere. The address is the registered one, with its own query.
 */
export function sendFormPost(
  reply: FastifyReply,
  site: Site,
  { redirectUri, parameters }: ClientResponse,
): FastifyReply {
  const text = site.messages.formPost;
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`<section class="card"><header><h1>${text.title}</h1><p>${text.lead(foreign(destinationOf(redirectUri)))}</p></header>
<form method="post" action="${redirectUri}" data-send>${fields}<button class="primary" type="submit">${text.submit}</button></form>
</section>`;
  const page = { title: text.title, layout: 'narrow', body } as const;
  reply.header('pragma', 'no-cache');
  return sendPage(reply, 200, site, page, formActionSources(redirectUri));
}
