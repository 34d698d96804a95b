import { type Html, type HtmlPart, html } from '../../pages/html.ts';

/** A row of an account page: its title, how it stands, and what is behind it, or on which page that is. */
export type AccountRow = {
  readonly title: HtmlPart;
  readonly state: HtmlPart;
  /** Shown beside the title. */
  readonly picture?: Html;
} & ({ readonly content: Html } | { readonly page: string });

/** A row says how things stand, and opens what can be done about it. */
export function accountRow(name: string, row: AccountRow | undefined, isOpen: boolean): Html | undefined {
  if (row === undefined) return undefined;
  const head = html`<h2>${row.title}</h2><span class="muted small">${row.state}</span>${row.picture}`;
  return 'page' in row
    ? html`<a id="${name}" href="${row.page}">${head}</a>
`
    : html`<details id="${name}"${isOpen && html` open`}><summary>${head}</summary>
<div class="stack">${row.content}</div></details>
`;
}

/** The card of some rows. */
export const accountRows = (rows: readonly (Html | undefined)[]): Html => html`<div class="card rows-of-account">
${rows}</div>`;
