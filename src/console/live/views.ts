import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { Failure, limited } from '../../platform/failure.ts';
import type { ConsoleVisit } from '../visit.ts';

/** What a look at a list found: the newest id, and whether something was added that the list shows. */
export interface Look {
  readonly newest: string;
  readonly isNew: boolean;
}

/** Looks at what was added after an id, by the database of the operator: each read checks the session and the permission. */
export type LookAfter = (id: string) => Promise<Look>;

/** How often each view is looked at. One whose session or right has ended ends by then. */
const TICK = SECOND;
/** After so many looks that found nothing, proxies see that the connection is alive. */
const QUIET = 15;
/** The browser connects again afterwards, and is let in again or not. */
const LONGEST = 30 * MINUTE;
const RETRY = SECOND;

/** In one process, of one account and of one session: beyond them a page is as it was loaded. */
const MOST = 100;
const MOST_OF_ACCOUNT = 8;
const MOST_OF_SESSION = 4;
/** Of all who see what they watch by the policy of the installation alone: the rest is for those whom operators chose. */
const MOST_BY_POLICY = 25;

/** Whether a view is open to its end. */
interface Ending {
  readonly signal: AbortSignal;
  readonly isDraining: () => boolean;
}

/**
 * Tells by server-sent events that there is something new in a list, and nothing of it: the page that shows it is asked for as ever.
 * What ends the session or the right of the operator ends the stream.
 */
async function* told(look: LookAfter, after: string, { signal, isDraining }: Ending): AsyncGenerator<string> {
  yield `retry: ${RETRY}\n\n`;
  let [seen, quiet] = [after, 0];
  for (let left = LONGEST / TICK; left > 0 && !signal.aborted && !isDraining(); left--) {
    try {
      const { newest, isNew } = await look(seen);
      seen = newest;
      quiet = isNew ? 0 : quiet + 1;
      if (isNew) yield `data: ${newest}\n\n`;
      else if (quiet % QUIET === 0) yield ':\n\n';
      await wait(TICK, undefined, { signal });
    } catch (error) {
      if (error instanceof Failure || signal.aborted) return;
      throw error;
    }
  }
}

/** The live views of one process. */
export interface LiveViews {
  /** @throws {Failure} `limited` where there are too many, in this process or of this account or session */
  open(reply: FastifyReply, visit: ConsoleVisit, after: string, look: LookAfter): FastifyReply;
}

interface OpenView {
  readonly hash: string;
  readonly accountId: string;
  readonly isByPolicy: boolean;
}

/** Whether there is room for one more view. */
function hasRoom(open: ReadonlySet<OpenView>, { hash, accountId, isByPolicy }: OpenView): boolean {
  const counts = { session: 0, account: 0, policy: 0 };
  for (const view of open) {
    if (view.hash === hash) counts.session++;
    if (view.accountId === accountId) counts.account++;
    if (view.isByPolicy) counts.policy++;
  }
  return (
    open.size < MOST &&
    counts.session < MOST_OF_SESSION &&
    counts.account < MOST_OF_ACCOUNT &&
    (!isByPolicy || counts.policy < MOST_BY_POLICY)
  );
}

export function liveViews(isDraining: () => boolean): LiveViews {
  const open = new Set<OpenView>();

  return {
    open(reply, { session: { hash, accountId }, operator }, after, look) {
      const view = { hash, accountId, isByPolicy: operator.grants.length === 0 };
      if (!hasRoom(open, view)) throw limited(TICK / SECOND);
      open.add(view);
      const closing = new AbortController();
      reply.raw.once('close', () => {
        open.delete(view);
        closing.abort();
      });
      const stream = told(look, after, { signal: closing.signal, isDraining });
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(Readable.from(stream, { objectMode: false }));
    },
  };
}
