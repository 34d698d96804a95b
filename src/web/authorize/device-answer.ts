import type { FastifyReply } from 'fastify';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { AuthorizationRequest } from '../../protocol/authorize/rules/request.ts';
import { VERIFICATION_PATH } from '../../protocol/device/start.ts';

interface Ending {
  readonly title: string;
  readonly text: string;
  readonly next: readonly [path: string, text: string];
}

const endPage = ({ path }: Site, { title, text, next: [address, name] }: Ending): Page => ({
  title,
  layout: 'narrow',
  body: html`<section class="card"><header><h1>${title}</h1><p>${text}</p></header>
<p><a href="${path(address)}">${name}</a></p></section>`,
});

/** Says how a person answered a device, which asks for the rest itself. */
export function sendDeviceAnswer(reply: FastifyReply, site: Site, allowed: boolean): FastifyReply {
  const { device: text } = site.messages;
  const ending: Ending = allowed
    ? { title: text.allowedTitle, text: text.allowedText, next: ['/account/connections', text.allowedNext] }
    : { title: text.deniedTitle, text: text.deniedText, next: [VERIFICATION_PATH, text.again] };
  return sendPage(reply, 200, site, endPage(site, ending));
}

/** Says that a device no longer waits. */
export function sendDeviceGone(reply: FastifyReply, site: Site): FastifyReply {
  const { goneTitle: title, goneText: text, again } = site.messages.device;
  return sendPage(reply, 410, site, endPage(site, { title, text, next: [VERIFICATION_PATH, again] }));
}

/** Where a person goes on when a request has been answered: the host of its redirect URI, or their device. */
export const placeOf = ({ messages }: Site, { device, redirectUri }: AuthorizationRequest): string =>
  device === undefined ? destinationOf(redirectUri) : messages.device.place;
