import type { FastifyInstance } from 'fastify';
import {
  ACTIVITY_KINDS,
  type ActivityKind,
  isByOperator,
  listActivity,
  listActivityOf,
  NEWEST_ACTIVITY,
} from '../../audit/activity-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { isolate, moment } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { enumerated } from '../../platform/date-text.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { deviceIcon, deviceName } from './device-name.ts';
import { accountLayout } from './layout.ts';
import { type ActivityRun, groupFailures } from './rules/activity-runs.ts';
import { frameOf, visitOf } from './visit.ts';

/** How many events one page reads. */
const PAGE_SIZE = 30;
const ADDRESS = '/account/activity';

/** The number of an event would tell how many this service records, so links hold it encrypted, for this account alone. */
const contextOf = (accountId: string): string => `activity ${accountId}`;

/** Where a page begins; at the newest event for anything that is not one of our links. */
function startOf(sealer: Sealer, accountId: string, cursor: string | undefined): string {
  const isCursor = cursor !== undefined && /^[A-Za-z0-9_-]{1,128}$/.test(cursor);
  return (isCursor ? sealer.open(cursor, contextOf(accountId)) : undefined) ?? NEWEST_ACTIVITY;
}

/** What happened in an account, newest first. */
export function activityRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, database, sealer } = services;
  const { messages, path } = site;
  const text = messages.activity;

  app.get(ADDRESS, async (request, reply) => {
    const visit = visitOf(request);
    const accountId = visit.account.id;
    const query = queryOf(request);
    const before = startOf(sealer, accountId, query.get('before'));
    const kind = ACTIVITY_KINDS.find((each) => each === query.get('kind'));
    const list = kind === undefined ? listActivity : listActivityOf[kind];
    const found = await database.read(() => list({ accountId, before, limit: PAGE_SIZE + 1 }));
    const events = found.slice(0, PAGE_SIZE);
    const last = events.at(-1);
    const older = found.length > events.length && last !== undefined;
    const isFirst = before === NEWEST_ACTIVITY;
    const pages = html`<nav class="pager" aria-label="${messages.pager.label}">${!isFirst && html`<a href="${path(address(kind))}">${text.newest}</a>`}${older && html`<a rel="next" href="${path(address(kind, 'before'))}${sealer.seal(last.id, contextOf(accountId))}">${text.older}</a>`}</nav>`;
    const nothing = kind === undefined ? text.empty : text.noneOfKind;
    const rows =
      events.length === 0
        ? html`<p>${isFirst ? nothing : text.end}</p>`
        : html`<ol class="events">${groupFailures(events).map((run) => row(site, run))}</ol>`;
    const content = html`<header><h1>${text.title}</h1><p class="muted">${text.lead(html`<a href="${path('/account/security')}">${text.secure}</a>`)}</p></header>
${filter(site, kind)}
<section class="card">${rows}${(older || !isFirst) && pages}</section>`;
    return sendPage(reply, 200, site, accountLayout(site, frameOf(visit), 'security', text.title, content));
  });
}

/** The address of the list of one kind, or of all; with the name of a parameter whose value follows. */
function address(kind: ActivityKind | undefined, then?: 'before'): string {
  const query = [kind !== undefined && `kind=${kind}`, then !== undefined && `${then}=`].filter(
    (part) => part !== false,
  );
  return query.length === 0 ? ADDRESS : `${ADDRESS}?${query.join('&')}`;
}

/** The kinds of events to choose from. */
function filter({ messages: { activity: text }, path }: Site, chosen: ActivityKind | undefined): Html {
  const link = (kind: ActivityKind | undefined, label: string) =>
    html`<a href="${path(address(kind))}"${kind === chosen && html` aria-current="true"`}>${label}</a>`;
  return html`<nav class="kinds" aria-label="${text.filter}">${link(undefined, text.all)}${ACTIVITY_KINDS.map((kind) => link(kind, text.kinds[kind]))}</nav>`;
}

function row({ messages }: Site, { event, count, since, device, network }: ActivityRun): Html {
  const text = messages.activity;
  const { type, app, actor, details, at } = event;
  const byOperator = isByOperator({ actor, details });
  const facts = { app: app === null ? text.deletedApp : isolate(app), count, details, byOperator };
  const what = text.describe(type, facts);
  const named = device.browser !== null || device.system !== null;
  // Where operators work is not the person's business.
  const seen = byOperator ? [] : [named ? deviceName(device, messages) : null, network];
  const where = enumerated(seen.filter((part) => part !== null));
  return html`<li>${named && !byOperator && deviceIcon(device)}<p>${what}${byOperator && html` ${text.byOperator}`}</p>
<p class="muted small">${moment(at)}${count > 1 && html`, ${text.since(moment(since))}`}${where !== '' && html`<br>${where}`}</p></li>`;
}
