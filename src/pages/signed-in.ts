import type { Account } from '../accounts/store.ts';
import { hidden, isolate } from './components.ts';
import { type Html, html } from './html.ts';
import type { Site } from './layout.ts';
import { picture } from './person.ts';

/** Who is signed in, for the end of the masthead, with a link to the account and a form that signs out. */
export const signedInAside = (site: Site, account: Account, logoutToken: string): Html =>
  html`<div class="signed-in"><a href="${site.path('/account')}">${picture(site, account, 32)}<span>${isolate(account.profile.displayName)}</span></a><form method="post" action="${site.path('/logout')}">${hidden(logoutToken)}<button class="link" type="submit">${site.messages.account.signOut}</button></form></div>`;
