import { field, helpLine, hidden, type Problems, problemSummary, resendForm } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { heading, type RequestingApp, requestQuery } from './pages.ts';

interface CodeForm {
  readonly token: string;
  readonly app: RequestingApp | undefined;
  readonly problems: Problems;
}

/** Asks for the name of the account to which a code is sent. */
export function askCodePage(
  site: Site,
  { token, app, problems, identifier }: CodeForm & { readonly identifier: string },
): Page {
  const { messages, path } = site;
  const text = messages.signInCode;
  return {
    title: text.title,
    layout: 'narrow',
    problems,
    body: html`<section class="card">
${heading(text.title, messages.signIn.lead, app, site)}
<p>${text.askLead}</p>
${problemSummary(messages, problems)}
<form method="post" action="${path('/login/code')}" novalidate>${hidden(token, requestFields(app))}
${field({ name: 'identifier', label: messages.signIn.identifier, type: 'text', autocomplete: 'username', value: identifier, problems, focus: true })}
<button class="primary" type="submit">${text.ask}</button></form>
</section>
<p class="foot"><a href="${path(`/login${requestQuery(app)}`)}">${messages.recovery.back}</a></p>
${helpLine(site)}`,
  };
}

interface TypeCodeForm extends CodeForm {
  /** About the mail of this server. */
  readonly hint: Html | undefined;
  /** The form that asks for the code again; undefined where the name is not known any more. */
  readonly resend: { readonly token: string; readonly seconds: number } | undefined;
}

/** Asks for the code of the message. It is the same whether or not one was sent. */
export function typeCodePage(site: Site, { token, app, problems, hint, resend }: TypeCodeForm): Page {
  const { messages, path } = site;
  const text = messages.signInCode;
  return {
    title: text.sentTitle,
    layout: 'narrow',
    problems,
    body: html`<section class="card">
${heading(text.sentTitle, messages.signIn.lead, app, site)}
<p>${text.sentLead}</p><p class="muted small">${text.sentNote}</p>
${hint}
${problemSummary(messages, problems)}
<form method="post" action="${path('/login/code/enter')}" novalidate>${hidden(token, requestFields(app))}
${field({ name: 'sent_code', label: messages.recovery.code, type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric', value: '', hint: messages.recovery.codeHint, problems, focus: true })}
<button class="primary" type="submit">${text.submit}</button></form>
${
  resend &&
  resendForm(site, {
    action: '/login/code',
    token: resend.token,
    values: { ...requestFields(app), again: 'yes' },
    label: text.resend,
    seconds: resend.seconds,
  })
}
</section>
<p class="foot"><a href="${path(`/login/code${requestQuery(app)}`)}">${text.again}</a></p>
<p class="foot"><a href="${path(`/login${requestQuery(app)}`)}">${messages.recovery.back}</a></p>
${helpLine(site)}`,
  };
}
