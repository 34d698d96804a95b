import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../src/platform/database/database.ts';

const HEADER = 'x-test-commits';

/** Lets every server that is put together after this, with this database, hold the commits of single requests. */
export function holdCommits() {
  const watched = new Map<string, () => Promise<void>>();
  const current = new AsyncLocalStorage<(() => Promise<void>) | undefined>();
  // Fastify's own notice of a new server: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    // The first hook after the body was read: what is called from there belongs to the request.
    fastify.addHook('preHandler', ({ headers }, _reply, done) => {
      const pass = watched.get(String(headers[HEADER]));
      if (pass === undefined) done();
      else current.run(pass, done);
    });
  });

  return {
    database: (own: Database): Database => ({
      ...own,
      commit(work) {
        const pass = current.getStore();
        return pass === undefined ? own.commit(work) : pass().then(() => own.commit(work));
      },
    }),
    /**
     * @param before is called with the number of each commit of the request, from 1 on, and holds it until it resolves
     * @returns a header to send with the request
     */
    watch(before: (commit: number) => Promise<void>): { readonly header: Readonly<Record<string, string>> } {
      const name = `${watched.size + 1}`;
      let commits = 0;
      watched.set(name, () => before(++commits));
      return { header: { [HEADER]: name } };
    },
  };
}
