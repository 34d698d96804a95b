import { field, hidden, type Problems, problemSummary } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { VERIFICATION_PATH } from '../../protocol/device/start.ts';

interface CodePage {
  readonly token: string;
  /** What was typed. */
  readonly typed: string;
  readonly problems: Problems;
}

/** Asks for the code of a device: RFC 8628 §3.3. */
export function deviceCodePage({ messages, path }: Site, { token, typed, problems }: CodePage): Page {
  const text = messages.device;
  return {
    title: text.title,
    layout: 'narrow',
    problems,
    body: html`<section class="card"><header><h1>${text.title}</h1><p>${text.lead}</p></header>
${problemSummary(messages, problems)}
<form method="post" action="${path(VERIFICATION_PATH)}" novalidate>${hidden(token)}
${field({ name: 'user_code', label: text.code, type: 'text', autocomplete: 'off', value: typed, hint: text.codeHint, problems, focus: true })}
<p class="small">${text.warning}</p>
<button class="primary" type="submit">${text.submit}</button></form></section>`,
  };
}
