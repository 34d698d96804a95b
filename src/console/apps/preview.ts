import type { Account } from '../../accounts/store.ts';
import { readClientRecord } from '../../clients/clients.ts';
import type { Client } from '../../clients/store.ts';
import { fact, facts, field, fieldProblem, generalProblem, isolate } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { joinList } from '../../pages/lists.ts';
import { invalid } from '../../platform/failure.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { foldedOnPhone } from '../list.ts';
import { getSubject } from '../named-person.ts';
import type { ConsoleVisit, ShownEndpoint, TokenPreview } from '../visit.ts';
import { appAddress } from './addresses.ts';

/** Where it is asked what tokens would say. */
const PREVIEW = '/console/apps/preview';

/** As in the admin API. */
const LONGEST = 2000;

const textsOf = ({ services }: ConsoleVisit) => services.site.messages.operators.preview;

interface Previewed {
  readonly client: Client;
  readonly account: Account;
}

/** The scopes that are filled in: all that the app is registered for. */
const scopesOf = ({ scopes }: Client): string => (scopes === null || scopes.length === 0 ? 'openid' : scopes.join(' '));

const json = (
  title: string,
  value: object | null,
  none: HtmlPart,
  text: Pick<ReturnType<typeof textsOf>, 'show' | 'showOf'>,
): Html =>
  fact(
    title,
    value === null
      ? none
      : foldedOnPhone(text.show, html`<pre>${isolate(JSON.stringify(value, null, 1))}</pre>`, text.showOf(title)),
    true,
  );

function endpointPart(visit: ConsoleVisit, found: ShownEndpoint): Html {
  const text = textsOf(visit);
  const { endpointSet, error, scope, ignoredScopes, idToken, userinfo, introspection, leftOut } = found;
  const told =
    error === null
      ? [
          fact(text.scope, isolate(scope), true),
          ignoredScopes.length > 0 && fact(text.ignored, isolate(ignoredScopes.join(' ')), true),
          json(text.idToken, idToken, text.noIdToken, text),
          json(text.userinfo, userinfo, text.noUserinfo, text),
          json(text.introspection, introspection, text.none, text),
          leftOut.length > 0 &&
            fact(text.leftOut, html`<span lang="en">${leftOut.map(({ message }) => message).join(' ')}</span>`, true),
        ]
      : [
          fact(
            text.refused,
            html`<code>${error.error}</code> <span lang="en">${isolate(error.description)}</span>`,
            true,
          ),
        ];
  return html`<section class="card"><h2>${text.endpoints[endpointSet]}</h2>${facts(told)}</section>`;
}

function previewParts(visit: ConsoleVisit, { access, endpoints }: TokenPreview): Html {
  const text = textsOf(visit);
  const { messages } = visit.services.site;
  const roles = access.roles.length > 0 && fact(text.roles, joinList(access.roles.map(isolate), messages));
  const may = access.obstacles.length === 0 ? text.may : html`<strong class="state">${text.mayNot}</strong>`;
  return html`<section class="card">${facts([fact(text.access, may), roles])}</section>${endpoints.map((found) => endpointPart(visit, found))}`;
}

/** Shows what the tokens of a person would say in an app. Nothing is issued; that it was looked at is on record. */
const preview = defineAct<Previewed>({
  ...{ address: PREVIEW, section: 'apps', permission: 'apps.preview', isDangerous: false },
  objects: { app: ['clientId'], person: 'userId' },
  pageObjects: { app: ['clientId'] },
  async find(visit) {
    const client = await visit.services.database.read(() => readClientRecord(visit.named.clientId ?? ''));
    return { client, account: await getSubject(visit, null) };
  },
  ask(visit, { client, account }, given, problems) {
    const text = textsOf(visit);
    const { username, displayName } = account.profile;
    return {
      ...{ title: text.title(isolate(displayName), isolate(client.name)), lead: text.lead, submit: text.submit },
      object: html`${isolate(username)} · <span class="figures">${account.id}</span>`,
      fields: field({
        ...{ name: 'scope', label: text.scopes, hint: text.scopesHint, type: 'text', autocomplete: 'off', problems },
        ...{ value: given.get('scope') ?? scopesOf(client), required: false },
      }),
      ...{ about: { app: client.id, user: account.id }, back: appAddress(client.id) },
    };
  },
  async run(visit, { client, account }, given) {
    const { services, origin } = visit;
    const text = textsOf(visit);
    const scope = (given.get('scope') ?? '').trim();
    if (scope.length > LONGEST) throw invalid('scope');
    const asked = { clientId: client.id, accountId: account.id, scope };
    const found = await services.previewTokens(services.database, asked, origin);
    return {
      title: text.done(isolate(account.profile.displayName), isolate(client.name)),
      ...{ now: text.now, more: previewParts(visit, found), back: appAddress(client.id) },
      backTo: services.site.messages.operators.back(isolate(client.name)),
    };
  },
  problemOf: (visit, { message }) =>
    message.startsWith('scope') ? fieldProblem('scope', textsOf(visit).scopesBad) : generalProblem(message),
});

/** The acts on apps of the common shape. */
export const appPreviewActs: readonly ConsoleAct[] = [preview];
