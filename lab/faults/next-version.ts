import { call } from '../../test/support/api-call.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { type Node, NotStarted, SPECIAL, startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** How many changes are acknowledged while both run. */
const CHANGES = 60;

/**
 * A node of a later version starts beside a running one and changes the tables under it. Every other connection goes on to
 * the old one: it stays ready, and its answers are right or 503.
 */
export async function nextVersion(server: PostgresServer, options: Options): Promise<Outcome> {
  return trial({ fault: 'an old node beside one of a later version', server }, options, async (one) => {
    const { service, ledger, over } = one;
    const { settings, front } = service;
    const old = await startNode({ settings });
    front.targets = [old.port];
    let next: Node | undefined;
    return {
      async faults() {
        await ledger.more(20);
        let starts = 1;
        for (; next === undefined; starts++) {
          next = await startNode({ settings: { ...settings, TEST_NEXT: '1' }, script: SPECIAL }).catch(again);
        }
        front.targets = [old.port, next.port];
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(CHANGES);
          await over();
          options.progress(time);
        }
        const { status } = await call({ baseUrl: `http://127.0.0.1:${old.port}` }, 'GET', '/health/ready');
        if (status !== 200) ledger.violated('the old node', `says that it is not ready (${status}), expected 200`);
        return [`the later version was ready at start ${starts - 1}`];
      },
      async end() {
        await old.stop();
        await next?.kill();
      },
    };
  });
}

/** A migration that meets others at their locks ends as a whole, and is begun again by the next start. */
function again(error: unknown): undefined {
  if (!(error instanceof NotStarted && error.complaint.includes('deadlock detected'))) throw error;
}
