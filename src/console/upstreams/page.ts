import type { FastifyInstance } from 'fastify';
import { upstreamNotFound } from '../../account-actions/upstreams/upstreams.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { copyable, fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import type { Work } from '../../platform/database/database.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { CLAIM_FIELDS, type ClaimsMap } from '../../upstreams/rules/claims-map.ts';
import {
  findUpstream,
  findWithOrganizations,
  type Upstream,
  type UpstreamWithOrganizations,
} from '../../upstreams/store.ts';
import { logoutUriOf, redirectUriOf } from '../../upstreams/view.ts';
import { consolePage } from '../layout.ts';
import { foldedOnPhone, items, PAGE_SIZE } from '../list.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { UPSTREAMS, type UpstreamActName, upstreamActAddress } from './addresses.ts';
import { upstreamState } from './list.ts';

/** The provider with an id, inside a unit of work. What is no id is not looked up. @throws {Failure} `not found` */
export function* foundUpstream(id: string): Work<Upstream> {
  const found = isSnowflake(id) ? yield* findUpstream({ id }) : undefined;
  if (found === undefined) throw upstreamNotFound(id.slice(0, 64));
  return found;
}

/** The same, with the first organizations that let their members in only through it. @throws {Failure} `not found` */
export function* foundWithOrganizations(id: string): Work<UpstreamWithOrganizations> {
  const found = isSnowflake(id) ? yield* findWithOrganizations({ id, limit: PAGE_SIZE }) : undefined;
  if (found === undefined) throw upstreamNotFound(id.slice(0, 64));
  return found;
}

/** The page about a provider: what it is, what can be done, what to register there, and where to look further. */
export function upstreamPageRoutes(app: FastifyInstance, { site, issuer }: ConsoleServices): void {
  const config = { permission: 'upstreams.read' } as const;
  app.get<{ Params: { id: string } }>(`${UPSTREAMS}/:id`, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { id } = request.params;
    const { upstream, organizations } = await visit.services.database.read(() => foundWithOrganizations(id));
    const content = html`<header class="object"><h1>${isolate(upstream.displayName)}</h1><p class="muted">${isolate(upstream.name)} · ${upstreamState(site, upstream)}</p></header>
${about(site, visit, upstream)}
<section class="card" id="register">${foldedOnPhone(site.messages.operators.upstreams.register, addressFacts(site, upstream, issuer))}</section>
${onlyThrough(site, visit, organizations)}
${happens(site, visit, upstream)}`;
    const title = upstream.displayName;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'upstreams', title, content }));
  });
}

const listed = ({ messages }: Site, entries: readonly string[], none: string): HtmlPart =>
  entries.length === 0 ? none : joinList(entries.map(isolate), messages);

function mapText({ messages }: Site, map: ClaimsMap): HtmlPart {
  const { upstreams: text } = messages.operators;
  const named = CLAIM_FIELDS.filter((field) => map[field] !== undefined);
  if (named.length === 0) return text.noMap;
  return joinList(
    named.map((field) => html`${text.mapped[field]}<code>${isolate(map[field] ?? '')}</code>`),
    messages,
  );
}

function secretFact({ messages }: Site, { kind, sealedSecret, secretExpiresAt }: Upstream): Html {
  const { upstreams: text } = messages.operators;
  const ends = secretExpiresAt !== null && html`, ${text.secretEnds(moment(secretExpiresAt))}`;
  const kept = sealedSecret === null ? text.noSecret : html`${text.secretKept}${ends}`;
  return fact(kind === 'apple' ? text.key : text.secret, kept);
}

