import type { FastifyInstance } from 'fastify';
import type { MailKind } from '../../mail/mail.ts';
import { listMails } from '../../mail/operate.ts';
import { type ListedMail, type MailStatus, mailStatuses } from '../../mail/store.ts';
import { holds, holdsSomewhere, INSTALLATION } from '../../operators/rights.ts';
import { fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { listLeases } from '../../platform/ids/lease-store.ts';
import { VERSION } from '../../platform/version.ts';
import { invitationActAddress } from '../invitations/addresses.ts';
import { personLink } from '../links.ts';
import { afterOf, items, longItems, onward, PAGE_SIZE, pageOfRows } from '../list.ts';
import { type ActName, actAddress, PERSON_ACTS } from '../people/acts.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf, type ServiceFinding } from '../visit.ts';
import { SYSTEM, systemAddress, systemPage } from './frame.ts';
import { settingsRoute } from './settings.ts';

/** The health of the service, its mail, and its settings. */
export function systemRoutes(app: FastifyInstance, services: ConsoleServices): void {
  healthRoute(app, services);
  mailRoute(app, services);
  settingsRoute(app, services);
}

function healthRoute(app: FastifyInstance, services: ConsoleServices): void {
  const { site, issuer, clock } = services;
  const text = site.messages.operators.system;

  app.get(SYSTEM, { config: { permission: 'service.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const leases = await visit.services.database.read(() => listLeases({ now: clock() }));
    const findings = await services.examine();
    const wrong = findings.filter(({ level }) => level !== 'ok');
    const rows = [...leases]
      .sort((one, other) => one.node - other.node)
      .map(
        ({ node, endsAt }) =>
          html`<li><div>${text.node(String(node))} <span class="small muted">${text.leased(moment(endsAt))}</span></div></li>`,
      );
    const content = html`<section class="card"><p class="muted small">${text.healthLead}</p>${longItems(
      site,
      [...wrong, ...findings.filter(({ level }) => level === 'ok')].map((finding) => findingRow(site, finding)),
      undefined,
      Math.max(3, wrong.length),
    )}</section>
<section class="card"><header><h2>${text.nodes}</h2><p class="muted small">${text.nodesLead}</p></header>${items(rows, text.noNodes)}${facts([fact(text.version, VERSION), fact(text.issuer, html`<code>${issuer}</code>`)])}</section>`;
    return sendPage(reply, 200, site, systemPage(site, visit, 'health', content));
  });
}

/** What is found is said as on the command line, in English. */
function findingRow({ messages }: Site, { level, found, remedy }: ServiceFinding): Html {
  const { levels } = messages.operators.system;
  return html`<li><div><strong${level === 'problem' && html` class="state"`}>${levels[level]}</strong> <span lang="en">${found}</span>${remedy !== null && html`<br><span class="small muted" lang="en">${remedy}</span>`}</div></li>`;
}

/** How many messages a small phone shows at first: each takes several lines. */
const FIRST_MAILS = 5;

const isStatus = (text: string): text is MailStatus => mailStatuses.some((status) => status === text);

function mailRoute(app: FastifyInstance, services: ConsoleServices): void {
  const { site, mail } = services;
  const text = site.messages.operators.system;
  const address = systemAddress('mail');

  app.get(address, { config: { permission: 'mail.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const asked = query.get('status') ?? '';
    const status = isStatus(asked) ? asked : undefined;
    const after = afterOf(query);
    const found = await visit.services.database.read(() => listMails({ after, limit: PAGE_SIZE + 1, status }));
    const { rows, next } = pageOfRows(found);
    const kept: Readonly<Record<string, string>> = status === undefined ? {} : { status };
    const { older, newest } = site.messages.operators;
    const links = [
      ...(after === '0' ? [] : [{ query: kept, text: newest }]),
      ...(next === undefined ? [] : [{ query: { ...kept, after: next }, text: older }]),
    ];
    const tests = holdsSomewhere(visit.operator, 'mail.manage');
    const filter = ['all', ...mailStatuses].map((name) => {
      const isCurrent = name === (status ?? 'all');
      const to = name === 'all' ? address : `${address}?status=${name}`;
      return html`<a href="${site.path(to)}"${isCurrent && html` aria-current="page"`}>${text.statuses[name]}</a>`;
    });
    const acts =
      tests &&
      html`<p class="acts"><a class="button" href="${site.path(`${SYSTEM}/mail/test`)}">${text.test.link}</a></p>`;
    const content = html`<section class="card"><header><p class="muted small">${mail.available ? text.mailLead : text.mailOff}</p>${acts}</header>
<nav class="tabs" aria-label="${text.filterLabel}">${filter}</nav>
${longItems(
  site,
  rows.map((one) => mailRow(site, visit, one)),
  text.mailNone,
  FIRST_MAILS,
)}${onward(site, address, links)}</section>`;
    return sendPage(reply, 200, site, systemPage(site, visit, 'mail', content));
  });
}

/**
 * Where a message that was not sent is made again, by the act that makes such messages: the content of the old one is erased. Nothing where
 * the person concerned asks for it, or the operator may not.
 */
function againAddress({ operator }: ConsoleVisit, { kind, status, accountId }: ListedMail): string | undefined {
  if (status !== 'dead' && status !== 'expired') return undefined;
  if (kind === 'invitation') {
    return holds(operator, 'invitations.manage', INSTALLATION) ? invitationActAddress('new') : undefined;
  }
  const act = REMADE[kind];
  const isOffered =
    act !== undefined && accountId !== null && holds(operator, PERSON_ACTS[act].permission, INSTALLATION);
  return isOffered ? actAddress(act, { id: accountId }) : undefined;
}

/** The acts on a person that make the messages of a kind. */
const REMADE: Partial<Readonly<Record<MailKind, ActName>>> = {
  recovery: 'send-recovery',
  'verify address': 'remind-verification',
};

function mailRow(site: Site, visit: ConsoleVisit, mail: ListedMail): Html {
  const { system: text } = site.messages.operators;
  const { kind, status, recipient, accountId, attempts, problem, createdAt, dueAt, settledAt } = mail;
  const name = isolate(readableEmail(recipient));
  const to = accountId === null ? name : personLink(site, visit, accountId, name);
  const again = againAddress(visit, mail);
  const when: HtmlPart =
    settledAt !== null ? text.settled(moment(settledAt)) : dueAt !== null && attempts > 0 && text.next(moment(dueAt));
  return html`<li><div><strong${status === 'dead' && html` class="state"`}>${text.statuses[status]}</strong> ${kind}${recipient !== '' && html` ${text.to(to)}`}<br><span class="small muted">${text.asked(moment(createdAt))}${attempts > 0 && html` · ${text.attempts(attempts)}`}${when && html` · ${when}`}</span>${problem !== null && html`<br><span class="small">${isolate(problem)}</span>`}</div>${again !== undefined && html`<a href="${site.path(again)}" aria-label="${text.againTo(recipient)}">${text.again}</a>`}</li>`;
}
