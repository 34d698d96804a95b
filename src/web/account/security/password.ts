import type { FastifyInstance } from 'fastify';
import { changePassword } from '../../../account-actions/factors/change-password.ts';
import { endOfTokens } from '../../../account-actions/sign-in/end-sessions.ts';
import { passwordProblem } from '../../../accounts/password-problem.ts';
import { password as passwordSchema } from '../../../accounts/schema.ts';
import { fieldProblem, generalProblem, hidden, passwordField, revocationText } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { findProblem } from '../../../platform/validation/validate.ts';
import { SESSION_LIFETIME } from '../../../sessions/sessions.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { requireProof } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { type AccountHooks, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';

/** Changing the password. */
export const passwordSection: SecuritySection = { name: 'change-password', row, routes, scripts: ['strength'] };

function row({ site }: PageServices, { account, token, problems, proof }: SecurityState): AccountRow {
  const { messages, path } = site;
  const { account: text } = messages;
  const { username, displayName, email } = account.profile;
  if (account.passwordHash === null) {
    const hasPasskeys = proof.factors.some(({ kind }) => kind === 'passkey');
    // Recovery, which sets a password, removes the passkeys.
    const content = hasPasskeys
      ? html`<p class="muted small">${text.passkeysInstead}</p>`
      : html`<div><a class="button" href="${path('/recover')}">${text.setPassword}</a></div>`;
    return { title: text.password, state: text.passwordNotSet, content };
  }
  const content = html`<p class="muted small">${text.changePasswordLead}</p>
<form method="post" action="${path('/account/password')}" novalidate>${hidden(token)}
<input type="text" name="username" value="${username}" autocomplete="username" hidden>
${passwordField({ name: 'current', label: text.currentPassword, autocomplete: 'current-password', problems, messages })}
${passwordField({ name: 'password', label: text.newPassword, autocomplete: 'new-password', hint: messages.signUp.passwordHint, problems, messages, strengthFor: { displayName, email } })}
<div><button class="primary" type="submit">${text.changePassword}</button></div></form>`;
  return { title: text.password, state: text.passwordSet, content };
}

function routes(app: FastifyInstance, services: PageServices, { countEnding }: AccountHooks, show: ShowSecurity): void {
  const { browsers, site } = services;
  const { messages } = site;
  // The form asks for the password itself.
  const proved = requireProof(services, 'password', 'password');
  app.post('/account/password', { preHandler: [countEnding, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const password = form.get('password') ?? '';
    if (findProblem(passwordSchema, password) !== undefined) {
      return show(reply, 400, visit, { problems: fieldProblem('password', messages.signUp.passwordBad) });
    }
    const weak = await passwordProblem(services, password, visit.account.profile);
    if (weak !== undefined) {
      return show(reply, 400, visit, { problems: fieldProblem('password', messages.password.problems[weak]) });
    }
    const result = await changePassword(services, {
      account: visit.account,
      session: visit.session,
      browser: visit.browser,
      current: form.get('current') ?? '',
      password,
      origin: visit.origin,
    });
    if (result.kind === 'limited') {
      reply.header('retry-after', String(result.seconds));
      return show(reply, 429, visit, { problems: generalProblem(messages.signIn.limited(result.seconds)) });
    }
    if (result.kind === 'wrong') {
      return show(reply, 400, visit, { problems: fieldProblem('current', messages.account.currentWrong) });
    }
    const { account, created } = result;
    browsers.setSession(reply, created, SESSION_LIFETIME);
    const summary = await endOfTokens(services, visit.account);
    const done = html`${messages.account.passwordChanged} ${revocationText(summary, messages)}`;
    return show(reply, 200, { ...visit, account, session: created.session }, { done });
  });
}
