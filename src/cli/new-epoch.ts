import { beginEpoch, type RecoverySummary, type Restored, recordRestore } from '../admin/recovery.ts';
import { listEvents } from '../audit/search-store.ts';
import { type Core, findDataLoss } from '../core.ts';
import { MINUTE } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import type { DataLoss } from '../platform/database/loss.ts';
import { conflict } from '../platform/failure.ts';
import type { Config } from '../settings/config.ts';
import { checkSecret } from './keys.ts';
import { confirm } from './prompt.ts';
import { type GlobalFlags, CLI_ORIGIN as origin, withCore } from './session.ts';

/** How long the one commit may take: it changes every account. */
const PATIENCE = 60 * MINUTE;

/**
 * Begins a new epoch in a database that was restored by other means, in one commit.
 * @returns what was ended
 * @throws {Failure} while another process uses the database
 */
export async function newEpoch(
  flags: GlobalFlags,
  config: Config,
  options: { readonly yes?: boolean },
): Promise<RecoverySummary & Pick<Restored, 'missing'>> {
  const loss = await findDataLoss(config);
  await confirm('This invalidates every session, code, token, invitation, admin key and signing key.', options);
  return withCore(
    flags,
    async (core) => {
      await checkSecret(core);
      const restored = { backupAt: null, origin, ...(await lossIn(core, loss)) };
      const at = core.clock();
      const summary = await core.database.commit(function* begin(): Work<RecoverySummary> {
        yield* requireAlone(core);
        const ended = yield* beginEpoch({ secret: core.secret, at }, restored);
        yield* core.database.recordServer();
        // Again: one that was started meanwhile may have accepted something, and rolls all of this back.
        yield* requireAlone(core);
        return ended;
      });
      return { ...summary, missing: restored.missing };
    },
    { acceptLoss: true, patience: PATIENCE },
  );
}

/**
 * A node that runs meanwhile would accept what was revoked, and what it creates for that, such as a client secret, would outlive the epoch.
 * @throws {Failure} while another process uses the database
 */
function* requireAlone({ ids }: Core): Work<void> {
  const others = yield* ids.countOthers();
  if (others === 0) return;
  throw conflict(
    `${others === 1 ? 'Another process uses' : `${others} other processes use`} this database, or ended without notice less than two ` +
      'minutes ago. Stop every node, then run this command again. Nothing was changed.',
  );
}

/** Records that a database server which was recovered, copied or moved lacks nothing, so that nodes use it again. */
export async function keepIssued(flags: GlobalFlags): Promise<void> {
  await withCore(
    flags,
    async (core) => {
      await checkSecret(core);
      const restored = { backupAt: null, missing: null, continueAfter: undefined, origin };
      await core.database.commit(function* keep(): Work<void> {
        yield* recordRestore(null, core.clock(), restored);
        yield* core.database.recordServer();
      });
    },
    { acceptLoss: true },
  );
}

/** What an event says about a loss, and the number that it takes: those of lost events are not reused. */
export async function lossIn(
  { database }: Core,
  loss: DataLoss | undefined,
): Promise<Pick<Restored, 'missing' | 'continueAfter'>> {
  if (loss === undefined) return { missing: null, continueAfter: undefined };
  // Opening the keys may have recorded events.
  const [last] = await listEvents(database, { filter: {}, order: 'desc', after: '0', limit: 1 });
  const continueAfter = loss.expected > Number(last?.id ?? 0) ? loss.expected : undefined;
  return { missing: loss.expected - loss.found, continueAfter };
}
