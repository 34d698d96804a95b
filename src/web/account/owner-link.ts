import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';

/** The link to where an owner of an organization makes another member its owner. */
export const ownerLink = ({ messages, path }: Site): Html =>
  html`<a href="${path('/console/organizations')}">${messages.organization.inConsole}</a>`;
