import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { tile } from '../../pages/mark.ts';
import { nothingHere } from '../../platform/oauth-error.ts';

/**
 * The page at the base URL. It is the same for every visitor.
 * @param playground whether the playground is on
 */
export function homeRoutes(app: FastifyInstance, site: Site, playground: boolean): void {
  const page = homePage(site, playground);
  app.get('/', async (request, reply) => {
    // The router treats `*` as `/`, but RFC 9112 §3.2.4 reserves it for OPTIONS.
    if (request.raw.url === '*') throw nothingHere();
    return sendPage(reply, 200, site, page);
  });
}

function homePage({ messages, path }: Site, playground: boolean): Page {
  const text = messages.home;
  const entry = (address: string, name: string, note?: string): Html =>
    html`<li><a href="${path(address)}">${name}</a>${note !== undefined && html`<p class="muted small">${note}</p>`}</li>`;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header class="asks">${tile({ kind: 'large' })}<div><h1>${text.heading}</h1><p>${text.lead}</p></div></header>
<ul class="ways">${entry('/account', text.account, text.accountNote)}${entry('/signup', text.create)}</ul>
<section class="technical"><h2>${text.developers}</h2><ul class="ways">${[
      playground && entry('/playground', text.playground, text.playgroundNote),
      entry('/api', text.reference, text.referenceNote),
      entry('/.well-known/openid-configuration', text.discovery, text.discoveryNote),
    ]}</ul></section></section>`,
  };
}
