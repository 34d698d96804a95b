import type { FastifyInstance, FastifyReply } from 'fastify';
import { getAccount, openAccount } from '../../account-actions/accounts/accounts.ts';
import type { Made } from '../../account-actions/makers/list-made.ts';
import type { Account } from '../../accounts/store.ts';
import {
  doneNotice,
  fact,
  facts,
  field,
  generalProblem,
  hidden,
  isolate,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  textArea,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import { Failure } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { type ListedSession, listSessions } from '../../sessions/list.ts';
import { keptField, takeDraft } from '../../web/sign-in/draft.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { consolePage } from '../layout.ts';
import { endMadeChoice, isMadeToEnd, madeToAsk } from '../operators/made.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { type ActName, actNames, actPath, actProblems, PERSON_ACTS } from './acts.ts';
import { personAddress } from './frame.ts';
import { stateText } from './person.ts';

type Given = Pick<RepeatableParameters, 'get'>;

/** What a page that asks whether to act shows. */
interface Question {
  readonly name: ActName;
  readonly account: Account;
  readonly given: Given;
  readonly problems: Problems;
  readonly sessions: readonly ListedSession[];
  readonly made: Made | undefined;
}

/** The acts on a person: each has a page that says what will happen, and an answer that says what holds now. */
export function personActRoutes(app: FastifyInstance, services: ConsoleServices): void {
  for (const name of actNames) actRoute(app, services, name);
}

function actRoute(app: FastifyInstance, services: ConsoleServices, name: ActName): void {
  const { site, clock } = services;
  const act = PERSON_ACTS[name];
  const address = actPath(name);
  const config = { permission: act.permission, objects: { person: 'id' }, acts: true } as const;
  const preHandler = act.asksProof ? [requireFreshProof(services)] : [];

  async function ask(
    reply: FastifyReply,
    status: number,
    visit: ConsoleVisit,
    question: Omit<Question, 'name' | 'sessions' | 'made'>,
  ): Promise<FastifyReply> {
    const sessions = act.endsAll ? await listSessions(visit.services, question.account) : [];
    const made = act.bars ? await madeToAsk(visit, question.account.id) : undefined;
    return sendPage(reply, status, site, questionPage(site, visit, { ...question, name, sessions, made }));
  }

  app.get(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const account = await openAccount(visit.services, visit.named.id ?? '', 'record', visit.origin);
    const draft = takeDraft(services, request, reply, visit.account.id);
    // A link fills in no field: it says what is acted on.
    const get = (field: string) => draft?.[field] ?? (field === act.names ? query.get(field) : undefined);
    const given = { get };
    return ask(reply, 200, visit, { account, given, problems: NO_PROBLEMS });
  });

  app.post(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const { id = '' } = visit.named;
    const problems = actProblems(act, form, site.messages, clock());
    if (problems !== NO_PROBLEMS) {
      const account = await getAccount(visit.services, id);
      return ask(reply, 400, visit, { account, given: form, problems });
    }
    try {
      const done = await act.run(visit, id, form);
      const account = await getAccount(visit.services, id);
      const left = await listSessions(visit.services, account);
      const page = donePage(
        site,
        visit,
        { name, account, detail: done?.detail, made: done?.made, isDone: done !== undefined },
        left,
        clock(),
      );
      return sendPage(reply, 200, site, page);
    } catch (error) {
      if (!(error instanceof Failure) || !['conflict', 'invalid', 'limited'].includes(error.kind)) throw error;
      const refusal = toOAuthError(error, request);
      reply.headers(refusal.headers);
      const account = await getAccount(visit.services, id);
      return ask(reply, refusal.status, visit, { account, given: form, problems: generalProblem(error.message) });
    }
  });
}

function questionPage(site: Site, visit: ConsoleVisit, { name, account, given, problems, sessions, made }: Question) {
  const { path, messages } = site;
  const { acts: text, cancel } = messages.operators;
  const act = PERSON_ACTS[name];
  const words = text.act[name];
  const title = words.title(isolate(account.profile.displayName));
  const inputs: Readonly<Record<'reason' | 'until', () => Html>> = {
    until: () =>
      field({
        ...{ name: 'until', type: 'date', label: text.untilLabel, hint: text.untilHint, autocomplete: 'off' },
        ...{ value: given.get('until') ?? '', required: false, problems },
      }),
    reason: () =>
      textArea({
        ...{ name: 'reason', label: text.reasonLabel, hint: text.reasonHint, rows: 2 },
        ...{ value: given.get('reason') ?? '', problems },
      }),
  };
  const about = { id: account.id, ...(act.names !== undefined && { [act.names]: given.get(act.names) ?? '' }) };
  const stops = act.endsAll ? endsText(site, sessions) : undefined;
  const content = html`<header class="object"><h1>${title}</h1><p class="muted">${isolate(account.profile.username)} · <span class="figures">${account.id}</span></p></header>
${problemSummary(messages, problems)}
<section class="card"><p>${words.lead}</p>${facts([
    stops !== undefined && fact(text.stops, stops, true),
    act.tellsPerson && fact(text.told, visit.services.mail.available ? text.toldPerson : text.toldNobody, true),
  ])}
<form method="post" action="${path(actPath(name))}" novalidate>${hidden(visit.token, { ...about, ...keptField(visit.browser, visit, actPath(name)) })}
${act.fields.map((input) => inputs[input]())}
${made !== undefined && endMadeChoice(site, visit, made, isMadeToEnd(given))}
<div class="actions"><button class="${act.isDangerous ? 'danger' : 'primary'}" type="submit">${words.submit}</button><a href="${path(personAddress(account.id))}">${cancel}</a></div></form></section>`;
  return consolePage(site, visit, { section: 'people', title, content, problems });
}

/** What ends with everything that is signed in. */
export function endsText({ messages }: Site, sessions: readonly ListedSession[]): HtmlPart {
  const { acts: text } = messages.operators;
  if (sessions.length === 0) return text.nobodySignedIn;
  const names = [...new Set(sessions.flatMap(({ apps }) => apps.map((app) => app.name)))];
  const listed = joinList(names.map(isolate), messages, 'enumeration');
  return text.willEnd(sessions.length, names.length === 0 ? undefined : text.appsLose(listed));
}

interface Outcome {
  readonly name: ActName;
  /** As it is now. */
  readonly account: Account;
  readonly detail: HtmlPart;
  readonly made: HtmlPart;
  readonly isDone: boolean;
}

/** What holds now, as it was read after the act. */
function donePage(
  site: Site,
  visit: ConsoleVisit,
  { name, account, detail, made, isDone }: Outcome,
  sessions: readonly ListedSession[],
  now: number,
) {
  const { path, messages } = site;
  const { acts: text, back, person } = messages.operators;
  const words = text.act[name];
  const who = isolate(account.profile.displayName);
  const title = isDone ? words.done(who) : text.notDone;
  const content = html`<header><h1>${title}</h1></header>
${doneNotice(html`<p>${isDone ? words.now : text.nothingLeft}</p>${detail !== undefined && html`<p>${detail}</p>`}`)}
${made}
<section class="card">${facts([
    fact(person.state, stateText(site, account, now)),
    fact(text.checked, html`${text.nowSignedIn(sessions.length)}<br><span class="small muted">${moment(now)}</span>`),
  ])}
<p><a class="button" href="${path(personAddress(account.id))}"><span>${back(who)}</span></a></p></section>`;
  return consolePage(site, visit, { section: 'people', title, content });
}
