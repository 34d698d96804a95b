import { type Clock, SECOND } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import { createProviderDocuments, type ProviderDocuments } from './provider-documents.ts';
import { listActiveUpstreams, type Upstream } from './store.ts';

/** For how long a process shows the same buttons. What is behind one is read again when it is pressed. */
const SHOWN = 10 * SECOND;

/** What the pages need of upstreams. */
export interface Upstreams {
  /** Those that people can use, in the order of their buttons: as of a few seconds ago. */
  shown(): Promise<readonly Upstream[]>;
  readonly documents: ProviderDocuments;
  readonly outgoing: Outgoing;
  /** Whether this installation runs on a developer's machine, where `http` is allowed. */
  readonly local: boolean;
}

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  readonly local: boolean;
}

export function createUpstreams({ database, clock, outgoing, local }: Parts): Upstreams {
  let shown: { readonly upstreams: readonly Upstream[]; readonly at: number } | undefined;
  return {
    async shown() {
      const now = clock();
      if (shown === undefined || Math.abs(now - shown.at) >= SHOWN) {
        shown = { upstreams: await database.read(() => listActiveUpstreams({})), at: now };
      }
      return shown.upstreams;
    },
    documents: createProviderDocuments(outgoing, clock, local),
    outgoing,
    local,
  };
}
