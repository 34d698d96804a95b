import { doneNotice, fact, facts, fileField, hidden, type Problems, problemSummary } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { profileFacts, scopeValues, valueText } from '../../pages/person.ts';
import { LARGEST_PICTURE, PICTURE_TYPES } from '../../pictures/pictures.ts';
import { type AccountFrame, accountLayout } from './layout.ts';
import { passkeyOffer } from './passkey-offer.ts';

interface AccountPage extends AccountFrame {
  readonly problems: Problems;
  readonly done: HtmlPart | undefined;
  /** Whether a passkey is offered. */
  readonly offersPasskey: boolean;
}

/** The main page of an account: its profile, and the picture. */
export function accountPage(site: Site, page: AccountPage): Page {
  const { messages, path } = site;
  const { account, token, problems, done, offersPasskey } = page;
  const { picture } = messages;
  const { profile } = account;
  const factsOf = (scope: 'details' | 'phone' | 'social', name: string) =>
    scopeValues(scope, profile, undefined, {}, messages).map((shared) =>
      fact(shared.name ?? name, valueText(shared, messages)),
    );
  const shown = accountLayout(
    site,
    page,
    'profile',
    messages.profile.title,
    html`<header><h1>${messages.profile.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${offersPasskey && passkeyOffer(site, token)}
<section class="card"><header class="with-link"><h2>${messages.profile.shared}</h2><a href="${path('/account/profile')}">${messages.profile.edit}</a></header>${profileFacts(site, account)}
<p class="small"><a href="${path('/account/email')}">${profile.emailVerified ? messages.address.changeLink : messages.address.verifyLink}</a></p>
<hr>
${facts([
  factsOf('phone', messages.person.phone),
  factsOf('details', ''),
  factsOf('social', messages.person.social),
])}</section>
<section class="card"><header><h2>${picture.title}</h2><p class="muted small">${picture.lead}</p></header>
<form method="post" action="${path('/account/picture')}" enctype="multipart/form-data" novalidate>${hidden(token)}
${fileField({ name: 'picture', label: picture.file, hint: html`${picture.hint} <span class="scripted">${picture.hintSmaller}</span> ${picture.hintKept}`, accept: PICTURE_TYPES, largest: LARGEST_PICTURE, problems })}
<div class="actions"><button class="primary" type="submit">${picture.submit}</button>${profile.picture !== null && html`<button class="danger" type="submit" name="action" value="remove">${picture.remove}</button>`}</div></form></section>`,
  );
  return offersPasskey ? { ...shown, scripts: ['passkeys'] } : shown;
}
