import type { FastifyInstance } from 'fastify';
import type { Sealer } from '../../keys/sealer.ts';
import { aroundFacts } from '../../mail/content.ts';
import { type KeptMail, readMailbox } from '../../mail/mail.ts';
import { renderMail } from '../../mail/rules/render.ts';
import { commandBlock, copyable, fact, facts, moment } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { Database } from '../../platform/database/database.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { isFromThisMachine } from '../../platform/http/local-peer.ts';
import { nothingHere } from '../../platform/oauth-error.ts';
import type { mailboxDoor } from './key.ts';
import { mailboxMessages as text } from './messages.ts';

/** The policy of a message as mail programs show it: it has styles of its own, runs nothing, sends nothing and loads nothing. */
const MESSAGE_POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "script-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface MailboxServices {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly site: Site;
  readonly door: ReturnType<typeof mailboxDoor>;
}

/**
 * The mail that would have been sent, for developers at the machine itself who have its link. To requests from elsewhere the page does not
 * exist.
 */
export function mailboxRoutes(app: FastifyInstance, { database, sealer, site, door }: MailboxServices): void {
  app.register(async (pages) => {
    pages.addHook('preHandler', async (request, reply) => {
      if (!isFromThisMachine(request)) throw nothingHere();
      const entry = door.enter(request);
      if (entry === 'refused') return sendPage(reply, 403, site, closedNotice(site));
      if (entry === 'open') return;
      door.remember(reply);
      return reply.header('cache-control', 'no-store').redirect(new URL(request.url, 'http://localhost').pathname, 303);
    });
    pages.get('/mailbox', async (_request, reply) => {
      const mails = await readMailbox(database, sealer);
      return sendPage(reply, 200, site, listPage(site, mails));
    });
    pages.get<{ Params: { id: string } }>('/mailbox/:id', async (request, reply) => {
      const mail = (await readMailbox(database, sealer)).find(({ id }) => id === request.params.id);
      if (mail === undefined) return sendPage(reply, 404, site, goneNotice(site));
      return sendPage(reply, 200, site, mailPage(site, mail));
    });
    pages.get<{ Params: { id: string } }>('/mailbox/:id/html', async (request, reply) => {
      const mail = (await readMailbox(database, sealer)).find(({ id }) => id === request.params.id);
      if (mail === undefined) return sendPage(reply, 404, site, goneNotice(site));
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', MESSAGE_POLICY)
        .header('cache-control', 'no-store')
        .send(renderMail(mail.content, site).html);
    });
  });
}

const page = (body: Html, title: string): Page => ({ title, layout: 'narrow', body });

const section = (title: string, content: Html): Html =>
  html`<section class="card"><h1>${title}</h1>${content}</section>`;

function listPage({ path }: Site, mails: readonly KeptMail[]): Page {
  const row = ({ id, to, createdAt, content }: KeptMail): Html =>
    html`<li><a href="${path(`/mailbox/${id}`)}">${content.subject}</a><p class="muted small"><bdi>${readableEmail(to)}</bdi> · ${moment(createdAt)}</p></li>`;
  const list = mails.length === 0 ? html`<p>${text.empty}</p>` : html`<ul class="ways">${mails.map(row)}</ul>`;
  return page(section(text.title, html`<p class="muted">${text.lead}</p>${list}`), text.title);
}

function mailPage(site: Site, { id, to, createdAt, content }: KeptMail): Page {
  const { facts: known = [], code, action, footer = [] } = content;
  const { before, after } = aroundFacts(content);
  const { copy } = site.messages.error;
  const link =
    action &&
    html`<p><a href="${action.url}" rel="noreferrer">${action.label}</a></p><p class="small">${copyable(action.url, site.messages.error, `${copy}: ${text.link}`)}</p>`;
  const body = html`<p class="muted">${text.to} <bdi>${readableEmail(to)}</bdi> · ${moment(createdAt)}</p>
${before.map((paragraph) => html`<p>${paragraph}</p>`)}
${known.length > 0 && facts(known.map(([name, value]) => fact(name, value, true)))}
${after.map((paragraph) => html`<p>${paragraph}</p>`)}
${code !== undefined && html`<p>${copyable(code, site.messages.error, `${copy}: ${text.code}`)}</p>`}
${link}
${footer.map((line) => html`<p class="muted small">${line}</p>`)}
<p><a class="button" href="${site.path(`/mailbox/${id}/html`)}">${text.look}</a></p>
<p><a href="${site.path('/mailbox')}">${text.back}</a></p>`;
  return page(section(content.subject, body), content.subject);
}

/** It names no key: a stranger may see it through a proxy. */
const closedNotice = ({ messages }: Site): Page =>
  page(
    section(
      text.closedTitle,
      html`<p>${text.closed}</p>${commandBlock('tessera mail link', messages.error, text.copyCommand)}`,
    ),
    text.closedTitle,
  );

const goneNotice = ({ path }: Site): Page =>
  page(section(text.title, html`<p>${text.gone}</p><p><a href="${path('/mailbox')}">${text.back}</a></p>`), text.title);
