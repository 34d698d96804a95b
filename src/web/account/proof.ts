import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { factorsToReturn } from '../../account-actions/addresses/earlier-address.ts';
import { type AttemptsLimited, authenticators } from '../../account-actions/authentication/authenticators.ts';
import { noPasskeysHere, requestPasskey } from '../../account-actions/authentication/passkey.ts';
import { confirmPassword } from '../../account-actions/authentication/password.ts';
import { continueProved } from '../../account-actions/sign-in/renew-session.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { listPasskeys } from '../../authenticators/passkey-store.ts';
import { countRecoveryCodes } from '../../authenticators/recovery-code-store.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import { type Factor, type FactorUse, isProofIn, needsProof, proofAsked } from '../../authenticators/rules/factors.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import {
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  operator,
  type Problems,
  passwordField,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import { profileRow } from '../../pages/profile-row.ts';
import { securityRow } from '../../pages/security-row.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { type NewSession, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { UpstreamRefusal } from '../../upstreams/refusal.ts';
import { keepDraft, keepReturn, keepTyped } from '../sign-in/draft.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { takeSaid } from '../sign-in/said.ts';
import { type CodeMethod, codeField, codeMethodOf, otherCodeLink, wrongCode } from '../sign-in/verify-page.ts';
import { depart } from '../upstreams/depart.ts';
import { upstreamTexts } from '../upstreams/messages.ts';
import { accountLayout } from './layout.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';
import { readWeakProof, weakProof } from './weak-proof.ts';

/*
 * Dangerous changes ask for a fresh proof of who is at the browser (decisions §11): the strongest factor that was set up before the
 * session began, within the last ten minutes.
 */

const CONFIRM = '/account/confirm';

/** Where a person continues after a proof: the changes that ask for one. Never an address from a request. */
const TARGETS = {
  password: securityRow('change-password'),
  authenticator: '/account/security/authenticator',
  'trusted-browsers': '/account/sessions#trusted',
  'two-step': securityRow('two-step'),
  email: '/account/email',
  return: '/account/email',
  passkeys: securityRow('passkeys'),
  recovery: securityRow('recovery'),
  upstreams: securityRow('upstreams'),
  // From there to the provider that was chosen, which the browser keeps.
  connect: '/account/security/connect',
  username: profileRow('change-username'),
  deletion: '/account/data?row=deletion#deletion',
  export: '/account/data/export',
  organization: '/account/organization',
  invitation: '/invitation',
  // From there to the page that asked, which the browser keeps.
  console: '/console/back',
} as const;
export type ProofTarget = keyof typeof TARGETS;

const isTarget = (text: string): text is ProofTarget => Object.hasOwn(TARGETS, text);

/** Where a person continues who does not prove it: the page of the change, unless that page asks for the proof itself. */
const CANCELLED: Partial<Record<ProofTarget, string>> = {
  authenticator: securityRow('two-step'),
  connect: securityRow('upstreams'),
  export: '/account/data',
  invitation: '/account',
  console: '/account',
};

/** Whether a visitor has to prove who they are before a dangerous change, and how. */
export interface ProofState {
  readonly factors: readonly Factor[];
  readonly needed: boolean;
  readonly asked: Method;
}

export function readProof(
  { database, clock }: PageServices,
  { account, session }: Pick<AccountVisit, 'account' | 'session'>,
  target?: ProofTarget,
): Promise<ProofState> {
  const now = clock();
  return database.read(function* read(): Work<ProofState> {
    const factors = target === 'return' ? yield* factorsToReturn(account, now) : yield* listFactors(account);
    return { factors, needed: needsProof(factors, session, now), asked: proofAsked(factors, session) };
  });
}

/** The page that asks for a proof, and leads to a change. */
export const confirmAddress = (target: ProofTarget): string => `${CONFIRM}?next=${target}`;

/**
 * A hook for the form of a dangerous change and for the page that shows it: sends a visitor without a fresh proof to the page that asks
 * for it, and from there to the change. A route whose form asks for the password itself names that as `inline`.
 */
export const requireProof =
  (services: PageServices, target: ProofTarget, inline?: Method) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { needed, asked } = await readProof(services, visitOf(request));
    if (!needed || asked === inline) return undefined;
    if (target === 'connect') keepDraft(services, request, reply);
    else keepTyped(services, request, reply);
    return redirect(request, reply, services.site.path(confirmAddress(target)));
  };

