import type { FastifyInstance } from 'fastify';
import type { Sealer } from '../../keys/sealer.ts';
import { sendPage } from '../../pages/layout.ts';
import { unusedFormPage } from '../../pages/unused-form.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { keepOpener } from '../../platform/http/server.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import type { AuthorizationPageServices } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import { watchForms } from '../browser/browser.ts';
import { keepDraft } from './draft.ts';
import { freshPage } from './fresh-page.ts';

/**
 * Answers each form that was shown to another person than the one who is signed in now, as where somebody else signed in in another
 * tab. Nothing of it is stored or shown, for the page would be that of the wrong person.
 */
export function refuseForeignForms(
  app: FastifyInstance,
  services: AuthorizationPageServices & { readonly sealer: Sealer },
): void {
  const { site, browsers } = services;
  watchForms(app, browsers, async (request, reply, accountId) => {
    const visitor = await findVisitor(services, browsers.of(request, reply).sessionSecret);
    // Where nobody is signed in, the route itself knows what to do.
    if (visitor.kind !== 'signed in' || visitor.account.id === accountId) return undefined;
    // It comes back to its owner, if they sign in here again.
    if (!formOf(request).has(HANDLE)) keepDraft(services, request, reply);
    else keepOpener(reply);
    return sendPage(reply, 400, site, unusedFormPage(site, visitor.account, 'other account', freshPage(request, site)));
  });
}
