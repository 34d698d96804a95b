import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** Where a request is held: after its authentication and before its body is read, or right before its handler. */
type Phase = 'preParsing' | 'preHandler';

/** A request that is under way for as long as a test wants. */
export interface Held {
  /** Sent with the request, so that it is known. */
  readonly header: Readonly<Record<string, string>>;
  /** Settles when the request has come to where it is held. */
  readonly reached: Promise<void>;
  release(): void;
}

const HEADER = 'x-test-held';

/** Lets every server that is put together after this hold requests. */
export function holdRequests(): (phase: Phase) => Held {
  const waiting = new Map<string, { readonly phase: Phase; readonly pass: () => Promise<void> }>();
  let count = 0;

  const pass = async (phase: Phase, header: unknown): Promise<void> => {
    const held = waiting.get(String(header));
    if (held?.phase === phase) await held.pass();
  };
  // Fastify's own notice of a new server: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('preParsing', async ({ headers }) => pass('preParsing', headers[HEADER]));
    fastify.addHook('preHandler', async ({ headers }) => pass('preHandler', headers[HEADER]));
  });

  return (phase) => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const name = `${++count}`;
    waiting.set(name, {
      phase,
      pass() {
        reached.resolve();
        return released.promise;
      },
    });
    return { header: { [HEADER]: name }, reached: reached.promise, release: released.resolve };
  };
}
