import type { FastifyReply, FastifyRequest } from 'fastify';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { AuthorizationRequest } from '../../protocol/authorize/rules/request.ts';
import { VERIFICATION_PATH } from '../../protocol/device/start.ts';
import { type FrameServices, visitorFrame } from '../browser/signed-in.ts';

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

async function sendEnd(
  services: FrameServices,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  ending: Ending,
): Promise<FastifyReply> {
  const frame = await visitorFrame(services, request, reply);
  return sendPage(reply, status, services.site, { ...endPage(services.site, ending), ...frame });
}

/** Says how a person answered a device, which asks for the rest itself. */
export function sendDeviceAnswer(
  services: FrameServices,
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: boolean,
): Promise<FastifyReply> {
  const { device: text } = services.site.messages;
  const ending: Ending = allowed
    ? { title: text.allowedTitle, text: text.allowedText, next: ['/account/connections', text.allowedNext] }
    : { title: text.deniedTitle, text: text.deniedText, next: [VERIFICATION_PATH, text.again] };
  return sendEnd(services, request, reply, 200, ending);
}

/** Says that a device no longer waits. */
export function sendDeviceGone(
  services: FrameServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { goneTitle: title, goneText: text, again } = services.site.messages.device;
  return sendEnd(services, request, reply, 410, { title, text, next: [VERIFICATION_PATH, again] });
}

/** Where a person goes on when a request has been answered: the host of its redirect URI, or their device. */
export const placeOf = ({ messages }: Site, { device, redirectUri }: AuthorizationRequest): string =>
  device === undefined ? destinationOf(redirectUri) : messages.device.place;
