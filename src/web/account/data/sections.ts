import { EXPORT_PATH } from '../../../account-actions/personal-data/export-dispatcher.ts';
import { field, hidden, type Problems } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Site } from '../../../pages/layout.ts';
import type { AccountFrame } from '../layout.ts';
import { type ProofState, proofGate } from '../proof.ts';

interface DataState extends AccountFrame {
  readonly proof: ProofState;
  readonly problems: Problems;
}

const USERNAME = '/account/username';

/** @param typed what the person sent, if it was rejected */
export function usernameSection(
  site: Site,
  { account, token, keptFor, proof, problems }: DataState,
  typed: string,
): Html {
  const { messages, path } = site;
  const text = messages.data;
  const form = html`<form method="post" action="${path(USERNAME)}" novalidate>${hidden(token, keptFor(USERNAME))}
${field({ name: 'username', label: text.newUsername, type: 'text', autocomplete: 'username', value: typed === '' ? account.profile.username : typed, hint: messages.signUp.usernameHint, problems })}
<div><button class="primary" type="submit">${text.changeUsername}</button></div></form>`;
  return html`<section class="card"><header><h2>${text.username}</h2><p class="muted small">${text.usernameLead}</p></header>
${proofGate(site, proof, 'username', form)}</section>`;
}

/** The way to the page of the export. */
export const exportSection = ({ messages, path }: Site): Html =>
  html`<section class="card" id="export"><header><h2>${messages.data.export.title}</h2><p class="muted small">${messages.data.export.sectionLead}</p></header>
<p><a href="${path(EXPORT_PATH)}">${messages.data.export.link}</a></p></section>`;

export function deletionSection(site: Site, { token, proof, problems }: DataState): Html {
  const { messages, path } = site;
  const text = messages.data;
  const problem = problems.fields['confirm'];
  const form = html`<form method="post" action="${path('/account/deletion')}" novalidate>${hidden(token)}
${problem !== undefined && html`<p class="problem small" id="confirm-note">${problem}</p>`}
<label class="check"><input type="checkbox" id="confirm" name="confirm" value="yes" required${problem !== undefined && html` aria-invalid="true" aria-describedby="confirm-note"`}> ${text.confirmDeletion}</label>
<div><button class="danger" type="submit">${text.delete}</button></div></form>`;
  return html`<section class="card" id="deletion"><header><h2>${text.deletion}</h2><p class="muted small">${text.deletionLead}</p></header>
${proofGate(site, proof, 'deletion', form)}</section>`;
}
