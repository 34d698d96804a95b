import { iso, isoOrNull } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import { CLIENT_FIELDS } from './fields.ts';
import type { Client, ClientSecret } from './store.ts';

/** A secret as operators see it: never the secret itself. */
export function secretView(secret: ClientSecret) {
  return {
    id: secret.id,
    createdAt: iso(secret.createdAt),
    lastUsedAt: isoOrNull(secret.lastUsedAt),
    expiresAt: isoOrNull(secret.expiresAt),
  };
}

const SHOWN = Object.keys(CLIENT_FIELDS) as (keyof typeof CLIENT_FIELDS)[];

/** A client as operators see it: the fields of its registration, and an allow-list of the rest. */
export function clientView({ client, secrets }: { client: Client; secrets: readonly ClientSecret[] }) {
  return {
    clientId: client.id,
    ...pick(client, SHOWN),
    hasPicture: client.picture !== null,
    status: client.status,
    secrets: secrets.map(secretView),
    createdAt: iso(client.createdAt),
    updatedAt: iso(client.updatedAt),
  };
}
