import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DAY, MINUTE, SECOND } from '../../platform/clock.ts';
import { digest, equalSecrets, knownSecretOf, randomSecret } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { FormTokens, partsOf, tokenParts } from '../../platform/http/form-tokens.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { KNOWN_TAG_LENGTH, parseMarks, withMark } from './known-marks.ts';

/**
 * What a browser keeps for the server for a while: recovery codes that their person has not put elsewhere yet, and what a person was at
 * when they were signed out, what their account says once, when they are back, the name that they typed to sign in, and whom another
 * provider vouches for, until they decide what follows.
 */
type BrowserNote = 'newCodes' | 'draft' | 'said' | 'named' | 'upstream';

/** Who is signed in where a form is shown. */
export interface FormViewer {
  readonly account: { readonly id: string };
  readonly session: { readonly hash: string };
}

/** To whom a form was shown, as its token says; it is not proved before {@link Browser.owns}. */
export interface FormAudience {
  /** Whether the browser had the session that it has now, or none, as now. */
  readonly isThisSession: boolean;
  /** The account that was signed in, if the form acts on one. */
  readonly accountId: string | undefined;
}

/** The browser behind a request. Its identity is not a sign-in: it binds pending requests and forms to the browser that started them. */
export interface Browser {
  readonly hash: string;
  /** The digests of the secrets that its last sign-in to each account gave it. By these, and its identity, an account knows it. */
  readonly knownHashes: readonly string[];
  /** The identities with which this browser may have started the request with this handle: see `keepFor`. */
  hashesFor(handle: string): readonly string[];
  /**
   * Remembers the new identity of a browser together with the request that it started. If two tabs make the first requests at the
   * same time, each gets an identity and the browser keeps only the last one: the request of the other tab is still recognized.
   */
  keepFor(handle: string, lifetimeMs: number): void;
  /**
   * The identity with which this browser started a request that came without its cookies, if it also has a lasting identity. The
   * request can then be bound to the lasting one; the cookie of the other is cleared.
   */
  takeOver(handle: string): string | undefined;
  /** The secret of the session cookie, if it is well-formed. */
  readonly sessionSecret: string | undefined;
  /** The secret of a sign-in that waits for a second factor. */
  readonly signInSecret: string | undefined;
  /** The secret of a browser in which the second factor is not asked for. */
  readonly trustedSecret: string | undefined;
  /** The secret of an invitation that its person wants to accept after the sign-in. */
  readonly invitationSecret: string | undefined;
  /** Whether a person declined to add a passkey here lately. */
  readonly declinedPasskey: boolean;
  /** A note that the server gave this browser to keep. */
  noteOf(kind: BrowserNote): string | undefined;
  /**
   * A token for a form that only this browser can submit, and only in this context.
   * @param context what the form acts on; the token is invalid for anything else
   * @param viewer who is signed in, where the form acts on their account: see {@link watchForms}
   */
  formToken(context: string, viewer?: FormViewer): string;
  /** Whether a form contains the token for this context. */
  owns(form: RepeatableParameters, context: string): boolean;
  audienceOf(form: RepeatableParameters): FormAudience;
  /**
   * Whose account a token of {@link formToken} was made for, in this browser and this context. The session in which that was may have ended.
   * @returns undefined for a token that was made up, or that another browser got
   */
  accountOf(token: string, context: string): string | undefined;
}

export interface Browsers {
  /** The browser of a request; without an identity it gets a new one with the answer. */
  of(request: FastifyRequest, reply: FastifyReply): Browser;
  /** A new identity for one request only, for a browser that could not send its cookies; its own identity stays as it is. */
  forOne(reply: FastifyReply): Pick<Browser, 'hash' | 'keepFor'>;
  /** Whether a request has a session cookie. A form from another site has none; this does not create an identity. */
  hasSessionCookie(request: FastifyRequest): boolean;
  /**
   * Whether a request has no cookies because it comes from a frame: browsers send those of `SameSite=Lax` from no frame of another
   * site (Fetch Metadata §2).
   */
  isFrameWithoutCookies(request: FastifyRequest): boolean;
  /**
   * @throws {OAuthError} 403 if a form was submitted from another site (OWASP CSRF: Fetch Metadata and Origin)
   */
  rejectCrossSiteForm(request: FastifyRequest): void;
  /** Keeps the secret of a new session, and the one by which the browser is known from now on: a copy of the earlier one is not. */
  setSession(reply: FastifyReply, created: CreatedSession, maxAgeMs: number): void;
  clearSession(reply: FastifyReply): void;
  /** Keeps the secret of a sign-in that waits for a second factor; undefined clears it. */
  setSignIn(reply: FastifyReply, secret: string | undefined, maxAgeMs: number): void;
  /** Keeps the secret of a browser in which the second factor is not asked for. */
  setTrusted(reply: FastifyReply, secret: string, maxAgeMs: number): void;
  /** Keeps the secret of an invitation over a sign-in; undefined clears it. */
  setInvitation(reply: FastifyReply, secret: string | undefined): void;
  /** Gives the browser a note to keep, sealed where it says anything of a person; undefined clears it. */
  setNote(reply: FastifyReply, kind: BrowserNote, text: string | undefined, maxAgeMs: number): void;
  /** Remembers that a person declined to add a passkey. */
  setDeclinedPasskey(reply: FastifyReply): void;
}

