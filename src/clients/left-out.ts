import type { LeftOut } from '../claims/rules/member-claims.ts';
import { HOUR } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { type Client, saveLeftOut } from './store.ts';

/** Stores that tokens of a client lack a claim because it is too long, to within an hour: most requests write nothing. */
export async function recordLeftOut(
  database: Database,
  { id, leftOut: last }: Pick<Client, 'id' | 'leftOut'>,
  [latest]: readonly LeftOut[],
  now: number,
): Promise<void> {
  if (latest === undefined) return;
  const isKnown = last?.claim === latest.claim && last.from === latest.from && last.at + HOUR > now;
  if (!isKnown) await database.commit(() => saveLeftOut({ id, leftOut: JSON.stringify({ at: now, ...latest }) }));
}
