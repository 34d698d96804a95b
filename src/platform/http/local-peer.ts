import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../config/loopback.ts';
import { canonicalAddress } from '../validation/origin.ts';

/** Headers with which a proxy says for whom it asks: behind one, every caller would look local. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Whether the caller is on this machine, asks for it by a local name, and no proxy is between. */
export function isFromThisMachine(request: FastifyRequest): boolean {
  const peer = canonicalAddress(request.raw.socket.remoteAddress ?? '') ?? '';
  const isPeerLocal = peer === '::1' || isLoopback(peer);
  const isForwarded = FORWARDING.some((name) => request.headers[name] !== undefined);
  // A name that an attacker points at this machine would make the page part of the attacker's site (DNS rebinding).
  const host = URL.canParse(`http://${request.headers.host}`) ? new URL(`http://${request.headers.host}`).hostname : '';
  return isPeerLocal && !isForwarded && isLoopback(host);
}