/** A form that needs a fresh proof, or the link to the page that asks for it. */
export const proofGate = ({ path, messages }: Site, { needed }: ProofState, target: ProofTarget, form: Html): Html =>
  needed
    ? html`<p class="muted small">${messages.proof.gate}</p><div><a class="button" href="${path(confirmAddress(target))}">${messages.proof.confirm}</a></div>`
    : form;

/** What was sent is right. */
interface Proved extends FactorUse {
  readonly kind: 'authenticated';
}

/** What a method asks for, and how it is checked. */
interface ProofForm {
  /** The fields of the form. */
  fields(site: Site, visit: AccountVisit, problems: Problems): Html;
  /** Checks what was sent. */
  check(
    services: PageServices,
    visit: AccountVisit,
    form: RepeatableParameters,
  ): Promise<AttemptsLimited | { readonly kind: 'wrong' } | Proved>;
  /** The field that is wrong, and its text. */
  readonly wrong: (site: Site) => Problems;
}

/** A code that counts as the attempt of a sign-in does, and is used up. */
const codeForm = (method: CodeMethod): ProofForm => ({
  fields: (site, _visit, problems) => codeField(site, method, problems),
  async check(services, { account, browser, origin }, form) {
    const attempt = { account, code: form.get('code') ?? '', browser, origin };
    const checked = await authenticators[method](services, attempt, services.clock());
    if (checked.kind === 'limited') return checked;
    const result = await services.database.commit(() => checked.complete());
    return result.kind === 'authenticated' ? result : { kind: 'wrong' };
  },
  wrong: (site) => wrongCode(site, method),
});

/** A passkey is used for one proof in one session. */
const passkeyProof = ({ browser, session }: AccountVisit): ChallengeUse => ({
  purpose: 'proof',
  browserHash: browser.hash,
  subject: session.hash,
});

/** The form whose script asks for a passkey, with its button. */
const passkeyProofForm = (site: Site, token: string, target: ProofTarget): Html =>
  passkeyForm(site, {
    id: 'prove',
    action: '/account/confirm',
    options: '/account/confirm/passkey',
    kind: 'get',
    token,
    values: { next: target },
    content: html`<p class="muted small" data-without-passkeys>${site.messages.passkeys.unsupported}</p><div>${passkeyButton('prove', site.messages.passkeys.use, 'primary')}</div>`,
  });

/** The forms of the page. */
const FORMS: Partial<Record<Method, ProofForm>> = {
  password: {
    fields: ({ messages }, { account }, problems) =>
      html`<input type="text" name="username" value="${account.profile.username}" autocomplete="username" hidden>
${passwordField({ name: 'current', label: messages.signIn.password, autocomplete: 'current-password', problems, messages, focus: true })}`,
    async check(services, { account, browser, origin }, form) {
      const password = form.get('current') ?? '';
      const refusal = await confirmPassword(services, account, { password, browser, origin });
      return refusal ?? { kind: 'authenticated', method: 'password', factorSince: account.passwordSetAt ?? 0 };
    },
    wrong: ({ messages }) => ({ fields: { current: messages.account.currentWrong }, general: [] }),
  },
  passkey: {
    fields: () => html``,
    async check(services, visit, form) {
      const { account, origin } = visit;
      const response = form.get(PASSKEY_FIELD) ?? '';
      const attempt = { response, use: passkeyProof(visit), accountId: account.id, origin };
      const checked = await authenticators.passkey(services, attempt, services.clock());
      if (checked.kind === 'limited') return checked;
      const result = await services.database.commit(() => checked.complete());
      return result.kind === 'authenticated' ? result : { kind: 'wrong' };
    },
    wrong: ({ messages }) => generalProblem(messages.passkeys.invalid),
  },
  totp: codeForm('totp'),
  'recovery code': codeForm('recovery code'),
};

