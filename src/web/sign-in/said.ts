import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Messages } from '../../pages/messages.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Browsers } from '../browser/browser.ts';

/** What the account says to a person who is back. */
export type Said = keyof Messages['account']['said'];

/** Until the person comes to their account: they may be on the way to an app first. */
const LIFETIME = 10 * MINUTE;

/** Lets the account say something the next time that it is opened in this browser. */
export const saveSaid = (browsers: Browsers, reply: FastifyReply, said: Said): void =>
  browsers.setNote(reply, 'said', said, LIFETIME);

/**
 * What the account says now, once.
 * @param wanted where a page says nothing else
 */
export function takeSaid(
  browsers: Browsers,
  request: FastifyRequest,
  reply: FastifyReply,
  { account: { said } }: Messages,
  wanted?: Said,
): Said | undefined {
  const kept = browsers.of(request, reply).noteOf('said') ?? '';
  if (!Object.hasOwn(said, kept) || (wanted !== undefined && kept !== wanted)) return undefined;
  browsers.setNote(reply, 'said', undefined, 0);
  return kept as Said;
}
