import { record } from '../../audit/audit.ts';
import { findClient } from '../../clients/store.ts';
import { type AsymmetricAlg, isAsymmetric } from '../../keys/algorithms.ts';
import { SYSTEM } from '../../keys/key-pairs.ts';
import type { Keys } from '../../keys/keys.ts';
import {
  type ClaimedNotice,
  claimNotices,
  countNotices,
  endNotice,
  listClientsDue,
  postponeNotice,
} from '../../notices/notice-store.ts';
import { type Clock, iso, SECOND } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Meter } from '../../platform/http/meter.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { OutgoingFailed } from '../../platform/http/outgoing.ts';
import { pauseAfter } from './rules/backoff.ts';
import { LOGOUT_TOKEN_TYPE, logoutClaims } from './rules/logout-token.ts';

export interface CourierParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly send: Outgoing;
  readonly meter: Pick<Meter, 'notified'>;
  /** Told of faults of ours and of a database that is away; this asks again every second, and nobody waits for it. */
  failed(error: unknown): void;
}

/** Tells apps that sessions have ended: OpenID Connect Back-Channel Logout 1.0 §2.5. */
export interface Courier {
  /** Tries everything that is due now, and settles when it was tried. */
  deliverDue(): Promise<void>;
  /** How many notices no app has answered yet. */
  waiting(): Promise<number>;
  /** Breaks off what is under way, which is due again when its lease has run out, and tries nothing more. */
  stop(): Promise<void>;
}

/** How long an app may take to answer. */
const PATIENCE = 5 * SECOND;
/** How long a notice belongs to the process that took it on: longer than any try. */
const LEASE = 30 * SECOND;
/** How many tries run side by side, and how many for one app: one that never answers does not hold up the others. */
const CROWD = 16;
const CROWD_OF_CLIENT = 4;

const INTERVAL = SECOND;

/** What came of a try. `gone`: the app no longer wants to be told, or may not act. */
type Outcome = 'delivered' | 'gone' | { readonly problem: string };

export function startCourier(parts: CourierParts, interval = INTERVAL): Courier {
  const { database, clock, keys, issuer, send, meter } = parts;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const ofClient = new Map<string, number>();

  /** Takes on what is due, as far as there is room. */
  async function takeOn(): Promise<void> {
    const now = clock();
    for (const clientId of await database.read(() => listClientsDue(now, CROWD))) {
      const room = Math.min(CROWD - underWay.size, CROWD_OF_CLIENT - (ofClient.get(clientId) ?? 0));
      if (room <= 0 || stopping.signal.aborted) continue;
      for (const notice of await database.commit(() => claimNotices(clientId, now, now + LEASE, room))) begin(notice);
    }
  }

  function begin(notice: ClaimedNotice): void {
    const { clientId } = notice;
    ofClient.set(clientId, (ofClient.get(clientId) ?? 0) + 1);
    const run = deliver(notice)
      .catch(parts.failed)
      .finally(() => {
        underWay.delete(run);
        const left = (ofClient.get(clientId) ?? 1) - 1;
        if (left > 0) ofClient.set(clientId, left);
        else ofClient.delete(clientId);
        // There may be more than there was room for.
        void look();
      });
    underWay.add(run);
  }

  /** One look at the queue at a time; whoever asks meanwhile is answered by another one after it. */
  let looking: Promise<void> | undefined;
  let again = false;
  function look(): Promise<void> {
    if (stopping.signal.aborted) return Promise.resolve();
    if (looking !== undefined) {
      again = true;
      return looking;
    }
    looking = (async () => {
      do {
        again = false;
        await takeOn();
      } while (again && !stopping.signal.aborted);
    })()
      .catch(parts.failed)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function deliver(notice: ClaimedNotice): Promise<void> {
    const outcome = await attempt(notice);
    if (stopping.signal.aborted && typeof outcome === 'object') return;
    const now = clock();
    const pause = pauseAfter(notice.attempts, Math.random());
    const told = await database.commit(() => conclude(notice, outcome, { now, pause }));
    if (told !== undefined) meter.notified(told);
  }

  async function attempt(notice: ClaimedNotice): Promise<Outcome> {
    const client = await database.read(() => findClient({ id: notice.clientId }));
    // As it is registered now: an address that was put right is used by the next try.
    const url = client?.backchannelLogoutUri ?? null;
    if (client === undefined || client.status !== 'active' || url === null) return 'gone';
    const alg = client.idTokenSignedResponseAlg;
    if (!isAsymmetric(alg)) return 'gone';
    const body = new URLSearchParams({ logout_token: await mint(notice, alg) }).toString();
    try {
      const { status } = await send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
        timeoutMs: PATIENCE,
        signal: stopping.signal,
      });
      // §2.8: 200, or 204 from frameworks that make it of an empty body.
      return status >= 200 && status < 300 ? 'delivered' : { problem: `the answer was ${status}` };
    } catch (error) {
      if (!(error instanceof OutgoingFailed)) throw error;
      return { problem: error.message };
    }
  }

  /** A token for this very try: one that was kept would have expired by the next. */
  async function mint({ clientId, accountId, sid }: ClaimedNotice, alg: AsymmetricAlg): Promise<string> {
    await keys.ready(alg);
    const keySet = await keys.recheck();
    const now = clock();
    const key = keySet.signer(alg, now);
    if (key === undefined) throw new Error(`no key signs logout tokens with ${alg}`);
    return key.sign(logoutClaims({ issuer, clientId, accountId, sid }, randomIdentifier(), now), LOGOUT_TOKEN_TYPE);
  }

  const timer = setInterval(look, interval);
  timer.unref();

  return {
    async deliverDue() {
      await look();
      while (underWay.size > 0 || looking !== undefined) await Promise.all([...underWay, looking]);
    },
    waiting: () => database.read(countNotices),
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all([...underWay, looking]);
    },
  };
}

/** Writes down what came of a try. Answers undefined where another process has taken the notice on meanwhile. */
function* conclude(
  notice: ClaimedNotice,
  outcome: Outcome,
  { now, pause }: { readonly now: number; readonly pause: number | undefined },
): Work<'delivered' | 'unanswered' | 'failed' | undefined> {
  const { clientId, accountId, sid, attempts, createdAt } = notice;
  const about = { at: now, origin: SYSTEM, accountId, clientId };
  const details = { sid, endedAt: iso(createdAt), attempts };
  if (outcome === 'gone') {
    yield* endNotice(notice);
    return undefined;
  }
  if (outcome === 'delivered') {
    if (!(yield* endNotice(notice))) return undefined;
    yield* record({ ...about, type: 'logout.delivered', details });
    return 'delivered';
  }
  const failure = { ...about, outcome: 'failure' as const, details: { ...details, problem: outcome.problem } };
  if (pause === undefined) {
    if (!(yield* endNotice(notice))) return undefined;
    yield* record({ ...failure, type: 'logout.delivery_failed' });
    return 'failed';
  }
  if (!(yield* postponeNotice(notice, now + pause))) return undefined;
  // Once, so that an app that is away for long does not fill the audit trail.
  if (attempts === 1) yield* record({ ...failure, type: 'logout.unanswered' });
  return 'unanswered';
}
