import type { BulkActName, BulkParameters } from '../../account-actions/bulk/acts.ts';
import { choosesByGroup, findChosenGroup, type WantedPeople } from '../../account-actions/bulk/lists.ts';
import { ScheduleDeletionRequest } from '../../account-actions/personal-data/deletion.ts';
import { SuspensionRequest } from '../../accounts/schema.ts';
import {
  field,
  hidden,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  textArea,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { keptField } from '../../web/sign-in/draft.ts';
import type { Given } from '../act.ts';
import { consolePage } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';
import { BULK, BULK_FORMS } from './addresses.ts';

type BulkField = 'reason' | 'days' | 'group';

/** What is typed for each act, besides who it is for. */
const FIELDS: Readonly<Record<BulkActName, readonly BulkField[]>> = {
  suspend: ['reason'],
  reinstate: [],
  'end-sessions': [],
  'add-to-group': ['group'],
  'remove-from-group': ['group'],
  'send-recovery': [],
  'remind-verification': [],
  offboard: ['days', 'reason'],
};

const typed = (given: Given, name: string): string => (given.get(name) ?? '').trim();

/** What was typed, or what is wrong with it. */
type ReadForm =
  | { readonly wanted: WantedPeople; readonly parameters: BulkParameters }
  | { readonly problems: Problems };

const wrong = (fields: Readonly<Record<string, string>>): ReadForm => ({ problems: { fields, general: [] } });

/** Reads the form of an act. */
export async function readBulkForm(
  { services, operator }: ConsoleVisit,
  name: BulkActName,
  given: Given,
): Promise<ReadForm> {
  const { bad } = services.site.messages.operators.bulk;
  const names = (given.get('names') ?? '')
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/\p{Cc}/gu, '').trim())
    .filter((line) => line !== '');
  const [text, members] = [typed(given, 'text').replaceAll(/\p{Cc}/gu, ''), typed(given, 'members')];
  if ([names.length > 0, text !== '', members !== ''].filter(Boolean).length !== 1) return wrong({ names: bad.who });
  const groupOf = (typedName: string) => services.database.read(() => findChosenGroup(operator, typedName));
  const from = members === '' ? undefined : await groupOf(members);
  if (members !== '' && from === undefined) return wrong({ members: bad.group });

  const fields = FIELDS[name];
  const reason = typed(given, 'reason');
  if (fields.includes('reason') && reason !== '' && findProblem(SuspensionRequest, { reason }) !== undefined) {
    return wrong({ reason: bad.reason });
  }
  const days = Number(typed(given, 'days') || '30');
  if (fields.includes('days') && findProblem(ScheduleDeletionRequest, { days }) !== undefined) {
    return wrong({ days: bad.days });
  }
  const group = fields.includes('group') ? await groupOf(typed(given, 'group')) : undefined;
  if (fields.includes('group') && group === undefined) return wrong({ group: bad.group });
  return {
    wanted:
      from !== undefined
        ? { by: 'group', groupId: from.id }
        : text === ''
          ? { by: 'names', names }
          : { by: 'text', text },
    parameters: {
      ...(fields.includes('reason') && reason !== '' && { reason }),
      ...(fields.includes('days') && { days }),
      ...(group !== undefined && { groupId: group.id }),
    },
  };
}

/** The page on which an operator says for whom an act is. */
export function bulkFormPage(
  site: Site,
  visit: ConsoleVisit,
  name: BulkActName,
  given: Given,
  problems: Problems = NO_PROBLEMS,
): Page {
  const { messages, path } = site;
  const { bulk: text, record, cancel } = messages.operators;
  const words = text.act[name];
  const value = (input: string): string => given.get(input) ?? '';
  const inputs: Readonly<Record<BulkField, () => Html>> = {
    group: () =>
      field({
        ...{ name: 'group', label: text.group, hint: text.groupHint, type: 'text', autocomplete: 'off', problems },
        value: value('group'),
      }),
    days: () =>
      selectField({
        ...{ name: 'days', label: text.days, value: value('days') || '30', problems },
        options: Object.entries(record.offboard.daysOf),
      }),
    reason: () =>
      textArea({
        name: 'reason',
        label: text.reason,
        hint: text.reasonHint,
        rows: 2,
        value: value('reason'),
        problems,
      }),
  };
  const one = { type: 'text', autocomplete: 'off', required: false, problems } as const;
  const content = html`<header class="object"><h1>${words.title}</h1><p class="muted">${words.lead}</p></header>
${problemSummary(messages, problems)}
<section class="card"><form method="post" action="${path(BULK_FORMS.make)}" novalidate>${hidden(visit.token, { act: name, ...keptField(visit.browser, visit, BULK_FORMS.make) })}
${FIELDS[name].map((input) => inputs[input]())}
<p class="muted">${text.who}</p>
${textArea({ name: 'names', label: text.names, hint: text.namesHint, rows: 6, value: value('names'), problems })}
${field({ name: 'text', label: text.text, hint: text.textHint, value: value('text'), ...one })}
${choosesByGroup(visit.operator) && field({ name: 'members', label: text.members, hint: text.membersHint, value: value('members'), ...one })}
<div class="actions"><button class="primary" type="submit">${text.next}</button><a href="${path(BULK)}">${cancel}</a></div></form></section>`;
  return consolePage(site, visit, { section: 'people', title: words.title, content, problems });
}
