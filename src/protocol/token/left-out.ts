import { explainLeftOut, type LeftOut } from '../../claims/rules/member-claims.ts';
import { recordLeftOut } from '../../clients/left-out.ts';
import type { Client } from '../../clients/store.ts';
import type { Database } from '../../platform/database/database.ts';
import type { StepFacts } from '../../traces/step.ts';

/**
 * Puts on the record of a client that its tokens lack a claim because it is too long.
 * @returns what the trace says of it
 */
export async function reportLeftOut(
  database: Database,
  client: Pick<Client, 'id' | 'leftOut' | 'groupsClaim'>,
  leftOut: readonly LeftOut[],
  now: number,
): Promise<Pick<StepFacts, 'reason' | 'remedy'>> {
  await recordLeftOut(database, client, leftOut, now);
  const [explained] = leftOut.map((left) => explainLeftOut(left, client.groupsClaim));
  return explained ?? {};
}
