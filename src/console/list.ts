import { BEFORE_NEWEST } from '../accounts/directory-store.ts';
import { type Html, type HtmlPart, html } from '../pages/html.ts';
import type { Site } from '../pages/layout.ts';
import type { RepeatableParameters } from '../platform/http/parameters.ts';
import { isSnowflake } from '../platform/ids/ids.ts';

/** How many rows a page of a list has. */
export const PAGE_SIZE = 25;

/** The id after which a list goes on. */
export const afterOf = (query: RepeatableParameters): string => idIn(query, 'after', '0');

/** The id before which a list of the newest first goes on. */
export const beforeOf = (query: RepeatableParameters): string => idIn(query, 'before', BEFORE_NEWEST);

function idIn(query: RepeatableParameters, name: string, start: string): string {
  const given = query.get(name) ?? '';
  return isSnowflake(given) ? given : start;
}

/** A page of rows out of one more than it shows, and the id at which the list goes on. */
export function pageOfRows<T extends { readonly id: string }>(
  found: readonly T[],
): { readonly rows: readonly T[]; readonly next: string | undefined } {
  const rows = found.slice(0, PAGE_SIZE);
  return { rows, next: found.length > PAGE_SIZE ? rows.at(-1)?.id : undefined };
}

/** A link to another part of a list. */
export interface PartLink {
  readonly query: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Links to the rest of a list, and to its beginning. */
export function onward(site: Site, address: string, links: readonly PartLink[]): HtmlPart {
  if (links.length === 0) return undefined;
  const to = (query: PartLink['query']): string =>
    site.path(Object.keys(query).length === 0 ? address : `${address}?${new URLSearchParams(query)}`);
  return html`<nav class="pager" aria-label="${site.messages.pager.label}">${links.map(({ query, text }) => html`<a href="${to(query)}">${text}</a>`)}</nav>`;
}

/** The links of a list in the order of ids. @param kept the rest of the address */
export const forward = (
  { messages }: Site,
  after: string,
  next: string | undefined,
  kept: PartLink['query'] = {},
): readonly PartLink[] => [
  ...(after === '0' ? [] : [{ query: kept, text: messages.operators.first }]),
  ...(next === undefined ? [] : [{ query: { ...kept, after: next }, text: messages.operators.more }]),
];

/** The links of a list with the newest first. @param kept the rest of the address */
export const backward = (
  { messages }: Site,
  before: string,
  next: string | undefined,
  kept: PartLink['query'] = {},
): readonly PartLink[] => [
  ...(before === BEFORE_NEWEST ? [] : [{ query: kept, text: messages.operators.newest }]),
  ...(next === undefined ? [] : [{ query: { ...kept, before: next }, text: messages.operators.older }]),
];

/** How many rows of a long list a small phone shows at first. */
const FIRST_ROWS = 10;

/** What a small phone shows when it is asked for, and any other screen as it is. @param label a summary that says more than the shown one */
export const foldedOnPhone = (summary: HtmlPart, content: HtmlPart, label?: string): Html =>
  html`<details class="rest"><summary${label !== undefined && html` aria-label="${label}"`}>${summary}</summary>${content}</details>`;

const restOf = ({ messages }: Site, count: number, list: Html): HtmlPart =>
  count > 0 && foldedOnPhone(messages.operators.moreRows(count), list);

/** Rows in their order. A small phone shows the first of them, and the others when they are asked for. */
export function orderedRows(site: Site, name: string, rows: readonly Html[]): Html {
  const [first, others] = [rows.slice(0, FIRST_ROWS), rows.slice(FIRST_ROWS)];
  const rest = html`<ol class="${name}" start="${FIRST_ROWS + 1}">${others}</ol>`;
  return html`<ol class="${name}">${first}</ol>${restOf(site, others.length, rest)}`;
}

/** Rows that lead to their pages; undefined for none. Of a long list a small phone shows the first. */
export function rowList(site: Site, rows: readonly Html[], shown = 8): HtmlPart {
  const [first, others] = [rows.slice(0, shown), rows.slice(shown)];
  if (first.length === 0) return undefined;
  return html`<ul class="list">${first}</ul>${restOf(site, others.length, html`<ul class="list">${others}</ul>`)}`;
}

/** Rows of which each is shown as it is, or a sentence where there is none. Of a long list a small phone shows the first. */
export function longItems(site: Site, rows: readonly Html[], none: HtmlPart, shown = FIRST_ROWS): Html {
  const [first, others] = [rows.slice(0, shown), rows.slice(shown)];
  return html`${items(first, none)}${restOf(site, others.length, html`<ul class="items">${others}</ul>`)}`;
}

/** Rows of which each is shown as it is, or a sentence where there is none. */
export const items = (rows: readonly Html[], none: HtmlPart): Html =>
  rows.length === 0 ? html`<p class="muted">${none}</p>` : html`<ul class="items">${rows}</ul>`;
