import {
  askForScope,
  decideScopeRequest,
  furtherScopes,
  readScopeRequests,
  withdrawScopeRequest,
} from '../../account-actions/scope-requests/scope-requests.ts';
import { readRegistered } from '../../clients/clients.ts';
import { refuseBuiltIn } from '../../clients/command-line.ts';
import { ApproveScopeRequest, AskScopeRequest, DeclineScopeRequest } from '../../clients/schema.ts';
import type { ScopeDecision, ScopeRequest } from '../../clients/scope-request-store.ts';
import type { Client } from '../../clients/store.ts';
import { field, fieldProblem, generalProblem, isolate, type Problems, textArea } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { enumerated } from '../../platform/date-text.ts';
import { type Failure, notFound } from '../../platform/failure.ts';
import { validate } from '../../platform/validation/validate.ts';
import { type ActDone, type ConsoleAct, defineAct, type Given } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import { appAddress } from './addresses.ts';
import { SCOPE_ACTS } from './scope-request-row.ts';

const textsOf = ({ services }: ConsoleVisit) => services.site.messages.operators.scopes;

const ofApp = { section: 'apps', objects: { app: ['clientId'] } } as const;

async function findApp({ services, named }: ConsoleVisit): Promise<Client> {
  refuseBuiltIn(named.clientId);
  return (await services.database.read(() => readRegistered(named.clientId ?? '', services.clock()))).client;
}

const backTo = (
  { services }: ConsoleVisit,
  { id, name }: Pick<Client, 'id' | 'name'>,
): Pick<ActDone, 'back' | 'backTo'> => ({
  back: appAddress(id),
  backTo: services.site.messages.operators.back(isolate(name)),
});

/** A problem at the field that it is about. */
const problemAt =
  (textFor: (visit: ConsoleVisit) => Readonly<Record<string, string>>) =>
  (visit: ConsoleVisit, { kind, message }: Failure): Problems => {
    const problem = kind === 'invalid' && Object.entries(textFor(visit)).find(([name]) => message.startsWith(name));
    return problem ? fieldProblem(...problem) : generalProblem(message);
  };

const trimmed = (given: Given, name: string): string => (given.get(name) ?? '').trim();

const ask = defineAct<Client>({
  ...ofApp,
  ...{ address: '/console/apps/request-scope', permission: 'apps.manage', isDangerous: false },
  find: findApp,
  ask(visit, client, given, problems) {
    const text = textsOf(visit);
    const open = enumerated(furtherScopes(client));
    const input = (name: 'scope' | 'resource', hint: string) =>
      field({
        ...{ name, label: text[name], hint, type: 'text', autocomplete: 'off', problems },
        ...{ value: given.get(name) ?? '', required: name === 'scope' },
      });
    return {
      ...{ title: text.askTitle(isolate(client.name)), lead: text.askLead, submit: text.askSubmit },
      fields: html`${input('scope', text.scopeHint(open))}
${input('resource', text.resourceHint)}
${textArea({ name: 'reason', label: text.why, hint: text.whyHint, rows: 3, value: given.get('reason') ?? '', problems })}`,
      ...{ about: { app: client.id }, back: appAddress(client.id) },
    };
  },
  async run(visit, client, given) {
    const { services, origin } = visit;
    const text = textsOf(visit);
    const resource = trimmed(given, 'resource');
    const typed = { scope: trimmed(given, 'scope'), reason: trimmed(given, 'reason') };
    const input = validate(AskScopeRequest, { ...typed, ...(resource !== '' && { resource }) });
    await askForScope(services, client.id, input, origin);
    return { title: text.askDone, now: text.askNow, ...backTo(visit, client) };
  },
  problemOf: problemAt((visit) => ({ scope: textsOf(visit).scopeBad, reason: textsOf(visit).whyBad })),
});

interface Subject {
  readonly client: Client;
  readonly request: ScopeRequest;
}

