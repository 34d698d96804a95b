import { formatResources } from '../clients/rules/resources.ts';
import type { Client } from '../clients/store.ts';
import { StoreUnavailable, type Work } from '../database/database.ts';
import type { OptionalScope } from '../scopes/scopes.ts';
import { decide, type Remembered } from './rules/consent.ts';
import { addGrant, changeGrant, type Grant, lockGrant } from './store.ts';
import { withdraw } from './withdrawal.ts';

/** What a person decided on the consent page. */
export interface ConsentDecision {
  /** Which client the page showed: {@link Client.consentEpoch} as it was then. */
  readonly epoch: string;
  /** The scopes that the page asked about. */
  readonly asked: readonly OptionalScope[];
  /** Those of them that were left on. */
  readonly allowed: ReadonlySet<string>;
}

/** A consent holds while the client is the one that the person consented to. */
export function rememberedOf(grant: Grant | undefined, client: Client): Remembered | null {
  return grant !== undefined && grant.consentEpoch === client.consentEpoch ? grant : null;
}

interface Writing {
  readonly accountId: string;
  readonly client: Client;
  readonly requested: readonly string[];
  /** The resources that the page named. */
  readonly resources: readonly string[];
  readonly decision: ConsentDecision;
  /** The id of the grant, if there is none yet. */
  readonly newGrantId: string;
  readonly now: number;
}

/** Writes a decision into the live grant of a person and an app, which it makes where there is none. */
export function* writeDecision(writing: Writing): Work<Grant> {
  const { accountId, client, requested, resources, decision, newGrantId, now } = writing;
  // Of two consents that both find no grant one makes it; the other then finds it, and adds to it.
  for (let attempt = 0; attempt < 2; attempt++) {
    const grant = yield* lockGrant(accountId, client.id);
    const remembered = rememberedOf(grant, client);
    const { scopes, declined } = decide(requested, decision.asked, decision.allowed, remembered);
    const places = formatResources([...new Set([...(remembered?.resources ?? []), ...resources])].sort());
    const terms = { scopes, declined, resources: places, epoch: client.consentEpoch, now };
    if (grant !== undefined) yield* changeGrant({ id: grant.id, ...terms });
    else if (!(yield* addGrant({ id: newGrantId, accountId, clientId: client.id, ...terms }))) continue;
    const written = yield* lockGrant(accountId, client.id);
    if (written === undefined) continue;
    if (grant !== undefined) yield* withdraw(grant, written, now);
    return written;
  }
  // Made, found and revoked by others, twice in this very moment.
  throw new StoreUnavailable('the grant changed while it was written');
}
