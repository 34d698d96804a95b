import type { Account } from '../../accounts/store.ts';
import { hidden } from '../kit/components.ts';
import { type Html, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';

/** What every page of the account carries. */
export interface Frame {
  readonly account: Account;
  /** For the forms of the page. */
  readonly token: string;
  readonly logoutToken: string;
}

type Place = 'account' | 'profile' | 'connections' | 'sessions';

/** A page of the account: the way between them stands beside it, the way out above it. */
export const framed = (
  site: Site,
  { account, logoutToken }: Pick<Frame, 'account' | 'logoutToken'>,
  place: Place,
  title: string,
  content: Html,
): Page => ({
  title,
  layout: 'wide',
  theme: account.profile.theme,
  aside: signOutForm(site, logoutToken),
  body: html`${nav(site, place)}<div class="stack">
${content}
</div>`,
});

function nav({ messages, path }: Site, current: Place): Html {
  const link = (name: Place, address: string, label: string) =>
    html`<a href="${path(address)}"${name === current && html` aria-current="page"`}>${label}</a>`;
  return html`<nav class="side" aria-label="${messages.account.title}">${link('account', '/account', messages.account.nav)}${link('profile', '/account/profile', messages.profile.nav)}${link('connections', '/account/connections', messages.connections.title)}${link('sessions', '/account/sessions', messages.sessions.nav)}</nav>`;
}

const signOutForm = ({ messages, path }: Site, token: string): Html =>
  html`<form method="post" action="${path('/logout')}">${hidden(token)}<button class="link" type="submit">${messages.account.signOut}</button></form>`;
