import type { FastifyInstance } from 'fastify';
import { digest } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { chooseFor, rebindInteraction } from './interaction-store.ts';
import { type FlowParts, follow, HANDLE, pendingOrAnswer, progressFor, sendClientGone } from './steps.ts';

/** What the form belongs to that goes on as the person who is signed in. */
export const continueContext = (handle: string, accountId: string): string => `continue ${handle} ${accountId}`;

/** Where a pending request goes on: after a POST of another site, and with the account that a person chose. */
export function continueRoutes(app: FastifyInstance, parts: FlowParts): void {
  const { database, browsers } = parts;

  app.get('/continue', async (request, reply) => {
    const handle = (request.query as RepeatableParameters).get(HANDLE) ?? '';
    const browser = browsers.of(request, reply);
    const begunAs = browser.takeOver(handle);
    if (begunAs !== undefined) await database.commit(() => rebindInteraction(digest(handle), begunAs, browser.hash));
    const pending = await pendingOrAnswer(parts, request, reply, handle);
    return pending === undefined ? reply : follow(parts, request, reply, pending, browser);
  });

  app.post('/continue', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const pending = await pendingOrAnswer(parts, request, reply, form.get(HANDLE) ?? '');
    if (pending === undefined) return reply;
    const browser = browsers.of(request, reply);
    const progress = await progressFor(parts, pending, browser);
    if (progress.kind === 'client gone') return sendClientGone(parts, request, reply);
    const { step, signedIn } = progress;
    // Out of date, or about somebody else who has signed in since: then the page is shown again.
    const chosen =
      step.kind === 'choose' &&
      signedIn.kind === 'signed in' &&
      browser.owns(form, continueContext(pending.handle, signedIn.account.id));
    if (!chosen) return follow(parts, request, reply, pending, browser);
    const session = signedIn.session.hash;
    await database.commit(() => chooseFor(pending.interaction.hash, session));
    const interaction = { ...pending.interaction, chosenSession: session };
    return follow(parts, request, reply, { ...pending, interaction }, browser);
  });
}
