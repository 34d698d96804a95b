import { beginEpoch, type RecoverySummary, type Restored } from '../admin/recovery.ts';
import { listEvents } from '../audit/search-store.ts';
import { type Core, findDataLoss } from '../core.ts';
import { MINUTE } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { DataLoss } from '../platform/database/loss.ts';
import { checkSecret } from './keys.ts';
import { confirm } from './prompt.ts';
import { type GlobalFlags, CLI_ORIGIN as origin, withCore } from './session.ts';

/** How long the one commit may take: it changes every account. */
const PATIENCE = 60 * MINUTE;

/**
 * Begins a new epoch in a database that was restored by other means, in one commit.
 * @returns what was ended
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
      const { secret } = core;
      return { ...(await core.database.commit(() => beginEpoch({ secret, at }, restored))), missing: restored.missing };
    },
    { acceptLoss: true, patience: PATIENCE },
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