async function findRequest({ services, named }: ConsoleVisit, given: Given): Promise<Subject> {
  refuseBuiltIn(named.clientId);
  const now = services.clock();
  return services.database.read(function* find() {
    const { client } = yield* readRegistered(named.clientId ?? '', now);
    const requests = yield* readScopeRequests(client, { policy: services.developers.policy, now });
    const request = requests.find(({ id }) => id === given.get('asked'));
    if (request === undefined) throw notFound('There is no such request: it may have been withdrawn.');
    return { client, request };
  });
}

const about = ({ client, request }: Subject) => ({
  about: { app: client.id, asked: request.id },
  back: appAddress(client.id),
});

/** What is asked for, and why. */
function requested(visit: ConsoleVisit, { scope, resource, reason }: ScopeRequest) {
  const text = textsOf(visit);
  return html`<p><code>${isolate(scope)}</code>${resource !== null && text.ofApi(isolate(resource))}<br><span class="small">${text.reason(isolate(reason))}</span></p>`;
}

interface DecisionTexts {
  readonly titles: 'approveTitle' | 'declineTitle';
  readonly leads: 'approveLead' | 'declineLead';
  readonly submits: 'approve' | 'decline';
  readonly hints: 'answerOptional' | 'answerHint';
  readonly done: readonly ['approved', 'approvedNow'] | readonly ['declined', 'declinedNow'];
}

const decision = (
  outcome: ScopeDecision,
  { titles, leads, submits, hints, done: [doneTitle, doneNow] }: DecisionTexts,
  answerOf: (answer: string) => string | null,
): ConsoleAct =>
  defineAct<Subject>({
    ...ofApp,
    ...{ address: `/console/apps/${SCOPE_ACTS[submits]}`, permission: 'apps.approve', isDangerous: false },
    find: findRequest,
    ask(visit, subject, given, problems) {
      const text = textsOf(visit);
      const { client, request } = subject;
      const answer = { name: 'answer', label: text.answerLabel, hint: text[hints], rows: 3 } as const;
      return {
        ...{ title: text[titles](isolate(request.scope), isolate(client.name)), lead: text[leads] },
        ...{ submit: text[submits], ...about(subject) },
        fields: html`${requested(visit, request)}
${textArea({ ...answer, value: given.get('answer') ?? '', problems })}`,
      };
    },
    async run(visit, { client, request }, given) {
      const { services, origin } = visit;
      const text = textsOf(visit);
      const decided = { outcome, answer: answerOf(trimmed(given, 'answer')) };
      await decideScopeRequest(services, client.id, request.id, decided, origin);
      return { title: text[doneTitle], now: text[doneNow], ...backTo(visit, client) };
    },
    problemOf: problemAt((visit) => ({ answer: textsOf(visit).answerBad })),
  });

const approve = decision(
  'approved',
  {
    ...{ titles: 'approveTitle', leads: 'approveLead', submits: 'approve', hints: 'answerOptional' },
    done: ['approved', 'approvedNow'],
  },
  (answer) => validate(ApproveScopeRequest, answer === '' ? {} : { answer }).answer ?? null,
);

const decline = decision(
  'declined',
  {
    ...{ titles: 'declineTitle', leads: 'declineLead', submits: 'decline', hints: 'answerHint' },
    done: ['declined', 'declinedNow'],
  },
  (answer) => validate(DeclineScopeRequest, { answer }).answer,
);

const withdraw = defineAct<Subject>({
  ...ofApp,
  ...{ address: `/console/apps/${SCOPE_ACTS.withdraw}`, permission: 'apps.manage', isDangerous: false },
  find: findRequest,
  ask(visit, subject) {
    const text = textsOf(visit);
    const { client, request } = subject;
    return {
      title: text.withdrawTitle(isolate(request.scope), isolate(client.name)),
      ...{ lead: text.withdrawLead, submit: text.withdraw, fields: requested(visit, request), ...about(subject) },
    };
  },
  async run(visit, { client, request }) {
    const text = textsOf(visit);
    await withdrawScopeRequest(visit.services, client.id, request.id, visit.origin);
    return { title: text.withdrawn, now: text.withdrawnNow, ...backTo(visit, client) };
  },
});

/** The acts on scope requests. */
export const scopeActs: readonly ConsoleAct[] = [ask, approve, decline, withdraw];
