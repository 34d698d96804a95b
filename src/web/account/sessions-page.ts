import type { Ended } from '../../credentials/ending.ts';
import type { ListedSession } from '../../sessions/list.ts';
import type { Device } from '../../sessions/rules/device.ts';
import type { Session } from '../../sessions/store.ts';
import {
  doneNotice,
  fact,
  facts,
  foreign,
  hidden,
  type ListPart,
  moment,
  type Problems,
  pager,
  problemSummary,
  stoppedText,
} from '../kit/components.ts';
import { type Html, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import type { Messages } from '../kit/messages.ts';
import { type Frame, framed } from './frame.ts';

export interface SessionsPage extends Frame {
  /** This browser's. */
  readonly current: Session;
  readonly others: readonly ListedSession[];
  readonly part: ListPart;
  readonly ended: (Ended & { readonly all: boolean }) | undefined;
  readonly problems: Problems;
}

/** Where a person is signed in, with a way to end each of it. */
export function sessionsPage(site: Site, page: SessionsPage): Page {
  const { messages, path } = site;
  const text = messages.sessions;
  const { current, others, part, token, ended } = page;
  return framed(
    site,
    page,
    'sessions',
    text.title,
    html`<header><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${ended !== undefined && endedNotice(ended, messages)}
${problemSummary(messages, page.problems)}
<section class="card"><header><h2>${deviceName(current, messages)}</h2><p class="muted small">${text.thisBrowser}</p></header>${facts(
      sessionFacts(current, messages),
    )}</section>
${
  others.length > 0 &&
  html`<section class="card apps"><h2>${text.others}</h2>${others.map((session) => sessionRow(site, session, page))}${pager(site, '/account/sessions', part)}</section>
<section class="card"><header><h2>${text.endOthers}</h2><p class="muted small">${text.endOthersLead}</p></header>
<form method="post" action="${path('/account/sessions')}">${hidden(token, { session: 'others' })}<div><button class="danger" type="submit">${text.endOthers}</button></div></form></section>`
}
<p class="muted small">${others.length === 0 && html`${text.noOthers} `}${text.everywhere} <a href="${path('/account')}#sign-out-everywhere">${messages.account.signOutEverywhere}</a>.</p>`,
  );
}

const deviceName = ({ browser, system }: Device, { sessions: text }: Messages): string =>
  browser !== null && system !== null ? text.device(browser, system) : (browser ?? system ?? text.unknownDevice);

const sessionFacts = (session: Session, { sessions: text }: Messages): readonly Html[] => [
  fact(text.signedIn, moment(session.authTime)),
  fact(text.lastUsed, moment(session.lastSeenAt)),
  fact(text.from, session.network ?? text.unknown),
];

/** So many names of apps are written out. */
const NAMES = 5;

function appNames(names: readonly string[], { sessions: text }: Messages): Html {
  const more = names.length - NAMES;
  const shown = names.slice(0, NAMES).map((name, index) => html`${index > 0 && ', '}${foreign(name)}`);
  return html`${shown}${more > 0 && text.more(more)}`;
}

function sessionRow({ messages, path }: Site, session: ListedSession, { token, part }: SessionsPage): Html {
  const text = messages.sessions;
  const { sid, apps } = session;
  const id = `session-${sid}`;
  return html`<article class="app session" aria-labelledby="${id}"><h3 id="${id}">${deviceName(session, messages)}</h3>
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
<form method="post" action="${path('/account/sessions')}">${hidden(token, { session: sid, page: String(part.number) })}<button class="danger" type="submit" aria-describedby="${id}">${text.end}</button></form></article>`;
}

/** What has ended, what that stopped, and that it was looked at anew. */
function endedNotice({ at, all, sessions, ...stopped }: NonNullable<SessionsPage['ended']>, messages: Messages): Html {
  const { sessions: text } = messages;
  const [session] = sessions;
  if (!all && session === undefined) return doneNotice(html`<p><strong>${text.endedBefore}</strong></p>`);
  const what =
    all || session === undefined
      ? text.othersEnded(sessions.length, moment(at))
      : text.ended(deviceName(session, messages), moment(at));
  const lost = stopped.families > 0 && html`${text.appsLost(appNames(stopped.apps, messages))} ${text.askAgain} `;
  return doneNotice(html`<p><strong>${what}</strong></p><p>${lost}${stoppedText(stopped, messages)}</p>`);
}
