import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import type { LogLoss } from '../../platform/log-output.ts';
import type { TrustProxy } from '../../platform/validation/origin.ts';
import { VERSION } from '../../platform/version.ts';
import { isProbe, PROBE_HEADER, PROBE_PATH, type ProbeReport } from './probe.ts';

export interface DoctorParts {
  readonly clock: Clock;
  readonly issuer: string;
  readonly trustProxy: TrustProxy;
  readonly probeKey: Buffer;
  /** What was lost of the log. */
  readonly loss: () => LogLoss;
}

/** Reports to `tessera doctor` how the server sees its request. For all other callers the route does not exist. */
export function doctorRoutes(app: FastifyInstance, { clock, issuer, trustProxy, probeKey, loss }: DoctorParts): void {
  app.get(PROBE_PATH, async (request, reply) => {
    const { headers, socket } = request.raw;
    const proof = headers[PROBE_HEADER];
    if (typeof proof !== 'string' || !isProbe(probeKey, proof, clock())) {
      return reply.callNotFound();
    }
    const forwarded = headers['x-forwarded-for'];
    const seen: ProbeReport = {
      now: clock(),
      version: VERSION,
      log: loss(),
      baseUrl: issuer,
      trustProxy,
      address: request.address,
      peer: socket.remoteAddress ?? '',
      host: headers.host ?? null,
      forwardedFor: forwarded === undefined ? null : String(forwarded),
    };
    return reply.header('cache-control', 'no-store').send(seen);
  });
}
