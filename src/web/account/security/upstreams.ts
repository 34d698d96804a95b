import type { FastifyInstance, FastifyReply } from 'fastify';
import { waysWithoutIdentities } from '../../../account-actions/factors/last-way-in.ts';
import {
  type ConnectResult,
  connectIdentity,
  disconnectIdentity,
  mayConnect,
} from '../../../account-actions/upstreams/connect.ts';
import { labelOf, vouchedAddress } from '../../../account-actions/upstreams/join.ts';
import { identifierKey } from '../../../accounts/rules/profile.ts';
import { confirmStep, fact, facts, generalProblem, hidden, isolate, moment } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import { type Site, sendPage } from '../../../pages/layout.ts';
import { joinList } from '../../../pages/lists.ts';
import { securityRow } from '../../../pages/security-row.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { redirect } from '../../../platform/http/server.ts';
import { SESSION_LIFETIME } from '../../../sessions/sessions.ts';
import { findActive } from '../../../upstreams/active.ts';
import { type ConnectedIdentity, listIdentities } from '../../../upstreams/identity-store.ts';
import { UpstreamRefusal } from '../../../upstreams/refusal.ts';
import type { Upstream } from '../../../upstreams/store.ts';
import { HANDLE } from '../../authorize/request-fields.ts';
import { readDraft } from '../../sign-in/draft.ts';
import { isConnectPage } from '../../sign-in/fresh-page.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { depart } from '../../upstreams/depart.ts';
import { readVouched, type Vouched } from '../../upstreams/kept.ts';
import { upstreamTexts } from '../../upstreams/messages.ts';
import { confirmConnectPath } from '../../upstreams/routes.ts';
import { accountLayout } from '../layout.ts';
import { proofGate, requireProof } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { verifyFirst } from '../verify-first.ts';
import { type AccountHooks, type AccountVisit, frameOf, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { connectTexts as text } from './upstream-messages.ts';
import { waysLeftList } from './ways-left.ts';

/** The other providers through which the person signs in. */
export const upstreamsSection: SecuritySection = { name: 'upstreams', row, routes };

const CONNECT = '/account/security/connect/:name';
const DISCONNECT = '/account/security/disconnect';

interface OfUpstream {
  Params: { name: string };
}

async function row(services: PageServices, state: SecurityState): Promise<AccountRow | undefined> {
  const { site, database, upstreams } = services;
  const shown = await upstreams.shown();
  if (shown.length === 0) return undefined;
  const { account, proof } = state;
  const identities = await database.read(() => waysWithoutIdentities(services, account, proof.factors));
  const links = html`<div class="stack">${shown.map(({ name, displayName }) => html`<a class="button" href="${site.path(`/account/security/connect/${name}`)}">${text.connect(isolate(displayName))}</a>`)}</div>`;
  const add = mayConnect(services, account) ? links : verifyFirst(site, text.verifyAddressFirst);
  // A proof that connecting asks for leads on to the provider. What disconnects is shown after one.
  const gate = proof.needed && identities.length > 0 && proofGate(site, proof, 'upstreams', html``);
  const content = html`<p class="muted small">${text.lead}</p>
<div class="apps">${identities.map(({ identity, ways }) => identityRow(site, state, identity, waysLeftList(site, ways, proof.factors)))}</div>
${gate}${add}`;
  const names = identities.map(({ identity }) => isolate(identity.upstream));
  return { title: text.title, state: names.length === 0 ? text.none : joinList(names, site.messages), content };
}

function identityRow(
  { path, messages }: Site,
  { proof, token }: SecurityState,
  identity: ConnectedIdentity,
  ways: Html | undefined,
): Html {
  const { id, upstream, label, isActive, createdAt, lastUsedAt } = identity;
  const form = html`<form method="post" action="${path(DISCONNECT)}">${hidden(token, { id })}<p class="small">${text.disconnectLead(isolate(upstream))}</p>${ways}<div><button class="danger" type="submit">${text.disconnectYes(isolate(upstream))}</button></div></form>`;
  return html`<article class="app session" aria-labelledby="${id}"><h3 id="${id}">${isolate(upstream)}</h3>
${facts([
  ...(label === null ? [] : [fact(text.known, isolate(label))]),
  fact(text.connected, moment(createdAt)),
  fact(text.lastUsed, lastUsedAt === null ? messages.passkeys.never : moment(lastUsedAt)),
])}
${!isActive && html`<p class="muted small">${text.disabled}</p>`}
${!proof.needed && (ways === undefined ? html`<p class="muted small">${text.lastWay}</p>` : confirmStep(text.disconnect(isolate(upstream)), form))}</article>`;
}

function routes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks, show: ShowSecurity): void {
  const { site, browsers } = services;
  const proved = requireProof(services, 'upstreams');
  const provedToConnect = requireProof(services, 'connect');
  const refuse = (
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problem: Parameters<typeof generalProblem>[0],
  ) => show(reply, status, visit, { problems: generalProblem(problem) });

  app.get('/account/security/connect', async (request, reply) => {
    const draft = readDraft(services, visitOf(request).browser);
    const isHere = draft !== undefined && draft.fields === undefined && isConnectPage(draft.page);
    if (isHere) browsers.setNote(reply, 'draft', undefined, 0);
    return redirect(request, reply, site.path(isHere ? draft.page : securityRow('upstreams')));
  });

  app.get<OfUpstream>(CONNECT, { preHandler: provedToConnect }, async (request, reply) => {
    const visit = visitOf(request);
    if (!mayConnect(services, visit.account)) return refuse(reply, 403, visit, text.verifyAddressFirst);
    const upstream = await findActive(services, request.params.name);
    if (upstream === undefined) return refuse(reply, 404, visit, upstreamTexts.notOffered);
    try {
      return await depart(services, request, reply, upstream, {
        pending: undefined,
        session: visit.session.sid,
        proves: null,
      });
    } catch (error) {
      if (!(error instanceof UpstreamRefusal)) throw error;
      return refuse(reply, 502, visit, upstreamTexts.unreachable(isolate(upstream.displayName)));
    }
  });

  /**
   * Whom the upstream vouches for, if this browser left for it in this session, or is the address of this account one that the upstream vouches
   * for (decisions §14).
   */
  async function vouchedFor(visit: AccountVisit, name: string) {
    const upstream = await findActive(services, name);
    const vouched = upstream && readVouched(services, visit.browser, upstream);
    if (upstream === undefined || vouched === undefined) return undefined;
    const isHere = vouched.session === visit.session.sid;
    const isByAddress = vouched.session === null && hasVouchedAddress(visit, upstream, vouched);
    return isHere || isByAddress ? { upstream, vouched } : undefined;
  }

  // Another site may have led the browser here, with the identity of somebody else at the upstream: the person decides (login CSRF).
  app.get<OfUpstream>(`${CONNECT}/confirm`, async (request, reply) => {
    const visit = visitOf(request);
    const found = await vouchedFor(visit, request.params.name);
    if (found === undefined) return refuse(reply, 400, visit, upstreamTexts.expired);
    const frame = frameOf(visit);
    const page = confirmPage(
      site,
      found.upstream,
      labelOf(found.vouched.person),
      visit.account.profile.username,
      frame.token,
    );
    return sendPage(reply, 200, site, accountLayout(site, frame, 'security', text.confirmTitle, page));
  });

  app.post<OfUpstream>(`${CONNECT}/confirm`, { preHandler: [countForm, provedToConnect] }, async (request, reply) => {
    const visit = visitOf(request);
    const found = await vouchedFor(visit, request.params.name);
    if (found === undefined) return refuse(reply, 400, visit, upstreamTexts.expired);
    if (!mayConnect(services, visit.account)) return refuse(reply, 403, visit, text.verifyAddressFirst);
    const { vouched, upstream } = found;
    const result = await connectIdentity(services, visit, vouched);
    browsers.setNote(reply, 'upstream', undefined, 0);
    const name = isolate(upstream.displayName);
    if (result.kind === 'connected' && vouched.handle !== null) {
      return redirect(request, reply, site.path(`/login?${HANDLE}=${encodeURIComponent(vouched.handle)}`));
    }
    if (result.kind === 'connected') return show(reply, 200, visit, { done: text.done(name) });
    return refuse(reply, 409, visit, problemText(result, name));
  });

  app.post(DISCONNECT, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const id = formOf(request).get('id') ?? '';
    const connected = await services.database.read(() => listIdentities({ accountId: visit.account.id }));
    const result = await disconnectIdentity(services, visit, id);
    if (result === 'last way') return refuse(reply, 409, visit, text.lastWay);
    if (result === 'unknown') return refuse(reply, 409, visit, text.removedBefore);
    const { account, created } = result;
    browsers.setSession(reply, created, SESSION_LIFETIME);
    return show(
      reply,
      200,
      { ...visit, account, session: created.session },
      {
        done: text.disconnected(isolate(connected.find((identity) => identity.id === id)?.upstream ?? '')),
      },
    );
  });
}

