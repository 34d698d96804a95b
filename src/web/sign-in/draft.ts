import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sealer } from '../../keys/sealer.ts';
import type { Site } from '../../pages/layout.ts';
import { type Clock, MINUTE } from '../../platform/clock.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import type { Browser, Browsers, FormViewer } from '../browser/browser.ts';
import { freshPage } from './fresh-page.ts';

/*
 * What a person was at in their account when they were signed out, or had to prove who they are. The browser keeps it, sealed for it
 * alone, until its person is back: nobody else gets any of it, and the server stores nothing.
 */

/** The forms into which people type something worth keeping, and the names of those fields: never a password, a code or a file. */
export const TYPED: Readonly<Record<string, RegExp>> = {
  '/account/profile':
    /^(displayName|about|language|theme|website|location|birthDate|phone|avatarColor|link-(label|url)-\d{1,2})$/,
  '/account/email': /^email$/,
  '/account/username': /^username$/,
  '/console/people/suspend': /^reason$/,
  '/console/people/ban': /^(reason|until)$/,
  '/console/organizations/create': /^(name|domain)$/,
  '/console/organizations/member': /^role$/,
  '/console/operators/grant': /^(role|until)$/,
  '/console/people/correct': /^(displayName|username|email|verified|seen)$/,
  '/console/people/offboard': /^(days|reason)$/,
  '/console/people/bulk/new': /^(names|text|members|group|reason|days)$/,
  '/console/invitations/new': /^(email|role|days)$/,
  '/console/keys/new': /^(name|role|until)$/,
  '/console/upstreams/create': /^(name|displayName|at|issuer|clientId|teamId|keyId|secretEnds|signUp|signUpDomains)$/,
  '/console/upstreams/change':
    /^(displayName|clientId|scopes|signUp|signUpDomains|mapName|mapLanguage|mapPicture|mapGroups|position|seen)$/,
  '/console/upstreams/domains': /^(domains|seen)$/,
  '/console/apps/new': /^(kind|name|uris|resource)$/,
  '/console/apps/redirect-uris': /^(uris|seen)$/,
};

export interface Draft {
  /** Whose it is; undefined for a page that was only opened. */
  readonly accountId?: string | undefined;
  /** The path of the page. */
  readonly page: string;
  /** What was typed, if it is kept. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Whether a form was sent. */
  readonly isForm: boolean;
  /** Whether the browser had a session before. */
  readonly wasSignedIn: boolean;
  /** Whether the person signs in again although they are signed in. */
  readonly isAgain?: boolean;
  readonly keptAt: number;
}

interface DraftServices {
  readonly site: Site;
  readonly browsers: Browsers;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

const LIFETIME = 30 * MINUTE;

/** No account has this id. */
const NOBODY = '0';

/** Browsers drop a cookie of more than 4096 bytes. */
const LONGEST = 3800;

/** The hidden field without which nothing is kept of what was typed. */
const KEPT = 'kept_token';

/**
 * The hidden field of a form whose text is kept. It is signed for the form, the browser, the session and the person to whom the form is
 * shown: otherwise a form that another site made would come back to the person as if they had typed it.
 */
export const keptField = (browser: Browser, viewer: FormViewer, address: string): Readonly<Record<string, string>> =>
  Object.hasOwn(TYPED, address) ? { [KEPT]: browser.formToken(formContext(address), viewer) } : {};

const formContext = (address: string): string => `draft ${address}`;

const contextOf = ({ hash }: Pick<Browser, 'hash'>): string => `draft ${hash}`;

const isSent = (request: FastifyRequest): boolean => request.method === 'POST' && request.body !== undefined;

/** What was typed into a form that this browser showed to the person whom it names. */
function typedIn(request: FastifyRequest, { path }: Site, browser: Browser): Draft['fields'] {
  const address = (request.routeOptions.url ?? '').slice(path('').length);
  const names = TYPED[address];
  if (names === undefined || !isSent(request)) return undefined;
  const form = formOf(request);
  const owner = browser.accountOf(form.get(KEPT) ?? '', formContext(address));
  if (owner === undefined || owner !== browser.audienceOf(form).accountId) return undefined;
  return Object.fromEntries(form.names.filter((name) => names.test(name)).map((name) => [name, form.get(name) ?? '']));
}

/** Lets the browser keep what a person was at. @returns whether what they typed is kept */
export function keepDraft(services: DraftServices, request: FastifyRequest, reply: FastifyReply): boolean {
  const { site, browsers, sealer, clock } = services;
  const browser = browsers.of(request, reply);
  const named = isSent(request) ? browser.audienceOf(formOf(request)).accountId : undefined;
  // A form that was made up may name anything: that is nobody's.
  const accountId = named === undefined || isSnowflake(named) ? named : NOBODY;
  const fields = typedIn(request, site, browser);
  const wasSignedIn = browser.sessionSecret !== undefined;
  const page = freshPage(request, site);
  const draft = { accountId, page, isForm: request.method === 'POST', wasSignedIn, keptAt: clock() };
  const seal = (text: Draft): string => sealer.seal(JSON.stringify(text), contextOf(browser));
  const whole = fields === undefined ? '' : seal({ ...draft, fields });
  const isKept = whole !== '' && whole.length <= LONGEST;
  browsers.setNote(reply, 'draft', isKept ? whole : seal(draft), LIFETIME);
  return isKept;
}

/** The same, where there is something that was typed. */
export function keepTyped(services: DraftServices, request: FastifyRequest, reply: FastifyReply): void {
  const browser = services.browsers.of(request, reply);
  if (typedIn(request, services.site, browser) !== undefined) keepDraft(services, request, reply);
}

/** Lets a person who is signed in sign in again, and then be back at a page, or at what they were at before. */
export function keepReturn(
  services: DraftServices,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: string,
  page: string,
): void {
  const { browsers, sealer, clock } = services;
  const browser = browsers.of(request, reply);
  const kept = readDraft(services, browser);
  const isTheirs = kept?.accountId === undefined || kept.accountId === accountId;
  const draft: Draft = { accountId, page, isForm: false, wasSignedIn: true, keptAt: clock(), ...(isTheirs && kept) };
  browsers.setNote(
    reply,
    'draft',
    sealer.seal(JSON.stringify({ ...draft, isAgain: true }), contextOf(browser)),
    LIFETIME,
  );
}

/** What the browser keeps. */
export function readDraft({ sealer, clock }: DraftServices, browser: Browser): Draft | undefined {
  const text = sealer.open(browser.noteOf('draft') ?? '', contextOf(browser));
  if (text === undefined) return undefined;
  const draft = JSON.parse(text) as Draft;
  return clock() < draft.keptAt + LIFETIME ? draft : undefined;
}

/** Gives what was typed into a page back to its person, once. */
export function takeDraft(
  services: DraftServices,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: string,
): Readonly<Record<string, string>> | undefined {
  const draft = readDraft(services, services.browsers.of(request, reply));
  if (draft === undefined || draft.accountId !== accountId) return undefined;
  if (draft.page !== freshPage(request, services.site)) return undefined;
  services.browsers.setNote(reply, 'draft', undefined, 0);
  return draft.fields;
}
