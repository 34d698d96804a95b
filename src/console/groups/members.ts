import type { FastifyInstance, FastifyReply } from 'fastify';
import { addToGroup, getGroup, removeFromGroup } from '../../account-actions/access/groups.ts';
import { getAccount } from '../../account-actions/accounts/accounts.ts';
import type { Account } from '../../accounts/store.ts';
import type { Group } from '../../groups/store.ts';
import {
  doneNotice,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { Failure } from '../../platform/failure.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { consolePage } from '../layout.ts';
import { findNamed } from '../named-person.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { groupAddress } from './pages.ts';

type MemberAct = 'add-member' | 'remove-member';
const memberActs: readonly MemberAct[] = ['add-member', 'remove-member'];

/** Adds a person to a group, or removes one: a page that says what that gives or ends, and an answer that says what holds now. */
export function memberRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const { groups: text, cancel } = site.messages.operators;
  const preHandler = requireFreshProof(services);
  const acts = { permission: 'groups.manage', objects: { group: 'id', person: 'userId' }, acts: true } as const;

  function ask(
    reply: FastifyReply,
    status: number,
    visit: ConsoleVisit,
    { act, group, account, problems }: { act: MemberAct; group: Group; account: Account; problems: Problems },
  ): FastifyReply {
    const [who, where] = [isolate(account.profile.displayName), isolate(group.displayName)];
    const adds = act === 'add-member';
    const title = (adds ? text.addTitle : text.removeTitle)(who, where);
    const submit = adds ? text.addSubmit : text.removeSubmit;
    const content = html`<header class="object"><h1>${title}</h1><p class="muted">${isolate(account.profile.username)} · <span class="figures">${account.id}</span></p></header>
${problemSummary(site.messages, problems)}
<section class="card"><p>${adds ? text.addLead : text.removeLead}</p>
<form method="post" action="${site.path(`/console/groups/${act}`)}">${hidden(visit.token, { id: group.id, user: account.id })}<div class="actions"><button class="${adds ? 'primary' : 'danger'}" type="submit">${submit}</button><a href="${site.path(groupAddress(group.id))}">${cancel}</a></div></form></section>`;
    return sendPage(reply, status, site, consolePage(site, visit, { section: 'groups', title, content, problems }));
  }

  function done(reply: FastifyReply, visit: ConsoleVisit, group: Group, title: HtmlPart, now: string): FastifyReply {
    const content = html`<header><h1>${title}</h1></header>
${doneNotice(html`<p>${now}</p>`)}
<p><a class="button" href="${site.path(groupAddress(group.id))}">${text.back}</a></p>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'groups', title, content }));
  }

  const names = { permission: 'groups.manage', objects: { group: 'id' }, acts: true } as const;
  app.get('/console/groups/add-member', { config: names, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const group = await getGroup(visit.services, visit.named.id ?? '');
    // A form that waited for a proof comes back with the person that it named.
    const typed = visit.named.member || (visit.named.userId ?? '');
    const account = await visit.services.database.read(() => findNamed(visit, group.organizationId, typed));
    if (account !== undefined) {
      return ask(reply, 200, visit, { act: 'add-member', group, account, problems: NO_PROBLEMS });
    }
    const content = html`<header><h1>${text.unknownTitle}</h1></header>
<section class="card"><p>${text.unknown(isolate(typed))}</p><p><a class="button" href="${site.path(groupAddress(group.id))}">${text.back}</a></p></section>`;
    const page = consolePage(site, visit, { section: 'groups', title: text.unknownTitle, content });
    return sendPage(reply, 404, site, page);
  });

  app.get('/console/groups/remove-member', { config: acts, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const group = await getGroup(visit.services, visit.named.id ?? '');
    const account = await getAccount(visit.services, visit.named.userId ?? '');
    return ask(reply, 200, visit, { act: 'remove-member', group, account, problems: NO_PROBLEMS });
  });

  for (const act of memberActs) {
    app.post(`/console/groups/${act}`, { config: acts, preHandler }, async (request, reply) => {
      const visit = consoleVisitOf(request);
      const { id: groupId = '', userId: accountId = '' } = visit.named;
      try {
        const change =
          act === 'add-member'
            ? await addToGroup(visit.services, groupId, accountId, visit.origin)
            : await removeFromGroup(visit.services, groupId, accountId, visit.origin);
        const group = await getGroup(visit.services, groupId);
        const account = await getAccount(visit.services, accountId);
        const [who, where] = [isolate(account.profile.displayName), isolate(group.displayName)];
        return change === undefined
          ? done(reply, visit, group, text.added(who, where), text.addedNow)
          : done(reply, visit, group, text.removed(who, where), text.removedNow(change.ended, change.kept));
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'conflict') throw error;
        const group = await getGroup(visit.services, groupId);
        const account = await getAccount(visit.services, accountId);
        const { status } = toOAuthError(error, request);
        return ask(reply, status, visit, { act, group, account, problems: generalProblem(error.message) });
      }
    });
  }
}
