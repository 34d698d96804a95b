import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import { deriveKey, keyedDigest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { WrongSecret } from './keys.ts';
import { seal, sealingKey, unseal } from './seal.ts';
import { insertDataKey, readDataKey, resealDataKey } from './store.ts';

/** Encrypts what is stored for people, such as the seeds of their authenticator apps and messages that wait to be sent. */
export interface Sealer {
  /** @param context authenticated with the text, which can be opened only with the same one */
  seal(text: string, context: string): string;
  /** Opens a sealed text; undefined for another context, or if it was changed. */
  open(sealed: string, context: string): string | undefined;
  /** The digest of a secret that is short enough to be guessed from a plain digest, such as a code of six digits. */
  digest(secret: string, context: string): string;
}

const CONTEXT = 'data key';

/**
 * Opens the key that encrypts what is stored for people, and creates it where there is none. It is stored encrypted with the secret
 * of the server, so that a new secret takes one row to encrypt again.
 * @throws {WrongSecret} when neither secret opens it
 */
export async function openSealer(
  database: Database,
  roots: { readonly current: Buffer; readonly previous: readonly Buffer[] | undefined },
  clock: Clock,
): Promise<Sealer> {
  const sealing = sealingKey(roots.current);
  const fresh = seal(sealing, Buffer.from(randomSecret(), 'base64url'), CONTEXT);
  const stored = await database.read(() => readDataKey({}));
  if (stored === undefined) await database.commit(() => insertDataKey({ sealed: fresh, now: clock() }));
  // Another process may have been first.
  const { sealed } = stored ?? (await database.read(() => readDataKey({}))) ?? { sealed: fresh };
  return sealerOf(unseal(sealing, sealed, CONTEXT) ?? (await reseal(database, roots.previous, sealing, sealed, clock)));
}

async function reseal(
  database: Database,
  previous: readonly Buffer[] | undefined,
  sealing: Buffer,
  sealed: string,
  clock: Clock,
): Promise<Buffer> {
  const key = previous?.map((root) => unseal(sealingKey(root), sealed, CONTEXT)).find((opened) => opened !== undefined);
  if (key === undefined) throw new WrongSecret(WrongSecret.TEXT);
  await database.commit(function* replace(): Work<void> {
    if (!(yield* resealDataKey({ before: sealed, sealed: seal(sealing, key, CONTEXT) }))) return;
    yield* record({ at: clock(), type: 'keys.resealed', origin: SYSTEM_ORIGIN, details: { key: CONTEXT } });
  });
  return key;
}

function sealerOf(key: Buffer): Sealer {
  const digests = deriveKey(key, 'digests');
  return {
    seal: (text, context) => seal(key, Buffer.from(text, 'utf8'), context),
    open: (sealed, context) => unseal(key, sealed, context)?.toString('utf8'),
    digest: (secret, context) => keyedDigest(digests, JSON.stringify([context, secret])),
  };
}
