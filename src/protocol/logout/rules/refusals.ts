import type { RefusalDetail } from '../../../platform/oauth-error.ts';
import { type Column, columnOf, type RefusalRow } from '../../refusals/row.ts';
import type { RedirectObstacle } from './end-session.ts';

interface IgnoredRedirect {
  readonly clientId: string | undefined;
  /** What to do about an address that is not registered. */
  readonly remedy: string | undefined;
  readonly registered: string | undefined;
  /** What was sent as `id_token_hint`, by its form. */
  readonly hint: string | undefined;
  /** The parameter that has the address, where another service calls it so. */
  readonly misnamed: string | undefined;
  /** The address that was sent. */
  readonly sent: string | undefined;
}

type LogoutRow = RefusalRow<IgnoredRedirect, 'invalid_request'>;

interface Texts {
  readonly when: string;
  readonly cause: Column<IgnoredRedirect, string>;
  readonly received?: (facts: IgnoredRedirect) => string | undefined;
  readonly remedy: Column<IgnoredRedirect, string>;
  readonly expected: Column<IgnoredRedirect, string>;
  readonly reason: string;
}

const row = ({ when, cause, received, remedy, expected, reason }: Texts): LogoutRow => ({
  when,
  app: { error: 'invalid_request', description: (facts) => `${columnOf(cause, facts)} ${columnOf(remedy, facts)}` },
  operator: {
    reason,
    trace: (facts): RefusalDetail => ({
      rule: 'OpenID Connect RP-Initiated Logout 1.0 §3',
      expected: columnOf(expected, facts),
      received: received?.(facts) ?? columnOf(cause, facts),
      remedy: columnOf(remedy, facts),
    }),
  },
  example: {
    clientId: 'CLIENT_ID',
    remedy: undefined,
    registered: undefined,
    hint: undefined,
    misnamed: undefined,
    sent: undefined,
  },
});

/** What keeps a person from being sent back: that the address is missing, because another parameter has it, ends sessions as usual. */
export type LogoutObstacle = RedirectObstacle | 'misnamed';

/** Why the person is not sent back to the app after signing out. The page says it to the developer. */
export const LOGOUT_REFUSALS: Readonly<Record<LogoutObstacle, LogoutRow>> = {
  hint: row({
    when: '`id_token_hint` is not an ID token that this service issued to the client.',
    cause: ({ hint }) =>
      `id_token_hint ${hint ?? 'is not an unmodified ID token that this service issued to the client'}, so this service ignored it and post_logout_redirect_uri.`,
    remedy: 'Send the id_token of a token response as it came, or client_id in its place.',
    expected: 'the ID token of the last token response, unchanged',
    reason: 'id_token_hint is not an ID token of the client',
  }),
  'other client': row({
    when: '`id_token_hint` was issued to another client than `client_id`.',
    cause: 'client_id is not the app that id_token_hint was issued to, so both were ignored.',
    remedy: 'Send the client_id of that app, or leave it out.',
    expected: 'the client_id of the app that got the ID token',
    reason: 'client_id is not that of id_token_hint',
  }),
  client: row({
    when: 'No active client has this `client_id`.',
    cause: 'No active client has this client_id, so post_logout_redirect_uri was ignored.',
    remedy: 'Send the clientId of the registration.',
    expected: 'the client_id of an active app',
    reason: 'client_id is not that of an active client',
  }),
  'client missing': row({
    when: 'There is neither `id_token_hint` nor `client_id`.',
    cause: 'post_logout_redirect_uri was ignored, because the request identifies no app.',
    remedy: 'Send id_token_hint or client_id with it.',
    expected: 'id_token_hint or client_id beside post_logout_redirect_uri',
    reason: 'post_logout_redirect_uri without a client',
  }),
  misnamed: row({
    when: 'The address is in a parameter of another service, such as `returnTo`, and there is no `post_logout_redirect_uri`.',
    cause: ({ misnamed = 'returnTo' }) => `post_logout_redirect_uri is missing, and ${misnamed} was sent.`,
    remedy: ({ misnamed = 'returnTo' }) => `Rename the parameter ${misnamed} to post_logout_redirect_uri.`,
    expected: 'post_logout_redirect_uri, which has the address to return to',
    reason: 'the address to return to is in another parameter',
  }),
  address: row({
    when: '`post_logout_redirect_uri` is not registered for the client.',
    cause: 'post_logout_redirect_uri is not registered for this app, so it was ignored.',
    received: ({ sent }) => sent && `post_logout_redirect_uri = ${sent}`,
    remedy: ({ clientId, remedy }) =>
      remedy ??
      `Register the address, character for character: tessera client update ${clientId} --add-post-logout-redirect-uri URI`,
    expected: ({ registered }) =>
      registered ?? 'a registered post-logout redirect URI of the app, character for character',
    reason: 'post_logout_redirect_uri is not registered',
  }),
};

/** A refusal of a redirect: the reason for the log, the description for the developer, the facts for the trace. */
export function explainObstacle(obstacle: LogoutObstacle, facts: IgnoredRedirect) {
  const { app, operator } = LOGOUT_REFUSALS[obstacle];
  return {
    code: columnOf(app.error, facts),
    reason: operator.reason && columnOf(operator.reason, facts),
    description: columnOf(app.description, facts),
    detail: operator.trace && columnOf(operator.trace, facts),
  };
}
