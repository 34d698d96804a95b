import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../platform/oauth-error.ts';
import { helpLine, hidden, isolate } from '../kit/components.ts';
import { sendErrorPage } from '../kit/error-page.ts';
import { html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import { notice } from './sign-up-pages.ts';

const text = {
  title: 'You are invited',
  toJoin: 'You can join ',
  toCreate: 'You can create an account here.',
  as: ' as ',
  join: 'Join',
  create: 'Create an account',
  dead: 'This invitation no longer works',
  deadLead: 'It was used already, was revoked, or has expired. Ask for another one.',
  elsewhere: 'You are in an organization already',
  elsewhereLead: 'An account belongs to one organization. Ask an administrator of yours to remove you first.',
  other: 'This invitation is for another address',
  otherLead: 'Use it with an account of the address that it was sent to.',
  joined: 'You joined',
  joinedLead: 'Your account is now a member of the organization.',
  account: 'Go to your account',
  haveAccount: 'Already have an account?',
  signIn: 'Sign in',
  again: ', then open this link again.',
  nothing: 'You have an account already, so there is nothing to do.',
} as const;

const accountLink = ({ path }: Site) => html`<a href="${path('/account')}">${text.account}</a>`;

/** What a person without a session may do with an invitation. */
export function invitationPage(site: Site, link: string, organization: string | undefined): Page {
  const lead =
    organization === undefined ? text.toCreate : html`${text.toJoin}<strong>${isolate(organization)}</strong>.`;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.title}</h1><p>${lead}</p></header>
<div><a class="button primary" href="${site.path(`/signup?invitation=${encodeURIComponent(link)}`)}">${text.create}</a></div>
<p class="small">${text.haveAccount} <a href="${site.path('/login')}">${text.signIn}</a>${text.again}</p></section>
${helpLine(site)}`,
  };
}

/** The button with which a signed-in person joins. */
export function joinPage(
  site: Site,
  it: { readonly token: string; readonly link: string; readonly organization: string; readonly username: string },
): Page {
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.title}</h1><p>${text.toJoin}<strong>${isolate(it.organization)}</strong>${text.as}<strong>${isolate(it.username)}</strong>.</p></header>
<form method="post" action="${site.path('/invitation')}">${hidden(it.token, { link: it.link })}<button class="primary" type="submit">${text.join}</button></form></section>`,
  };
}

export const joinedPage = (site: Site): Page => notice(site, text.joined, text.joinedLead, accountLink(site));
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
