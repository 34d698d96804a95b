import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RouteObjects } from '../account-actions/admission/admission.ts';
import type { Permission } from '../operators/permissions.ts';
import { doneNotice, generalProblem, hidden, NO_PROBLEMS, type Problems, problemSummary } from '../pages/components.ts';
import { type HtmlPart, html } from '../pages/html.ts';
import { sendPage } from '../pages/layout.ts';
import type { Work } from '../platform/database/database.ts';
import { Failure } from '../platform/failure.ts';
import { formOf } from '../platform/http/bodies.ts';
import { toOAuthError } from '../platform/http/errors.ts';
import { queryOf, type RepeatableParameters } from '../platform/http/parameters.ts';
import { keptField, takeDraft } from '../web/sign-in/draft.ts';
import { requireFreshProof } from './fresh-proof.ts';
import { consolePage, type Section } from './layout.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from './visit.ts';

/** What was typed or named: in the address of a page, or in a form. */
export type Given = Pick<RepeatableParameters, 'get'>;

/** What the page of an act asks. */
export interface ActQuestion {
  readonly title: HtmlPart;
  /** Which object it is, below the title. */
  readonly object?: HtmlPart;
  /** What will happen. */
  readonly lead: HtmlPart;
  readonly fields?: HtmlPart;
  readonly submit: string;
  /** What the form repeats: which objects it is about. */
  readonly about: Readonly<Record<string, string>>;
  /** Where the operator came from. */
  readonly back: string;
}

/** What an act did, and what holds now. */
export interface ActDone {
  readonly title: HtmlPart;
  readonly now: HtmlPart;
  readonly more?: HtmlPart;
  readonly back: string;
  /** The name of the link to it. */
  readonly backTo: HtmlPart;
}

/** An act of an operator, with a page that says what will happen and an answer that says what holds now. */
export interface ConsoleAct<T = unknown> {
  /** Where its page is, and where the form of the page is sent. */
  readonly address: string;
  readonly section: Section;
  readonly permission: Permission;
  readonly objects: RouteObjects;
  /** The objects that the address of its page names already: those of the form unless set. */
  readonly pageObjects?: RouteObjects;
  readonly isDangerous: boolean;
  /** Finds what it is about: the objects that admission has judged, which are named in the visit alone. @throws {Failure} `not found` */
  find(visit: ConsoleVisit, given: Given): Promise<T>;
  /** The same for its page, where opening it is on record: as `find` does unless set. */
  open?(visit: ConsoleVisit, given: Given): Promise<T>;
  ask(visit: ConsoleVisit, subject: T, given: Given, problems: Problems): ActQuestion;
  run(visit: ConsoleVisit, subject: T, given: Given): Promise<ActDone>;
  /** At which field a refusal is shown: above the form unless set. */
  problemOf?(visit: ConsoleVisit, failure: Failure, subject: T): Problems | undefined;
}

/** An act whose subject is known to itself alone, as it stands in a list of acts. */
export const defineAct = <T>(act: ConsoleAct<T>): ConsoleAct => act as ConsoleAct;

function* nothing(): Work<void> {}

/**
 * What the address of a page may say beside the objects that it names: which role it takes away, what a new key is to be like, which
 * provider a person loses, of which kind a new one is, and which scope request is decided.
 */
const LINKED: ReadonlySet<string> = new Set(['held', 'like', 'identity', 'provider', 'asked']);

/** Whether a refusal is shown with the form, so that nothing typed is lost. */
const isShown = (error: unknown): error is Failure =>
  error instanceof Failure && ['conflict', 'invalid', 'limited'].includes(error.kind);

/** The page and the form of an act. Each asks for a fresh proof first. */
export function actRoutes(app: FastifyInstance, services: ConsoleServices, act: ConsoleAct): void {
  const { site } = services;
  const { address, permission, objects, section } = act;
  const preHandler = requireFreshProof(services);

  function show(reply: FastifyReply, status: number, visit: ConsoleVisit, question: ActQuestion, problems: Problems) {
    const { title, object, lead, fields, submit, about, back } = question;
    const content = html`<header class="object"><h1>${title}</h1>${object !== undefined && html`<p class="muted">${object}</p>`}</header>
${problemSummary(site.messages, problems)}
<section class="card"><p>${lead}</p>
<form method="post" action="${site.path(address)}" novalidate>${hidden(visit.token, { ...about, ...keptField(visit.browser, visit, address) })}
${fields}
<div class="actions"><button class="${act.isDangerous ? 'danger' : 'primary'}" type="submit">${submit}</button><a href="${site.path(back)}">${site.messages.operators.cancel}</a></div></form></section>`;
    return sendPage(reply, status, site, consolePage(site, visit, { section, title, content, problems }));
  }

  const page = { permission, objects: act.pageObjects ?? objects, acts: true } as const;
  app.get(address, { config: page, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const draft = takeDraft(services, request, reply, visit.account.id);
    // A link says what is acted on, and fills in nothing that is typed.
    const given = { get: (name: string) => draft?.[name] ?? (LINKED.has(name) ? query.get(name) : undefined) };
    // What a page is about may be read from its address alone.
    await visit.services.database.read(nothing);
    const subject = await (act.open ?? act.find)(visit, given);
    return show(reply, 200, visit, act.ask(visit, subject, given, NO_PROBLEMS), NO_PROBLEMS);
  });

  app.post(address, { config: { permission, objects, acts: true }, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const subject = await act.find(visit, form);
    try {
      const { title, now, more, back, backTo } = await act.run(visit, subject, form);
      const content = html`<header><h1>${title}</h1></header>
${doneNotice(html`<p>${now}</p>`)}
${more}
<p><a class="button" href="${site.path(back)}"><span>${backTo}</span></a></p>`;
      return sendPage(reply, 200, site, consolePage(site, visit, { section, title, content }));
    } catch (error) {
      if (!isShown(error)) throw error;
      const refusal = toOAuthError(error, request);
      reply.headers(refusal.headers);
      // As it is now: somebody may have changed it.
      const current = await act.find(visit, form);
      const problems = act.problemOf?.(visit, error, current) ?? generalProblem(error.message);
      return show(reply, refusal.status, visit, act.ask(visit, current, form, problems), problems);
    }
  });
}
