import { take } from '../../limits/limits.ts';
import { field, fieldProblem, generalProblem, isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { asciiEmail } from '../../platform/domain-name.ts';
import { conflict, invalid, limited } from '../../platform/failure.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import { systemAddress } from './frame.ts';

const textsOf = ({ services }: ConsoleVisit) => services.site.messages.operators.system.test;

/** Counts a message that an operator sends by themselves: the server of its recipient is somebody else's. @throws {Failure} `limited` */
async function countTestMail({ account, origin, services }: ConsoleVisit): Promise<void> {
  const { database, clock, limits } = services;
  const about = { name: 'mailAddress', origin, accountId: account.id } as const;
  const count = () => take(`test mail by ${account.id}`, limits.mailAddress, clock(), about);
  const wait = await database.commit(count);
  if (wait > 0) throw limited(wait);
}

const testMail = defineAct<undefined>({
  ...{ address: `${systemAddress('mail')}/test`, section: 'system', permission: 'mail.manage' },
  ...{ objects: {}, isDangerous: false },
  async find() {
    return undefined;
  },
  ask(visit, _nothing, given, problems) {
    const text = textsOf(visit);
    return {
      ...{ title: text.title, lead: text.lead, submit: text.submit, about: {}, back: systemAddress('mail') },
      fields: field({
        ...{ name: 'to', label: text.to, hint: text.toHint, type: 'email', autocomplete: 'off', problems },
        value: given.get('to') ?? visit.account.profile.email,
      }),
    };
  },
  async run(visit, _nothing, given) {
    const text = textsOf(visit);
    const to = asciiEmail((given.get('to') ?? '').trim());
    if (to === undefined) throw invalid('to');
    // What was sent cannot be taken back: the operator is admitted before.
    await countTestMail(visit);
    const result = await visit.services.sendTestMail(visit.services.database, to, visit.origin);
    const back = { back: systemAddress('mail'), backTo: text.backTo };
    if (result.kind === 'kept') return { title: text.kept, now: html`${isolate(to)}`, ...back };
    if (result.kind === 'accepted') return { title: text.done, now: html`<code>${result.answer}</code>`, ...back };
    throw conflict(result.kind === 'off' ? text.off : text.failed(result.problem));
  },
  problemOf: (visit, { message }) =>
    message === 'to' ? fieldProblem('to', textsOf(visit).toBad) : generalProblem(message),
});

/** The acts on the service itself. */
export const systemActs: readonly ConsoleAct[] = [testMail];
