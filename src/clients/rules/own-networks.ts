import { hostOf } from '../../platform/domain-name.ts';
import type { Client } from '../store.ts';
import { hasHost } from './metadata-document.ts';

/**
 * Whether a stranger chose an address of a client: one that registered itself openly, or by a metadata document, or that a person registered
 * who develops apps by the policy of the installation alone. Requests to it do not reach the networks that TESSERA_OUTGOING_ALLOW opens for
 * the apps of operators. These addresses count as an operator’s: those of apps that registered with an initial access token, which an operator
 * handed out; those of a developer’s app that an operator has accepted, until the developer changes one; and, for apps with metadata
 * documents, those at the domains that the operator listed.
 * @param listed the domains of TESSERA_CLIENT_METADATA_DOMAINS
 */
export function isStrangersAddress(
  { registeredBy, acceptedAt }: Pick<Client, 'registeredBy' | 'acceptedAt'>,
  url: string,
  listed: readonly string[],
): boolean {
  switch (registeredBy) {
    case 'open':
      return true;
    case 'developer':
      return acceptedAt === null;
    case 'metadata':
      return !hasHost(listed, hostOf(url));
    case 'token':
    case null:
      return false;
  }
}