function about(site: Site, visit: ConsoleVisit, upstream: Upstream): Html {
  const { messages } = site;
  const { upstreams: text } = messages.operators;
  const { kind, scopes, signUp, signUpDomains, domains } = upstream;
  const joiners = signUp === 'domains' && signUpDomains.length > 0 && html`: ${listed(site, signUpDomains, '')}`;
  return html`<section class="card" aria-label="${text.about}">${facts([
    fact(text.state, upstreamState(site, upstream)),
    fact(text.kind, text.kinds[kind]),
    fact(text.issuer, isolate(upstream.issuer), true),
    fact(text.clientId, isolate(upstream.clientId), true),
    secretFact(site, upstream),
    fact(text.signUp, html`${text.signUps[signUp]}${joiners}`, true),
    fact(text.domains, listed(site, domains, text.noDomains), true),
    fact(text.scopes, listed(site, scopes, text.nothing)),
    fact(text.map, mapText(site, upstream.claimsMap)),
    fact(text.position, String(upstream.position)),
    fact(text.added, moment(upstream.createdAt)),
    fact(text.id, copyable(upstream.id, messages.error, text.copyId)),
  ])}${acts(site, visit, upstream)}</section>`;
}

/** What can be done. It is for owners of the installation alone, and absent for others. */
function acts({ path, messages }: Site, { operator }: ConsoleVisit, { id, kind, status }: Upstream): HtmlPart {
  if (!holds(operator, 'upstreams.manage', INSTALLATION)) return undefined;
  const { upstreams: text } = messages.operators;
  const link = (act: UpstreamActName, label: string, isDangerous = false): Html =>
    html`<a class="button${isDangerous && ' danger'}" href="${path(upstreamActAddress(act, { id }))}">${label}</a>`;
  const isActive = status === 'active';
  return html`<p class="acts">${[
    link('test', text.test.link),
    link('preview', text.preview.link),
    link('change', text.change.link),
    kind === 'oidc' && link('domains', text.authority.link),
    link('secret', text.renewal.link),
    !isActive && link('switch-on', text.switchOn.link),
    link('switch-off', isActive ? text.switchOff.link : text.endSessions, true),
    !isActive && link('delete', text.deletion.link, true),
  ]}</p>${isActive && html`<p class="muted small">${text.deletion.activeHint}</p>`}`;
}

/** The addresses that the provider is given, each to copy. */
function addressFacts({ messages }: Site, upstream: Pick<Upstream, 'name'>, issuer: string): Html {
  const { upstreams: text } = messages.operators;
  const value = (name: string, of: string) => fact(name, copyable(of, messages.error, text.copy(name)), true);
  return html`<header><h2>${text.register}</h2><p class="muted small">${text.registerLead}</p></header>${facts([
    value(text.redirectUri, redirectUriOf(issuer, upstream)),
    value(text.logoutUri, logoutUriOf(issuer, upstream)),
  ])}`;
}

/** The same on the page that shows them first. */
export const addressesToRegister = (site: Site, upstream: Pick<Upstream, 'name'>, issuer: string): Html =>
  html`<section class="card" id="register">${addressFacts(site, upstream, issuer)}</section>`;

function onlyThrough(
  { path, messages }: Site,
  { operator }: ConsoleVisit,
  organizations: readonly { readonly id: string; readonly name: string }[],
): Html {
  const { upstreams: text } = messages.operators;
  const links = holds(operator, 'organizations.read', INSTALLATION);
  const rows = organizations.map(
    ({ id, name }) =>
      html`<li><div>${links ? html`<a href="${path(organizationAddress(id))}">${isolate(name)}</a>` : isolate(name)}</div></li>`,
  );
  return html`<section class="card" id="only">${foldedOnPhone(text.only, html`<h2>${text.only}</h2>${items(rows, text.noOnly)}`)}</section>`;
}

function happens({ path, messages }: Site, { operator }: ConsoleVisit, { id }: Upstream): HtmlPart {
  const { upstreams: text } = messages.operators;
  const links = [
    holds(operator, 'events.read', INSTALLATION) &&
      html`<a class="button" href="${path(`/console/events?upstreamId=${id}`)}">${text.events}</a>`,
    holds(operator, 'traces.read', INSTALLATION) &&
      html`<a class="button" href="${path('/console/explain')}">${text.steps}</a>`,
  ].filter((link) => link !== false);
  if (links.length === 0) return undefined;
  return html`<section class="card" id="happens"><header><h2>${text.happens}</h2><p class="muted small">${text.happensLead}</p></header><p class="acts">${links}</p></section>`;
}
