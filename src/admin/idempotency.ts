import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Sealer } from '../keys/sealer.ts';
import { takeWithin } from '../limits/limits.ts';
import { lacksPermission } from '../operators/refusal.ts';
import { holdsByPolicyAlone, lostOf, type Operator, type OperatorRights } from '../operators/rights.ts';
import { DAY } from '../platform/clock.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Database } from '../platform/database/database.ts';
import { finishingDatabase } from '../platform/database/finishing.ts';
import { makesNew } from '../platform/http/operation.ts';
import { requestIds } from '../platform/http/request-tracing.ts';
import { logLine } from '../platform/log.ts';
import { OAuthError, rateLimited } from '../platform/oauth-error.ts';
import type { CallerServices } from './guard.ts';
import { beginRequest, findRequest, forgetRequest, type KnownRequest, saveAnswer } from './idempotency-store.ts';

/** For how long the answer to a request is kept. */
const KEPT = DAY;
/** How many answers of one caller are kept at a time, and how long each may be, in characters. */
const MOST_KEPT = 100_000;
/** The same for somebody who may ask for it by the policy of the installation alone. */
const MOST_KEPT_BY_POLICY = 100;
const LONGEST_ANSWER = 64 * 1024;
const LONGEST_KEY = 255;

/** A request that is to be done once, however often it comes. */
interface OnceRequest {
  readonly hash: string;
  readonly fingerprint: string;
  /** Whether this very request has begun it. */
  isBegun: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    once: OnceRequest | undefined;
  }
}

/** The key of a header, with or without the quotes of draft-ietf-httpapi-idempotency-key-header. */
function readKey(header: string | readonly string[]): string {
  const [, quoted, bare] = /^(?:"([\x20-\x21\x23-\x5b\x5d-\x7e]+)"|([\x21\x23-\x7e]+))$/.exec(String(header)) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined && key.length <= LONGEST_KEY) return key;
  const description = `Idempotency-Key must be 1 to ${LONGEST_KEY} printable characters, such as a UUID.`;
  throw new OAuthError(400, 'invalid_request', description, {}, undefined, {
    expected: 'a text of the caller’s own for each thing that is to be made',
    received: 'Idempotency-Key with something else',
    remedy: 'Send a new UUID for each thing that is to be made, and the same one when a request is repeated.',
  });
}

/** JSON with the members of each object in one order, so that two writings of the same body are the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

const reused = (): OAuthError =>
  new OAuthError(
    422,
    'idempotency_key_reused',
    'This Idempotency-Key came with another request before. Send a new one for each thing that is to be made.',
  );

const underWay = (): OAuthError =>
  new OAuthError(
    409,
    'conflict',
    'A request with this Idempotency-Key is under way, or its answer was lost. Try again in a second; if that does not help, look whether what it makes is there.',
    { 'retry-after': '1' },
  );

const contextOf = ({ hash }: OnceRequest): string => `answer of ${hash}`;

/** An answer as it is kept, and the rights of the caller whom it was for. */
interface KeptAnswer {
  readonly etag?: string;
  readonly body: string;
  /** Undefined in what an earlier version kept. */
  readonly held?: OperatorRights['grants'];
  readonly developsByPolicy?: boolean;
}

/**
 * The answer to a request that was done before. It may hold a secret that is a right of its own, so who lost a right since does not get it.
 * @throws {OAuthError} 409, 422 where there is none to give
 * @throws {InsufficientPermission} where the caller held a permission then that they lack now
 */
function answerOf(known: KnownRequest, request: OnceRequest, operator: Operator, sealer: Sealer) {
  if (known.fingerprint !== request.fingerprint) throw reused();
  const text = known.answer === null ? undefined : sealer.open(known.answer, contextOf(request));
  if (known.status === null || text === undefined) throw underWay();
  const { etag, body, held, developsByPolicy = false }: KeptAnswer = JSON.parse(text);
  if (held === undefined) throw underWay();
  const lost = lostOf(operator, { grants: held, developsByPolicy });
  if (lost !== undefined) throw lacksPermission(lost);
  return { status: known.status, etag, body };
}

