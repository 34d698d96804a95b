import { isDeepStrictEqual } from 'node:util';
import { record } from '../audit/audit.ts';
import { digest, randomIdentifier } from '../platform/crypto/secrets.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { hostOf } from '../platform/domain-name.ts';
import { initialValues } from '../platform/validation/fields.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { REGISTERED_BY_OPERATOR } from './clients.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { DOCUMENT_FIELDS, type DocumentFields, NOT_ON_RECORD } from './rules/metadata-document.ts';
import { type Client, insertMetadataClient, lockClient, saveClient } from './store.ts';

/** A copy of a metadata document. */
export interface MetadataCopy {
  readonly url: string;
  readonly fields: DocumentFields;
  readonly expiresAt: number;
}

/**
 * The client that a metadata document describes, before a person has consented: nothing of it is on record. Its consent epoch follows
 * from the document, so that a consent page is outdated once the document has changed.
 */
export const describedClient = ({ url, fields, expiresAt }: MetadataCopy): Client => ({
  id: NOT_ON_RECORD,
  ...initialValues(CLIENT_FIELDS, { ...fields, endpoints: ['oidc'], idTokenClaims: 'requested', requirePkce: true }),
  ...REGISTERED_BY_OPERATOR,
  registeredBy: 'metadata',
  metadataUrl: url,
  metadataHost: hostOf(url),
  metadataExpiresAt: expiresAt,
  picture: null,
  organizationId: null,
  developerId: null,
  consentApproval: null,
  resourceMark: null,
  leftOut: null,
  status: 'active',
  generation: '',
  consentEpoch: digest(JSON.stringify(fields)),
  createdAt: 0,
  updatedAt: 0,
});

/** Puts a described client on record, in the unit of work in which a person consents. Undefined where another consent came first. */
export function* recordClient(described: Client, id: string, now: number, origin: Origin): Work<Client | undefined> {
  const client = { ...described, id, generation: randomIdentifier(), createdAt: now, updatedAt: now };
  if (!(yield* insertMetadataClient(client))) return undefined;
  const details = { registeredBy: 'metadata', metadataUrl: client.metadataUrl };
  yield* record({ at: now, type: 'client.created', origin, clientId: id, details });
  return client;
}

/** What an operator accepted: an app of another name, or one that sends people elsewhere, is another app. */
const ACCEPTED_FIELDS = ['name', 'redirectUris'] as const;

/**
 * Applies a document that was fetched again to its client. Other redirect URIs ask for consent again, another way to authenticate ends
 * what was issued, and an acceptance ends with what it was given for.
 */
export function* updateFromDocument({ url, fields, expiresAt }: MetadataCopy, id: string, now: number, origin: Origin) {
  const client = yield* lockClient({ id });
  if (client === undefined || client.metadataUrl !== url) return undefined;
  const changed = DOCUMENT_FIELDS.filter((field) => !isDeepStrictEqual(client[field], fields[field]));
  const isOther = (names: readonly (keyof DocumentFields)[]) => names.some((name) => changed.includes(name));
  const saved: Client = {
    ...client,
    ...pick(fields, DOCUMENT_FIELDS),
    metadataExpiresAt: expiresAt,
    acceptedAt: isOther(ACCEPTED_FIELDS) ? null : client.acceptedAt,
    consentEpoch: isOther(ACCEPTED_FIELDS) ? randomIdentifier() : client.consentEpoch,
    generation: isOther(['type', 'tokenEndpointAuthMethod']) ? randomIdentifier() : client.generation,
    ...(changed.length > 0 && { updatedAt: now }),
  };
  yield* saveClient(saved);
  if (changed.length > 0) {
    yield* record({ at: now, type: 'client.updated', origin, clientId: id, details: { fields: changed } });
  }
  return saved;
}
