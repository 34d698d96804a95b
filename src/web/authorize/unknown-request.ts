import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import { type Client, findClient } from '../../clients/store.ts';
import { sendErrorPage } from '../../pages/error-page.ts';
import { expiredPage } from '../../pages/expired-page.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Database } from '../../platform/database/database.ts';
import { wantsHtml } from '../../platform/http/accept.ts';
import { refusalOf, sendError } from '../../platform/http/errors.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import type { Browsers } from '../browser/browser.ts';
import { CLIENT } from './request-fields.ts';

/** The app of a form whose request is no longer known. It only names the app: the request and its `state` are gone. */
export async function readExpiredClient(
  { database }: { readonly database: Pick<Database, 'read'> },
  form: RepeatableParameters,
): Promise<Client | undefined> {
  const id = form.get(CLIENT) ?? '';
  const client = isSnowflake(id) ? await database.read(() => findClient({ id })) : undefined;
  return client?.status === 'active' ? client : undefined;
}

/** What is said of a form whose request is not known. */
interface ExpiredForm {
  readonly client: Client;
  readonly cause: 'expired' | 'unknown';
  /** The person who has signed in with the form. */
  readonly account?: Account;
}

/** Shows that a form's request has expired or is another browser's, and the app where the person can start again. */
export function sendExpired(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  { client, cause: known, account }: ExpiredForm,
): FastifyReply {
  const cause = known === 'unknown' && request.headers.cookie === undefined ? 'no cookie' : known;
  const refusal =
    cause === 'no cookie'
      ? withoutCookie()
      : unknownRequest(
          'The pending sign-in of this form has expired, or was started in another browser, or its cookies were cleared.',
          'A sign-in lasts an hour, in the browser that started it: start again from your app.',
        );
  request.refusal = refusalOf(refusal);
  return wantsHtml(request)
    ? sendPage(reply, 400, site, expiredPage(site, client, cause, account))
    : sendError(reply, refusal);
}

const unknownRequest = (cause: string, remedy: string): OAuthError =>
  new OAuthError(400, 'invalid_request', `${cause} ${remedy}`, {}, 'no such pending request', {
    expected: 'the browser that started this sign-in, within an hour',
    received: cause,
    remedy,
  });

const withoutCookie = (): OAuthError =>
  unknownRequest(
    'The browser sent no cookie: they were cleared, or are blocked.',
    'Allow cookies for this site, and use the host of the base URL everywhere, not localhost in one place and an IP address in another. Then start again from your app.',
  );

/** Shows that this browser has no such request. */
export function sendUnknown(
  { browsers, site }: { readonly browsers: Browsers; readonly site: Site },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { handleTitle: title, handleText: text } = site.messages.error;
  const refusal = browsers.isFrameWithoutCookies(request)
    ? unknownRequest(
        'The browser sent no cookie: this request is in a frame, where browsers send no cookies of this service.',
        'Use the top-level window or a popup, and a refresh token instead of silent renewal.',
      )
    : request.headers.cookie === undefined
      ? withoutCookie()
      : unknownRequest(
          'This browser has no pending sign-in with this handle: it ended, was started in another browser, or its cookies were cleared.',
          'A sign-in lasts an hour, in the browser that started it: start again from your app.',
        );
  return sendErrorPage(request, reply, site, refusal, { title, text, onward: 'account' });
}
