import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findClient } from '../../clients/store.ts';
import { findWaitingDevice } from '../../credentials/device-store.ts';
import { readUserCode } from '../../credentials/rules/user-code.ts';
import { take, takeFrom } from '../../limits/limits.ts';
import { fieldProblem, generalProblem, NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import { duration } from '../../pages/error-messages.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RequestRefusal } from '../../platform/http/errors.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import { deviceRequest } from '../../protocol/authorize/rules/request.ts';
import { userCodeDigest, VERIFICATION_PATH } from '../../protocol/device/start.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import { type AuthorizationPageServices, storeAndRedirect } from '../authorize/pending-request.ts';
import type { Browser } from '../browser/browser.ts';
import { visitorFrame } from '../browser/signed-in.ts';
import { deviceCodePage } from './pages.ts';

interface DevicePageServices extends AuthorizationPageServices {
  readonly userCodeKey: Buffer;
}

/** The context of the form. */
const FORM = 'device';

const RULE = 'RFC 8628 §3.3';
const START = 'Start again at /oidc/device_authorization, and show the new user_code.';

/** What the log and the trace say of a code that was refused. The code itself is not kept. */
const USER_CODE_REFUSALS = {
  missing: {
    code: 'invalid_request',
    reason: 'no user code',
    description: 'The form was sent without a user code.',
    detail: {
      rule: RULE,
      expected: 'the user_code that the device shows',
      received: 'an empty field',
      remedy: 'Enter the code that the device shows.',
    },
  },
  malformed: {
    code: 'invalid_request',
    reason: 'a malformed user code',
    description: 'The text is not a user code.',
    detail: {
      rule: RULE,
      expected: 'eight letters without vowels, such as WDJB-MJHT',
      received: 'a text of another form, perhaps the device_code',
      remedy: 'Have the device show user_code, and not device_code, exactly as /oidc/device_authorization answered it.',
    },
  },
  unknown: {
    code: 'access_denied',
    reason: 'an unknown user code',
    description: 'No device is waiting with this user code.',
    detail: {
      rule: RULE,
      expected: 'the user_code of a device that is waiting',
      received:
        'a code that was mistyped, has expired (after ten minutes), was answered before, or is of another server',
      remedy: `Compare the code with the one on the device. ${START}`,
    },
  },
  limited: {
    code: 'rate_limit_exceeded',
    reason: 'too many user codes',
    description: 'Too many user codes were entered from here.',
    detail: {
      rule: 'RFC 8628 §5.1',
      expected: 'few wrong codes from one address, browser or account',
      received: 'more codes than the limit',
      remedy: 'Wait for the seconds in Retry-After, then enter the code that the device shows.',
    },
  },
} satisfies Readonly<Record<string, RequestRefusal>>;

/**
 * The page on which a person types the code of a device: RFC 8628 §3.3. From there on the request is like any other: the person signs
 * in, and the consent page asks. No address has the code, so that nobody can be sent a link which leads past typing it (§5.4).
 */
export function devicePageRoutes(app: FastifyInstance, services: DevicePageServices): void {
  const { browsers, site, database, clock } = services;
  const text = site.messages.device;

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    problems: Problems,
    typed = '',
  ): Promise<FastifyReply> {
    const token = browsers.of(request, reply).formToken(FORM);
    const frame = await visitorFrame(services, request, reply);
    return sendPage(reply, status, site, { ...deviceCodePage(site, { token, typed, problems }), ...frame });
  }

  app.get(VERIFICATION_PATH, async (request, reply) => show(request, reply, 200, NO_PROBLEMS));

  app.post(VERIFICATION_PATH, async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const browser = browsers.of(request, reply);
    const entered = (form.get('user_code') ?? '').slice(0, 40);
    // What was typed is not shown to somebody who has signed in since.
    const typed = browser.audienceOf(form).isThisSession ? entered : '';
    const refuse = (problem: string, refusal: RequestRefusal) => {
      request.refusal = refusal;
      return show(request, reply, 400, fieldProblem('user_code', problem), typed);
    };
    if (!browser.owns(form, FORM)) return show(request, reply, 400, unownedForm(site.messages, request));
    if (entered.trim() === '') return refuse(text.codeMissing, USER_CODE_REFUSALS.missing);
    const userCode = readUserCode(entered);
    if (userCode === undefined) return refuse(text.codeMalformed, USER_CODE_REFUSALS.malformed);
    const wait = await countTyped(request, browser);
    if (wait > 0) {
      request.refusal = USER_CODE_REFUSALS.limited;
      reply.header('retry-after', String(wait));
      return show(request, reply, 429, generalProblem(text.tooMany(duration(wait))), typed);
    }

    const now = clock();
    const found = await database.read(function* find() {
      const device = yield* findWaitingDevice({ userCode: userCodeDigest(services, userCode), now });
      const client = device && (yield* findClient({ id: device.clientId }));
      return device && client && { device, client };
    });
    if (found === undefined) return refuse(text.codeUnknown, USER_CODE_REFUSALS.unknown);
    const page = services.issuer + VERIFICATION_PATH;
    const authorization = deviceRequest(found.device, found.client, page);
    const sent = { client: found.client, isSilent: false };
    return storeAndRedirect(services, request, reply, authorization, browser, '/continue', sent);
  });

  /**
   * Counts a typed code for the address and its network, and then for the browser or the account: beyond the limit of an address, a new
   * browser for each code adds no count.
   * @returns the seconds to wait
   */
  async function countTyped(request: FastifyRequest, browser: Browser): Promise<number> {
    const visitor = await findVisitor(services, browser.sessionSecret);
    const account = visitor.kind === 'signed in' ? visitor.account.id : undefined;
    const origin: Origin = originOf(request, account === undefined ? undefined : { type: 'user', id: account });
    const { limits } = services;
    const now = clock();
    return database.commit(function* count(): Work<number> {
      const about = { origin, accountId: account ?? null };
      const byAddress = { name: 'userCodeAddress', ...about } as const;
      const wait = yield* takeFrom('user-code', limits.userCodeAddress, now, byAddress);
      if (wait > 0) return wait;
      const bucket = `user-code ${account === undefined ? `browser ${browser.hash}` : `account ${account}`}`;
      return yield* take(bucket, limits.userCode, now, { name: 'userCode', ...about });
    });
  }
}
