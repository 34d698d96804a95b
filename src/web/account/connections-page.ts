import { isOptional } from '../../claims/scopes.ts';
import type { ListedConnection, RevokedAccess } from '../../consent/connections.ts';
import { appPicture } from '../kit/app.ts';
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

export interface ConnectionsPage extends Frame {
  readonly connections: readonly ListedConnection[];
  readonly part: ListPart;
  /** Access that was taken away with this very press, or before. */
  readonly ended: RevokedAccess | undefined;
  readonly problems: Problems;
}

/** The apps that may see something of a person, with one press for each to end that. */
export function connectionsPage(site: Site, page: ConnectionsPage): Page {
  const { messages } = site;
  const text = messages.connections;
  const { connections, ended, part } = page;
  return framed(
    site,
    page,
    'connections',
    text.title,
    html`<header><h1>${text.title}</h1><p class="muted">${connections.length === 0 ? text.none : text.lead}</p></header>
${ended !== undefined && endedNotice(ended, messages)}
${problemSummary(messages, page.problems)}
${connections.length > 0 && html`<div class="card apps">${connections.map((connection) => appRow(site, connection, page))}${pager(site, '/account/connections', part)}</div>`}`,
  );
}

/** What stopped, and when; and what was found when it was looked at anew. */
function endedNotice({ app, at, ...stopped }: RevokedAccess, messages: Messages): Html {
  const { connections: text } = messages;
  return doneNotice(
    html`<p><strong>${text.revoked(foreign(app), moment(at))}</strong></p><p>${stoppedText(stopped, messages)} ${text.stopped} ${text.kept}</p>`,
  );
}

function appRow(site: Site, connection: ListedConnection, { token, part }: ConnectionsPage): Html {
  const { messages, path } = site;
  const text = messages.connections;
  const { clientId, name, owner, host, resources, connectedAt, lastUsedAt } = connection;
  const named = (scopes: readonly string[]) => scopes.filter(isOptional).map((scope) => messages.scopeNames[scope]);
  const declined = named(connection.declined);
  const id = `app-${clientId}`;
  return html`<article class="app" aria-labelledby="${id}">${appPicture(site, { id: clientId, name, picture: connection.picture })}<div class="app-name"><h2 id="${id}">${foreign(name)}</h2><p class="small muted">${foreign(host)}${owner !== null && html`, ${messages.consent.by(foreign(owner))}`}</p></div>
${facts([
  fact(text.sees, [...named(connection.scopes), text.basics].join(', '), true),
  declined.length > 0 && fact(text.declined, declined.join(', '), true),
  resources.length > 0 &&
    fact(
      messages.consent.places,
      resources.map((place, index) => html`${index > 0 && ', '}${foreign(place.name)}`),
      true,
    ),
  fact(text.since, moment(connectedAt)),
  fact(text.lastUsed, lastUsedAt === null ? text.never : moment(lastUsedAt)),
])}
<form method="post" action="${path('/account/connections')}">${hidden(token, { client_id: clientId, page: String(part.number) })}<button class="danger" type="submit" aria-label="${text.revokeOf(name)}">${text.revoke}</button></form></article>`;
}