const hasVouchedAddress = ({ account: { profile } }: AccountVisit, upstream: Upstream, { person }: Vouched): boolean =>
  profile.emailVerified && vouchedAddress(upstream, person) === identifierKey(profile.email);

function confirmPage(site: Site, upstream: Upstream, label: string | null, username: string, token: string): Html {
  const name = isolate(upstream.displayName);
  return html`<section class="card narrow"><header><h1>${text.confirmTitle}</h1></header>
<p>${text.confirmLead(name, isolate(username))}</p>
${label !== null && html`<p>${upstreamTexts.known(name, html`<strong>${isolate(label)}</strong>`)}</p>`}
<p class="muted small">${text.confirmWarning(name)}</p>
<form method="post" action="${site.path(confirmConnectPath(upstream))}">${hidden(token)}<div><button class="primary" type="submit">${text.connect(name)}</button></div></form>
<p><a href="${site.path(securityRow('upstreams'))}">${site.messages.proof.cancel}</a></p></section>`;
}

function problemText({ kind }: Exclude<ConnectResult, { kind: 'connected' }>, name: Html) {
  switch (kind) {
    case 'connected before':
      return text.connectedBefore(name);
    case 'another account':
      return text.anotherAccount(name);
    case 'too many':
      return text.tooMany;
    case 'begin again':
      return upstreamTexts.expired;
  }
}
