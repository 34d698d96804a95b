import { endOfBatch, renewGenerations } from '../accounts/store.ts';
import { record, recordAs } from '../audit/audit.ts';
import { renewClients } from '../clients/store.ts';
import { dropAllCodes } from '../credentials/revocation-store.ts';
import { replaceAllKeys } from '../keys/keys.ts';
import { enqueueAccountRangeNotices } from '../notices/enqueue.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { DataLoss } from '../platform/database/loss.ts';
import type { Origin } from '../platform/http/origin.ts';
import { removeInteractions } from '../protocol/authorize/interaction-store.ts';
import { revokeAllAdminKeys } from './key-store.ts';

/** So many accounts end in one unit of work: a database server ends statements that take seconds. */
const BATCH = 500;

/** What {@link endAllIssued} has ended beside what every account and client had. */
export interface Recovered {
  readonly adminKeys: number;
  /** The key that signs from now on. */
  readonly kid: string;
}

/**
 * Ends all that was ever issued: sessions, codes, pending requests, tokens, admin keys, remembered consents and signing keys. It is
 * for a database that may lack revocations, where nobody can tell which of all that was dead.
 *
 * The last unit of work records it. Until then a start is refused as before, where the database is known to lack something; where
 * it is not, sessions of accounts that were not reached go on. Either way this is run once more.
 * @param loss what the database is known to lack
 */
export async function endAllIssued(
  { database, clock, secret }: { readonly database: Database; readonly clock: Clock; readonly secret: Buffer },
  loss: DataLoss | undefined,
  origin: Origin,
): Promise<Recovered> {
  const at = clock();
  const generation = randomIdentifier();
  const epoch = randomIdentifier();
  // First what kills most: where this ends in its middle, no token of before is accepted, nor any admin key.
  const { adminKeys, kid } = await database.commit(function* begin(): Work<Recovered> {
    yield* renewClients({ generation: generation, epoch: epoch });
    yield* dropAllCodes();
    yield* removeInteractions();
    return { adminKeys: yield* revokeAllAdminKeys(at), kid: yield* replaceAllKeys(secret, at) };
  });
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const from: string = after;
    after = await database.commit(function* renew(): Work<string | undefined> {
      const through = yield* endOfBatch(from, BATCH);
      if (through === undefined) return undefined;
      // Before the generation changes: who was signed in, and to what, is known by it.
      yield* enqueueAccountRangeNotices(from, through, at);
      yield* renewGenerations({ after: from, through: through, generation: generation });
      return through;
    });
  }
  await database.commit(function* finish(): Work<void> {
    // What a session of before asked for meanwhile.
    yield* dropAllCodes();
    yield* removeInteractions();
    const missing = loss === undefined ? null : loss.expected - loss.found;
    const event = { at, type: 'data.recovered', origin, details: { missing, adminKeys, kid } } as const;
    // After the last number that is known: those of lost events are not given again, and the database is whole as of it.
    if (loss === undefined) yield* record(event);
    else yield* recordAs(String(loss.expected + 1), event);
  });
  return { adminKeys, kid };
}