/** A database whose first commit notes that the request is begun: of two at the same time one is done, and the other does nothing. */
function once(
  database: Database,
  request: OnceRequest,
  caller: { readonly id: string; readonly mostKept: number },
  now: number,
): Database {
  return {
    ...database,
    async commit(work) {
      if (request.isBegun) return database.commit(work);
      const result = await database.commit(function* first() {
        const { hash, fingerprint } = request;
        if (!(yield* beginRequest({ hash, fingerprint, now, expiresAt: now + KEPT }))) {
          const known = yield* findRequest({ hash, now });
          throw known?.fingerprint === fingerprint ? underWay() : reused();
        }
        const limit = { count: caller.mostKept, windowMs: KEPT };
        if (!(yield* takeWithin(`idempotency ${caller.id}`, limit, now))) throw rateLimited(KEPT / 1000);
        return yield* work();
      });
      request.isBegun = true;
      return result;
    },
  };
}

/**
 * Heeds `Idempotency-Key` wherever something is made: the same request by the same caller is done once within a day, and has one answer.
 * A request that is refused is not noted, and can be corrected under the same key.
 */
export function answerOnce(admin: FastifyInstance): void {
  admin.decorateRequest('once', undefined);
  admin.addHook('preHandler', async (request, reply) => {
    const { method, headers, adminCaller, routeOptions } = request;
    const header = headers['idempotency-key'];
    const operator = adminCaller?.services.operator;
    if (header === undefined || adminCaller === undefined || operator === undefined) return undefined;
    if (!makesNew(method, routeOptions.schema)) return undefined;
    const { services } = adminCaller;
    const asked: OnceRequest = {
      hash: digest(`${operator.id} ${readKey(header)}`),
      fingerprint: digest(`${method} ${request.url} ${canonical(request.body)}`),
      isBegun: false,
    };
    const now = services.clock();
    const known = await services.database.read(() => findRequest({ hash: asked.hash, now }));
    if (known !== undefined) return sendAgain(reply, answerOf(known, asked, operator, services.sealer));
    const { permission } = routeOptions.schema ?? {};
    const isBounded = permission !== undefined && holdsByPolicyAlone(operator, permission);
    const caller = { id: operator.id, mostKept: isBounded ? MOST_KEPT_BY_POLICY : MOST_KEPT };
    const onceServices: CallerServices = { ...services, database: once(services.database, asked, caller, now) };
    request.adminCaller = { ...adminCaller, services: onceServices };
    request.once = asked;
    return undefined;
  });
  admin.addHook('onSend', async (request, reply, payload) => {
    const { once: asked, adminCaller } = request;
    if (asked?.isBegun !== true || adminCaller === undefined) return payload;
    const { operator, sealer, database: own } = adminCaller.services;
    const database = finishingDatabase(own);
    const { statusCode: status } = reply;
    try {
      if (status >= 400 && status < 500) await database.commit(() => forgetRequest({ hash: asked.hash }));
      if (status < 300 && typeof payload === 'string' && payload.length <= LONGEST_ANSWER) {
        const { grants: held, developsByPolicy } = operator ?? {};
        const kept = { etag: reply.getHeader('etag'), body: payload, held, developsByPolicy };
        const answer = sealer.seal(JSON.stringify(kept), contextOf(asked));
        await database.commit(() => saveAnswer({ hash: asked.hash, status, answer }));
      }
    } catch (error) {
      // It is done, and its caller is told. Only the same request once more would get no answer.
      logLine(request.log, 'warn', 'the answer to a request with an Idempotency-Key was not kept', {
        ...requestIds(request),
        err: error,
      });
    }
    return payload;
  });
}

function sendAgain(
  reply: FastifyReply,
  { status, etag, body }: { readonly status: number; readonly etag: string | undefined; readonly body: string },
): FastifyReply {
  if (etag !== undefined) reply.header('etag', etag);
  return reply.code(status).header('idempotency-replayed', 'true').type('application/json').send(body);
}
