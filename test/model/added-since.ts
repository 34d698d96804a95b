import { accountTime } from '../../src/account-actions/notices/account-time.ts';
import { unansweredSince } from '../../src/account-actions/notices/notices.ts';
import { findAccount } from '../../src/accounts/store.ts';
import { listClientsDecidedSince } from '../../src/consent/store.ts';
import { CLOCK_SKEW } from '../../src/platform/clock.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { liveGrants, revoke } from './model.ts';
import { type Client, pick, type State, type User } from './state.ts';
import type { World } from './world.ts';

/*
 * Decisions §11: what came since the account may have been in foreign hands ends with the owner's return. When that was depends on what
 * people were told by mail, which the model does not follow: it reads that from the data before the act.
 */

/** The apps on whose access was decided since. */
async function appsSince(state: State, world: World, user: User, since: number): Promise<readonly Client[]> {
  const accountId = pick(world.users, user.index).id;
  const ids = await withData(world.server, ({ database }) =>
    database.read(() => listClientsDecidedSince({ accountId, since: since - CLOCK_SKEW })),
  );
  return state.clients.filter(({ index }) => ids.includes(pick(world.clients, index).clientId));
}

/** Those that end with a report, or a recovery. */
export async function appsSinceReport(state: State, world: World, user: User): Promise<readonly Client[]> {
  const { id } = pick(world.users, user.index);
  const since = await withData(world.server, async ({ database, clock, sealer: open }) => {
    const sealer = await open();
    return database.read(function* read(): Work<number | undefined> {
      const account = yield* findAccount({ id });
      if (account === undefined) return undefined;
      const at = yield* accountTime(account, clock());
      const found = yield* unansweredSince(sealer, id, at);
      return found < at ? found : undefined;
    });
  });
  return since === undefined ? [] : appsSince(state, world, user, since);
}

/** Those that end where the account gets an earlier address back. */
export async function appsSinceChange(
  state: State,
  world: World,
  user: User,
  earlier: string,
): Promise<readonly Client[]> {
  const { id } = pick(world.users, user.index);
  const [row] = await query(
    world.server,
    'SELECT min(factors_since) AS since FROM address_change WHERE account_id = ? AND email = ?',
    id,
    earlier,
  );
  return row?.['since'] == null ? [] : appsSince(state, world, user, Number(row['since']));
}

/** The owner has the account back. */
export function endAccess(state: State, user: User, clients: readonly Client[]): void {
  for (const client of clients) if (liveGrants(state, user, client).length > 0) revoke(state, user, client);
}
