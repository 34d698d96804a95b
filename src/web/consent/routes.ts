import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import { isOptional, type OptionalScope } from '../../claims/scopes.ts';
import { placesOf } from '../../clients/resources.ts';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import type { Client } from '../../clients/store.ts';
import { rememberedConsent } from '../../consent/decision.ts';
import { findGrant, lastRevocationOf } from '../../consent/store.ts';
import { findMembership } from '../../organizations/store.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { Browser } from '../../platform/http/browser.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { deny, type IssueOutcome, issueCode } from '../../protocol/authorize/progress.ts';
import type { AuthorizationStep } from '../../protocol/authorize/rules/next-step.ts';
import { formActionSources } from '../../protocol/authorize/rules/request.ts';
import {
  type FlowParts,
  follow,
  HANDLE,
  type Pending,
  pendingOrAnswer,
  progressFor,
  refuse,
  respond,
  sendClientGone,
  sessionOf,
} from '../../protocol/authorize/steps.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../kit/components.ts';
import { sendPage } from '../kit/layout.ts';
import { logoutContext } from '../sign-in/routes.ts';
import { consentPage, switchName } from './pages.ts';

interface Question {
  readonly client: Client;
  readonly account: Account;
  readonly asked: readonly OptionalScope[];
}

type ConsentStep = Extract<AuthorizationStep, { kind: 'consent' | 'issue' }>;

/** The consent page: decisions §2. */
export function consentRoutes(app: FastifyInstance, parts: FlowParts): void {
  const { site, browsers } = parts;

  /** Where the request stands for the person who is signed in; undefined where the answer was sent: others come first. */
  async function situation(
    request: FastifyRequest,
    reply: FastifyReply,
    pending: Pending,
    browser: Browser,
  ): Promise<{ client: Client; account: Account; step: ConsentStep } | undefined> {
    const progress = await progressFor(parts, pending, browser);
    if (progress.kind === 'client gone') {
      sendClientGone(parts, request, reply);
      return undefined;
    }
    const { step, client, signedIn } = progress;
    if (signedIn.kind !== 'signed in' || (step.kind !== 'consent' && step.kind !== 'issue')) {
      await follow(parts, request, reply, pending, browser);
      return undefined;
    }
    return { client, account: signedIn.account, step };
  }

  /** What a page showed: which client, as it was then, after which revocation, and which switches. */
  const shownOf = ({ client, asked }: Question, revocation: string): string =>
    [client.consentEpoch, revocation, ...asked].join(' ');

  /**
   * A form answers what it showed, to whom it showed it: for another person, request or set of switches it does not fit.
   * It fits the person rather than the session: a sign-in in another tab makes a new one, and tabs do not disturb each
   * other (decisions §3).
   */
  const contextOf = ({ handle }: Pending, account: Account, shown: string): string =>
    `consent ${handle} ${account.id} ${shown}`;

  async function show(
    reply: FastifyReply,
    status: number,
    at: { browser: Browser; pending: Pending; question: Question },
    problems: Problems,
  ): Promise<FastifyReply> {
    const { browser, pending, question } = at;
    const { account, client, asked } = question;
    const { redirectUri, resources = [] } = pending.interaction.request;
    const key = { accountId: account.id, clientId: client.id };
    const { revocation, grant, organization, places } = await parts.database.read(function* read() {
      return {
        // Before the grant: one that is revoked in between makes the form out of date.
        revocation: yield* lastRevocationOf(key),
        grant: yield* findGrant(key),
        organization: yield* findMembership({ accountId: account.id }),
        places: yield* placesOf(resources),
      };
    });
    const shown = shownOf(question, revocation);
    const page = consentPage(site, {
      token: browser.formToken(contextOf(pending, account, shown)),
      shown,
      logoutToken: browser.formToken(logoutContext(account.id)),
      handle: pending.handle,
      client,
      host: destinationOf(redirectUri),
      account,
      organization,
      asked,
      places,
      remembered: rememberedConsent(grant, client),
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
    const at = await situation(request, reply, pending, browser);
    if (at === undefined) return reply;
    const { client, account, step } = at;
    if (step.kind === 'issue') return follow(parts, request, reply, pending, browser);
    return show(reply, 200, { browser, pending, question: { client, account, asked: step.asked } }, NO_PROBLEMS);
  });

  app.post('/consent', async (request, reply) => {
    browsers.refuseForeignForm(request);
    const form = formOf(request);
    const pending = await pendingOrAnswer(parts, request, reply, form.get(HANDLE) ?? '');
    if (pending === undefined) return reply;
    const browser = browsers.of(request, reply);
    const at = await situation(request, reply, pending, browser);
    if (at === undefined) return reply;
    const { account } = at;

    const shown = form.get('shown') ?? '';
    const [epoch = '', revocation = '', ...scopes] = shown.split(' ');
    const asked = scopes.filter(isOptional);
    const answer = form.get('decision');
    const owned = browser.owns(form, contextOf(pending, account, shown));
    const origin = originOf(request, { type: 'user', id: account.id });
    // A refusal is one whatever was asked, also where another tab has allowed the app meanwhile or access was taken away.
    if (owned && answer === 'deny') {
      return arrive(request, reply, pending, await deny(parts, pending.interaction, origin));
    }
    if (owned && answer === 'allow') {
      const allowed = new Set(asked.filter((scope) => form.get(switchName(scope)) === 'on'));
      const outcome = await issueCode(parts, {
        request: pending.interaction.request,
        session: sessionOf(browser, pending.interaction),
        handle: pending.handle,
        decision: { epoch, revocation, asked, allowed },
        origin,
      });
      if (outcome.kind !== 'changed') return arrive(request, reply, pending, outcome);
    }
    // What was asked has changed since: it is shown anew.
    const now = await situation(request, reply, pending, browser);
    if (now === undefined) return reply;
    if (now.step.kind === 'issue') return follow(parts, request, reply, pending, browser);
    const problems = generalProblem(site.messages.consent.changed);
    const question = { client: now.client, account: now.account, asked: now.step.asked };
    return show(reply, 409, { browser, pending, question }, problems);
  });

  function arrive(request: FastifyRequest, reply: FastifyReply, pending: Pending, outcome: IssueOutcome) {
    if (outcome.kind === 'refused') {
      return refuse(parts, request, reply, pending.interaction.request, outcome.refusal);
    }
    return outcome.kind === 'answer'
      ? respond(parts, request, reply, outcome.response)
      : follow(parts, request, reply, pending, browsers.of(request, reply));
  }
}
