import { record } from '../../audit/audit.ts';
import { isStrangersAddress } from '../../clients/rules/own-networks.ts';
import { findClient, wireId } from '../../clients/store.ts';
import {
  type ClaimedLogoutNotice,
  claimNotices,
  countNotices,
  listClientsDue,
  postponeNotice,
  removeNotice,
} from '../../credentials/logout-notice-store.ts';
import type { AsymmetricAlg } from '../../keys/algorithms.ts';
import type { Keys } from '../../keys/keys.ts';
import { NOTICE_RETRIES, retryDelay } from '../../platform/backoff.ts';
import { type Clock, iso, SECOND } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Meter } from '../../platform/http/meter.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { OutgoingFailed } from '../../platform/http/outgoing.ts';
import { startPoller } from '../../platform/poller.ts';
import { SYSTEM_ORIGIN } from '../../platform/validation/origin.ts';
import { LOGOUT_TOKEN_TYPE, logoutClaims, logoutTokenAlg } from './rules/logout-token.ts';

export interface NoticeDispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly send: Outgoing;
  /** The domains of TESSERA_CLIENT_METADATA_DOMAINS. */
  readonly listedDomains: readonly string[];
  readonly meter: Pick<Meter, 'notified'>;
  /** Is given internal errors and failures of the database. The notices concerned become due again. */
  failed(error: unknown): void;
}

/** Delivers notices of ended sessions to clients: OpenID Connect Back-Channel Logout 1.0 §2.5. */
export interface NoticeDispatcher {
  /** Attempts everything that is due now, and resolves when all attempts are done. */
  deliverDue(): Promise<void>;
  /** How many notices are not delivered yet. */
  waiting(): Promise<number>;
  /** Aborts attempts under way, whose notices become due again when their claims expire, and starts no other. */
  stop(): Promise<void>;
}

/** How long a client may take to respond. */
const REQUEST_TIMEOUT = 5 * SECOND;
/** How long a claim holds: longer than any attempt. */
const CLAIM_LIFETIME = 30 * SECOND;
/** How many attempts run at a time, and how many to one client, so that one that never responds does not delay the others. */
const MAX_CONCURRENT = 16;
const MAX_CONCURRENT_OF_CLIENT = 4;

const INTERVAL = SECOND;

/** `obsolete`: the client is gone, is disabled or has no `backchannel_logout_uri` any more. */
type DeliveryResult = 'delivered' | 'obsolete' | { readonly problem: string };