/** The method whose form is shown: a recovery code stands in for the authenticator app. */
const shownMethod = (asked: Method, parameters: RepeatableParameters): Method =>
  asked === 'totp' ? codeMethodOf(parameters) : asked;

/** What a person does who does not have what is asked for. A weaker proof never takes its place: recovery replaces it. */
function otherWays({ site, mail }: PageServices, shown: Method, target: ProofTarget): Html | undefined {
  const { proof: text, recovery, verify } = site.messages;
  const recover = mail.available
    ? html`<a href="${site.path('/recover')}">${text.recover}</a>`
    : recovery.noMail(operator(site));
  switch (shown) {
    case 'totp':
    case 'recovery code':
      return html`<p>${otherCodeLink(site, '/account/confirm', shown, { next: target })}</p>
${shown === 'recovery code' && html`<p class="muted small">${verify.codesLost(operator(site))}</p>`}`;
    case 'passkey':
      return html`<header><h2>${text.elsewhereTitle}</h2><p>${text.passkeyElsewhere}</p></header>
<header><h3>${text.passkeyLost}</h3><p>${text.passkeyLostLead}</p><p>${recover}</p></header>`;
    case 'password':
      return html`<p>${recovery.forgot} ${recover}</p>`;
    case 'mail code':
    case 'upstream':
      return undefined;
  }
}

