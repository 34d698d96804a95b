import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type AddressResult,
  confirmByCode,
  mayReturn,
  readAddressRequest,
  requestAddress,
} from '../../account-actions/addresses/change-address.ts';
import { closeRight, readEarlierAddresses } from '../../account-actions/addresses/close-right.ts';
import { mayHaveAddress } from '../../accounts/rules/joining.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import {
  doneNotice,
  field,
  fieldProblem,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  withoutField,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { asciiEmail, canonicalEmail, nonAsciiLocalPart, readableEmail } from '../../platform/domain-name.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { keepTyped, takeDraft } from '../sign-in/draft.ts';
import { mailHint } from '../sign-in/mail-hint.ts';
import { secondsLeft } from '../sign-in/named.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { CLOSE_PATH, EMAIL_PAGE, emailRows } from './email-rows.ts';
import { type AccountFrame, accountLayout } from './layout.ts';
import { confirmAddress, proofGate, readProof, requireProof } from './proof.ts';
import { type AccountHooks, type AccountVisit, frameOf, visitOf } from './visit.ts';

/** The page on which people verify or change their email address. */
export function emailRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { mail } = services;
  const text = services.site.messages.address;
  const show = (reply: FastifyReply, status: number, visit: AccountVisit, problems?: Problems, more?: Shown) =>
    showEmail(services, reply, status, visit, problems, more);

  app.get(EMAIL_PAGE, async (request, reply) => {
    const visit = visitOf(request);
    const typed = takeDraft(services, request, reply, visit.account.id)?.['email'];
    const { draftBack } = services.site.messages.account;
    return show(reply, 200, visit, NO_PROBLEMS, typed === undefined ? {} : { typed, done: draftBack });
  });

  const proved = requireProof(services, 'email');
  app.post(EMAIL_PAGE, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const typed = trimTyped(form.get('email'));
    const { needed } = await readProof(services, visit);
    const isAddress = asciiEmail(typed) !== undefined;
    if (needed && !(isAddress && (await mayReturn(services, visit, canonicalEmail(typed))))) {
      keepTyped(services, request, reply);
      return redirect(request, reply, services.site.path(confirmAddress('email')));
    }
    const problem = problemOf(typed, visit.account.profile.email, services.signUp, text);
    if (problem !== undefined) return show(reply, 400, visit, fieldProblem('email', problem), { typed });
    const wait = mail.available ? await requestAddress(services, visit, canonicalEmail(typed), needed) : 0;
    if (wait === 0) return show(reply, 200, visit, NO_PROBLEMS, { done: text.sent });
    reply.header('retry-after', String(wait));
    return show(reply, 429, visit, fieldProblem('email', text.changesLimited(wait)), { typed });
  });

  app.post(CLOSE_PATH, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const address = form.get('address') ?? '';
    return (await closeRight(services, visit, address))
      ? show(reply, 200, visit, NO_PROBLEMS, { done: text.earlierDone(isolate(readableEmail(address))) })
      : show(reply, 403, visit, generalProblem(text.earlierNoFactor));
  });

  app.post(`${EMAIL_PAGE}/verify`, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const { email, emailVerified } = visit.account.profile;
    if (!mail.available || emailVerified) return show(reply, 200, visit);
    await requestAddress(services, visit, email);
    return show(reply, 200, visit, NO_PROBLEMS, { done: text.sent });
  });

  app.post(`${EMAIL_PAGE}/code`, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const code = trimTyped(form.get('code'));
    if (code === '') return show(reply, 400, visit, fieldProblem('code', text.codeMissing));
    return answerCode(services, reply, visit, await confirmByCode(services, visit, code));
  });
}

/** What the page shows besides the address. */
interface Shown {
  readonly done?: HtmlPart;
  readonly typed?: string;
}

async function showEmail(
  services: PageServices,
  reply: FastifyReply,
  status: number,
  visit: AccountVisit,
  refused: Problems = NO_PROBLEMS,
  { done, typed = '' }: Shown = {},
): Promise<FastifyReply> {
  const { site, mail } = services;
  const text = site.messages.address;
  const frame = frameOf(visit);
  const proof = await readProof(services, visit);
  const waiting = await readAddressRequest(services, visit);
  // The code was for a request that has ended.
  const problems = waiting === undefined ? withoutField(refused, 'code') : refused;
  const earlier = await readEarlierAddresses(services, visit);
  const isReturnProved = !proof.needed || !(await readProof(services, visit, 'return')).needed;
  const rows = emailRows(site, {
    frame,
    profile: visit.account.profile,
    isMailSent: mail.available,
    waiting: waiting && {
      email: (waiting.data as { email: string }).email,
      seconds: secondsLeft(waiting.createdAt, services.clock()),
    },
    hint: waiting && (await mailHint(services)),
    change: proofGate(site, proof, 'email', changeForm(site, frame, typed, problems)),
    isTyped: typed !== '',
    earlier,
    isReturnProved,
    problems,
  });
  const body = html`<header><h1>${text.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}${problemSummary(site.messages, problems)}
${rows}`;
  return sendPage(reply, status, site, accountLayout(site, frame, 'profile', text.title, body, problems));
}

function changeForm(
  { messages, path }: Site,
  { token, keptFor }: AccountFrame,
  value: string,
  problems: Problems,
): Html {
  const text = messages.address;
  const label = text.newAddress;
  const address = { name: 'email', label, type: 'email', autocomplete: 'email', value, problems } as const;
  return html`<form method="post" action="${path(EMAIL_PAGE)}" novalidate>${hidden(token, keptFor(EMAIL_PAGE))}
${field(address)}<div><button class="primary" type="submit">${text.changeSubmit}</button></div></form>`;
}

function answerCode(
  services: PageServices,
  reply: FastifyReply,
  visit: AccountVisit,
  result: AddressResult,
): Promise<FastifyReply> {
  const { site, browsers } = services;
  const { address: text, signIn } = site.messages;
  switch (result.kind) {
    case 'limited':
      reply.header('retry-after', String(result.seconds));
      return showEmail(services, reply, 429, visit, generalProblem(signIn.limited(result.seconds)));
    case 'wrong':
      return showEmail(services, reply, 400, visit, fieldProblem('code', text.codeWrong));
    case 'session over':
      return showEmail(services, reply, 400, visit, generalProblem(text.codeSessionOver));
    case 'confirmed': {
      const { account, created, purpose } = result;
      browsers.setSession(reply, created, SESSION_LIFETIME);
      const renewed = { ...visit, account, session: created.session };
      return showEmail(services, reply, 200, renewed, NO_PROBLEMS, { done: text.done[purpose] });
    }
  }
}

/** What is wrong with a new address, for people. */
function problemOf(
  typed: string,
  current: string,
  signUp: SignUpSettings,
  text: Messages['address'],
): string | undefined {
  const email = asciiEmail(typed);
  if (email === undefined) {
    const letters = nonAsciiLocalPart(typed);
    return letters === '' ? text.bad : text.badBeforeAt(letters);
  }
  if (emailKey(email) === emailKey(current)) return text.same;
  return mayHaveAddress(signUp, email) ? undefined : text.notAllowed;
}
