import { ENDPOINT_RULES, type EndpointRules } from '../claims/endpoint-set.ts';
import type { OptionalScope, SwitchedScope } from '../claims/permissions.ts';
import { encodeResources, formatScopes, isApiScopeId } from '../claims/permissions.ts';
import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { Client } from '../clients/store.ts';
import {
  dropCodesFor,
  revokeFamiliesFor,
  withdrawFromCodes,
  withdrawFromFamilies,
} from '../credentials/revocation-store.ts';
import { digest } from '../platform/crypto/secrets.ts';
import { StoreUnavailable, type Work } from '../platform/database/database.ts';
import {
  decidedScopes,
  otherEndpointsChange,
  type RememberedConsent,
  scopesNoLongerGranted,
  sharedDespiteDecline,
} from './rules/consent.ts';
import { addGrant, type ConsentGrant, changeGrant, type DecidedBy, findLastRevocation, lockGrants } from './store.ts';

/** What a person decided on the consent page. */
export interface ConsentDecision {
  /** The person. */
  readonly accountId: string;
  /** The consent epoch of the client when the page was shown. */
  readonly epoch: string;
  /** The name of the last revocation when the page was shown; empty for none. */
  readonly revocation: string;
  /** What the page said is shared though the person switched it off elsewhere: see `sharedDespiteDecline`. */
  readonly told: readonly OptionalScope[];
  /** Which resources the page named; absent where nobody was asked: see {@link digestOfResources}. */
  readonly resources?: string;
  /** The scopes that the page asked about. */
  readonly asked: readonly SwitchedScope[];
  /** Those of them that were left on. */
  readonly allowed: ReadonlySet<string>;
  /** Who decided; the person where it is left out. */
  readonly by?: DecidedBy;
}

/** A digest of resources as they are granted: it differs where another client is registered with one of them by now. */
export const digestOfResources = (marked: readonly string[]): string => digest(marked.join(' '));

/** What the consent page was shown for has changed, or the request was answered: the decision is not written. */
export class ConsentOutdated extends Error {
  override readonly name = 'ConsentOutdated';
}

/** A consent is remembered while the client has the consent epoch that it was given for. */
export function rememberedConsent(grant: ConsentGrant | undefined, client: Client): RememberedConsent | null {
  return grant !== undefined && grant.consentEpoch === client.consentEpoch ? grant : null;
}

/** What is remembered, without the scopes of APIs that the client may no longer request: a grant does not collect them. */
function withoutEndedScopes(
  remembered: RememberedConsent | null,
  apiScopes: readonly ApiScope[],
): RememberedConsent | null {
  if (remembered === null) return null;
  const live = new Set<string>(apiScopes.map(({ id }) => id));
  const kept = (scopes: ReadonlySet<string>) =>
    new Set([...scopes].filter((scope) => !isApiScopeId(scope) || live.has(scope)));
  return { ...remembered, scopes: kept(remembered.scopes), declined: kept(remembered.declined) };
}

/** Whether a first decision about a client grants it anything. */
export const allowsAnything = (
  { asked, allowed }: Pick<ConsentDecision, 'asked' | 'allowed'>,
  requested: readonly string[],
  rules: EndpointRules,
): boolean => decidedScopes(requested, asked, allowed, null, rules).scopes !== '';

interface DecisionInput {
  readonly client: Client;
  readonly rules: EndpointRules;
  readonly requested: readonly string[];
  /** The scopes of APIs that the client may request now. */
  readonly apiScopes: readonly ApiScope[];
  /** The resources that the page named, as they are granted. */
  readonly resources: readonly string[];
  readonly decision: ConsentDecision;
  /** The live grants of the person for the client, locked. */
  readonly live: readonly ConsentGrant[];
  /** The id for a grant that is added. */
  readonly newGrantId: string;
  readonly now: number;
}

/** @throws {ConsentOutdated} */
function* requireCurrent({ client, decision }: DecisionInput): Work<void> {
  const revocation = yield* findLastRevocation({ accountId: decision.accountId, clientId: client.id });
  if ((revocation?.name ?? '') !== decision.revocation) throw new ConsentOutdated();
}

/**
 * Writes a decision into the live grant of a person for a client, or adds one. What was switched off is switched off in the live
 * grants of the other endpoints as well. The caller holds the lock of the account: see `revokeAccess`.
 * @returns undefined where nothing is granted and there was no grant: then none is added
 * @throws {ConsentOutdated} which rolls back the unit of work
 */
export function* writeDecision(input: DecisionInput): Work<ConsentGrant | undefined> {
  const { client, rules, decision } = input;
  let { live } = input;
  // Of two consents that both find no grant one adds it; the other then finds it, and changes it.
  for (let attempt = 0; attempt < 2; attempt++) {
    yield* requireCurrent(input);
    const held = live.find(({ endpointSet }) => endpointSet === rules.endpointSet);
    const written = yield* writeGrant(input, held);
    if (written !== 'another was added') {
      const changes = yield* changeOthers(input, live, written ?? null);
      if (held !== undefined && written !== undefined) changes.push({ before: held, after: written });
      yield* narrowIssued(changes, input.now);
      return written;
    }
    live = yield* lockGrants({ accountId: decision.accountId, clientId: client.id });
  }
  // Others have added and revoked a grant twice meanwhile.
  throw new StoreUnavailable('the grant changed while it was written');
}

