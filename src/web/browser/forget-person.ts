import type { FastifyReply } from 'fastify';
import type { Browsers } from './browser.ts';

/** Lets a browser forget the person who leaves it: the session, whom another provider vouches for, and pages that it has kept. */
export function forgetPerson(browsers: Pick<Browsers, 'clearSession' | 'setNote'>, reply: FastifyReply): void {
  browsers.clearSession(reply);
  browsers.setNote(reply, 'upstream', undefined, 0);
  // HEAD has ended no session, and clears nothing in the browser either.
  if (reply.request.method !== 'HEAD') reply.header('clear-site-data', '"cache", "storage"');
}
