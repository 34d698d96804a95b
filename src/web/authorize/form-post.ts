import type { FastifyReply } from 'fastify';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { type ClientResponse, formActionSources } from '../../protocol/authorize/rules/request.ts';

/**
 * OAuth 2.0 Form Post Response Mode §2: the response as the fields of a form that submits itself, and has a button where scripts
 * are off. Its address is the redirect URI with its own query.
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
  const body = html`<section class="card"><header><h1>${text.title}</h1><p>${text.lead(isolate(destinationOf(redirectUri)))}</p></header>
<form method="post" action="${redirectUri}" data-send>${fields}<button class="primary" type="submit">${text.submit}</button></form>
</section>`;
  const page = { title: text.title, layout: 'narrow', body } as const;
  reply.header('pragma', 'no-cache');
  return sendPage(reply, 200, site, page, formActionSources(redirectUri));
}
