import { holdsSomewhere } from '../operators/rights.ts';
import { type Html, html } from '../pages/html.ts';
import type { Site } from '../pages/layout.ts';
import type { ConsoleVisit } from './visit.ts';

/** An id with a link to its page, where the operator may open such pages. */
function linked(allowed: boolean, address: string, text: Html): Html {
  return allowed ? html`<a href="${address}">${text}</a>` : text;
}

const figures = (id: string): Html => html`<span class="figures">${id}</span>`;

export const personLink = ({ path }: Site, { operator }: ConsoleVisit, id: string, text = figures(id)): Html =>
  linked(holdsSomewhere(operator, 'users.read'), path(`/console/people/${id}`), text);

export const appLink = ({ path }: Site, { operator }: ConsoleVisit, id: string): Html =>
  linked(holdsSomewhere(operator, 'apps.read'), path(`/console/apps/${id}`), figures(id));

/** The request of a step or an event, which leads to its explanation. */
export const explainAddress = (requestId: string): string => `/console/explain?id=${encodeURIComponent(requestId)}`;
