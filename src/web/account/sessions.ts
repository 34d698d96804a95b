import type { FastifyInstance, FastifyReply } from 'fastify';
import { type EndedSessions, endSessions } from '../../account-actions/sign-in/end-sessions.ts';
import {
  confirmStep,
  doneNotice,
  fact,
  facts,
  generalProblem,
  hidden,
  isolate,
  type ListPart,
  moment,
  NO_PROBLEMS,
  type Problems,
  pager,
  problemSummary,
  revocationText,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import type { Messages } from '../../pages/messages.ts';
import { securityRow } from '../../pages/security-row.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSid, type ListedSession, listSessions } from '../../sessions/list.ts';
import type { Session, SessionSelector } from '../../sessions/store.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { deviceIcon, deviceName } from './device-name.ts';
import { type AccountFrame, accountLayout, readListPart } from './layout.ts';
import { trustedBrowsersSection } from './trusted-browsers.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

/** The browsers in which a person is signed in, each with a button that ends its session. */
export function sessionsRoutes(app: FastifyInstance, services: PageServices, { countEnding }: AccountHooks): void {
  const { site } = services;

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    parameters: RepeatableParameters,
    result: Pick<SessionsPage, 'ended' | 'problems'>,
  ): Promise<FastifyReply> {
    const { account, session } = visit;
    const { items, part } = await readListPart(parameters, (at) =>
      listSessions(services, account, { ...at, except: session.sid }),
    );
    const trusted = await trustedBrowsersSection(services, visit);
    const page = sessionsPage(site, { ...frameOf(visit), current: session, others: items, part, trusted, ...result });
    return sendPage(reply, status, site, page);
  }

  app.get('/account/sessions', async (request, reply) => {
    const query = queryOf(request);
    return show(reply, 200, visitOf(request), query, { ended: undefined, problems: NO_PROBLEMS });
  });

  app.post('/account/sessions', { preHandler: countEnding }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const which = selectedSessions(form, visit);
    if (which === undefined) {
      const problems = generalProblem(site.messages.account.formExpired);
      return show(reply, 400, visit, form, { ended: undefined, problems });
    }
    const ended = await endSessions(servicesIn(services, visit), visit.account, which, visit.origin);
    return show(reply, 200, visit, form, { ended: { ...ended, all: 'except' in which }, problems: NO_PROBLEMS });
  });
}

/** The sessions that a form is to end: one that it names, or all but that of this browser. */
function selectedSessions(form: RepeatableParameters, { session }: AccountVisit): SessionSelector | undefined {
  const sid = form.get('session') ?? '';
  if (sid === 'others') return { except: session.sid };
  return isSid(sid) && sid !== session.sid ? { sid } : undefined;
}

interface SessionsPage extends AccountFrame {
  /** That of this browser. */
  readonly current: Session;
  readonly others: readonly ListedSession[];
  readonly part: ListPart;
  readonly trusted: Html | undefined;
  readonly ended: (EndedSessions & { readonly all: boolean }) | undefined;
  readonly problems: Problems;
}

function sessionsPage(site: Site, page: SessionsPage): Page {
  const { messages, path } = site;
  const text = messages.sessions;
  const { current, others, part, token, ended, trusted } = page;
  return accountLayout(
    site,
    page,
    'sessions',
    text.title,
    html`<header><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${ended !== undefined && endedNotice(ended, messages)}
${problemSummary(messages, page.problems)}
<section class="card apps"><article class="app" aria-labelledby="this">${deviceIcon(current)}<div class="app-name"><h2 id="this">${deviceName(current, messages)}</h2><p class="small muted">${text.thisBrowser}</p></div>${facts(
      sessionFacts(current, messages),
    )}</article></section>
${
  others.length > 0 &&
  html`<section class="card apps"><h2>${text.others}</h2>${others.map((session) => sessionRow(site, session, page))}${pager(site, '/account/sessions', part)}</section>
${confirmStep(
  text.endOthers,
  html`<form method="post" action="${path('/account/sessions')}">${hidden(token, { session: 'others' })}<p class="small">${text.endOthersLead}</p><div><button class="danger" type="submit">${text.endOthersYes}</button></div></form>`,
)}`
}
${trusted}
<p class="muted small">${others.length === 0 && html`${text.noOthers} `}${text.everywhere} <a href="${path(securityRow('sign-out-everywhere'))}">${messages.account.signOutEverywhere}</a>.</p>`,
    page.problems,
  );
}

const sessionFacts = (session: Session, { sessions: text }: Messages): readonly Html[] => [
  fact(text.signedIn, moment(session.authTime)),
  fact(text.lastUsed, moment(session.lastSeenAt)),
  fact(text.from, session.network ?? text.unknown),
];

/** How many apps are named. */
const MAX_NAMES = 5;

function appNames(names: readonly string[], messages: Messages): Html {
  const { sessions: text } = messages;
  const more = names.length - MAX_NAMES;
  const shown = [...names.slice(0, MAX_NAMES).map(isolate), ...(more > 0 ? [text.more(more)] : [])];
  return html`${joinList(shown, messages)}`;
}

function sessionRow({ messages, path }: Site, session: ListedSession, { token, part }: SessionsPage): Html {
  const text = messages.sessions;
  const { sid, apps } = session;
  const id = `session-${sid}`;
  const name = deviceName(session, messages);
  return html`<article class="app" aria-labelledby="${id}">${deviceIcon(session)}<div class="app-name"><h3 id="${id}">${name}</h3></div>
${facts([
  ...sessionFacts(session, messages),
  ...(apps.length > 0
    ? [
        fact(
          text.apps,
          appNames(
            apps.map(({ name }) => name),
            messages,
          ),
          true,
        ),
      ]
    : []),
])}
${confirmStep(
  text.end,
  html`<form method="post" action="${path('/account/sessions')}">${hidden(token, { session: sid, page: String(part.number) })}<p class="small">${text.endLead(name)}</p><div><button class="danger" type="submit" aria-label="${text.endOf(name)}">${text.endYes}</button></div></form>`,
)}</article>`;
}

/** Which sessions and tokens ended, as found when everything was judged again. */
function endedNotice({ at, all, sessions, ...summary }: NonNullable<SessionsPage['ended']>, messages: Messages): Html {
  const { sessions: text } = messages;
  const [session] = sessions;
  if (!all && session === undefined) return doneNotice(html`<p><strong>${text.endedBefore}</strong></p>`);
  const what =
    all || session === undefined
      ? text.othersEnded(sessions.length, moment(at))
      : text.ended(deviceName(session, messages), moment(at));
  const lost = summary.families > 0 && html`${text.appsLost(appNames(summary.apps, messages))} ${text.askAgain} `;
  const checked = revocationText(summary, messages);
  return doneNotice(html`<p><strong>${what}</strong></p>${checked && html`<p>${lost}${checked}</p>`}`);
}
