import type { FastifyInstance } from 'fastify';
import { listOpenableApps, type OpenableApp } from '../../access/openable-app-store.ts';
import { isOpen } from '../../accounts/rules/joining.ts';
import { appPicture } from '../../pages/app.ts';
import { isolate } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { tile } from '../../pages/mark.ts';
import { personHalf } from '../../pages/person.ts';
import { sendError } from '../../platform/http/errors.ts';
import { nothingHere } from '../../platform/oauth-error.ts';
import { findVisitor, type SignedInVisitor } from '../../sessions/sessions.ts';
import { signedInFrame } from '../browser/signed-in.ts';
import type { PageServices } from '../sign-in/routes.ts';

/** More apps than anybody looks through: all that have access are on a page of the account. */
const MOST_APPS = 24;

/**
 * The page at the base URL: ways to sign in, or the apps of the person who is signed in.
 * @param playground whether the playground is on
 */
export function homeRoutes(app: FastifyInstance, services: PageServices, playground: boolean): void {
  const { site, browsers, database, signUp } = services;
  const welcome = welcomePage(site, { playground, offersSignUp: isOpen(signUp) });
  app.get('/', async (request, reply) => {
    // The router treats `*` as `/`, but RFC 9112 §3.2.4 reserves it for OPTIONS.
    if (request.raw.url === '*') return sendError(reply, nothingHere());
    // A stranger gets no cookie here.
    if (!browsers.hasSessionCookie(request)) return sendPage(reply, 200, site, welcome);
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in') return sendPage(reply, 200, site, welcome);
    const { id } = visitor.account;
    const apps = await database.read(() => listOpenableApps({ accountId: id, limit: MOST_APPS }));
    const frame = signedInFrame(site, browser, visitor);
    return sendPage(reply, 200, site, ownPage(site, visitor, { apps, frame, playground }));
  });
}

function welcomePage(site: Site, offered: { readonly playground: boolean; readonly offersSignUp: boolean }): Page {
  const { path, messages } = site;
  const text = messages.home;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card"><header class="asks">${tile({ kind: 'large' })}<div><h1>${text.heading}</h1><p>${text.lead}</p></div></header>
<div class="actions"><a class="button primary" href="${path('/login')}">${text.signIn}</a>${offered.offersSignUp && html`<a class="button" href="${path('/signup')}">${text.create}</a>`}</div>
${forDevelopers(site, offered.playground)}</section>`,
  };
}

interface OwnPage {
  readonly apps: readonly OpenableApp[];
  readonly frame: Pick<Page, 'theme' | 'aside'>;
  readonly playground: boolean;
}

function ownPage(site: Site, { account }: SignedInVisitor, { apps, frame, playground }: OwnPage): Page {
  const { path, messages } = site;
  const text = messages.home;
  return {
    title: text.title,
    layout: 'narrow',
    ...frame,
    body: html`<section class="card"><header class="asks">${tile({ kind: 'large', person: personHalf(site, account) })}<div><h1>${text.signedInAs(isolate(account.profile.displayName))}</h1></div></header>
<div class="actions"><a class="button primary" href="${path('/account')}">${text.account}</a></div>
<section class="apps-to-open"><h2>${text.apps}</h2>${apps.length === 0 ? html`<p class="muted small">${text.noApps}</p>` : html`<ul class="launcher">${apps.map((app) => launch(site, app))}</ul>`}
<p class="small"><a href="${path('/account/connections')}">${text.allApps}</a></p></section>
${forDevelopers(site, playground)}</section>`,
  };
}

const launch = (site: Site, app: OpenableApp): Html =>
  html`<li><a href="${app.homepageUrl}" rel="noreferrer">${appPicture(site, app)}<span>${isolate(app.name)}<span class="small muted">${isolate(new URL(app.homepageUrl).host)}</span></span></a></li>`;

function forDevelopers({ messages, path }: Site, playground: boolean): Html {
  const text = messages.home;
  const entry = (address: string, name: string, note: string): Html =>
    html`<li><a href="${path(address)}">${name}</a><p class="muted small">${note}</p></li>`;
  return html`<details class="technical"><summary>${text.developers}</summary><ul class="ways">${[
    playground && entry('/playground', text.playground, text.playgroundNote),
    entry('/api', text.reference, text.referenceNote),
    entry('/.well-known/openid-configuration', text.discovery, text.discoveryNote),
  ]}</ul></details>`;
}
