import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { standardClaims, userInfo } from '../../claims/rules/userinfo.ts';
import type { AsymmetricAlg } from '../../keys/algorithms.ts';
import { numericDate } from '../../platform/clock.ts';
import { acceptForms, formOf } from '../../platform/http/bodies.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { readByHandler } from '../../platform/http/parameters.ts';
import { invalidToken, missingToken, OAuthError } from '../../platform/oauth-error.ts';
import { bearerToken, refuseSecondToken } from './bearer.ts';
import { readTokenHolder, type UserInfoParts } from './read-user.ts';
import { postStandardClaimsSchema, readStandardClaimsSchema, readUserInfoSchema } from './route-schemas.ts';

const STANDARD_PATH = '/oidc/userinfo';

/** HB-04: an app in a browser may read it. */
const PAGES = { config: { readers: 'registered' } } as const;

/** UserInfo: the contract's (§4.3), and its twin in standard claims for stock clients. */
export function userInfoRoutes(app: FastifyInstance, parts: UserInfoParts): void {
  app.get('/api/v2/oauth/userinfo', { ...PAGES, schema: readUserInfoSchema }, async (request, reply) => {
    const token = bearerToken(request.headers.authorization);
    if ((request.query as RepeatableParameters).has('access_token')) refuseSecondToken();
    const { person, scopes } = await readTokenHolder(parts, token, originOf(request));
    return reply
      .header('cache-control', 'no-store')
      .type('application/json')
      .send(JSON.stringify(userInfo(person, scopes, parts.issuer)));
  });

  app.register(async (standard) => {
    acceptForms(standard);
    // A token that comes twice is refused in words of its own.
    standard.setValidatorCompiler(readByHandler);
    standard.get(STANDARD_PATH, { ...PAGES, schema: readStandardClaimsSchema }, answer);
    standard.post(STANDARD_PATH, { ...PAGES, schema: postStandardClaimsSchema }, answer);
  });

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const token = oneToken(request.headers.authorization, request.query as RepeatableParameters, formOf(request));
    const read = await readTokenHolder(parts, token, originOf(request)).catch(challenge);
    const claims = standardClaims(read.person, read.scopes, parts.issuer, read.claims);
    const { userinfoAlg, id } = read.client;
    reply.header('cache-control', 'no-store');
    if (userinfoAlg === null) return reply.type('application/json').send(JSON.stringify(claims));
    return reply.type('application/jwt').send(await signedAnswer(parts, userinfoAlg, id, claims));
  }
}

/**
 * OpenID Connect Core 1.0 §5.3.2: the claims as a JWT, for the client of the token alone. It has no `exp`, which an ID token
 * must have (§2): nobody can take it for one.
 */
async function signedAnswer(
  { keys, issuer, clock }: Pick<UserInfoParts, 'keys' | 'issuer' | 'clock'>,
  alg: AsymmetricAlg,
  clientId: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const keySet = await keys.ready(alg);
  const now = clock();
  const key = keySet.signer(alg, now);
  if (key === undefined) throw new Error(`no key signs with ${alg}`);
  return key.sign({ ...claims, iss: issuer, aud: clientId, iat: numericDate(now) }, 'JWT');
}

/**
 * RFC 6750 §3: a token that gives no access is answered with a challenge, also where access was taken away (403). Standard
 * clients look there for the reason. §3.1 has one code for tokens that are revoked or invalid for other reasons.
 */
function challenge(error: unknown): never {
  if (!(error instanceof OAuthError) || error.status !== 403) throw error;
  const { 'www-authenticate': header } = invalidToken(error.message).headers;
  throw new OAuthError(
    403,
    error.code,
    error.message,
    { ...error.headers, 'www-authenticate': header ?? '' },
    error.reason,
  );
}

/** RFC 6750 §2: in the header or, for a POST, in the form; never in the address, never twice. */
function oneToken(authorization: string | undefined, query: RepeatableParameters, form: RepeatableParameters): string {
  const inForm = form.get('access_token');
  if (query.has('access_token') || form.repeated.has('access_token')) refuseSecondToken();
  if (inForm === undefined) return bearerToken(authorization);
  if (authorization !== undefined) refuseSecondToken();
  if (!/^\S+$/.test(inForm)) throw missingToken();
  return inForm;
}
