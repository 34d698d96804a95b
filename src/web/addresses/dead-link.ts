import type { FastifyReply } from 'fastify';
import { deadCause } from '../../mail/challenges.ts';
import { sendGone } from '../../pages/error-page.ts';
import { html } from '../../pages/html.ts';
import type { PageServices } from '../sign-in/routes.ts';

/**
 * Says why a link no longer works.
 * @param known why, where the link alone does not tell
 */
export async function sendDeadLink(
  { database, clock, site }: Pick<PageServices, 'database' | 'clock' | 'site'>,
  reply: FastifyReply,
  link: string,
  known?: 'session',
): Promise<FastifyReply> {
  const { address: text } = site.messages;
  const cause = text.dead[known ?? (await database.read(() => deadCause(link, clock())))];
  return sendGone(reply, site, cause, {
    title: text.deadTitle,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.deadTitle}</h1><p>${cause}</p></header>
<p>${text.deadRecover} <a href="${site.path('/recover')}">${text.recover}</a></p></section>`,
  });
}
