import type { FastifyReply, FastifyRequest } from 'fastify';
import { OPEN_MAILBOX } from '../../platform/config/mail.ts';
import { deriveKey, digest, equalSecrets } from '../../platform/crypto/secrets.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { nameSuffix } from '../browser/browser.ts';

/**
 * What opens the mailbox; null where the setting leaves it open to this machine. A proxy on this machine that says nothing of the
 * visitors for whom it asks makes them look local, so being local is not enough. It follows from the root secret: all processes of a
 * database agree on it, and restarts keep it.
 */
export function mailboxKey(
  { mailboxKey: own }: { readonly mailboxKey: string | undefined },
  secret: Buffer,
): string | null {
  if (own === OPEN_MAILBOX) return null;
  return own ?? deriveKey(secret, 'mailbox').toString('base64url');
}

/** The address that opens the mailbox. It is for standard output and never logged. */
export const mailboxLink = (baseUrl: string, key: string | null): string =>
  `${baseUrl}/mailbox${key === null ? '' : `?key=${encodeURIComponent(key)}`}`;

const NAME = 'tessera_mailbox';

/** How a request may show the key. */
export type MailboxEntry =
  | 'open'
  /** By the link: the browser gets a cookie, and the address without the key. */
  | 'link'
  | 'refused';

/** The check of the key at each request. @param path of the mailbox, to which its cookie is limited */
export function mailboxDoor(key: string | null, path: string, baseUrl: string) {
  const https = new URL(baseUrl).protocol === 'https:';
  // The prefix __Host- would need the path /.
  const name = `${https ? '__Secure-' : ''}${NAME}${nameSuffix(baseUrl)}`;
  const ticket = key === null ? '' : digest(key);
  return {
    enter(request: FastifyRequest): MailboxEntry {
      if (key === null) return 'open';
      const given = queryOf(request).get('key');
      if (given !== undefined && equalSecrets(given, key)) return 'link';
      const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      if (bearer !== undefined && equalSecrets(bearer, key)) return 'open';
      return equalSecrets(request.cookies[name] ?? '', ticket) ? 'open' : 'refused';
    },
    remember(reply: FastifyReply): void {
      reply.setCookie(name, ticket, { path, httpOnly: true, sameSite: 'strict', secure: https });
    },
  };
}
