import type { FastifyInstance, FastifyReply } from 'fastify';
import { canSpare, waysLeft, withoutOne } from '../../../account-actions/factors/last-way-in.ts';
import {
  addTotp,
  type Enrollment,
  openEnrollment,
  removeAuthenticatorApp,
  replaceRecoveryCodes,
  startEnrollment,
} from '../../../account-actions/factors/second-factors.ts';
import type { Renewal } from '../../../account-actions/sign-in/renew-session.ts';
import { endsRecoveryCodes } from '../../../authenticators/factor-store.ts';
import { countRecoveryCodes } from '../../../authenticators/recovery-code-store.ts';
import { requiresRecoveryCode } from '../../../authenticators/recovery-setting-store.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../../../pages/components.ts';
import { sendPage } from '../../../pages/layout.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { SESSION_LIFETIME } from '../../../sessions/sessions.ts';
import { showNewCodes } from '../../sign-in/new-codes.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { type ProofState, readProof, requireProof } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { type AccountHooks, type AccountVisit, frameOf, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { AUTHENTICATOR, enrollPage, type Hindrance, RECOVERY_CODES, REMOVE, twoStepRow } from './two-step-pages.ts';

/** What is asked for after the password: an authenticator app, and recovery codes that stand in for it. */
export const twoStepSection: SecuritySection = { name: 'two-step', row, routes };

async function row(services: PageServices, state: SecurityState): Promise<AccountRow | undefined> {
  const { visit, proof } = state;
  const { account } = visit;
  const accountId = account.id;
  const { codes, codeRequired, isRemovable, endsCodes, waysWithoutApp } = await services.database.read(
    function* read() {
      const left = withoutOne(proof.factors, 'totp');
      return {
        codes: yield* countRecoveryCodes({ accountId }),
        codeRequired: yield* requiresRecoveryCode(accountId),
        isRemovable: yield* canSpare(services, account, proof.factors, { kind: 'totp' }),
        endsCodes: yield* endsRecoveryCodes(services.secondFactor, account, left),
        waysWithoutApp: yield* waysLeft(services, account, left),
      };
    },
  );
  const hindrance = hindranceOf(services, visit, proof);
  if (hindrance === 'notOffered' && (codes?.issued ?? 0) === 0) return undefined;
  return twoStepRow(services.site, state, {
    proof,
    codes: codes ?? { issued: 0, left: 0 },
    codeRequired,
    isRemovable,
    endsCodes,
    waysWithoutApp,
    hindrance,
  });
}

/**
 * Why a person cannot set up an authenticator app, by the name of the text that says so. Where mail can be sent, only a person sets one up
 * who can get back in by their address. Where the installation offers none, one that is there can still be moved to another device.
 */
function hindranceOf(
  { mail, secondFactor }: PageServices,
  { account }: AccountVisit,
  { factors }: ProofState,
): Hindrance | undefined {
  if (mail.available && !account.profile.emailVerified) return 'unverified';
  return secondFactor === 'off' && factors.every(({ kind }) => kind !== 'totp') ? 'notOffered' : undefined;
}

function routes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks, show: ShowSecurity): void {
  const { site, browsers, sealer, clock } = services;
  const text = site.messages.twoStep;
  const { issuer } = services;

  async function showEnrollment(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    enrollment: Enrollment,
    problems: Problems,
  ): Promise<FastifyReply> {
    const { factors } = await readProof(services, visit);
    const replaces = factors.some(({ kind }) => kind === 'totp');
    const page = await enrollPage(site, { ...frameOf(visit), ...enrollment, issuer, replaces, problems });
    return sendPage(reply, status, site, page);
  }

  /** The browser continues in the session that the change started. */
  function continueIn(reply: FastifyReply, visit: AccountVisit, { account, created }: Renewal): AccountVisit {
    browsers.setSession(reply, created, SESSION_LIFETIME);
    return { ...visit, account, session: created.session };
  }

  const proved = requireProof(services, 'two-step');
  app.get(AUTHENTICATOR, { preHandler: requireProof(services, 'authenticator') }, async (request, reply) => {
    const visit = visitOf(request);
    const hindrance = hindranceOf(services, visit, await readProof(services, visit));
    if (hindrance !== undefined) return show(reply, 409, visit, { problems: generalProblem(text[hindrance]) });
    return showEnrollment(reply, 200, visit, startEnrollment(sealer, visit.session, clock()), NO_PROBLEMS);
  });

  // The enrollment in the form was made for this session after a fresh proof.
  app.post(AUTHENTICATOR, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const hindrance = hindranceOf(services, visit, await readProof(services, visit));
    if (hindrance !== undefined) return show(reply, 409, visit, { problems: generalProblem(text[hindrance]) });
    const enrollment = openEnrollment(sealer, visit.session, form.get('enrollment') ?? '', clock());
    if (enrollment === undefined) return show(reply, 409, visit, { problems: generalProblem(text.expired) });
    const result = await addTotp(services, visit, enrollment, form.get('code') ?? '');
    if (result.kind !== 'added') {
      const code = result.kind === 'wrong' ? text.wrong : text.clockOff;
      return showEnrollment(reply, 400, visit, enrollment, { fields: { code }, general: [] });
    }
    const renewed = continueIn(reply, visit, result);
    if (result.codes === undefined) return show(reply, 200, renewed, { done: text.added });
    return showNewCodes(services, request, reply, { ...renewed, codes: result.codes, done: 'app added' });
  });

  app.post(REMOVE, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const result = await removeAuthenticatorApp(services, visit);
    if (typeof result === 'string') {
      const problem = result === 'last way' ? text.lastWay : text.removedBefore;
      return show(reply, 409, visit, { problems: generalProblem(problem) });
    }
    return show(reply, 200, continueIn(reply, visit, result), { done: text.removed });
  });

  app.post(RECOVERY_CODES, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const { codes, ...renewal } = await replaceRecoveryCodes(services, visit);
    continueIn(reply, visit, renewal);
    return showNewCodes(services, request, reply, { ...visit, codes, done: 'renewed' });
  });
}
