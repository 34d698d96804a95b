import type { FastifyReply } from 'fastify';
import { deadCause } from '../../mail/challenges.ts';
import { operator } from '../../pages/components.ts';
import { sendGone } from '../../pages/error-page.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import type { PageServices } from '../sign-in/routes.ts';

/** What a link was for: to confirm an address, to report that something was not the person, to undo a change of address. */
export type LinkKind = 'verify' | 'secure' | 'undo';

/** Where the person of such a link can go on. */
function waysOn(site: Site, kind: LinkKind): Html {
  const { messages, path } = site;
  const { address: text } = messages;
  const signIn = html`<a class="button" href="${path('/login')}">${messages.signIn.title}</a>`;
  if (kind === 'verify') {
    return html`<p>${text.deadNext.verify}</p>
<div class="actions"><a class="button primary" href="${path('/account/email')}">${text.deadVerify}</a></div>`;
  }
  return html`<p>${kind === 'secure' ? text.deadNext.secure : text.deadNext.undo(operator(site))}</p>
<div class="actions"><a class="button primary" href="${path('/recover')}">${text.recover}</a>${signIn}</div>`;
}

/**
 * Says why a link no longer works, and offers what its person can do instead.
 * @param known why, where the link alone does not tell
 */
export async function sendDeadLink(
  { database, clock, site }: Pick<PageServices, 'database' | 'clock' | 'site'>,
  reply: FastifyReply,
  kind: LinkKind,
  link: string,
  known?: 'session',
): Promise<FastifyReply> {
  const { address: text } = site.messages;
  const cause = text.dead[known ?? (await database.read(() => deadCause(link, clock())))];
  return sendGone(reply, site, cause, {
    title: text.deadTitle,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.deadTitle}</h1><p>${cause}</p></header>
${waysOn(site, kind)}</section>`,
  });
}
