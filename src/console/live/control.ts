import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';

interface Watched {
  readonly isFirst: boolean;
  readonly live: boolean;
  /** The address of the list with more in its query. */
  readonly address: (more: Readonly<Record<string, string>>) => string;
  /** Where it is told that there is something new. */
  readonly stream: string;
}

/** How the first page of a list is watched: begun and stopped by a link, and by looking again where no script runs. */
export function liveList(
  { path, messages }: Site,
  { isFirst, live, address, stream }: Watched,
): { readonly attribute: HtmlPart; readonly lead: HtmlPart; readonly links: HtmlPart; readonly control: HtmlPart } {
  const { live: text } = messages.operators;
  if (!isFirst) return { attribute: undefined, lead: undefined, links: undefined, control: undefined };
  const links: Html = live
    ? html`<a class="button" href="${address({})}">${text.stop}</a><a class="button" href="${address({ live: '1' })}">${text.again}</a>`
    : html`<a class="button" href="${address({ live: '1' })}">${text.watch}</a>`;
  const lead = live && html`<p class="small muted">${text.lead}</p>`;
  return {
    attribute: live && html` data-stream="${path(stream)}"`,
    ...{ lead, links, control: html`${lead}<p class="acts">${links}</p>` },
  };
}
