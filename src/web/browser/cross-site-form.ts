import type { FastifyRequest } from 'fastify';
import { OAuthError } from '../../platform/oauth-error.ts';

/** @throws {OAuthError} 403 if a form was submitted from another site (OWASP CSRF: Fetch Metadata and Origin) */
export function rejectCrossSiteForm({ headers }: FastifyRequest, origin: string): void {
  const { origin: sentOrigin, 'sec-fetch-site': site } = headers;
  // Sec-Fetch-Site decides if it is sent, otherwise Origin. With our referrer policy Origin is "null" for our own forms too:
  // then only the form's token and the cookies' SameSite protect, as they do in every case.
  const isKnown = sentOrigin !== undefined && sentOrigin !== 'null';
  const isCrossSite = site !== undefined ? site !== 'same-origin' && site !== 'none' : isKnown && sentOrigin !== origin;
  if (isCrossSite) {
    const text = `This form must be sent from ${origin}. Open that address and start again.`;
    throw new OAuthError(403, 'access_denied', text, {}, undefined, {
      expected: `a form of ${origin}`,
      received: `Origin: ${sentOrigin ?? 'not sent'}`,
      remedy: `Use ${origin} everywhere, and not another name or address of this server: localhost and 127.0.0.1 are two sites.`,
    });
  }
}
