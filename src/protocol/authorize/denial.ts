import { record } from '../../audit/audit.ts';
import { rememberRefusal } from '../../consent/store.ts';
import { answerDevice, lockDevice } from '../../credentials/device-store.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { finishInteraction } from '../../sessions/interaction-store.ts';
import type { AuthorizationServices, PendingRequest } from './authorization.ts';
import { refuseByRedirect } from './rules/refusals.ts';
import { type ClientResponse, errorResponse, type RedirectedError, recordedId } from './rules/request.ts';

/** Why a request that a person ended got no code. */
export type Denial = 'denied' | 'no access';

export const DENIALS: Readonly<Record<Denial, RedirectedError>> = {
  denied: refuseByRedirect('denied'),
  'no access': refuseByRedirect('not assigned'),
};

/**
 * Ends a pending request that gets no code; undefined where it had ended before. Earlier consents are kept. `device gone` where a device
 * no longer waits: then nothing is written, for it may have been allowed.
 */
export async function denyRequest(
  { database, clock, issuer }: Pick<AuthorizationServices, 'database' | 'clock' | 'issuer'>,
  { request, handle, client }: Pick<PendingRequest, 'request' | 'handle' | 'client'>,
  why: Denial,
  origin: Origin,
): Promise<ClientResponse | 'device gone' | undefined> {
  return database.commit(function* deny(): Work<ClientResponse | 'device gone' | undefined> {
    const now = clock();
    const device = request.device && (yield* lockDevice({ hash: request.device.hash }));
    const waits = device !== undefined && device.outcome === null && device.expiresAt > now;
    if (request.device !== undefined && !waits) return 'device gone';
    if (!(yield* finishInteraction({ hash: digest(handle), outcome: why }))) return undefined;
    if (device !== undefined) yield* answerDevice({ hash: device.hash, outcome: 'denied', codeHash: null });
    const about = { at: now, origin, accountId: origin.actor.type === 'user' ? origin.actor.id : null };
    const type = why === 'denied' ? 'consent.denied' : 'authorization.refused';
    const ofDevice = request.device !== undefined && { device: true };
    const failed =
      why === 'denied'
        ? ofDevice && { details: ofDevice }
        : { outcome: 'failure' as const, details: { reason: why, ...ofDevice } };
    yield* record({ ...about, type, clientId: recordedId(request.clientId), ...failed });
    // No operator answers for a person who said no.
    const { accountId } = about;
    if (why === 'denied' && accountId !== null && client.consent === 'operator') {
      yield* rememberRefusal({ accountId, clientId: client.id, now: about.at });
    }
    return errorResponse(request, DENIALS[why], issuer);
  });
}
