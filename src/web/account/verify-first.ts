import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { EMAIL_PAGE } from './email-rows.ts';

/** Says that something waits for a verified address, and leads to where it is verified. */
export const verifyFirst = ({ messages, path }: Site, text: HtmlPart): Html =>
  html`<p>${text} <a href="${path(EMAIL_PAGE)}">${messages.address.verifyLink}</a></p>`;
