import type { Client } from '../store.ts';
import { hasHost, metadataHost } from './metadata-document.ts';

/**
 * Whether a stranger chose an address of a client: one that registered itself openly, or by a metadata document. Requests to it do not
 * reach the networks that TESSERA_OUTGOING_ALLOW opens for the apps of operators. Two kinds of addresses count as an operator’s: those of
 * apps that registered with an initial access token, which an operator handed out, and, for apps with metadata documents, those at the
 * domains that the operator listed.
 * @param listed the domains of TESSERA_CLIENT_METADATA_DOMAINS
 */
export const isStrangersAddress = (
  { registeredBy }: Pick<Client, 'registeredBy'>,
  url: string,
  listed: readonly string[],
): boolean => registeredBy === 'open' || (registeredBy === 'metadata' && !hasHost(listed, metadataHost(url)));
