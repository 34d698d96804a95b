import type { Account } from '../../accounts/store.ts';
import { type ListPart, NO_PROBLEMS, type Problems, partNumber } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { signedInAside } from '../../pages/signed-in.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';

/** What every page of the account shows around its content. */
export interface AccountFrame {
  readonly account: Account;
  /** For the forms of the page. */
  readonly token: string;
  readonly logoutToken: string;
  /** The hidden field of a form whose text is kept for its person: see `keptField`. */
  readonly keptFor: (address: string) => Readonly<Record<string, string>>;
}

type AccountPageName = 'profile' | 'security' | 'sessions' | 'connections' | 'data';

/** A page of the account, with the navigation beside it and the sign-out form above it. */
export const accountLayout = (
  site: Site,
  { account, logoutToken }: Pick<AccountFrame, 'account' | 'logoutToken'>,
  current: AccountPageName,
  title: string,
  content: Html,
  problems: Problems = NO_PROBLEMS,
): Page => ({
  title,
  layout: 'wide',
  problems,
  theme: account.profile.theme,
  aside: signedInAside(site, account, logoutToken),
  body: html`${nav(site, current)}<div class="stack">
${content}
</div>`,
});

function nav({ messages, path }: Site, current: AccountPageName): Html {
  const link = (name: AccountPageName, address: string, label: string) =>
    html`<a href="${path(address)}"${name === current && html` aria-current="page"`}>${label}</a>`;
  return html`<nav class="side" aria-label="${messages.account.title}">${link('profile', '/account', messages.profile.nav)}${link('security', '/account/security', messages.security.nav)}${link('sessions', '/account/sessions', messages.sessions.nav)}${link('connections', '/account/connections', messages.connections.nav)}${link('data', '/account/data', messages.data.nav)}</nav>`;
}

/** Few enough that a page stays light, even with the longest names. */
const PAGE_SIZE = 12;

/** Reads the part of a list that a request asks for; the first one where that is empty by now. */
export async function readListPart<T>(
  parameters: RepeatableParameters,
  read: (at: { readonly skip: number; readonly limit: number }) => Promise<readonly T[]>,
): Promise<{ readonly items: readonly T[]; readonly part: ListPart }> {
  const readPart = async (number: number) => {
    const found = await read({ skip: (number - 1) * PAGE_SIZE, limit: PAGE_SIZE + 1 });
    return { items: found.slice(0, PAGE_SIZE), part: { number, more: found.length > PAGE_SIZE } };
  };
  const asked = await readPart(partNumber(parameters.get('page')));
  return asked.items.length > 0 || asked.part.number === 1 ? asked : readPart(1);
}