/** For how long a browser keeps an invitation: as long as a person needs to sign in. */
const INVITATION_LIFETIME = 15 * MINUTE;

/** For how long a browser is not offered a passkey again. */
const DECLINED_LIFETIME = 30 * DAY;

/** The longest lifetime of a cookie in Chrome. */
const BROWSER_LIFETIME = 400 * DAY;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * How many cookies of {@link Cookies.nameFor} a browser keeps. Another site can make it send many POST requests, each of which
 * sets such a cookie; with too many, the header of its requests would be too large.
 */
const MOST_STARTED = 20;

/**
 * What the names of cookies end with. Browsers send a cookie to every port and path of a host (RFC 6265 §8.5), so that servers there would
 * sign each other's people out. The server at the default port without a path is the only one of its kind and needs nothing.
 */
export function nameSuffix(baseUrl: string): string {
  const { port, pathname } = new URL(baseUrl);
  return port === '' && pathname === '/' ? '' : `_${digest(baseUrl).slice(0, 8)}`;
}

/** The names and attributes of the cookies of a base URL (decisions §7). `tessera doctor` checks that cookies arrive with them. */
export function cookieStyle(baseUrl: string) {
  const secure = new URL(baseUrl).protocol === 'https:';
  const prefix = secure ? '__Host-' : '';
  const suffix = nameSuffix(baseUrl);
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    browser: `${prefix}tessera_browser${suffix}`,
    session: `${prefix}tessera_session${suffix}`,
    signIn: `${prefix}tessera_sign_in${suffix}`,
    known: `${prefix}tessera_known${suffix}`,
    trusted: `${prefix}tessera_trusted${suffix}`,
    invitation: `${prefix}tessera_invitation${suffix}`,
    declinedPasskey: `${prefix}tessera_no_passkey${suffix}`,
    newCodes: `${prefix}tessera_new_codes${suffix}`,
    draft: `${prefix}tessera_draft${suffix}`,
    said: `${prefix}tessera_said${suffix}`,
    named: `${prefix}tessera_named${suffix}`,
    upstream: `${prefix}tessera_upstream${suffix}`,
    startedPrefix: `${prefix}tessera_begun${suffix}_`,
    attributes,
  };
}

/** A session that has just begun. */
interface CreatedSession {
  readonly secret: string;
  readonly session: { readonly accountId: string };
}

/** The cookies of a base URL: what requests bring, and what answers set. */
class Cookies {
  readonly names: Omit<ReturnType<typeof cookieStyle>, 'attributes' | 'startedPrefix'>;
  readonly #attributes: ReturnType<typeof cookieStyle>['attributes'];
  readonly #startedPrefix: string;
  readonly #isStarted: RegExp;

  constructor(baseUrl: string) {
    const { attributes, startedPrefix, ...names } = cookieStyle(baseUrl);
    this.names = names;
    this.#attributes = attributes;
    this.#startedPrefix = startedPrefix;
    this.#isStarted = new RegExp(`^${startedPrefix}.{8}$`);
  }

  /** The secret of a cookie, if it is well-formed. */
  secretIn({ cookies }: FastifyRequest, name: string): string | undefined {
    const value = cookies[name];
    return value !== undefined && SECRET.test(value) ? value : undefined;
  }

