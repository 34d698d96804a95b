import { record } from '../../audit/audit.ts';
import { createClient } from '../../clients/clients.ts';
import { removeClient } from '../../clients/store.ts';
import { seal, unseal } from '../../keys/seal.ts';
import { take } from '../../limits/limits.ts';
import { type Clock, HOUR } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/http/origin.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressBucket } from '../../platform/validation/ip-address.ts';
import { type AuthorizationAttempt, newVisit, type PlaygroundVisit } from './rules/progress.ts';
import { CALLBACK } from './rules/requests.ts';
import { addVisit, findVisit, keepTurn, takeTurn } from './store.ts';

export interface VisitParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly issuer: string;
  /** Seals what visits hold: 32 bytes that the database does not have. */
  readonly visitKey: Buffer;
}

/** A visit, with the turn that its next act will take. */
export interface OpenVisit {
  readonly browserHash: string;
  readonly turn: number;
  readonly visit: PlaygroundVisit;
}

/** A visit and its app last so long. */
const LIFETIME = HOUR;

const contextOf = (browserHash: string): string => `playground visit ${browserHash}`;
const sealed = ({ visitKey }: VisitParts, browserHash: string, visit: PlaygroundVisit): string =>
  seal(visitKey, Buffer.from(JSON.stringify(visit), 'utf8'), contextOf(browserHash));

export const newAttempt = (): AuthorizationAttempt => ({
  state: randomSecret(),
  nonce: randomSecret(),
  verifier: randomSecret(),
});

/**
 * Begins a visit: registers an app for it, and ends the browser's visit before, with its app.
 * @returns the seconds to wait where too many were begun
 */
export async function beginVisit(parts: VisitParts, browserHash: string, origin: Origin): Promise<number> {
  const { database, clock, limits, issuer } = parts;
  const now = clock();
  const bucket = `playground ${addressBucket(origin.address ?? '')}`;
  const about = { name: 'playgroundAddress', origin } as const;
  const wait = await database.commit(() => take(bucket, limits.playgroundAddress, now, about));
  if (wait > 0) return wait;
  const registration = { name: 'Playground app', owner: 'your own playground', redirectUris: [issuer + CALLBACK] };
  const expiresAt = now + LIFETIME;
  await createClient(parts, registration, origin, function* begin({ id }, clientSecret): Work<void> {
    // The visit before goes with its app.
    const before = yield* findVisit(browserHash);
    if (before !== undefined && (yield* removeClient({ id: before.clientId }))) {
      yield* record({ at: now, type: 'client.deleted', origin, clientId: before.clientId });
    }
    const visit = newVisit({ clientId: id, clientSecret, expiresAt }, newAttempt());
    yield* addVisit({ browserHash, clientId: id, turn: 1, sealed: sealed(parts, browserHash, visit), expiresAt });
  });
  return 0;
}

/** The visit of a browser, as long as it lasts. */
export async function openVisit(parts: VisitParts, browserHash: string): Promise<OpenVisit | undefined> {
  const stored = await parts.database.read(() => findVisit(browserHash));
  if (stored === undefined || stored.expiresAt <= parts.clock()) return undefined;
  // Sealed with a secret that is no longer the server's: it is gone.
  const bytes = unseal(parts.visitKey, stored.sealed, contextOf(browserHash));
  return bytes && { browserHash, turn: stored.turn, visit: JSON.parse(bytes.toString('utf8')) as PlaygroundVisit };
}

/**
 * Takes the visit's next turn and keeps what it brings. Of two tabs, or two presses of one button, one acts: a code that was
 * sent twice would end every token that came of it.
 */
export async function inTurn(parts: VisitParts, open: OpenVisit, act: () => Promise<PlaygroundVisit>): Promise<void> {
  const { browserHash, turn, visit } = open;
  const { clientId } = visit;
  if (!(await parts.database.commit(() => takeTurn({ browserHash, clientId, turn })))) return;
  const after = sealed(parts, browserHash, await act());
  await parts.database.commit(() => keepTurn({ browserHash, clientId, turn: turn + 1, sealed: after }));
}
