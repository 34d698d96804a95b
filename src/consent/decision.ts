import type { OptionalScope } from '../claims/scopes.ts';
import { formatResources } from '../clients/rules/resources.ts';
import type { Client } from '../clients/store.ts';
import { StoreUnavailable, type Work } from '../platform/database/database.ts';
import { decide, type Remembered } from './rules/consent.ts';
import { addGrant, type ConsentGrant, changeGrant, lastRevocationOf, lockGrant } from './store.ts';
import { withdraw } from './withdrawal.ts';

/** What a person decided on the consent page. */
export interface ConsentDecision {
  /** Which client the page showed: {@link Client.consentEpoch} as it was then. */
  readonly epoch: string;
  /** The last revocation when the page was shown: see `lastRevocationOf`. */
  readonly revocation: string;
  /** The scopes that the page asked about. */
  readonly asked: readonly OptionalScope[];
  /** Those of them that were left on. */
  readonly allowed: ReadonlySet<string>;
}

/** Access was taken away after the page was shown: what the person allowed there is no longer allowed. */
export class ConsentOvertaken extends Error {
  override readonly name = 'ConsentOvertaken';
}

/** A consent holds while the client is the one that the person consented to. */
export function rememberedOf(grant: ConsentGrant | undefined, client: Client): Remembered | null {
  return grant !== undefined && grant.consentEpoch === client.consentEpoch ? grant : null;
}

interface Writing {
  readonly accountId: string;
  readonly client: Client;
  readonly requested: readonly string[];
  /** The resources that the page named. */
  readonly resources: readonly string[];
  readonly decision: ConsentDecision;
  /** The live grant, which is locked; undefined where there is none yet. */
  readonly held: ConsentGrant | undefined;
  /** The id of the grant, if there is none yet. */
  readonly newGrantId: string;
  readonly now: number;
}

/** @throws {ConsentOvertaken} where access was taken away after the page was shown */
function* refuseOvertaken({ accountId, client, decision }: Writing): Work<void> {
  if ((yield* lastRevocationOf(accountId, client.id)) !== decision.revocation) throw new ConsentOvertaken();
}

/**
 * Writes a decision into the live grant of a person and an app, which it makes where there is none.
 * @throws {ConsentOvertaken} so that nothing of the unit of work stays
 */
export function* writeDecision(writing: Writing): Work<ConsentGrant> {
  const { accountId, client, requested, resources, decision, newGrantId, now } = writing;
  let { held } = writing;
  // Of two consents that both find no grant one makes it; the other then finds it, and adds to it.
  for (let attempt = 0; attempt < 2; attempt++) {
    yield* refuseOvertaken(writing);
    const remembered = rememberedOf(held, client);
    const { scopes, declined } = decide(requested, decision.asked, decision.allowed, remembered);
    const places = formatResources([...new Set([...(remembered?.resources ?? []), ...resources])].sort());
    const terms = { scopes, declined, resources: places, epoch: client.consentEpoch, now };
    if (held !== undefined) {
      const changed = yield* changeGrant({ id: held.id, ...terms });
      yield* withdraw(held, changed, now);
      return changed;
    }
    const made = yield* addGrant({ id: newGrantId, accountId, clientId: client.id, ...terms });
    if (made !== undefined) {
      // Another tab's grant may have come and gone before this one was there; from here on none can.
      yield* refuseOvertaken(writing);
      return made;
    }
    held = yield* lockGrant(accountId, client.id);
  }
  // Made, found and revoked by others, twice in this very moment.
  throw new StoreUnavailable('the grant changed while it was written');
}