  /** Sets a cookie. A HEAD sets none. */
  keep(reply: FastifyReply, name: string, value: string, lifetimeMs: number): void {
    if (reply.request.method === 'HEAD') return;
    reply.setCookie(name, value, { ...this.#attributes, maxAge: Math.floor(lifetimeMs / SECOND) });
  }

  drop(reply: FastifyReply, name: string): void {
    if (reply.request.method !== 'HEAD') reply.clearCookie(name, this.#attributes);
  }

  /** The name of the cookie with which a browser remembers that it started a request. */
  nameFor(handle: string): string {
    return this.#startedPrefix + digest(handle).slice(0, 8);
  }

  /** Those of {@link nameFor} beyond {@link MOST_STARTED}. RFC 6265 §5.4: cookies are sent from the oldest to the newest. */
  tooOldIn({ cookies }: FastifyRequest): readonly string[] {
    return Object.keys(cookies)
      .filter((name) => this.#isStarted.test(name))
      .slice(0, -MOST_STARTED);
  }
}

/** The browser of a request, which has an identity or gets one. */
class IdentifiedBrowser implements Browser {
  readonly hash: string;
  readonly sessionSecret: string | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #cookies: Cookies;
  readonly #tokens: FormTokens;
  readonly #id: string;
  /** Whether it had its identity before. */
  readonly #isKnown: boolean;
  /** Names the session of the browser. Most requests show no form, and have no form to check. */
  #mark: string | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, cookies: Cookies, tokens: FormTokens) {
    const name = cookies.names.browser;
    const presented = cookies.secretIn(request, name);
    this.#request = request;
    this.#reply = reply;
    this.#cookies = cookies;
    this.#tokens = tokens;
    this.#id = presented ?? randomSecret();
    this.#isKnown = presented !== undefined;
    this.hash = digest(this.#id);
    this.sessionSecret = cookies.secretIn(request, cookies.names.session);
    if (!this.#isKnown) cookies.keep(reply, name, this.#id, BROWSER_LIFETIME);
    for (const old of cookies.tooOldIn(request)) cookies.drop(reply, old);
  }

  get knownHashes(): readonly string[] {
    const cookie = this.#request.cookies[this.#cookies.names.known] ?? '';
    return parseMarks(cookie).map(({ secret }) => digest(secret));
  }

  get signInSecret(): string | undefined {
    return this.#cookies.secretIn(this.#request, this.#cookies.names.signIn);
  }

  get trustedSecret(): string | undefined {
    return this.#cookies.secretIn(this.#request, this.#cookies.names.trusted);
  }

  get invitationSecret(): string | undefined {
    return this.#cookies.secretIn(this.#request, this.#cookies.names.invitation);
  }

  get declinedPasskey(): boolean {
    return this.#request.cookies[this.#cookies.names.declinedPasskey] !== undefined;
  }

  noteOf(kind: BrowserNote): string | undefined {
    return this.#request.cookies[this.#cookies.names[kind]];
  }

  hashesFor(handle: string): readonly string[] {
    return this.#identitiesFor(handle).map(digest);
  }

  keepFor(handle: string, lifetimeMs: number): void {
    if (!this.#isKnown) this.#cookies.keep(this.#reply, this.#cookies.nameFor(handle), this.#id, lifetimeMs);
  }

  takeOver(handle: string): string | undefined {
    const started = this.#startedIn(handle);
    if (!this.#isKnown || started === undefined) return undefined;
    this.#cookies.drop(this.#reply, this.#cookies.nameFor(handle));
    return digest(started);
  }

  formToken(context: string, viewer?: FormViewer): string {
    const shownTo =
      viewer === undefined ? this.#ownMark() : `${this.#tokens.markOf(viewer.session.hash)}.${viewer.account.id}`;
    const mac = this.#tokens.macFor(this.#id, context, shownTo);
    return shownTo === '' ? mac : `${mac}.${shownTo}`;
  }

  owns(form: RepeatableParameters, context: string): boolean {
    const { mac, shownTo } = partsOf(form);
    return this.#identitiesFor(form.get('request')).some((identity) =>
      equalSecrets(mac, this.#tokens.macFor(identity, context, shownTo)),
    );
  }

  audienceOf(form: RepeatableParameters): FormAudience {
    const [shownIn, accountId] = partsOf(form).shownTo.split('.');
    return { isThisSession: shownIn === this.#ownMark(), accountId };
  }

  accountOf(token: string, context: string): string | undefined {
    const { mac, shownTo } = tokenParts(token);
    if (!equalSecrets(mac, this.#tokens.macFor(this.#id, context, shownTo))) return undefined;
    return shownTo.split('.')[1];
  }

  #ownMark(): string {
    this.#mark ??= this.sessionSecret === undefined ? '' : this.#tokens.markOf(digest(this.sessionSecret));
    return this.#mark;
  }

  #startedIn(handle: string): string | undefined {
    return this.#cookies.secretIn(this.#request, this.#cookies.nameFor(handle));
  }

  #identitiesFor(handle: string | undefined): readonly string[] {
    const started = handle === undefined ? undefined : this.#startedIn(handle);
    return started === undefined ? [this.#id] : [this.#id, started];
  }
}

/**
 * @param baseUrl determines `Secure` and the `__Host-` prefix; headers of the request do not
 * @param key signs the form tokens
 */
export function browsers(baseUrl: string, key: Buffer): Browsers {
  const { origin } = new URL(baseUrl);
  const cookies = new Cookies(baseUrl);
  const tokens = new FormTokens(key);
  const identified = new WeakMap<FastifyRequest, Browser>();
  const { names } = cookies;
  /** Keeps a value in a cookie; undefined clears it. */
  const set = (reply: FastifyReply, name: string, value: string | undefined, lifetimeMs: number): void =>
    value === undefined ? cookies.drop(reply, name) : cookies.keep(reply, name, value, lifetimeMs);
  return {
    of(request, reply) {
      let browser = identified.get(request);
      if (browser === undefined) {
        browser = new IdentifiedBrowser(request, reply, cookies, tokens);
        identified.set(request, browser);
      }
      return browser;
    },
    forOne(reply) {
      const id = randomSecret();
      const keepFor = (handle: string, lifetimeMs: number) =>
        cookies.keep(reply, cookies.nameFor(handle), id, lifetimeMs);
      return { hash: digest(id), keepFor };
    },
    hasSessionCookie: (request) => request.cookies[names.session] !== undefined,
    isFrameWithoutCookies: ({ headers }) =>
      headers.cookie === undefined && /^(iframe|frame|embed|object)$/.test(String(headers['sec-fetch-dest'] ?? '')),
    rejectCrossSiteForm: (request) => rejectCrossSiteForm(request, origin),
    setSession(reply, { secret, session }, maxAgeMs) {
      cookies.keep(reply, names.session, secret, maxAgeMs);
      // The name that was typed has served, and the next person at this browser is not shown it.
      if (reply.request.cookies[names.named] !== undefined) cookies.drop(reply, names.named);
      const tag = digest(`${this.of(reply.request, reply).hash} ${session.accountId}`).slice(0, KNOWN_TAG_LENGTH);
      const mark = { account: tag, secret: knownSecretOf(secret) };
      cookies.keep(reply, names.known, withMark(reply.request.cookies[names.known] ?? '', mark), BROWSER_LIFETIME);
    },
    clearSession: (reply) => cookies.drop(reply, names.session),
    setSignIn: (reply, secret, maxAgeMs) => set(reply, names.signIn, secret, maxAgeMs),
    setInvitation: (reply, secret) => set(reply, names.invitation, secret, INVITATION_LIFETIME),
    setNote: (reply, kind, text, maxAgeMs) => set(reply, names[kind], text, maxAgeMs),
    setDeclinedPasskey: (reply) => cookies.keep(reply, names.declinedPasskey, '1', DECLINED_LIFETIME),
    setTrusted: (reply, secret, maxAgeMs) => set(reply, names.trusted, secret, maxAgeMs),
  };
}

/** @throws {OAuthError} 403 if a form was submitted from another site (OWASP CSRF: Fetch Metadata and Origin) */
function rejectCrossSiteForm({ headers }: FastifyRequest, origin: string): void {
  const { origin: sentOrigin, 'sec-fetch-site': site } = headers;
  // Sec-Fetch-Site decides if it is sent, otherwise Origin. With our referrer policy Origin is "null" for our own forms too:
  // then only the form's token and the cookies' SameSite protect, as they do in every case.
  const isKnown = sentOrigin !== undefined && sentOrigin !== 'null';
  const isCrossSite = site !== undefined ? site !== 'same-origin' && site !== 'none' : isKnown && sentOrigin !== origin;
  if (!isCrossSite) return;
  const text = `This form must be sent from ${origin}. Open that address and start again.`;
  throw new OAuthError(403, 'access_denied', text, {}, undefined, {
    ...{ expected: `a form of ${origin}`, received: `Origin: ${sentOrigin ?? 'not sent'}` },
    remedy: `Use ${origin} everywhere, and not another name or address of this server: localhost and 127.0.0.1 are two sites.`,
  });
}

/**
 * Watches every form of a scope, so that no route can forget it. A form that acts on an account, and was shown in another session than
 * that of the browser, goes to `answer`; where that answers it, the route does not run.
 */
export function watchForms(
  app: FastifyInstance,
  browsers: Browsers,
  answer: (request: FastifyRequest, reply: FastifyReply, accountId: string) => Promise<FastifyReply | undefined>,
): void {
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return undefined;
    const form = formOf(request);
    // Forms without a token, such as those that apps send, give the browser no identity.
    if (partsOf(form).shownTo === '') return undefined;
    browsers.rejectCrossSiteForm(request);
    const { accountId, isThisSession } = browsers.of(request, reply).audienceOf(form);
    return accountId === undefined || isThisSession ? undefined : answer(request, reply, accountId);
  });
}
