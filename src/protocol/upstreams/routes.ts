import type { FastifyInstance } from 'fastify';
import { endByUpstream } from '../../account-actions/upstreams/end-upstream.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { acceptForms, formOf } from '../../platform/http/bodies.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findByName } from '../../upstreams/active.ts';
import type { Upstreams } from '../../upstreams/directory.ts';
import { UpstreamRefusal } from '../../upstreams/refusal.ts';
import { verifyLogoutToken } from '../../upstreams/tokens.ts';

interface LogoutServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly upstreams: Upstreams;
  readonly recordThrottled: RecordThrottled;
}

/** Where upstreams say that a session there has ended (OpenID Connect Back-Channel Logout 1.0 §2.5). */
export function upstreamLogoutRoutes(app: FastifyInstance, services: LogoutServices): void {
  const { database, clock, upstreams, recordThrottled } = services;
  app.register(async (scope) => {
    acceptForms(scope);
    scope.post<{ Params: { name: string } }>('/upstreams/:name/backchannel-logout', async (request, reply) => {
      // §2.7: nothing of it may be cached.
      reply.header('cache-control', 'no-store');
      const origin = originOf(request);
      const { name } = request.params;
      const upstream = await findByName(services, name);
      if (upstream === undefined) throw new OAuthError(404, 'not_found', 'There is no upstream of this name.');
      const token = formOf(request).get('logout_token') ?? '';
      try {
        const logout = await verifyLogoutToken({ ...upstreams, clock }, upstream, token);
        const ended = await endByUpstream({ database, clock }, upstream.id, logout, origin);
        if (ended !== 'repeated') return reply.code(200).send();
        throw new UpstreamRefusal('token', 'The logout token is refused: it was used before.');
      } catch (error) {
        if (!(error instanceof UpstreamRefusal)) throw error;
        const details = { upstream: name, upstreamId: upstream.id, reason: error.message };
        await recordThrottled({ at: clock(), type: 'upstream.refused', outcome: 'failure', origin, details });
        const isPassing = error.kind !== 'token';
        if (isPassing) throw new OAuthError(503, 'temporarily_unavailable', error.message);
        throw new OAuthError(400, 'invalid_request', error.message);
      }
    });
  });
}
