import { record } from '../audit/audit.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { removeSecretActs } from './act-store.ts';
import * as store from './store.ts';

/** How many secrets that are no longer valid stay on record for each client, so that their use can be explained. */
const MOST_FORMER_SECRETS = 5;

/** Part of a unit of work that holds the client's lock: adds a secret, and forgets the oldest of those that are no longer valid. */
export function* issueSecret(clientId: string, secret: { readonly id: string; readonly text: string }, now: number) {
  yield* store.addSecret({ id: secret.id, clientId, hash: digest(secret.text), now });
  yield* store.removeFormerSecrets({ clientId, now, kept: MOST_FORMER_SECRETS });
}

/** Part of a unit of work that holds the client's lock: ends one of its secrets at once, on every node. */
export function* endSecretNow(clientId: string, secretId: string, now: number, origin: Origin): Work<void> {
  yield* store.expireSecret({ id: secretId, at: store.endedAt(now) });
  yield* removeSecretActs({ secretId });
  yield* store.removeFormerSecrets({ clientId, now, kept: MOST_FORMER_SECRETS });
  yield* record({ at: now, type: 'client.secret_ended', origin, clientId, details: { secretId } });
}
