import type { FastifyReply } from 'fastify';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import type { Client } from '../../clients/store.ts';
import { fact, isolate } from '../../pages/components.ts';
import { developerDetails } from '../../pages/error-page.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import {
  type ClientResponse,
  formActionSources,
  locationOf,
  type RedirectedError,
} from '../../protocol/authorize/rules/request.ts';

/**
 * RFC 9700 §4.11.2: names the app that nobody here answers for, and where it sends people, before an error leads a person there who has not
 * signed in. A link to this service alone leads nobody to the page of a stranger.
 */
export function sendLeavePage(
  reply: FastifyReply,
  site: Site,
  { name }: Pick<Client, 'name'>,
  response: ClientResponse,
  { error, description }: Pick<RedirectedError, 'error' | 'description'>,
): FastifyReply {
  const { messages, path } = site;
  const { leave: text, error: errors } = messages;
  const place = isolate(destinationOf(response.redirectUri));
  const details = [fact(errors.code, html`<code>${error}</code>`, true), fact(errors.reason, description, true)];
  const body = html`<section class="card"><header><h1>${text.title}</h1><p>${text.lead(isolate(name), html`<strong>${place}</strong>`)}</p></header>
<div class="notice"><p>${text.unchecked}</p></div>
<p><a href="${path('/account')}">${errors.onward.account}</a></p>
${wayOn(response, text.go(place))}
${developerDetails(messages, details, reply.request.id)}</section>`;
  const page = { title: text.title, layout: 'narrow', body } as const;
  return sendPage(reply, 400, site, page, formActionSources(response.redirectUri));
}

function wayOn(response: ClientResponse, text: HtmlPart): Html {
  if (response.mode !== 'form_post') {
    return html`<p><a href="${locationOf(response)}" rel="noreferrer">${text}</a></p>`;
  }
  const fields = Object.entries(response.parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${response.redirectUri}">${fields}<button class="link" type="submit">${text}</button></form>`;
}