/** Starts looking for due notices, every `interval` milliseconds. */
export function startNoticeDispatcher(options: NoticeDispatcherOptions, interval = INTERVAL): NoticeDispatcher {
  const { database, clock, keys, issuer, send, meter } = options;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const runningOfClient = new Map<string, number>();

  /** Claims what is due, within the limits on concurrent attempts. */
  async function claimDue(): Promise<void> {
    const now = clock();
    for (const clientId of await database.read(() => listClientsDue({ now, limit: MAX_CONCURRENT }))) {
      const ofClient = runningOfClient.get(clientId) ?? 0;
      const limit = Math.min(MAX_CONCURRENT - running.size, MAX_CONCURRENT_OF_CLIENT - ofClient);
      if (limit <= 0 || stopping.signal.aborted) continue;
      const until = now + CLAIM_LIFETIME;
      for (const notice of await database.commit(() => claimNotices({ clientId, now, until, limit }))) start(notice);
    }
  }

  function start(notice: ClaimedLogoutNotice): void {
    const { clientId } = notice;
    runningOfClient.set(clientId, (runningOfClient.get(clientId) ?? 0) + 1);
    const run = deliver(notice)
      .catch(options.failed)
      .finally(() => {
        running.delete(run);
        const left = (runningOfClient.get(clientId) ?? 1) - 1;
        if (left > 0) runningOfClient.set(clientId, left);
        else runningOfClient.delete(clientId);
        // More may be due than the limits allowed before.
        void poller.poll();
      });
    running.add(run);
  }

  async function deliver(notice: ClaimedLogoutNotice): Promise<void> {
    const result = await attemptDelivery(notice);
    if (stopping.signal.aborted && typeof result === 'object') return;
    const now = clock();
    const delay = retryDelay(NOTICE_RETRIES, notice.attempts, Math.random());
    const counted = await database.commit(() => recordResult(notice, result, { now, delay }));
    if (counted !== undefined) meter.notified(counted);
  }

  async function attemptDelivery(notice: ClaimedLogoutNotice): Promise<DeliveryResult> {
    // As it is registered now: the next attempt uses an address that was corrected meanwhile.
    const client = await database.read(() => findClient({ id: notice.clientId }));
    const url = client?.backchannelLogoutUri ?? null;
    if (client === undefined || client.status !== 'active' || url === null) return 'obsolete';
    const token = await signLogoutToken(notice, wireId(client), logoutTokenAlg(client.idTokenSignedResponseAlg));
    const body = new URLSearchParams({ logout_token: token }).toString();
    try {
      const { status } = await send({
        method: 'POST',
        url,
        publicOnly: isStrangersAddress(client, url, options.listedDomains),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
        timeoutMs: REQUEST_TIMEOUT,
        signal: stopping.signal,
      });
      // §2.8: 200, or the 204 that some frameworks substitute for an empty body.
      return status >= 200 && status < 300 ? 'delivered' : { problem: `the answer was ${status}` };
    } catch (error) {
      if (!(error instanceof OutgoingFailed)) throw error;
      return { problem: error.message };
    }
  }

  /** Signs a token for one attempt: a stored one would have expired by the next. */
  async function signLogoutToken(
    { accountId, sid }: ClaimedLogoutNotice,
    clientId: string,
    alg: AsymmetricAlg,
  ): Promise<string> {
    // In this order: a recovery may have replaced the key set in use, and the new one has no pair of this algorithm yet.
    await keys.recheck();
    const keySet = await keys.ready(alg);
    const now = clock();
    const key = keySet.signer(alg, now);
    if (key === undefined) throw new Error(`no key signs logout tokens with ${alg}`);
    return key.sign(logoutClaims({ issuer, clientId, accountId, sid }, randomIdentifier(), now), LOGOUT_TOKEN_TYPE);
  }

  const poller = startPoller(claimDue, interval, options.failed);

  return {
    async deliverDue() {
      await poller.poll();
      while (running.size > 0 || poller.isRunning()) await Promise.all([...running, poller.poll()]);
    },
    waiting: () => database.read(countNotices),
    async stop() {
      stopping.abort();
      await Promise.all([...running, poller.stop()]);
    },
  };
}

/** Records the result of an attempt. Gives undefined where another process has claimed the notice meanwhile. */
function* recordResult(
  notice: ClaimedLogoutNotice,
  result: DeliveryResult,
  { now, delay }: { readonly now: number; readonly delay: number | undefined },
): Work<'delivered' | 'unanswered' | 'failed' | undefined> {
  const { clientId, accountId, sid, attempts, createdAt } = notice;
  const event = { at: now, origin: SYSTEM_ORIGIN, accountId, clientId };
  const details = { sid, endedAt: iso(createdAt), attempts };
  if (result === 'obsolete') {
    yield* removeNotice(notice);
    return undefined;
  }
  if (result === 'delivered') {
    if (!(yield* removeNotice(notice))) return undefined;
    yield* record({ ...event, type: 'logout.delivered', details });
    return 'delivered';
  }
  const failure = { ...event, outcome: 'failure' as const, details: { ...details, problem: result.problem } };
  if (delay === undefined) {
    if (!(yield* removeNotice(notice))) return undefined;
    yield* record({ ...failure, type: 'logout.delivery_failed' });
    return 'failed';
  }
  if (!(yield* postponeNotice({ ...notice, until: now + delay }))) return undefined;
  // Only once, so that a client that is down for long does not fill the audit trail.
  if (attempts === 1) yield* record({ ...failure, type: 'logout.unanswered' });
  return 'unanswered';
}
