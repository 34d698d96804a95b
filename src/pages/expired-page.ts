import type { Account } from '../accounts/store.ts';
import { appHalf, type ShownApp } from './app.ts';
import { helpLine, isolate } from './components.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { tile } from './mark.ts';
import type { Messages } from './messages.ts';

/**
 * Says that the request of an app is no longer pending. It leads to the app's home page, never to a redirect URI: the app no longer expects an
 * answer to that request.
 * @param account the person who has signed in meanwhile
 */
export function expiredPage(
  site: Site,
  client: ShownApp & { readonly homepageUrl: string | null },
  cause: keyof Messages['expired']['causes'],
  account: Pick<Account, 'profile'> | undefined,
): Page {
  const { messages, path } = site;
  const text = messages.expired;
  const app = isolate(client.name);
  const { homepageUrl } = client;
  return {
    title: text.title,
    layout: 'narrow',
    theme: account?.profile.theme ?? null,
    body: html`<section class="card"><header class="asks">${tile({ kind: 'large', app: appHalf(site, client) })}<div><h1>${text.title}</h1></div></header>
<p>${text.causes[cause](app)}${text.again}</p>
${account !== undefined && html`<p>${text.signedIn(isolate(account.profile.displayName), isolate(account.profile.username))}</p>`}
${homepageUrl !== null && html`<a class="button primary" href="${homepageUrl}" rel="noreferrer"><span>${text.toApp(app)}</span></a>`}
<p><a href="${path('/account')}">${text.toAccount}</a></p></section>
${helpLine(site)}`,
  };
}
