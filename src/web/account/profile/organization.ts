import type { FastifyInstance, FastifyReply } from 'fastify';
import { leaveOrganization } from '../../../account-actions/organizations/organizations.ts';
import { readOwnMemberships } from '../../../account-actions/organizations/own-memberships.ts';
import type { Membership } from '../../../organizations/store.ts';
import {
  confirmStep,
  doneNotice,
  fact,
  facts,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  operator,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../../pages/html.ts';
import { type Site, sendPage } from '../../../pages/layout.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { isSnowflake } from '../../../platform/ids/ids.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { ownerLink } from '../owner-link.ts';
import { type ProofState, proofGate, readProof, requireProof } from '../proof.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from '../visit.ts';

export const ORGANIZATION_PAGE = '/account/organization';
const LEAVE = `${ORGANIZATION_PAGE}/leave`;

/** How many groups are shown: a page stays light. */
export const GROUPS_SHOWN = 100;

/** The page on which people see what they are a member of, and leave their organization. */
export function ownOrganizationRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { site } = services;
  const { messages } = site;
  const { organization: text } = messages;

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problems: Problems,
    done?: HtmlPart,
  ): Promise<FastifyReply> {
    const frame = frameOf(visit);
    const proof = await readProof(services, visit);
    const { organization, isRequiring, groups } = await readOwnMemberships(
      services,
      visit.account.id,
      GROUPS_SHOWN + 1,
    );
    const content = html`<header><h1>${text.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${organization === undefined ? html`<section class="card"><p>${text.noOrganization}</p></section>` : organizationCard(site, organization, isRequiring, frame.token, proof)}
${groupsCard(site, groups)}`;
    return sendPage(reply, status, site, accountLayout(site, frame, 'profile', text.title, content, problems));
  }

  app.get(ORGANIZATION_PAGE, async (request, reply) => show(reply, 200, visitOf(request), NO_PROBLEMS));

  const proved = requireProof(services, 'organization');
  app.post(LEAVE, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const id = formOf(request).get('organization') ?? '';
    const refuse = (problem: HtmlPart) => show(reply, 409, visit, generalProblem(problem));
    if (!isSnowflake(id)) return refuse(text.notMember);
    const result = await leaveOrganization(servicesIn(services, visit), id, visit.account.id, visit.origin);
    if (result === 'last owner') return refuse(text.lastOwner(ownerLink(site), operator(site)));
    if (result === 'not a member') return refuse(text.notMember);
    return show(reply, 200, visit, NO_PROBLEMS, text.left(isolate(result.left)));
  });
}

function organizationCard(
  site: Site,
  { id, name, domain, role }: Membership,
  isRequired: boolean,
  token: string,
  proof: ProofState,
): Html {
  const { messages, path } = site;
  const { organization: text, person } = messages;
  const leave = confirmStep(
    text.leave,
    html`<form method="post" action="${path(LEAVE)}">${hidden(token, { organization: id })}<p class="small">${text.leaveLead}</p><div><button class="danger" type="submit" aria-label="${text.leaveOf(name)}">${text.leaveYes}</button></div></form>`,
  );
  return html`<section class="card" aria-labelledby="organization"><h2 id="organization">${isolate(name)}</h2>
${facts([
  fact(text.role, role === null ? text.noRole : person.roles[role]),
  fact(text.domain, isolate(domain)),
  isRequired && fact(text.secondFactor, text.secondFactorRequired, true),
])}
${proofGate(site, proof, 'organization', leave)}</section>`;
}

function groupsCard({ messages: { organization: text } }: Site, groups: readonly ListedGroup[]): Html {
  const shown = groups.slice(0, GROUPS_SHOWN);
  const rows = shown.map(
    ({ displayName, organization }) =>
      html`<li><p><strong>${isolate(displayName)}</strong></p><p class="muted small">${organization === null ? text.ofService : text.ofOrganization(isolate(organization))}</p></li>`,
  );
  return html`<section class="card"><header><h2>${text.groups}</h2><p class="muted small">${groups.length === 0 ? text.noGroups : text.groupsLead}</p></header>
${groups.length > 0 && html`<ul class="events">${rows}</ul>`}${groups.length > shown.length && html`<p class="muted small">${text.moreGroups(shown.length)}</p>`}</section>`;
}

interface ListedGroup {
  readonly displayName: string;
  readonly organization: string | null;
}
