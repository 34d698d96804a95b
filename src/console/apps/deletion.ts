import { deleteClient, getClient } from '../../clients/clients.ts';
import { refuseBuiltIn } from '../../clients/command-line.ts';
import type { Client } from '../../clients/store.ts';
import { field, fieldProblem, generalProblem, isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { invalid } from '../../platform/failure.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import { appAddress } from './addresses.ts';

const textsOf = ({ services }: ConsoleVisit) => services.site.messages.operators.apps.deletion;

/** Deletes an app with all that belongs to it, once its name was typed. */
const deletion = defineAct<Client>({
  ...{ address: '/console/apps/delete', section: 'apps', permission: 'apps.manage', isDangerous: true },
  objects: { app: ['clientId'] },
  async find({ services, named: { clientId = '' } }) {
    refuseBuiltIn(clientId);
    return (await getClient(services, clientId)).client;
  },
  ask(visit, { id, name, resource }, given, problems) {
    const text = textsOf(visit);
    return {
      ...{ title: text.title(isolate(name)), lead: text.lead, submit: text.submit },
      ...{ about: { app: id }, back: appAddress(id) },
      fields: html`<ul>${text.ends.map((what) => html`<li>${what}</li>`)}${resource !== null && html`<li>${text.endsOfApi}</li>`}</ul>
${field({
  ...{ name: 'typed', label: text.typed, hint: text.typedHint, type: 'text', autocomplete: 'off', problems },
  value: given.get('typed') ?? '',
})}`,
    };
  },
  async run(visit, { id, name }, given) {
    const text = textsOf(visit);
    if ((given.get('typed') ?? '').trim() !== name) throw invalid('typed');
    await deleteClient(visit.services, id, visit.origin);
    return { title: text.done(isolate(name)), now: text.now, back: '/console/apps', backTo: text.backTo };
  },
  problemOf: (visit, { message }) =>
    message === 'typed' ? fieldProblem('typed', textsOf(visit).typedBad) : generalProblem(message),
});

/** The end of an app. */
export const appDeletionActs: readonly ConsoleAct[] = [deletion];
