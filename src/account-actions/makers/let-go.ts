import { grantsOf } from '../../access/operator-grant-store.ts';
import { behind } from '../../admin-keys/live.ts';
import { type FormerRight, giverOf, type RightChange, rightChangesOf } from '../../operators/right-change-store.ts';
import type { Operator, OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { grantOfRight } from '../operators/grants.ts';
import { restsOn } from './rights-before.ts';
import type { LetGo } from './rules/let-go.ts';
import { suspectsOf } from './suspects.ts';

/** Where an operator is ended that acted from one instant on. */
interface Ended {
  readonly since: number;
  readonly openedSince: number;
  readonly now: number;
  /** Who ends it; undefined for the command line, and for the person of the account. */
  readonly by: Operator | undefined;
}

/**
 * What other operators let go on of what somebody made, by taking a role away from them: those who did so saw what that was, and those whom they
 * left there rely on it. Nothing counts that was done by an account or key which rests on what is ended.
 */
export function* letGoOf(accountId: string, { since, openedSince, now, by }: Ended): Work<readonly LetGo[]> {
  const changes = yield* rightChangesOf({ accountId });
  const taken = changes.filter((change) => change.at > openedSince && grantOfRight(change.former) !== undefined);
  if (taken.length === 0) return [];
  const suspects = yield* suspectsOf(accountId, { since, openedSince, now, by });
  const held = yield* grantsOf(accountId);
  const found: LetGo[] = [];
  for (const change of taken) {
    const grant = grantOfRight(change.former);
    if (grant === undefined || (yield* isOwn(change)) || (yield* restsOn(suspects, change))) continue;
    const later = changes.slice(changes.indexOf(change) + 1).flatMap(({ former }) => keptGrant(former, change.at));
    const kept = [...held.filter(({ createdAt }) => (createdAt ?? 0) <= change.at), ...later];
    found.push({ at: change.at, taken: grant, kept });
  }
  return found;
}

/**
 * Whether the person may have given up the right, with the account or a key of theirs, also one that was made with another key: who is in the
 * account decides nothing about what they made. Nobody is named where a person leaves an organization, as for the command line, which takes
 * away few roles of organizations.
 */
function* isOwn({ operatorId, place }: RightChange): Work<boolean> {
  if (operatorId === null) return place.organizationId !== null;
  return (yield* behind(operatorId)) === place.accountId;
}

/** A right that somebody had at an instant, and that was changed or taken away later. */
function keptGrant(former: FormerRight | null, at: number): readonly OperatorGrant[] {
  const grant = grantOfRight(former);
  return former === null || grant === undefined || giverOf(former).givenAt > at ? [] : [grant];
}
