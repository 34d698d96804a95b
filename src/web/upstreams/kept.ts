import type { FastifyReply } from 'fastify';
import { UPSTREAM_STATE_LIFETIME } from '../../account-actions/authentication/upstream.ts';
import type { JoiningPerson } from '../../account-actions/upstreams/join.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ProviderAttempt } from '../../upstreams/kind.ts';
import type { Upstream } from '../../upstreams/store.ts';
import type { Browser, Browsers } from '../browser/browser.ts';

/*
 * What a person is about while they are at an upstream, and what it said until they decide what follows. The browser takes it along,
 * sealed: the server stores nothing for people who press a button and never come back.
 */

interface Services {
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly browsers: Browsers;
}

/** What a person is sent away for. */
export interface Departure extends ProviderAttempt {
  readonly upstreamId: string;
  /** Of the upstream. */
  readonly generation: string;
  /** The browser that was sent. */
  readonly browserHash: string;
  /** The handle of the authorization request that needs the sign-in. */
  readonly handle: string | null;
  /** The `sid` of the session in which the person acts, which a fresh proof does not change; null to sign in. */
  readonly session: string | null;
  /** The change that asks for a fresh proof; null to connect the identity to the account of the session, or to sign in. */
  readonly proves: string | null;
  readonly leftAt: number;
}

const STATE = 'state at an upstream';

/** The `state` of a request to an upstream. */
export const sealState = ({ sealer }: Services, departure: Departure): string =>
  sealer.seal(JSON.stringify(departure), STATE);

/**
 * Opens the `state` with which a browser came back; undefined where it is not ours, too old, or another browser's.
 * @param browser has the identities that it had when it left
 */
export function openState({ sealer, clock }: Services, state: string, browser: Browser): Departure | undefined {
  const text = sealer.open(state, STATE);
  if (text === undefined) return undefined;
  const departure = JSON.parse(text) as Departure;
  const { browserHash, handle, leftAt } = departure;
  const hashes = [browser.hash, ...(handle === null ? [] : browser.hashesFor(handle))];
  const isCurrent = clock() - leftAt < UPSTREAM_STATE_LIFETIME;
  return isCurrent && hashes.includes(browserHash) ? departure : undefined;
}

const formContext = (upstreamId: string): string => `form of an upstream ${upstreamId}`;

/**
 * A response that came as a form from the page of another site, for the address of the next request: browsers send no cookies with such a
 * form, but with the redirect that follows. It may have the name and the address of the person.
 */
export const sealForm = ({ sealer }: Pick<Services, 'sealer'>, upstreamId: string, form: URLSearchParams): string =>
  sealer.seal(form.toString(), formContext(upstreamId));

export function openForm({ sealer }: Pick<Services, 'sealer'>, upstreamId: string, sealed: string) {
  const text = sealer.open(sealed, formContext(upstreamId));
  return text === undefined ? undefined : new URLSearchParams(text);
}

/** Whom an upstream vouches for, until the person decides what follows. */
export interface Vouched extends JoiningPerson {
  /** To connect it to the account of the session with this `sid`; null to sign in. */
  readonly session: string | null;
  /** The handle of the authorization request that goes on afterwards. */
  readonly handle: string | null;
}

const contextOf = ({ hash }: Pick<Browser, 'hash'>): string => `person of an upstream ${hash}`;

/** Lets the browser keep it. */
export function keepVouched(services: Services, reply: FastifyReply, browser: Browser, vouched: Vouched): void {
  const { sealer, browsers } = services;
  browsers.setNote(
    reply,
    'upstream',
    sealer.seal(JSON.stringify(vouched), contextOf(browser)),
    UPSTREAM_STATE_LIFETIME,
  );
}

/** What this browser keeps for an upstream, unless that was disabled since. */
export function readVouched(
  { sealer, clock }: Services,
  browser: Browser,
  { id, generation }: Pick<Upstream, 'id' | 'generation'>,
): Vouched | undefined {
  const text = sealer.open(browser.noteOf('upstream') ?? '', contextOf(browser));
  if (text === undefined) return undefined;
  const vouched = JSON.parse(text) as Vouched;
  const isCurrent = clock() - vouched.at < UPSTREAM_STATE_LIFETIME;
  return isCurrent && vouched.upstreamId === id && vouched.generation === generation ? vouched : undefined;
}
