import { EXPORT_PATH } from '../../../account-actions/personal-data/export-dispatcher.ts';
import { described, hidden, type Problems } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import type { Site } from '../../../pages/layout.ts';
import type { AccountFrame } from '../layout.ts';
import { type ProofState, proofGate } from '../proof.ts';
import type { AccountRow } from '../rows.ts';

interface DataState extends AccountFrame {
  readonly proof: ProofState;
  readonly problems: Problems;
}

/** The way to the page of the export. */
export const exportRow = ({ messages: { data }, path }: Site): AccountRow => ({
  title: data.export.title,
  state: data.export.sectionLead,
  page: path(EXPORT_PATH),
});

/** Leaving. The box is the step in which the person confirms it. */
export function deletionRow(site: Site, { token, proof, problems }: DataState): AccountRow {
  const { messages, path } = site;
  const text = messages.data;
  const { attributes, notes } = described('confirm', undefined, problems);
  const form = html`<form method="post" action="${path('/account/deletion')}" novalidate>${hidden(token)}
${notes}
<label class="check"><input type="checkbox" id="confirm" name="confirm" value="yes" required${attributes}> ${text.confirmDeletion}</label>
<div><button class="danger" type="submit">${text.delete}</button></div></form>`;
  const content = html`<p class="muted small">${text.deletionLead}</p>
${proofGate(site, proof, 'deletion', form)}`;
  return { title: text.deletion, state: text.deletionState, content };
}
