import type { FastifyInstance } from 'fastify';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import { noPasskeysHere, requestPasskey } from '../../account-actions/authentication/passkey.ts';
import { signIn } from '../../account-actions/sign-in/sign-in.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { unownedForm } from '../../pages/components.ts';
import { PASSKEY_FIELD } from '../../pages/passkey.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { loadPendingRequest } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import type { PageServices } from './routes.ts';
import { continueSignIn, isProof, showRefusal, showSignIn, signInBrowser, signInVisit } from './sign-in.ts';

/** @param handle of the authorization request that needs the sign-in, for which alone the passkey is used then */
const signInUse = (browserHash: string, handle = ''): ChallengeUse => ({
  purpose: 'sign in',
  browserHash,
  subject: handle,
});

/** Signing in with a passkey instead of a password. */
export function passkeyRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, clock, relyingParty } = services;

  // The same for everybody: the page never tells whether an account has passkeys.
  app.get('/login/passkey', async (request, reply) => {
    if (relyingParty === undefined) throw noPasskeysHere();
    const use = signInUse(browsers.of(request, reply).hash, queryOf(request).get(HANDLE));
    return reply.header('cache-control', 'no-store').send(requestPasskey(relyingParty, use, [], clock()));
  });

  app.post(
    '/login/passkey',
    { preHandler: loadPendingRequest(services, { optional: true }) },
    async (request, reply) => {
      const visit = signInVisit(services, request, reply);
      const form = formOf(request);
      if (!visit.browser.owns(form, 'login')) {
        return showSignIn(services, visit, 400, unownedForm(site.messages, visit.request), '');
      }
      const browser = signInBrowser(services, visit);
      const response = form.get(PASSKEY_FIELD) ?? '';
      const use = signInUse(browser.mark.hash, visit.pending?.handle);
      const attempt = { response, use, origin: browser.origin };
      const checked = await authenticators.passkey(services, attempt, clock());
      const result = await signIn(services, checked, browser);
      if (isProof(result)) return continueSignIn(services, visit, result);
      return showRefusal(services, visit, result, '');
    },
  );
}
