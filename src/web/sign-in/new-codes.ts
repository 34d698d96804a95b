import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { usableCodes } from '../../account-actions/authentication/recovery-code.ts';
import type { Account } from '../../accounts/store.ts';
import { claim, isClaimed } from '../../limits/limits.ts';
import { copyButton, doneNotice, formatMoment, helpLine, hidden, isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { securityRow } from '../../pages/security-row.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import { loadPendingRequest } from '../authorize/pending-request.ts';
import { requestFields } from '../authorize/request-fields.ts';
import type { Browser, FormViewer } from '../browser/browser.ts';
import { type RequestingApp, requestQuery } from './pages.ts';
import type { PageServices } from './routes.ts';
import { formTargets, signInVisit } from './sign-in.ts';

const ADDRESS = '/recovery-codes';
const FORM = 'new recovery codes';

/**
 * For how long new codes are shown, unless their person says before that they have kept them: no longer than a proof is fresh, so that a copy
 * of the cookies shows nothing that the session itself could not make.
 */
const LIFETIME = 10 * MINUTE;

/** New recovery codes. Only the browser keeps them, sealed. */
interface NewCodes {
  readonly accountId: string;
  readonly username: string;
  readonly codes: readonly string[];
  /** What else was done with them. */
  readonly done: keyof Messages['newCodes']['done'];
  /** Whether other providers were disconnected with it. */
  readonly hadProviders?: boolean;
  /** Whether only their person sees them, signed in; else anyone in this browser, where nobody could be signed in. */
  readonly isSignedIn: boolean;
  /** Where the person continues. */
  readonly next: string;
  readonly madeAt: number;
}

/** What says that the person has kept the codes: a copy of the browser's cookies shows them no longer. */
const keptName = ({ accountId, madeAt }: NewCodes): string => `kept codes ${accountId} ${madeAt}`;

const contextOf = ({ hash }: Pick<Browser, 'hash'>): string => `new recovery codes ${hash}`;

interface MadeCodes extends Pick<NewCodes, 'codes' | 'done' | 'hadProviders'> {
  readonly account: Pick<Account, 'id' | 'profile'>;
  /** True unless set. */
  readonly isSignedIn?: boolean;
  /** The Security page unless set. */
  readonly next?: string;
  /** The pending request with which the person continues. */
  readonly app?: RequestingApp | undefined;
}

/** Leads to the page with new codes, so that loading it again does no harm. */
export function showNewCodes(
  { browsers, sealer, clock, site }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    account: { id, profile },
    codes,
    done,
    hadProviders = false,
    isSignedIn = true,
    next = securityRow('two-step'),
    app,
  }: MadeCodes,
): FastifyReply {
  const { username } = profile;
  const made: NewCodes = { accountId: id, username, codes, done, hadProviders, isSignedIn, next, madeAt: clock() };
  const sealed = sealer.seal(JSON.stringify(made), contextOf(browsers.of(request, reply)));
  browsers.setNote(reply, 'newCodes', sealed, LIFETIME);
  return redirect(request, reply, site.path(`${ADDRESS}${requestQuery(app)}`));
}

/** The codes that this browser keeps, without those that no longer work; undefined where they are not this visitor's. */
async function readNewCodes(
  services: PageServices,
  browser: Browser,
): Promise<(NewCodes & { readonly viewer: FormViewer | undefined }) | undefined> {
  const { sealer, clock, database } = services;
  const text = sealer.open(browser.noteOf('newCodes') ?? '', contextOf(browser));
  if (text === undefined) return undefined;
  const kept = JSON.parse(text) as NewCodes;
  if (clock() >= kept.madeAt + LIFETIME) return undefined;
  const visitor = await findVisitor(services, browser.sessionSecret);
  const isTheirs = visitor.kind === 'signed in' ? visitor.account.id === kept.accountId : !kept.isSignedIn;
  if (!isTheirs) return undefined;
  const codes = await database.read(function* read(): Work<readonly string[]> {
    if (yield* isClaimed(keptName(kept), LIFETIME, clock())) return [];
    return yield* usableCodes(sealer, kept.accountId, kept.codes);
  });
  const viewer = visitor.kind === 'signed in' ? visitor : undefined;
  return codes.length === 0 ? undefined : { ...kept, codes, viewer };
}

/** The page that shows new recovery codes until their person has kept them, and the same as a file. */
export function newCodesRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, database, clock } = services;
  const preHandler = loadPendingRequest(services, { optional: true });

  app.get(ADDRESS, { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { browser, pending } = visit;
    const found = await readNewCodes(services, browser);
    if (found === undefined) return redirect(request, reply, site.path('/account/security'));
    if (queryOf(request).get('file') === 'text') {
      const { product } = site.messages;
      return reply
        .type('text/plain; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${product.toLowerCase()}-recovery-codes.txt"`)
        .send(site.messages.newCodes.file(found.username, services.issuer, formatMoment(found.madeAt), found.codes));
    }
    const page = newCodesPage(site, { ...found, token: browser.formToken(FORM, found.viewer), app: pending });
    return sendPage(reply, 200, site, page, formTargets(visit));
  });

  app.post(ADDRESS, { preHandler }, async (request, reply) => {
    const { browser, pending } = signInVisit(services, request, reply);
    if (!browser.owns(formOf(request), FORM)) {
      return redirect(request, reply, site.path(`${ADDRESS}${requestQuery(pending)}`));
    }
    const found = await readNewCodes(services, browser);
    if (found !== undefined) await database.commit(() => claim(keptName(found), LIFETIME, clock()));
    browsers.setNote(reply, 'newCodes', undefined, 0);
    return redirect(request, reply, site.path(found?.next ?? '/account/security'));
  });
}

interface NewCodesPage extends NewCodes {
  readonly token: string;
  readonly app: RequestingApp | undefined;
}

function newCodesPage(site: Site, { codes, done, hadProviders = false, username, token, app }: NewCodesPage): Page {
  const { messages, path } = site;
  const { twoStep, newCodes: text } = messages;
  return {
    title: twoStep.keepTitle,
    layout: 'narrow',
    body: html`<section class="card">${doneNotice(html`<p>${text.done[done]} ${hadProviders && messages.recovery.providers}</p>`)}
<header><h1>${twoStep.keepTitle}</h1><p class="muted">${text.lead}</p></header>
<p>${text.account(html`<strong>${isolate(username)}</strong>`)}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<div class="actions"><a class="button" href="${path(`${ADDRESS}?file=text`)}" download>${text.download}</a><button class="equal" type="button" hidden data-print>${text.print}</button>${copyButton(codes.join('\n'), messages.error, twoStep.copyCodes)}</div>
<form method="post" action="${path(ADDRESS)}">${hidden(token, requestFields(app))}<button class="primary" type="submit">${text.kept}</button></form></section>
${helpLine(site)}`,
  };
}