/** Writes the grant of the set of endpoints of the decision. */
function* writeGrant(
  input: DecisionInput,
  held: ConsentGrant | undefined,
): Work<ConsentGrant | undefined | 'another was added'> {
  const { client, rules, requested, resources, decision, newGrantId, now } = input;
  const { accountId } = decision;
  const isUnseen = sharedDespiteDecline(rules, input.live).some((scope) => !decision.told.includes(scope));
  if (isUnseen) throw new ConsentOutdated();
  const remembered = withoutEndedScopes(rememberedConsent(held, client), input.apiScopes);
  const { scopes, declined } = decidedScopes(requested, decision.asked, decision.allowed, remembered, rules);
  const allowedResources = [...new Set([...(remembered?.resources ?? []), ...resources])].sort();
  const terms = {
    scopes,
    declined,
    resources: encodeResources(allowedResources),
    epoch: client.consentEpoch,
    now,
    decidedBy: decision.by ?? 'person',
  } as const;
  if (held !== undefined) return yield* changeGrant({ id: held.id, askAgain: false, ...terms });
  if (scopes === '') return undefined;
  const added = yield* addGrant({
    id: newGrantId,
    accountId,
    clientId: client.id,
    endpointSet: rules.endpointSet,
    ...terms,
  });
  if (added === undefined) return 'another was added';
  // Another tab may have added a grant that was revoked before this one was added; from here on none can.
  yield* requireCurrent(input);
  return added;
}

/** A grant before and after a decision. */
interface ChangedGrant {
  readonly before: ConsentGrant;
  readonly after: ConsentGrant;
}

/** Switches off in the live grants of the other endpoints what a decision switched off. */
function* changeOthers(
  { rules, decision, now }: DecisionInput,
  live: readonly ConsentGrant[],
  own: ConsentGrant | null,
): Work<ChangedGrant[]> {
  const switchedOff = new Set(decision.asked.filter((scope) => !decision.allowed.has(scope)));
  const changes: ChangedGrant[] = [];
  for (const before of live.filter(({ endpointSet }) => endpointSet !== rules.endpointSet)) {
    const change = otherEndpointsChange(
      before,
      switchedOff,
      own?.declined ?? switchedOff,
      ENDPOINT_RULES[before.endpointSet],
    );
    if (change === undefined) continue;
    const { id, consentEpoch: epoch, decidedBy } = before;
    const resources = encodeResources([...before.resources]);
    const after = yield* changeGrant({ id, resources, epoch, now, decidedBy, ...change });
    changes.push({ before, after });
  }
  return changes;
}

/**
 * Takes scopes away from the live grants of a person for a client, and from everything that was issued under them. A grant that had one of
 * them remembers that it is switched off. The caller holds the lock of the account, and gives the grants that it locked.
 * @param off scopes that have a switch
 * @returns the ids of the grants that lost any
 */
export function* takeScopesAway(
  live: readonly ConsentGrant[],
  off: ReadonlySet<SwitchedScope>,
  now: number,
): Work<readonly string[]> {
  const changes: ChangedGrant[] = [];
  for (const before of live) {
    const { optionalScopes, alwaysShared } = ENDPOINT_RULES[before.endpointSet];
    const hasSwitch = (scope: string) =>
      isApiScopeId(scope) ? before.scopes.has(scope) : (optionalScopes as readonly string[]).includes(scope);
    const offHere = new Set<string>([...off].filter(hasSwitch));
    // What one set of endpoints shares whatever the person switches off is said by its own page alone.
    const askAgain = before.askAgain || (live.length > 1 && alwaysShared.some((scope) => off.has(scope)));
    const isSame = offHere.isDisjointFrom(before.scopes) && offHere.isSubsetOf(before.declined);
    if (isSame && askAgain === before.askAgain) continue;
    const { id, consentEpoch: epoch, decidedBy } = before;
    const scopes = formatScopes(before.scopes.difference(offHere));
    const declined = formatScopes(before.declined.union(offHere));
    const resources = encodeResources([...before.resources]);
    const after = yield* changeGrant({ id, resources, epoch, now, decidedBy, scopes, declined, askAgain });
    changes.push({ before, after });
  }
  yield* narrowIssued(changes, now);
  return changes.filter(({ before, after }) => before.scopes.size > after.scopes.size).map(({ before }) => before.id);
}

/**
 * Applies what a decision took away to everything issued under the grants, for good: a scope is removed from every code and
 * family, and a family with a resource that is no longer allowed ends, for its access tokens cannot be changed.
 *
 * The caller holds the locks of the grants, so that no code is added. Codes come before families: a redemption under way holds its
 * code, so once that can be written, its family is on record.
 */
function* narrowIssued(changes: readonly ChangedGrant[], now: number): Work<void> {
  const withdrawn = changes.map(({ before, after }) => ({
    grantId: before.id,
    scopes: scopesNoLongerGranted(before.scopes, after.scopes, ENDPOINT_RULES[before.endpointSet]),
    resources: before.resources.difference(after.resources),
  }));
  for (const { grantId, scopes, resources } of withdrawn) {
    if (scopes.length > 0) yield* withdrawFromCodes(grantId, scopes);
    if (resources.size > 0) yield* dropCodesFor(grantId, resources);
  }
  for (const { grantId, scopes, resources } of withdrawn) {
    if (scopes.length > 0) yield* withdrawFromFamilies(grantId, scopes);
    if (resources.size > 0) yield* revokeFamiliesFor(grantId, resources, now);
  }
}
