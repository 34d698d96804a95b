import type { ListedConnection } from '../../account-actions/connections/connections.ts';
import { ENDPOINT_RULES, endpointRulesOf } from '../../claims/endpoint-set.ts';
import type { OptionalScope, SwitchedScope } from '../../claims/permissions.ts';
import { hidden, isolate } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';

/** The name of the switch of a scope. */
const fieldOf = (scope: SwitchedScope): string => `allow ${scope}`;

interface Switch {
  readonly scope: SwitchedScope;
  readonly name: HtmlPart;
  /** The scope as developers write it, for one of an API. */
  readonly term?: string;
}

/** The scopes about the person that an app has and that every set of endpoints which it uses has a switch for. */
export const switchedScopes = (
  { endpoints, access }: Pick<ListedConnection, 'endpoints' | 'access'>,
  scopes: readonly string[],
): readonly OptionalScope[] =>
  ENDPOINT_RULES.oidc.optionalScopes.filter(
    (scope) =>
      scopes.includes(scope) &&
      endpoints
        .map((endpointSet) => endpointRulesOf(endpointSet, { access }))
        .every((of) => (of.optionalScopes as readonly string[]).includes(scope) || !of.scopes.includes(scope)),
  );

/** Whether an app sees name, username, picture and email address whatever was allowed. */
export const sharesIdentity = ({ endpoints }: Pick<ListedConnection, 'endpoints'>): boolean =>
  endpoints.some((endpointSet) => ENDPOINT_RULES[endpointSet].identityClaims);

/** The name of a scope; of `email`, what it adds to what the app sees anyway. */
export const scopeName = (
  connection: Pick<ListedConnection, 'endpoints'>,
  scope: OptionalScope,
  consent: Messages['consent'],
): string => (scope === 'email' && !sharesIdentity(connection) ? consent.emailAddress : consent.scopes[scope]);

/** What the person can take away from an app, in the order of the consent page. */
export function switchesOf(connection: ListedConnection, { consent }: Messages): readonly Switch[] {
  return [
    ...switchedScopes(connection, connection.scopes).map((scope) => ({
      scope,
      name: scopeName(connection, scope, consent),
    })),
    ...connection.resources.flatMap(({ scopes }) =>
      scopes.map(({ id, name, text }) => ({ scope: id, name: isolate(text), term: name })),
    ),
  ];
}

/** What was switched off in the form, of what it showed. */
export function switchedOff(
  connection: ListedConnection,
  form: RepeatableParameters,
  messages: Messages,
): readonly SwitchedScope[] {
  const shown = new Set((form.get('shown') ?? '').split(' '));
  const switches = switchesOf(connection, messages).map(({ scope }) => scope);
  return switches.filter((scope) => shown.has(scope) && !form.has(fieldOf(scope)));
}

/** A switch for each permission that can be taken away by itself; undefined where there is none. */
export function permissionsForm(
  { messages }: Pick<Site, 'messages'>,
  connection: ListedConnection,
  token: string,
  action: string,
): Html | undefined {
  const { connections: text } = messages;
  const switches = switchesOf(connection, messages);
  if (switches.length === 0) return undefined;
  const rows = switches.map(({ scope, name, term }) => {
    const id = `scope-${scope.replaceAll('.', '-')}`;
    return html`<li><label for="${id}"><span class="name">${name}</span>${term !== undefined && html`<span class="muted">${term}</span>`}</label><input class="switch" type="checkbox" role="switch" id="${id}" name="${fieldOf(scope)}" value="on" checked></li>`;
  });
  const shown = switches.map(({ scope }) => scope).join(' ');
  return html`<form method="post" action="${action}">${hidden(token, { shown })}
<ul class="rows">${rows}</ul>
<p class="muted small">${text.takeLead}</p>
<div><button class="danger" type="submit">${text.take}</button></div></form>`;
}
