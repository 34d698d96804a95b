import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UNDO_PATH } from '../../account-actions/addresses/change-address.ts';
import {
  type OpenUndo,
  readUndo,
  requestUndoPasskey,
  undoAddressChange,
} from '../../account-actions/addresses/undo-address-change.ts';
import { spanOf } from '../../account-actions/recovery/older-right.ts';
import {
  field,
  fieldProblem,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  operator,
  type Problems,
  problemSummary,
  withoutField,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { sendDeadLink } from './dead-link.ts';
import { effectsList, nextSteps } from './secure.ts';

const CONTEXT = 'undo address change';
const UNDO_PASSKEY_PATH = `${UNDO_PATH}/passkey`;

/** The form with a passkey from before the change. */
const undoPasskeyForm = (site: Site, formToken: string, token: string): Html =>
  passkeyForm(site, {
    id: 'undo',
    action: UNDO_PATH,
    options: `${UNDO_PASSKEY_PATH}?${new URLSearchParams({ token }).toString()}`,
    kind: 'get',
    token: formToken,
    values: { token },
    content: html`<p class="muted small">${site.messages.address.undoPasskey(operator(site))}</p>
<p class="muted small" data-without-passkeys>${site.messages.passkeys.unsupported}</p><div>${passkeyButton('undo', site.messages.address.undoByPasskey, 'primary')}</div>`,
  });

/** The page that the earlier address of an account can open for seven days after a change. */
export function undoRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers } = services;
  const { messages } = site;
  const text = messages.address;

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { account, previous, asks }: OpenUndo,
    token: string,
    found: Problems,
  ): FastifyReply {
    const formToken = browsers.of(request, reply).formToken(CONTEXT);
    const isCodeForm = asks.length === 0 || asks.includes('code');
    const problems = asks.includes('code') ? found : withoutField(found, 'code');
    const code = {
      name: 'code',
      label: text.undoCode,
      hint: text.undoCodeHint,
      type: 'text',
      autocomplete: 'one-time-code',
      value: '',
      problems,
    } as const;
    return sendPage(reply, status, site, {
      title: text.undoTitle,
      layout: 'narrow',
      problems,
      scripts: asks.includes('passkey') ? ['passkeys'] : [],
      body: html`<section class="card"><header><h1>${text.undoTitle}</h1><p>${text.undoLead(isolate(account.profile.username), isolate(readableEmail(previous.email)))}</p></header>
${problemSummary(messages, problems)}<p>${text.undoText}</p>
${effectsList(services, account, { since: spanOf(previous).since, isEarlierToo: true, address: 'earlier' })}
${
  isCodeForm &&
  html`<form method="post" action="${site.path(UNDO_PATH)}" novalidate>${hidden(formToken, { token })}
${asks.length > 0 && field(code)}
${asks.length > 0 && !asks.includes('passkey') && html`<p class="muted small">${messages.recovery.factorLost(operator(site))}</p>`}
<div><button class="danger" type="submit">${text.undoSubmit}</button></div></form>`
}${asks.includes('passkey') && undoPasskeyForm(site, formToken, token)}
<p class="muted small">${text.undoStay}</p></section>`,
    });
  }

  app.get(UNDO_PATH, async (request, reply) => {
    const token = queryOf(request).get('token') ?? '';
    const open = await readUndo(services, token);
    return open === undefined
      ? sendDeadLink(services, reply, 'undo', token)
      : show(request, reply, 200, open, token, NO_PROBLEMS);
  });

  app.get(UNDO_PASSKEY_PATH, async (request, reply) => {
    const token = queryOf(request).get('token') ?? '';
    const { hash } = browsers.of(request, reply);
    const options = await requestUndoPasskey(services, token, hash);
    if (options === undefined) return sendDeadLink(services, reply, 'undo', token);
    return reply.header('cache-control', 'no-store').send(options);
  });

  app.post(UNDO_PATH, async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const token = form.get('token') ?? '';
    const browser = browsers.of(request, reply);
    if (!browser.owns(form, CONTEXT)) {
      return redirect(request, reply, site.path(`${UNDO_PATH}?token=${encodeURIComponent(token)}`));
    }
    const open = await readUndo(services, token);
    if (open === undefined) return sendDeadLink(services, reply, 'undo', token);
    const passkey = form.get(PASSKEY_FIELD);
    const shown = passkey === undefined ? { code: trimTyped(form.get('code')) } : { passkey };
    const result = await undoAddressChange(services, token, { shown, browser, origin: originOf(request) });
    switch (result.kind) {
      case 'dead':
        return sendDeadLink(services, reply, 'undo', token);
      case 'wrong':
        return show(
          request,
          reply,
          400,
          open,
          token,
          passkey === undefined ? fieldProblem('code', text.undoWrong) : generalProblem(messages.passkeys.invalid),
        );
      case 'limited':
        reply.header('retry-after', String(result.seconds));
        return show(request, reply, 429, open, token, generalProblem(messages.signIn.limited(result.seconds)));
      case 'refused':
        return show(request, reply, 403, open, token, generalProblem(html`${text.undoRefused}${operator(site)}.`));
      case 'undone':
        return sendPage(reply, 200, site, {
          title: text.undoneTitle,
          layout: 'narrow',
          body: html`<section class="card"><header><h1>${text.undoneTitle}</h1><p>${text.undone}</p></header>
${nextSteps(site, result.isBarred)}</section>`,
        });
    }
  });
}
