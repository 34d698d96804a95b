import type { Factor } from '../../../authenticators/rules/factors.ts';
import type { WayIn } from '../../../authenticators/rules/ways-in.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Site } from '../../../pages/layout.ts';

/** The ways into an account, as list items. */
export const wayItems = (
  { messages }: Pick<Site, 'messages'>,
  ways: readonly WayIn[],
  factors: readonly Factor[],
): readonly Html[] => {
  const { ways: text } = messages.recovery;
  const hasApp = factors.some(({ kind }) => kind === 'totp');
  return ways.map((way) => html`<li>${way === 'password' && hasApp ? text.passwordAndCode : text.texts[way]}</li>`);
};

/** With what a person gets in after a removal, for the step that confirms it. */
export const waysLeftList = (
  site: Pick<Site, 'messages'>,
  ways: readonly WayIn[],
  factors: readonly Factor[],
): Html | undefined =>
  ways.length === 0
    ? undefined
    : html`<p class="small">${site.messages.recovery.ways.left}</p>
<ul class="small">${wayItems(site, ways, factors)}</ul>`;
