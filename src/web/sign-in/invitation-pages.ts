import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenInvitation } from '../../account-actions/invitations/invitations.ts';
import type { JoinObstacle } from '../../account-actions/invitations/obstacles.ts';
import type { Account } from '../../accounts/store.ts';
import type { Role } from '../../organizations/store.ts';
import { fact, facts, helpLine, hidden, isolate, operator } from '../../pages/components.ts';
import { sendErrorPage } from '../../pages/error-page.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { invitationTexts as text } from './invitation-messages.ts';
import type { UpstreamButton } from './pages.ts';
import { signUpTexts } from './sign-up-messages.ts';
import { notice } from './sign-up-pages.ts';

const accountLink = ({ path }: Site) => html`<a class="button primary" href="${path('/account')}">${text.account}</a>`;
const organizationLink = ({ path }: Site, label: string) =>
  html`<a class="button primary" href="${path('/account/organization')}">${label}</a>`;

interface ShownInvitation extends Omit<OpenInvitation, 'invitation'> {
  /** The token of the form. */
  readonly token: string;
  readonly link: string;
  readonly email: string | null;
  readonly role: Role | null;
}

/** Who invites, to what, and as what. */
function lead({ organization, inviter, isInName, role }: ShownInvitation, mayCreate: boolean): Html | string {
  if (organization === undefined) return mayCreate ? html`<p>${text.toCreate}</p>` : '';
  const { name, domain } = organization;
  const shown = html`<strong>${isolate(name)}</strong> (${isolate(domain)})`;
  const asRole = role === null ? '' : text.roles[role];
  if (inviter === undefined) return html`<p>${text.byOperator(shown, asRole)}</p>`;
  const by = isInName ? text.inName : text.byMember;
  return html`<p>${by(html`<strong>${isolate(inviter)}</strong>`, shown, asRole)}</p>`;
}

const titleOf = ({ organization }: ShownInvitation): string =>
  organization === undefined ? text.title : text.titleOf(organization.name);

/** A link that anyone may use is not declined. */
const decline = ({ email }: ShownInvitation): Html | false =>
  email !== null && html`<button class="link" type="submit" name="decision" value="decline">${text.decline}</button>`;

const addressFact = ({ email }: ShownInvitation): Html | false =>
  email !== null && facts([fact(text.email, isolate(readableEmail(email)), true)]);

/**
 * What a person without a session may do with an invitation.
 * @param it.mayCreate whether people can create accounts with an invitation
 * @param it.upstreams the other providers with which they can
 */
export function invitationPage(
  site: Site,
  it: ShownInvitation & { readonly mayCreate: boolean; readonly upstreams: readonly UpstreamButton[] },
): Page {
  const { path } = site;
  const { token, link, mayCreate, upstreams } = it;
  const buttons = upstreams.map(
    ({ name, displayName }) =>
      html`<button class="equal" type="submit" name="upstream" value="${name}">${site.messages.signIn.continueWith(isolate(displayName))}</button>`,
  );
  const create = html`<a class="button primary" href="${path(`/signup?invitation=${encodeURIComponent(link)}`)}">${text.create}</a>`;
  const actions = mayCreate
    ? html`${create}<button class="equal" type="submit">${text.signIn}</button>`
    : html`<button class="primary" type="submit">${text.signIn}</button>`;
  return {
    title: titleOf(it),
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${titleOf(it)}</h1>${lead(it, mayCreate)}</header>
${addressFact(it)}
${mayCreate || upstreams.length > 0 ? '' : html`<p>${signUpTexts.closed(operator(site))}</p>`}
<form method="post" action="${path('/invitation')}">${hidden(token, { link })}<div class="actions">${actions}${buttons}${decline(it)}</div></form></section>
${helpLine(site)}`,
  };
}

type Obstacle = Exclude<JoinObstacle, { readonly kind: 'member' }>;

/** The button with which a signed-in person joins; or why they cannot, and where they go on. */
export function joinPage(
  site: Site,
  it: ShownInvitation & { readonly account: Account },
  obstacle: Obstacle | undefined,
): Page {
  const { account, token, link, organization } = it;
  const title = obstacle === undefined ? titleOf(it) : text.cannot(organization?.name ?? '');
  const onward =
    obstacle === undefined
      ? html`<button class="primary" type="submit">${text.join}</button>`
      : obstacle.kind === 'other organization'
        ? organizationLink(site, text.leave)
        : accountLink(site);
  return {
    title,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${title}</h1>${lead(it, false)}</header>
${addressFact(it)}
${facts([fact(text.signedInAs, html`${isolate(account.profile.displayName)}, ${account.profile.username}`, true)])}
${obstacle !== undefined && html`<p>${reasonOf(obstacle, it)}</p>`}
<form method="post" action="${site.path('/invitation')}">${hidden(token, { link })}<div class="actions">${onward}${decline(it)}</div></form></section>
${helpLine(site)}`,
  };
}

function reasonOf(obstacle: Obstacle, { organization }: ShownInvitation): HtmlPart {
  if (obstacle.kind === 'other address') return text.otherAddress;
  if (obstacle.kind === 'set by others') return text.setByOthers;
  return text.elsewhere(html`<strong>${isolate(obstacle.name)}</strong>`, isolate(organization?.name ?? ''));
}

export const declinedPage = (site: Site, organization: string | undefined): Page =>
  notice(
    site,
    organization === undefined ? text.declined : text.declinedOf(organization),
    text.declinedLead,
    html`<a class="button" href="${site.path('/')}">${text.start}</a>`,
  );
export const alreadyJoinedPage = (site: Site, organization: string): Page =>
  notice(site, text.already(organization), text.alreadyLead, accountLink(site));
/** Says of what the person is a member now, and as what. */
export const joinedPage = (site: Site, organization: string, role: Role | null): Page =>
  notice(
    site,
    text.joined(organization),
    `${text.joinedAs[role ?? 'MEMBER']} ${text.joinedLead}`,
    organizationLink(site, text.membership),
  );
export const nothingToJoinPage = (site: Site): Page => notice(site, text.title, text.nothing, accountLink(site));

/** Answers that an invitation cannot be accepted any more, or never could. */
export function sendDeadInvitation(request: FastifyRequest, reply: FastifyReply, site: Site): FastifyReply {
  const refusal = new OAuthError(404, 'not_found', text.deadLead, {}, 'no open invitation');
  return sendErrorPage(request, reply, site, refusal, { title: text.dead, text: text.deadLead, onward: 'account' });
}
