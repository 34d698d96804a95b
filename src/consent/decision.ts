import type { FaceRules } from '../claims/face.ts';
import type { OptionalScope } from '../claims/permissions.ts';
import { encodeResources } from '../claims/permissions.ts';
import type { Client } from '../clients/store.ts';
import {
  dropCodesFor,
  revokeFamiliesFor,
  withdrawFromCodes,
  withdrawFromFamilies,
} from '../credentials/revocation-store.ts';
import { StoreUnavailable, type Work } from '../platform/database/database.ts';
import { decidedScopes, type RememberedConsent, scopesNoLongerGranted } from './rules/consent.ts';
import { addGrant, type ConsentGrant, changeGrant, findLastRevocation, lockGrant } from './store.ts';

/** What a person decided on the consent page. */
export interface ConsentDecision {
  /** The consent epoch of the client when the page was shown. */
  readonly epoch: string;
  /** The name of the last revocation when the page was shown; empty for none. */
  readonly revocation: string;
  /** The scopes that the page asked about. */
  readonly asked: readonly OptionalScope[];
  /** Those of them that were left on. */
  readonly allowed: ReadonlySet<string>;
}

/** Access was revoked after the consent page was shown, so its form must be shown again. */
export class ConsentOutdated extends Error {
  override readonly name = 'ConsentOutdated';
}

/** A consent is remembered while the client has the consent epoch that it was given for. */
export function rememberedConsent(grant: ConsentGrant | undefined, client: Client): RememberedConsent | null {
  return grant !== undefined && grant.consentEpoch === client.consentEpoch ? grant : null;
}

interface DecisionInput {
  readonly accountId: string;
  readonly client: Client;
  readonly rules: FaceRules;
  readonly requested: readonly string[];
  /** The resources that the page named. */
  readonly resources: readonly string[];
  readonly decision: ConsentDecision;
  /** The live grant, locked; undefined where there is none yet. */
  readonly held: ConsentGrant | undefined;
  /** The id for a grant that is added. */
  readonly newGrantId: string;
  readonly now: number;
}

/** @throws {ConsentOutdated} */
function* requireCurrent({ accountId, client, decision }: DecisionInput): Work<void> {
  const revocation = yield* findLastRevocation({ accountId, clientId: client.id });
  if ((revocation?.name ?? '') !== decision.revocation) throw new ConsentOutdated();
}

/**
 * Writes a decision into the live grant of a person for a client, or adds one.
 * @throws {ConsentOutdated} which rolls back the unit of work
 */
export function* writeDecision(input: DecisionInput): Work<ConsentGrant> {
  const { accountId, client, rules, requested, resources, decision, newGrantId, now } = input;
  let { held } = input;
  // Of two consents that both find no grant one adds it; the other then finds it, and changes it.
  for (let attempt = 0; attempt < 2; attempt++) {
    yield* requireCurrent(input);
    const remembered = rememberedConsent(held, client);
    const { scopes, declined } = decidedScopes(requested, decision.asked, decision.allowed, remembered, rules);
    const allowedResources = [...new Set([...(remembered?.resources ?? []), ...resources])].sort();
    const terms = { scopes, declined, resources: encodeResources(allowedResources), epoch: client.consentEpoch, now };
    if (held !== undefined) {
      const changed = yield* changeGrant({ id: held.id, ...terms });
      yield* narrowIssued(held, changed, rules, now);
      return changed;
    }
    const added = yield* addGrant({ id: newGrantId, accountId, clientId: client.id, face: rules.face, ...terms });
    if (added !== undefined) {
      // Another tab may have added a grant that was revoked before this one was added; from here on none can.
      yield* requireCurrent(input);
      return added;
    }
    held = yield* lockGrant({ accountId, clientId: client.id, face: rules.face });
  }
  // Others have added and revoked a grant twice meanwhile.
  throw new StoreUnavailable('the grant changed while it was written');
}

/**
 * Applies what a decision took away to everything issued under the grant, for good: a scope is removed from every code and
 * family, and a family with a resource that is no longer allowed ends, for its access tokens cannot be changed.
 *
 * The caller holds the grant's lock, so that no code is added. Codes come before families: a redemption under way holds its
 * code, so once that can be written, its family is on record.
 */
function* narrowIssued(before: ConsentGrant, after: ConsentGrant, rules: FaceRules, now: number): Work<void> {
  const scopes = scopesNoLongerGranted(before.scopes, after.scopes, rules);
  const resources = before.resources.difference(after.resources);
  if (scopes.length > 0) yield* withdrawFromCodes(before.id, scopes);
  if (resources.size > 0) yield* dropCodesFor(before.id, resources);
  if (scopes.length > 0) yield* withdrawFromFamilies(before.id, scopes);
  if (resources.size > 0) yield* revokeFamiliesFor(before.id, resources, now);
}
