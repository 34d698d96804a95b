import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DAY, SECOND } from '../clock.ts';
import { OAuthError } from '../oauth-error.ts';
import { digest, equalSecrets, keyedDigest, randomSecret } from '../secrets.ts';
import type { RepeatableParameters } from './parameters.ts';

/** The browser behind a request. Its identity is no sign-in: it ties pending requests and forms to where they began. */
export interface Browser {
  readonly hash: string;
  /** The secret of the session cookie, if there is one that could be ours. */
  readonly sessionSecret: string | undefined;
  /**
   * A token for a form that only this browser can send, and only for what it shows.
   * @param context what the form acts on: it does not fit a form about anything else
   */
  formToken(context: string): string;
  /** Whether a form carries the token for this context. */
  owns(form: RepeatableParameters, context: string): boolean;
}

export interface Browsers {
  /** The browser of a request; one that has no identity yet gets it with the answer. */
  of(request: FastifyRequest, reply: FastifyReply): Browser;
  /**
   * @throws {OAuthError} when a form was sent from another site (OWASP CSRF: Fetch Metadata and Origin)
   */
  refuseForeignForm(request: FastifyRequest): void;
  setSession(reply: FastifyReply, secret: string, maxAgeMs: number): void;
  clearSession(reply: FastifyReply): void;
}

/** The name of the hidden field that carries a form's token. */
export const FORM_TOKEN = 'form_token';

/** Chrome keeps no cookie longer. */
const BROWSER_LIFETIME = 400 * DAY;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * @param baseUrl decides about `Secure` and the `__Host-` prefix; the request's own headers never do
 * @param key signs the form tokens
 */
export function browsers(baseUrl: string, key: Buffer): Browsers {
  const { protocol, origin } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const prefix = secure ? '__Host-' : '';
  const browserCookie = `${prefix}tessera_browser`;
  const sessionCookie = `${prefix}tessera_session`;
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  const identified = new WeakMap<FastifyRequest, Browser>();

  function identify(request: FastifyRequest, reply: FastifyReply): Browser {
    const presented = request.cookies[browserCookie];
    const known = presented !== undefined && SECRET.test(presented);
    const id = known ? presented : randomSecret();
    if (!known) reply.setCookie(browserCookie, id, { ...attributes, maxAge: BROWSER_LIFETIME / SECOND });
    const session = request.cookies[sessionCookie];
    const formToken = (context: string): string => keyedDigest(key, JSON.stringify([id, context]));
    return {
      hash: digest(id),
      sessionSecret: session !== undefined && SECRET.test(session) ? session : undefined,
      formToken,
      owns: (form, context) => equalSecrets(form.get(FORM_TOKEN) ?? '', formToken(context)),
    };
  }

  return {
    of(request, reply) {
      let browser = identified.get(request);
      if (browser === undefined) {
        browser = identify(request, reply);
        identified.set(request, browser);
      }
      return browser;
    },
    refuseForeignForm({ headers }) {
      const site = headers['sec-fetch-site'];
      const sent = headers.origin;
      // Sec-Fetch-Site tells where it is sent. Elsewhere Origin does, but under our own referrer policy it is "null" for
      // our own forms too: then the form's token and the cookies' SameSite decide, as they do in every case.
      const told = sent !== undefined && sent !== 'null';
      const foreign = site !== undefined ? site !== 'same-origin' && site !== 'none' : told && sent !== origin;
      if (foreign) {
        throw new OAuthError(
          403,
          'access_denied',
          `This form must be sent from ${origin}. Open that address and start again.`,
        );
      }
    },
    setSession(reply, secret, maxAgeMs) {
      reply.setCookie(sessionCookie, secret, { ...attributes, maxAge: Math.floor(maxAgeMs / SECOND) });
    },
    clearSession(reply) {
      reply.clearCookie(sessionCookie, attributes);
    },
  };
}