/** The page that asks for a fresh proof. */
export function proofRoutes(app: FastifyInstance, services: PageServices, { countEnding }: AccountHooks): void {
  const { site, clock } = services;
  const { messages } = site;

  /** How many recovery codes are left is said where one is about to be used. */
  async function codesLeft({ account }: AccountVisit): Promise<Html> {
    const codes = await services.database.read(() => countRecoveryCodes({ accountId: account.id }));
    return html`<p class="muted small">${messages.verify.left(codes?.left ?? 0)}</p>`;
  }

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    target: ProofTarget,
    shown: Method,
    problems: Problems,
    factors: readonly Factor[],
  ): Promise<FastifyReply> {
    const frame = frameOf(visit);
    const title = messages.proof.titles[target];
    const body = html`<section class="card narrow"><header><h1>${title}</h1><p class="muted">${messages.proof.lead}</p></header>
${problemSummary(messages, problems)}
${
  shown === 'passkey'
    ? passkeyProofForm(site, frame.token, target)
    : shown === 'mail code'
      ? weakProof(services, await readWeakProof(services, visit, factors), target)
      : html`<form method="post" action="${site.path(CONFIRM)}" novalidate>${hidden(frame.token, { next: target })}
${FORMS[shown]?.fields(site, visit, problems)}${shown === 'recovery code' && (await codesLeft(visit))}
<div><button class="primary" type="submit">${messages.proof.submit}</button></div></form>`
}
<p><a href="${site.path(CANCELLED[target] ?? TARGETS[target])}">${messages.proof.cancel}</a></p>
${otherWays(services, shown, target)}</section>`;
    const page = accountLayout(site, frame, 'security', title, body, problems);
    return sendPage(reply, status, site, { ...page, scripts: shown === 'passkey' ? ['passkeys'] : [] });
  }

  app.get(CONFIRM, async (request, reply) => {
    const visit = visitOf(request);
    const query = queryOf(request);
    const target = query.get('next') ?? '';
    if (!isTarget(target)) return redirect(request, reply, site.path('/account'));
    const { needed, asked, factors } = await readProof(services, visit, target);
    if (!needed) return redirect(request, reply, site.path(TARGETS[target]));
    const said = takeSaid(services.browsers, request, reply, messages, 'notProved');
    const problems = said === undefined ? NO_PROBLEMS : generalProblem(messages.account.said[said]);
    return show(reply, 200, visit, target, shownMethod(asked, query), problems, factors);
  });

  /** The change for which a person proves themselves by another sign-in: there is nothing stronger to ask for. */
  async function askedToSignIn(request: FastifyRequest): Promise<ProofTarget | undefined> {
    const target = queryOf(request).get('next') ?? '';
    if (!isTarget(target)) return undefined;
    const { needed, asked } = await readProof(services, visitOf(request), target);
    return needed && asked === 'mail code' ? target : undefined;
  }

  app.get<{ Params: { name: string } }>(`${CONFIRM}/with/:name`, async (request, reply) => {
    const visit = visitOf(request);
    const target = await askedToSignIn(request);
    if (target === undefined) return redirect(request, reply, site.path('/account'));
    const { providers } = await readWeakProof(services, visit, []);
    const upstream = providers.find(({ name }) => name === request.params.name);
    if (upstream === undefined) return redirect(request, reply, site.path(confirmAddress(target)));
    const purpose = { pending: undefined, session: visit.session.sid, proves: target };
    try {
      return await depart(services, request, reply, upstream, purpose);
    } catch (error) {
      if (!(error instanceof UpstreamRefusal)) throw error;
      const problem = generalProblem(upstreamTexts.unreachable(isolate(upstream.displayName)));
      return show(reply, 502, visit, target, 'mail code', problem, []);
    }
  });

  app.get(`${CONFIRM}/again`, async (request, reply) => {
    const visit = visitOf(request);
    const target = await askedToSignIn(request);
    if (target === undefined) return redirect(request, reply, site.path('/account'));
    keepReturn(services, request, reply, visit.account.id, confirmAddress(target));
    const { factors } = await readProof(services, visit, target);
    const { byCode } = await readWeakProof(services, visit, factors);
    return redirect(request, reply, site.path(byCode ? '/login/code' : '/login'));
  });

  app.get(`${CONFIRM}/passkey`, async (request, reply) => {
    const visit = visitOf(request);
    const { relyingParty, database } = services;
    if (relyingParty === undefined) throw noPasskeysHere();
    const passkeys = await database.read(() => listPasskeys({ accountId: visit.account.id }));
    const allowed = passkeys.filter(({ createdAt }) =>
      isProofIn(visit.session, { method: 'passkey', factorSince: createdAt }),
    );
    reply.header('cache-control', 'no-store');
    return reply.send(requestPasskey(relyingParty, passkeyProof(visit), allowed, clock()));
  });

  app.post(CONFIRM, { preHandler: countEnding }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const next = form.get('next') ?? '';
    const target = isTarget(next) ? next : 'password';
    const { needed, asked, factors } = await readProof(services, visit, target);
    const method = shownMethod(asked, form);
    if (!needed) return redirect(request, reply, site.path(TARGETS[target]));
    const proof = FORMS[method];
    // A person without a factor from before the session proves their address by another sign-in.
    if (proof === undefined) return show(reply, 400, visit, target, method, NO_PROBLEMS, factors);
    const result = await proof.check(services, visit, form);
    if (result.kind === 'limited') {
      reply.header('retry-after', String(result.seconds));
      return show(reply, 429, visit, target, method, generalProblem(messages.signIn.limited(result.seconds)), factors);
    }
    if (result.kind === 'wrong' || !isProofIn(visit.session, result)) {
      return show(reply, 400, visit, target, method, proof.wrong(site), factors);
    }
    const { database } = servicesIn(services, visit);
    const now = clock();
    const { account, session, origin } = visit;
    const created = await database.commit(function* prove(): Work<NewSession> {
      const details = { sid: session.sid, method };
      yield* record({ at: now, type: 'sign_in.confirmed', origin, accountId: account.id, details });
      return yield* continueProved(session, result, account, visit.browser, now);
    });
    services.browsers.setSession(reply, created, SESSION_LIFETIME);
    return redirect(request, reply, site.path(TARGETS[target]));
  });
}
