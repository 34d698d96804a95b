import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DAY, SECOND } from '../clock.ts';
import { digest, equalSecrets, keyedDigest, randomSecret } from '../crypto/secrets.ts';
import { OAuthError } from '../oauth-error.ts';
import type { RepeatableParameters } from './parameters.ts';

/** The browser behind a request. Its identity is no sign-in: it ties pending requests and forms to where they began. */
export interface Browser {
  readonly hash: string;
  /** The identities under which this browser may have begun the request with this handle: see `keepFor`. */
  hashesFor(handle: string): readonly string[];
  /**
   * Keeps the identity of a browser that came without one beside the request that it began. Of two tabs that come first at
   * the same time each is given an identity, and only one of them stays: the other's request is still its own.
   */
  keepFor(handle: string, lifetimeMs: number): void;
  /**
   * The identity under which this browser began a request without its cookies, if it has a lasting one beside: the request may
   * then be bound to that, and the other is dropped.
   */
  takeOver(handle: string): string | undefined;
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
  /** An identity for one request alone, for a browser that could not send its own; it leaves that one as it is. */
  forOne(reply: FastifyReply): Pick<Browser, 'hash' | 'keepFor'>;
  /** Whether a request brings the cookie of a session. A form from another site brings none, and gets no identity here. */
  bringsSession(request: FastifyRequest): boolean;
  /**
   * @throws {OAuthError} when a form was sent from another site (OWASP CSRF: Fetch Metadata and Origin)
   */
  refuseForeignForm(request: FastifyRequest): void;
  setSession(reply: FastifyReply, secret: string, maxAgeMs: number): void;
  clearSession(reply: FastifyReply): void;
}

/** The name of the hidden field that carries a form's token. */
export const FORM_TOKEN = 'form_token';

/**
 * How many cookies of {@link Browser.keepFor} a browser keeps. Another site can make it send one POST after the other, and each
 * brings it such a cookie: too many, and its requests would have too large a header.
 */
const MOST_BEGUN = 20;

/** Chrome keeps no cookie longer. */
const BROWSER_LIFETIME = 400 * DAY;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** How cookies are named and set on a base URL (decisions §7): `tessera doctor` checks that they arrive like this. */
export function cookieStyle(baseUrl: string) {
  const secure = new URL(baseUrl).protocol === 'https:';
  const prefix = secure ? '__Host-' : '';
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  return { prefix, browser: `${prefix}tessera_browser`, session: `${prefix}tessera_session`, attributes };
}

/**
 * @param baseUrl decides about `Secure` and the `__Host-` prefix; the request's own headers never do
 * @param key signs the form tokens
 */
export function browsers(baseUrl: string, key: Buffer): Browsers {
  const { origin } = new URL(baseUrl);
  const { prefix, browser: browserCookie, session: sessionCookie, attributes } = cookieStyle(baseUrl);
  const begunPrefix = `${prefix}tessera_begun_`;
  const begunCookie = (handle: string): string => begunPrefix + digest(handle).slice(0, 8);
  const identified = new WeakMap<FastifyRequest, Browser>();

  const setBegun = (reply: FastifyReply, handle: string, id: string, lifetimeMs: number): void => {
    reply.setCookie(begunCookie(handle), id, { ...attributes, maxAge: lifetimeMs / SECOND });
  };

  function identify(request: FastifyRequest, reply: FastifyReply): Browser {
    const presented = request.cookies[browserCookie];
    const known = presented !== undefined && SECRET.test(presented);
    const id = known ? presented : randomSecret();
    if (!known) reply.setCookie(browserCookie, id, { ...attributes, maxAge: BROWSER_LIFETIME / SECOND });
    // RFC 6265 §5.4: the oldest stand first.
    const begun = Object.keys(request.cookies).filter((name) => name.startsWith(begunPrefix));
    for (const name of begun.slice(0, -MOST_BEGUN)) reply.clearCookie(name, attributes);
    const session = request.cookies[sessionCookie];
    const tokenOf = (identity: string, context: string) => keyedDigest(key, JSON.stringify([identity, context]));
    const identities = (handle: string | undefined): readonly string[] => {
      const begun = handle === undefined ? undefined : request.cookies[begunCookie(handle)];
      return begun !== undefined && SECRET.test(begun) ? [id, begun] : [id];
    };
    return {
      hash: digest(id),
      hashesFor: (handle) => identities(handle).map(digest),
      keepFor(handle, lifetimeMs) {
        if (!known) setBegun(reply, handle, id, lifetimeMs);
      },
      takeOver(handle) {
        const begun = request.cookies[begunCookie(handle)];
        if (!known || begun === undefined || !SECRET.test(begun)) return undefined;
        reply.clearCookie(begunCookie(handle), attributes);
        return digest(begun);
      },
      sessionSecret: session !== undefined && SECRET.test(session) ? session : undefined,
      formToken: (context) => tokenOf(id, context),
      owns(form, context) {
        const token = form.get(FORM_TOKEN) ?? '';
        return identities(form.get('request')).some((identity) => equalSecrets(token, tokenOf(identity, context)));
      },
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
    forOne(reply) {
      const id = randomSecret();
      return { hash: digest(id), keepFor: (handle, lifetimeMs) => setBegun(reply, handle, id, lifetimeMs) };
    },
    bringsSession: ({ cookies }) => cookies[sessionCookie] !== undefined,
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
