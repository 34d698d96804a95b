import { conflict } from '../platform/failure.ts';
import { isDocumentField } from './rules/metadata-document.ts';
import { isSelfRegisteredField } from './rules/registration-metadata.ts';
import type { UpdateClientRequest } from './schema.ts';
import type { Client } from './store.ts';

/** What a metadata document or an app says of itself cannot be set in another way: it would be undone the next time. @throws {Failure} */
export function requireOwnFields(
  { metadataUrl, registeredBy, registrationHash }: Client,
  given: UpdateClientRequest,
): void {
  if (registeredBy === null || registeredBy === 'developer') return;
  const names = Object.keys(given);
  const own = names.find((name) => name === 'consent' || name === 'resource');
  const field = own ?? names.find(metadataUrl === null ? isSelfRegisteredField : isDocumentField);
  if (field === undefined) return;
  if (metadataUrl !== null) {
    throw conflict(
      `${field} of this app follows its metadata document, ${metadataUrl}. Its developer changes it there.`,
    );
  }
  if (own !== undefined) {
    throw conflict(`${own} cannot be set for an app that registered itself. Register it as an operator.`);
  }
  if (registrationHash !== null) {
    throw conflict(
      `${field} follows the registration of the app, which the app changes itself. Take that over first: tessera client end-self-registration`,
    );
  }
}
