import type { FastifyInstance } from 'fastify';
import { scopesAboutPerson } from '../../account-actions/scope-requests/scope-requests.ts';
import { readClientRecord } from '../../clients/clients.ts';
import { presentsSecret } from '../../clients/rules/registration.ts';
import {
  type Trial,
  trialAuthorization,
  trialExchange,
  trialOwnToken,
  trialScopes,
  trialUserInfo,
} from '../../clients/rules/trial-requests.ts';
import { type Client, wireId } from '../../clients/store.ts';
import { holds, holdsSomewhere } from '../../operators/rights.ts';
import { commandBlock, copyable, fact, facts, isolate, NO_PROBLEMS, selectField } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { consolePage } from '../layout.ts';
import { foldedOnPhone } from '../list.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { appAddress, logAddress, placeOfApp, tryAddress } from './addresses.ts';

/** What is asked for at first, of what the app may request. */
const USUAL: readonly string[] = ['openid', 'profile', 'email'];

/** The requests of an app, to be sent by hand: nothing is registered, issued or stored for them but what the app itself would get. */
export function tryRoutes(app: FastifyInstance, { site, issuer }: ConsoleServices): void {
  const config = { permission: 'apps.read', objects: { app: ['clientId'] } } as const;

  app.get<{ Params: { clientId: string } }>('/console/apps/:clientId/try', { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const client = await visit.services.database.read(() => readClientRecord(request.params.clientId));
    const { tryIt: text } = site.messages.operators;
    const trial = trialOf(client, issuer, queryOf(request));
    const content = html`<header class="object"><h1>${text.title(isolate(client.name))}</h1><p class="muted">${text.lead}</p></header>
${client.status !== 'active' && html`<p><strong class="state">${text.disabled}</strong></p>`}
${steps(site, visit, client, trial)}
<p><a class="button" href="${site.path(appAddress(client.id))}">${site.messages.operators.apps.logBack}</a></p>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: text.link, content }));
  });
}

/** What was chosen, or what is usual. @returns undefined for the redirect URI of an app that nobody signs in to */
function trialOf(client: Client, issuer: string, query: RepeatableParameters) {
  const { type, tokenEndpointAuthMethod, endpoints, redirectUris, grantTypes } = client;
  const endpointSet =
    endpoints.find((one) => one === query.get('endpoints')) ?? (endpoints.includes('oidc') ? 'oidc' : 'v2');
  const offered = trialScopes(endpointSet, scopesAboutPerson(client));
  const chosen = query.has('chosen') ? query.all('scope') : USUAL;
  const signsIn = grantTypes.includes('authorization_code');
  return {
    ...{ issuer, clientId: wireId(client), type, tokenEndpointAuthMethod, endpointSet, offered },
    redirectUri: signsIn ? (redirectUris.find((uri) => uri === query.get('redirect')) ?? redirectUris[0]) : undefined,
    scopes: offered.filter((scope) => chosen.includes(scope)),
    ...{ state: randomSecret(), nonce: randomSecret(), verifier: randomSecret() },
  } as const;
}

type Chosen = ReturnType<typeof trialOf>;

function steps(site: Site, visit: ConsoleVisit, client: Client, trial: Chosen): HtmlPart {
  const { tryIt: text } = site.messages.operators;
  const { redirectUri } = trial;
  const ownToken =
    client.grantTypes.includes('client_credentials') &&
    html`<section class="card"><h2>${text.ownToken}</h2><p class="muted">${text.ownTokenLead}</p>${command(site, trialOwnToken(trial))}</section>`;
  if (redirectUri === undefined) {
    return ownToken || html`<section class="card"><p>${text.nothing}</p></section>`;
  }
  return html`${choice(site, client, trial)}${signIn(site, visit, client, { ...trial, redirectUri })}${ownToken}`;
}

const command = ({ messages }: Site, text: string): Html =>
  commandBlock(text, messages.error, messages.operators.tryIt.copyCommand);

/** To which address, from which endpoints and for what the app asks. */
function choice({ path, messages }: Site, client: Client, trial: Chosen): Html {
  const { tryIt: text, preview } = messages.operators;
  const select = (name: string, label: string, value: string, options: readonly (readonly [string, string])[]) =>
    options.length > 1 && selectField({ name, label, value, options, problems: NO_PROBLEMS });
  const scopes = trial.offered.map(
    (scope) =>
      html`<label class="check"><input type="checkbox" name="scope" value="${scope}"${trial.scopes.includes(scope) && html` checked`}><span>${scope}</span></label>`,
  );
  const uris = client.redirectUris.map((uri) => [uri, uri] as const);
  const sets = client.endpoints.map((set) => [set, preview.endpoints[set]] as const);
  return html`<details class="card filters"><summary>${text.change}</summary><form method="get" action="${path(tryAddress(client.id))}"><input type="hidden" name="chosen" value="yes">${select('redirect', text.redirectUri, trial.redirectUri ?? '', uris)}${select('endpoints', text.endpoints, trial.endpointSet, sets)}<fieldset class="field"><legend>${text.scopes}</legend><div class="filter-fields">${scopes}</div></fieldset><div class="actions"><button class="primary" type="submit">${text.choose}</button></div></form></details>`;
}

/** A sign-in, the exchange of its code, and what the app then learns. */
function signIn(site: Site, visit: ConsoleVisit, client: Client, trial: Trial): Html {
  const { path, messages } = site;
  const { tryIt: text } = messages.operators;
  const address = trialAuthorization(trial);
  const value = (name: string, of: string) =>
    fact(name, copyable(of, messages.error, messages.operators.apps.copy(name)), true);
  const readsLog =
    holds(visit.operator, 'apps.traces', placeOfApp(client)) || holdsSomewhere(visit.operator, 'traces.read');
  const log = readsLog && html`<p><a href="${path(logAddress(client.id, { live: '1' }))}">${text.watch}</a></p>`;
  const note = presentsSecret(client) ? text.exchangeNote : client.type === 'public' ? text.exchangePublic : undefined;
  const exchange = html`<p>${text.exchangeLead(html`<code>${isolate(trial.redirectUri)}</code>`)}</p>${command(site, trialExchange(trial))}${note !== undefined && html`<p class="muted">${note}</p>`}`;
  const asksClaims = trial.scopes.includes('openid') || trial.endpointSet === 'v2';
  return html`<section class="card" id="sign-in"><h2>${text.signIn}</h2><p>${text.signInLead}</p><p class="acts"><a class="button primary" href="${address}" target="_blank" rel="noopener noreferrer">${text.begin}</a></p>${foldedOnPhone(
    text.request,
    html`${command(site, address)}${facts([
      value('state', trial.state),
      trial.scopes.includes('openid') && value('nonce', trial.nonce),
      value('code_verifier', trial.verifier),
    ])}`,
  )}</section>
<section class="card" id="exchange"><h2>${text.exchange}</h2>${foldedOnPhone(text.showCommand, exchange)}</section>
${asksClaims && html`<section class="card" id="claims"><h2>${text.claims}</h2><p>${text.claimsLead}</p>${foldedOnPhone(text.showCommand, command(site, trialUserInfo(trial)))}${log}</section>`}`;
}
