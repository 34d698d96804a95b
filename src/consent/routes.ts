import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../accounts/store.ts';
import { deny, issueCode } from '../authorization/progress.ts';
import { formActionSources } from '../authorization/rules/redirect.ts';
import {
  type FlowParts,
  follow,
  HANDLE,
  type Pending,
  pendingOrAnswer,
  progressFor,
  redirect,
  sendClientGone,
  sessionOf,
} from '../authorization/steps.ts';
import type { Client } from '../clients/store.ts';
import { formOf } from '../http/bodies.ts';
import type { Browser } from '../http/browser.ts';
import { originOf } from '../http/origin.ts';
import type { RepeatableParameters } from '../http/parameters.ts';
import { findMembership } from '../organizations/store.ts';
import { NO_PROBLEMS, type Problems } from '../pages/components.ts';
import { sendPage } from '../pages/layout.ts';
import type { OptionalScope } from '../scopes/scopes.ts';
import { logoutContext } from '../sessions/routes.ts';
import { consentPage, switchName } from './pages.ts';
import { findGrant } from './store.ts';

interface Question {
  readonly client: Client;
  readonly account: Account;
  readonly asked: readonly OptionalScope[];
}

/** The consent page: decisions §2. */
export function consentRoutes(app: FastifyInstance, parts: FlowParts): void {
  const { site, browsers } = parts;

  /** What there is to ask this person; undefined where the answer was sent: something else comes first, or nothing. */
  async function question(
    request: FastifyRequest,
    reply: FastifyReply,
    pending: Pending,
    browser: Browser,
  ): Promise<Question | undefined> {
    const progress = await progressFor(parts, pending, browser);
    if (progress.kind === 'client gone') {
      sendClientGone(parts, request, reply);
      return undefined;
    }
    const { step, client, signedIn } = progress;
    if (step.kind !== 'consent' || signedIn.kind !== 'somebody') {
      await follow(parts, request, reply, pending, browser);
      return undefined;
    }
    return { client, account: signedIn.account, asked: step.asked };
  }

  /**
   * A form answers what it showed, to whom it showed it: for another person, app or set of switches it does not fit.
   * It fits the person rather than the session: a sign-in in another tab makes a new one, and tabs do not disturb each
   * other (decisions §3).
   */
  const contextOf = ({ handle }: Pending, { account, client, asked }: Question): string =>
    `consent ${handle} ${client.consentEpoch} ${account.id} ${asked.join(' ')}`;

  async function show(
    reply: FastifyReply,
    status: number,
    at: { browser: Browser; pending: Pending; question: Question },
    problems: Problems,
  ): Promise<FastifyReply> {
    const { browser, pending, question } = at;
    const { account, client, asked } = question;
    const [organization, grant] = await parts.database.read(function* read() {
      return [yield* findMembership(account.id), yield* findGrant(account.id, client.id)] as const;
    });
    const { redirectUri } = pending.interaction.request;
    const page = consentPage(site, {
      token: browser.formToken(contextOf(pending, question)),
      logoutToken: browser.formToken(logoutContext(account.id)),
      handle: pending.handle,
      client,
      host: new URL(redirectUri).host,
      account,
      organization,
      asked,
      remembered: grant?.consentEpoch === client.consentEpoch ? grant : null,
      on: new Set(asked.filter((scope) => !grant?.declined.has(scope))),
      problems,
    });
    return sendPage(reply, status, site, page, formActionSources(redirectUri));
  }

  app.get('/consent', async (request, reply) => {
    const pending = await pendingOrAnswer(
      parts,
      request,
      reply,
      (request.query as RepeatableParameters).get(HANDLE) ?? '',
    );
    if (pending === undefined) return reply;
    const browser = browsers.of(request, reply);
    const asked = await question(request, reply, pending, browser);
    if (asked === undefined) return reply;
    return show(reply, 200, { browser, pending, question: asked }, NO_PROBLEMS);
  });

  app.post('/consent', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const pending = await pendingOrAnswer(parts, request, reply, form.get(HANDLE) ?? '');
    if (pending === undefined) return reply;
    const browser = browsers.of(request, reply);
    const asked = await question(request, reply, pending, browser);
    if (asked === undefined) return reply;

    const decision = form.get('decision');
    const fits = browser.owns(form, contextOf(pending, asked)) && (decision === 'allow' || decision === 'deny');
    if (!fits) {
      const problems = { fields: {}, general: [site.messages.consent.changed] };
      return show(reply, 409, { browser, pending, question: asked }, problems);
    }
    const origin = originOf(request, { type: 'user', id: asked.account.id });
    const outcome =
      decision === 'deny'
        ? await deny(parts, pending.interaction, origin)
        : await issueCode(parts, {
            request: pending.interaction.request,
            session: sessionOf(browser, pending.interaction),
            handle: pending.handle,
            decision: {
              asked: asked.asked,
              allowed: new Set(asked.asked.filter((scope) => form.get(switchName(scope)) === 'on')),
            },
            origin,
          });
    return outcome.kind === 'redirect'
      ? redirect(request, reply, outcome.location)
      : follow(parts, request, reply, pending, browser);
  });
}
