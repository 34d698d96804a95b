import type { FastifyInstance } from 'fastify';
import { distrustBrowser } from '../../account-actions/sign-in/trusted-browsers.ts';
import { listTrustedBrowsers } from '../../authenticators/trusted-browser-store.ts';
import { confirmStep, fact, facts, hidden, moment } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { isSecretForm } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { deviceIcon, deviceName } from './device-name.ts';
import { proofGate, readProof, requireProof } from './proof.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

const ADDRESS = '/account/trusted-browsers';

/** The browsers in which a person is not asked for the second factor; undefined where there are none. */
export async function trustedBrowsersSection(services: PageServices, visit: AccountVisit): Promise<Html | undefined> {
  const { site, database, clock } = services;
  const { id: accountId, generation } = visit.account;
  const now = clock();
  const trusted = await database.read(() => listTrustedBrowsers({ accountId, generation, now }));
  if (trusted.length === 0) return undefined;
  const { messages, path } = site;
  const text = messages.trustedBrowsers;
  const proof = await readProof(services, visit);
  const { token } = frameOf(visit);
  const rows = trusted.map(({ hash, browser, system, network, createdAt, expiresAt }, index) => {
    const id = `trusted-${index}`;
    const device = { browser, system };
    const name = deviceName(device, messages);
    return html`<article class="app" aria-labelledby="${id}">${deviceIcon(device)}<div class="app-name"><h3 id="${id}">${name}</h3></div>
${facts([
  fact(text.since, moment(createdAt)),
  fact(text.until, moment(expiresAt)),
  fact(messages.sessions.from, network ?? messages.sessions.unknown),
])}
${
  !proof.needed &&
  confirmStep(
    text.end,
    html`<form method="post" action="${path(ADDRESS)}">${hidden(token, { browser: hash })}<p class="small">${text.endLead(name)}</p><div><button class="danger" type="submit" aria-label="${text.endOf(name)}">${text.endYes}</button></div></form>`,
  )
}</article>`;
  });
  return html`<section class="card apps" id="trusted"><header><h2>${text.title}</h2><p class="muted small">${text.lead}</p></header>${rows}
${proof.needed && proofGate(site, proof, 'trusted-browsers', html``)}</section>`;
}

export function trustedBrowsersRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { site, clock } = services;
  const proved = requireProof(services, 'trusted-browsers');
  app.post(ADDRESS, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const hash = form.get('browser') ?? '';
    if (isSecretForm(hash)) {
      const { account, origin } = visit;
      const now = clock();
      await servicesIn(services, visit).database.commit(() => distrustBrowser(account.id, hash, origin, now));
    }
    return redirect(request, reply, site.path('/account/sessions#trusted'));
  });
}
