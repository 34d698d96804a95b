import { html } from '../../../pages/html.ts';
import type { SecuritySection } from './section.ts';

/** The way to the page with what happened in the account. */
export const activitySection: SecuritySection = {
  section({ site: { messages, path } }) {
    const text = messages.activity;
    return html`<section class="card" id="activity"><header><h2>${text.title}</h2><p class="muted small">${text.sectionLead}</p></header>
<p><a href="${path('/account/activity')}">${text.link}</a></p></section>`;
  },
  routes: () => {},
};
