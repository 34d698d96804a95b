import type { FastifyReply } from 'fastify';
import { sendGone } from '../../pages/error-page.ts';
import { html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';

/** A link that was used, has expired, or ended with the account's generation. */
export function sendDeadLink(reply: FastifyReply, site: Site): FastifyReply {
  const { address: text } = site.messages;
  return sendGone(reply, site, text.dead, {
    title: text.deadTitle,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.deadTitle}</h1><p>${text.dead}</p></header>
<p>${text.deadRecover} <a href="${site.path('/recover')}">${text.recover}</a></p></section>`,
  });
}
