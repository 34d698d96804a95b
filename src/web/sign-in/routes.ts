import type { FastifyInstance } from 'fastify';
import type { CodeServices } from '../../account-actions/authentication/code-attempt.ts';
import type { PasskeyServices } from '../../account-actions/authentication/passkey.ts';
import { endSession } from '../../account-actions/sign-in/end-sessions.ts';
import type { BreachedPasswords } from '../../accounts/breached-passwords.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Mailer } from '../../mail/mail.ts';
import type { Pictures } from '../../pictures/pictures.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { keepOpener, redirect } from '../../platform/http/server.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import type { Upstreams } from '../../upstreams/directory.ts';
import type { AuthorizationPageServices } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import { forgetPerson } from '../browser/forget-person.ts';
import { logoutContext } from '../browser/signed-in.ts';
import { codeRoutes } from './code.ts';
import { comeBackRoutes } from './come-back.ts';
import { enrollRoutes } from './enroll.ts';
import { newCodesRoutes } from './new-codes.ts';
import { passkeyRoutes } from './passkey.ts';
import { signInRoutes } from './sign-in.ts';
import { signUpRoutes } from './sign-up.ts';
import { verifyRoutes } from './verify.ts';

export interface PageServices extends AuthorizationPageServices, CodeServices, PasskeyServices {
  readonly ids: Ids;
  readonly upstreams: Upstreams;
  readonly pictures: Pictures;
  readonly breaches: BreachedPasswords;
  readonly sealer: Sealer;
  readonly mail: Mailer;
  /** Whether this server shows its mail at `/mailbox` instead of sending it. */
  readonly mailbox: boolean;
  readonly signUp: SignUpSettings;
  /** Whether people can sign in with a code by mail. */
  readonly signInCode: boolean;
  /** For how long a browser can be trusted, in milliseconds; null where that is not offered. */
  readonly trustedBrowsers: number | null;
}

/** The pages that start and end sessions. */
export function sessionRoutes(app: FastifyInstance, services: PageServices): void {
  signInRoutes(app, services);
  passkeyRoutes(app, services);
  if (services.signInCode) codeRoutes(app, services);
  verifyRoutes(app, services);
  enrollRoutes(app, services);
  newCodesRoutes(app, services);
  comeBackRoutes(app, services);
  signUpRoutes(app, services);
  signOutRoutes(app, services);
}

function signOutRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers } = services;

  app.post('/logout', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind === 'signed in') {
      const { id } = visitor.account;
      // A form that was shown to another person in this browser does not sign this one out.
      if (!browser.owns(form, logoutContext(id))) return redirect(request, reply, site.path('/account'));
      await endSession(services, browser.sessionSecret, originOf(request, { type: 'user', id }));
    }
    forgetPerson(browsers, reply);
    const handle = form.get(HANDLE);
    if (handle !== undefined) keepOpener(reply);
    const query = handle === undefined ? '' : `?${HANDLE}=${encodeURIComponent(handle)}`;
    return redirect(request, reply, site.path(`/login${query}`));
  });
}
