import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  confirmByLink,
  findAddressRequest,
  isAskedIn,
  rightOf,
  VERIFY_PATH,
} from '../../account-actions/addresses/change-address.ts';
import type { PreviousAddress } from '../../accounts/previous-address-store.ts';
import type { Account } from '../../accounts/store.ts';
import type { Challenge } from '../../mail/challenges.ts';
import { hidden, isolate, moment } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { limited } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findVisitor, SESSION_LIFETIME, SessionEnded, type SignedInVisitor } from '../../sessions/sessions.ts';
import { signedInFrame } from '../browser/signed-in.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { sendDeadLink } from './dead-link.ts';

const CONTEXT = 'confirm address';

/** The page behind the link that confirms an address, in the browser that asked for it. */
export function confirmAddressRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, database, clock } = services;
  const text = site.messages.address;

  const find = (token: string): Promise<Challenge | undefined> => {
    const now = clock();
    return database.read(() => findAddressRequest(services, token, now));
  };

  /** The visitor, where this is the browser that asked and still signed in as then; else why not. */
  async function requester(
    request: FastifyRequest,
    reply: FastifyReply,
    challenge: Challenge,
  ): Promise<SignedInVisitor | 'elsewhere' | 'session over'> {
    const browser = browsers.of(request, reply);
    if (browser.hash !== challenge.browserHash) return 'elsewhere';
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in' || !isAskedIn(challenge, visitor.session)) {
      return challenge.purpose === 'change address' ? 'session over' : 'elsewhere';
    }
    return visitor.account.id === challenge.accountId ? visitor : 'elsewhere';
  }

  const showNoRequester = (reply: FastifyReply, token: string, cause: 'elsewhere' | 'session over') =>
    cause === 'elsewhere' ? showElsewhere(reply) : sendDeadLink(services, reply, 'verify', token, 'session');

  const showElsewhere = (reply: FastifyReply): FastifyReply =>
    sendPage(reply, 200, site, {
      title: text.elsewhereTitle,
      layout: 'narrow',
      body: html`<section class="card"><header><h1>${text.elsewhereTitle}</h1></header><p>${text.elsewhere}</p>
<p><a href="${site.path('/account/email')}">${text.deadVerify}</a></p></section>`,
    });

  app.get(VERIFY_PATH, async (request, reply) => {
    const token = queryOf(request).get('token') ?? '';
    const challenge = await find(token);
    if (challenge === undefined) return sendDeadLink(services, reply, 'verify', token);
    const visitor = await requester(request, reply, challenge);
    if (typeof visitor === 'string') return showNoRequester(reply, token, visitor);
    const { account } = visitor;
    const right = await database.read(() => rightOf(challenge, clock()));
    return sendPage(reply, 200, site, {
      title: text.confirmTitle,
      layout: 'narrow',
      ...signedInFrame(site, browsers.of(request, reply), visitor),
      body: html`<section class="card"><header><h1>${text.confirmTitle}</h1></header>
<p>${effectsOf(site, challenge, account, right)}</p>
<form method="post" action="${site.path(VERIFY_PATH)}">${hidden(browsers.of(request, reply).formToken(CONTEXT, visitor), { token })}
<div><button class="primary" type="submit">${text.confirmSubmit}</button></div></form></section>`,
    });
  });

  app.post(VERIFY_PATH, async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const token = form.get('token') ?? '';
    const browser = browsers.of(request, reply);
    if (!browser.owns(form, CONTEXT)) {
      return redirect(request, reply, site.path(`${VERIFY_PATH}?token=${encodeURIComponent(token)}`));
    }
    const challenge = await find(token);
    if (challenge === undefined) return sendDeadLink(services, reply, 'verify', token);
    const visitor = await requester(request, reply, challenge);
    if (typeof visitor === 'string') return showNoRequester(reply, token, visitor);
    const { account, session } = visitor;
    const origin = originOf(request, { type: 'user', id: account.id });
    try {
      const result = await confirmByLink(services, { account, session, browser, origin }, token);
      if (result.kind === 'limited') throw limited(result.seconds);
      if (result.kind !== 'confirmed') return sendDeadLink(services, reply, 'verify', token);
      browsers.setSession(reply, result.created, SESSION_LIFETIME);
      return sendPage(reply, 200, site, {
        title: text.confirmedTitle,
        layout: 'narrow',
        ...signedInFrame(site, browser, { account: result.account, session: result.created.session }),
        body: html`<section class="card"><header><h1>${text.confirmedTitle}</h1></header><p>${text.done[result.purpose]}</p>
<p><a href="${site.path('/account')}">${text.toAccount}</a></p></section>`,
      });
    } catch (error) {
      // Another press of the same button was first, or the session was ended meanwhile.
      if (error instanceof SessionEnded) return sendDeadLink(services, reply, 'verify', token);
      throw error;
    }
  });
}

/** What happens when the person confirms an address. */
function effectsOf(
  { messages: { address: text } }: Site,
  { purpose, data }: Challenge,
  { profile }: Account,
  right: PreviousAddress | undefined,
): HtmlPart {
  const address = isolate(readableEmail((data as { readonly email: string }).email));
  if (right !== undefined) return text.goBackLead(address, moment(right.factorsSince));
  const lead = text.confirmLead[purpose === 'verify address' ? purpose : 'change address'];
  return [lead(address, isolate(profile.username)), !profile.emailVerified && ` ${text.unproved}`];
}
