import type { FastifyReply, FastifyRequest } from 'fastify';
import { helpLine, hidden, isolate, operator } from '../../pages/components.ts';
import { sendErrorPage } from '../../pages/error-page.ts';
import { html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { invitationTexts as text } from './invitation-messages.ts';
import { signUpTexts } from './sign-up-messages.ts';
import { notice } from './sign-up-pages.ts';

const accountLink = ({ path }: Site) => html`<a class="button primary" href="${path('/account')}">${text.account}</a>`;

interface ShownInvitation {
  /** The token of the form. */
  readonly token: string;
  readonly link: string;
  /** The organization that the person joins, if there is one. */
  readonly organization: string | undefined;
}

/**
 * What a person without a session may do with an invitation.
 * @param mayCreate whether people can create accounts with an invitation
 */
export function invitationPage(
  site: Site,
  { token, link, organization, mayCreate }: ShownInvitation & { readonly mayCreate: boolean },
): Page {
  const { path } = site;
  const join = organization && html`<p>${text.toJoin}<strong>${isolate(organization)}</strong>.</p>`;
  const lead = join ?? (mayCreate ? html`<p>${text.toCreate}</p>` : '');
  const create = html`<a class="button primary" href="${path(`/signup?invitation=${encodeURIComponent(link)}`)}">${text.create}</a>`;
  const actions = mayCreate
    ? html`${create}<button class="equal" type="submit">${text.signIn}</button>`
    : html`<button class="primary" type="submit">${text.signIn}</button>`;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.title}</h1>${lead}</header>
${mayCreate ? '' : html`<p>${signUpTexts.closed(operator(site))}</p>`}
<form method="post" action="${path('/invitation')}">${hidden(token, { link })}<div class="actions">${actions}</div></form></section>
${helpLine(site)}`,
  };
}

/** The button with which a signed-in person joins. */
export function joinPage(site: Site, it: ShownInvitation & { readonly username: string }): Page {
  const organization = isolate(it.organization ?? '');
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.title}</h1><p>${text.toJoin}<strong>${organization}</strong>${text.as}<strong>${isolate(it.username)}</strong>.</p></header>
<form method="post" action="${site.path('/invitation')}">${hidden(it.token, { link: it.link })}<button class="primary" type="submit">${text.join}</button></form></section>`,
  };
}

export const joinedPage = (site: Site, organization: string): Page =>
  notice(site, text.joined(organization), text.joinedLead, accountLink(site));
export const nothingToJoinPage = (site: Site): Page => notice(site, text.title, text.nothing, accountLink(site));

/** Answers that an invitation cannot be accepted any more, or never could. */
export function sendDeadInvitation(request: FastifyRequest, reply: FastifyReply, site: Site): FastifyReply {
  const refusal = new OAuthError(404, 'not_found', text.deadLead, {}, 'no open invitation');
  return sendErrorPage(request, reply, site, refusal, { title: text.dead, text: text.deadLead, onward: 'account' });
}

/** Why a signed-in person cannot join. */
export const refusedInvitationPage = (site: Site, refusal: 'other address' | 'other organization'): Page =>
  refusal === 'other address'
    ? notice(site, text.other, text.otherLead, accountLink(site))
    : notice(site, text.elsewhere, text.elsewhereLead, accountLink(site));
