import type { FastifyInstance } from 'fastify';
import { type AccountGrant, liveGrantsOf } from '../../access/operator-grant-store.ts';
import { openAccount } from '../../account-actions/accounts/accounts.ts';
import type { Account } from '../../accounts/store.ts';
import { type Connection, mergeGrants } from '../../consent/rules/merge-grants.ts';
import { listConnectedGrants } from '../../consent/store.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import type { Membership } from '../../organizations/store.ts';
import { fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import { type ListedSession, listSessions } from '../../sessions/list.ts';
import { deviceName } from '../../web/account/device-name.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { actAddress } from './acts.ts';
import { personPage } from './frame.ts';
import { listMemberships, type PersonMemberships } from './membership-store.ts';

/** How many groups and apps of a person are listed. */
const MOST = 100;

/** The other pages about a person: their browsers, their apps, their groups and organizations. */
export function personPartRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const objects = { person: 'id' } as const;
  const readsPeople = { config: { permission: 'users.read', objects } } as const;
  type OfPerson = { Params: { id: string } };

  app.get<OfPerson>('/console/people/:id/sessions', readsPeople, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const account = await openAccount(visit.services, request.params.id, 'sessions', visit.origin);
    const sessions = await listSessions(visit.services, account);
    const content = sessionsContent(site, visit, account, sessions);
    return sendPage(reply, 200, site, personPage(site, visit, account, 'sessions', content, clock()));
  });

  app.get<OfPerson>('/console/people/:id/apps', readsPeople, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const account = await openAccount(visit.services, request.params.id, 'connections', visit.origin);
    const grants = await visit.services.database.read(() => listConnectedGrants({ accountId: account.id }));
    const content = appsContent(site, visit, account, mergeGrants(grants).slice(0, MOST));
    return sendPage(reply, 200, site, personPage(site, visit, account, 'apps', content, clock()));
  });

  const readsGroups = { config: { permission: 'groups.read', objects } } as const;
  app.get<OfPerson>('/console/people/:id/memberships', readsGroups, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const account = await openAccount(visit.services, request.params.id, 'groups', visit.origin);
    const { id: accountId } = account;
    const found = await visit.services.database.read(function* read() {
      return {
        ...(yield* listMemberships({ accountId, limit: MOST + 1 })),
        grants: yield* liveGrantsOf(accountId, clock()),
      };
    });
    const content = membershipsContent(site, visit, found);
    return sendPage(reply, 200, site, personPage(site, visit, account, 'memberships', content, clock()));
  });
}

function sessionsContent(
  site: Site,
  { operator }: ConsoleVisit,
  { id }: Account,
  sessions: readonly ListedSession[],
): Html {
  const { path, messages } = site;
  const text = messages.operators.person;
  const ends = holds(operator, 'users.end_sessions', INSTALLATION);
  const rows = sessions.map((session) => {
    const name = deviceName(session, messages);
    const apps = session.apps.map((app) => isolate(app.name));
    const address = actAddress('end-session', { id, session: session.sid });
    return html`<li><div><strong>${name}</strong>${facts([
      fact(text.signedIn, moment(session.authTime)),
      fact(text.lastUsed, moment(session.lastSeenAt)),
      fact(text.network, session.network ?? text.unknown),
      apps.length > 0 && fact(text.sessionApps, joinList(apps, messages, 'enumeration'), true),
    ])}</div>${ends && html`<a href="${path(address)}" aria-label="${text.end}: ${name}">${text.end}</a>`}</li>`;
  });
  const everywhere =
    ends &&
    sessions.length > 0 &&
    html`<p class="acts"><a class="button danger" href="${path(actAddress('end-sessions', { id }))}">${messages.operators.acts.act['end-sessions'].link}</a></p>`;
  return html`<section class="card"><h2>${text.sessionsTitle}</h2>${sessions.length === 0 ? html`<p class="muted">${text.noSessions}</p>` : html`<ul class="items">${rows}</ul>`}${everywhere}</section>`;
}

function appsContent(
  site: Site,
  { operator }: ConsoleVisit,
  { id }: Account,
  connections: readonly Connection[],
): Html {
  const { path, messages } = site;
  const text = messages.operators.person;
  const revokes = holds(operator, 'users.revoke_connections', INSTALLATION);
  const rows = connections.map(({ clientId, name, scopes, connectedAt, lastUsedAt, lastNetwork }) => {
    const address = actAddress('revoke-app', { id, app: clientId });
    return html`<li><div><strong>${isolate(name)}</strong>${facts([
      fact(text.sees, scopes.length === 0 ? '–' : isolate(scopes.join(' ')), true),
      fact(text.connected, moment(connectedAt)),
      fact(text.lastUsed, lastUsedAt === null ? messages.connections.never : moment(lastUsedAt)),
      lastNetwork !== null && fact(messages.sessions.from, lastNetwork),
    ])}</div>${revokes && html`<a href="${path(address)}" aria-label="${text.revoke}: ${name}">${text.revoke}</a>`}</li>`;
  });
  return html`<section class="card"><h2>${text.appsTitle}</h2>${rows.length === 0 ? html`<p class="muted">${text.noApps}</p>` : html`<ul class="items">${rows}</ul>`}</section>`;
}

interface Memberships extends PersonMemberships {
  readonly grants: readonly AccountGrant[];
}

function membershipsContent(
  site: Site,
  { operator }: ConsoleVisit,
  { groups, organization, grants }: Memberships,
): Html {
  const { operators: texts } = site.messages;
  const text = texts.person;
  const list = (rows: readonly HtmlPart[], none: string) =>
    rows.length === 0
      ? html`<p class="muted">${none}</p>`
      : html`<ul class="items">${rows.map((row) => html`<li><div>${row}</div></li>`)}</ul>`;
  const role = (name: Membership['role']) => (name === null ? text.noMemberRole : text.memberRoles[name]);
  const memberOf =
    organization === undefined
      ? []
      : [
          html`<strong>${isolate(organization.name)}</strong> <span class="muted">${isolate(organization.domain)}, ${role(organization.role)}</span>`,
        ];
  const inGroups = groups
    .slice(0, MOST)
    .map(
      (group) =>
        html`<strong>${isolate(group.name)}</strong>${group.organization !== null && html` <span class="muted">${text.inOrganization(isolate(group.organization))}</span>`}`,
    );
  const held = grants.map(
    (grant) =>
      html`<strong>${grant.organizationId === null ? texts.roles[grant.role] : texts.inOrganization(texts.roles[grant.role])}</strong>${grant.expiresAt !== null && html` <span class="muted">${texts.until(moment(grant.expiresAt))}</span>`}`,
  );
  return html`<section class="card"><h2>${text.groups}</h2>${list(inGroups, text.noGroups)}${groups.length > MOST && html`<p class="muted">${text.moreGroups(MOST)}</p>`}</section>
<section class="card"><h2>${text.organizations}</h2>${list(memberOf, text.noOrganizations)}</section>
${holds(operator, 'operators.read', INSTALLATION) && html`<section class="card"><h2>${text.roles}</h2>${list(held, text.noRoles)}</section>`}`;
}
