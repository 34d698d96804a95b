import { PERMISSIONS, type Permission } from '../operators/permissions.ts';
import { CannotOpen, type InsufficientPermission } from '../operators/refusal.ts';
import { commandBlock, hidden, isolate } from '../pages/components.ts';
import { type Html, html } from '../pages/html.ts';
import type { Page, Site } from '../pages/layout.ts';
import { consolePage, type FrameVisit, SEARCH } from './layout.ts';

/*
 * What the console says instead of a page.
 */

const step = (title: string, { account }: FrameVisit, body: Html): Page => ({
  title,
  layout: 'narrow',
  theme: account.profile.theme,
  body: html`<section class="card"><header><h1>${title}</h1></header>${body}</section>`,
});

const signOut = ({ path }: Site, { logoutToken }: FrameVisit, label: string): Html =>
  html`<form method="post" action="${path('/logout')}">${hidden(logoutToken)}<div><button class="equal" type="submit">${label}</button></div></form>`;

/** The person has no role of operators. */
export function noRolePage(site: Site, visit: FrameVisit): Page {
  const { messages, path } = site;
  const { gate: text, account } = messages.operators;
  const { username } = visit.account.profile;
  return step(
    text.noRoleTitle,
    visit,
    html`<p>${text.noRole(isolate(username))}</p>${commandBlock(text.noRoleCommand(username), messages.error, messages.error.copyCommand)}
<p>${text.noRoleOther}</p>${signOut(site, visit, messages.account.signOut)}<p><a href="${path('/account')}">${account}</a></p>`,
  );
}

/** The operator has no second factor. */
export const setUpPage = (site: Site, visit: FrameVisit): Page =>
  step(
    site.messages.operators.gate.setUpTitle,
    visit,
    html`<p>${site.messages.operators.gate.setUp}</p><p><a class="button primary" href="${site.path('/account/security')}">${site.messages.operators.gate.setUpLink}</a></p>`,
  );

/** The operator has a second factor, and signed in without it. */
export const againPage = (site: Site, visit: FrameVisit): Page =>
  step(
    site.messages.operators.gate.againTitle,
    visit,
    html`<p>${site.messages.operators.gate.again}</p>${signOut(site, visit, site.messages.operators.gate.againSubmit)}`,
  );

/** The operator may not do something. @param asked the permission that it needs: any other is one of the person on whom they act */
export function refusedPage(
  site: Site,
  visit: FrameVisit,
  refusal: InsufficientPermission,
  asked: Permission | undefined,
): Page {
  const { gate: text, person } = site.messages.operators;
  const { permission } = refusal;
  const cannotOpen = refusal instanceof CannotOpen;
  const isStronger = cannotOpen || permission !== asked;
  const cannotTitle = permission === 'users.delete' ? text.cannotDeleteTitle : text.cannotOpenTitle;
  const title = cannotOpen ? cannotTitle : isStronger ? text.strongerTitle : text.missingTitle;
  const { about, roles } = PERMISSIONS[permission];
  const held = cannotOpen ? person.cannotOpen[refusal.because] : person.stronger(permission);
  const lead = isStronger ? held : text.missing(html`<code>${permission}</code>`);
  const needed = !cannotOpen && html`<p class="muted">${about} ${text.missingRoles(roles)}</p>`;
  return consolePage(site, visit, {
    title,
    content: html`<header><h1>${title}</h1></header><section class="card"><p>${lead}</p>${needed}</section>`,
  });
}

/** There is no such object, or it is outside of what the operator may see. */
export const notFoundPage = (site: Site, visit: FrameVisit, what: string): Page =>
  consolePage(site, visit, {
    title: site.messages.operators.gate.notFoundTitle,
    content: html`<header><h1>${site.messages.operators.gate.notFoundTitle}</h1></header><section class="card"><p>${what}</p><p><a href="${site.path(SEARCH)}">${site.messages.operators.gate.notFoundSearch}</a></p></section>`,
  });

/** No section is for the operator's role. */
export const nothingPage = (site: Site, visit: FrameVisit): Page =>
  consolePage(site, visit, {
    title: site.messages.operators.gate.nothingTitle,
    content: html`<header><h1>${site.messages.operators.gate.nothingTitle}</h1></header><section class="card"><p>${site.messages.operators.gate.nothing}</p></section>`,
  });
