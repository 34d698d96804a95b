import type { FastifyReply } from 'fastify';
import type { Sealer } from '../../keys/sealer.ts';
import { type Clock, MINUTE, SECOND } from '../../platform/clock.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import type { Browser, Browsers } from '../browser/browser.ts';

/** The username or address that a person typed, so that they type it once on the way from the sign-in to a code or a recovery. */
export interface Named {
  readonly identifier: string;
  /** When a message was asked for with it; null where none was. */
  readonly askedAt: number | null;
  readonly typedAt: number;
}

interface NamedServices {
  readonly browsers: Browsers;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

const LIFETIME = 15 * MINUTE;

/** For how long a person waits before the page offers another message. */
const PATIENCE = MINUTE;

/** No username or address is longer. */
const LONGEST = 320;

const contextOf = ({ hash }: Pick<Browser, 'hash'>): string => `named ${hash}`;

/** Lets the browser keep the name, sealed. */
export function keepNamed(
  { browsers, sealer, clock }: NamedServices,
  browser: Browser,
  reply: FastifyReply,
  identifier: string,
  isAsked: boolean,
): void {
  if (identifier === '') return;
  const now = clock();
  const named: Named = { identifier: identifier.slice(0, LONGEST), askedAt: isAsked ? now : null, typedAt: now };
  browsers.setNote(reply, 'named', sealer.seal(JSON.stringify(named), contextOf(browser)), LIFETIME);
}

export function readNamed({ sealer, clock }: NamedServices, browser: Browser): Named | undefined {
  const text = sealer.open(browser.noteOf('named') ?? '', contextOf(browser));
  const named = text === undefined ? undefined : (JSON.parse(text) as Named);
  return named !== undefined && clock() < named.typedAt + LIFETIME ? named : undefined;
}

/** The name that a message is asked for with: the one in the form, or that of the message before, which the page does not show. */
export const askedFor = (services: NamedServices, browser: Browser, form: RepeatableParameters): string =>
  form.has('again') ? (readNamed(services, browser)?.identifier ?? '') : trimTyped(form.get('identifier'));

/** In how many seconds another message is offered. */
export const secondsLeft = (askedAt: number, now: number): number =>
  Math.max(0, Math.ceil((askedAt + PATIENCE - now) / SECOND));
