import { isDeepStrictEqual } from 'node:util';
import { isRoleAssigned } from '../access/store.ts';
import { type EventType, record } from '../audit/audit.ts';
import { type IdTokenAlg, OPTIONAL_ALGS } from '../keys/algorithms.ts';
import { giveUpAlgorithm } from '../keys/store.ts';
import { oneAtATime } from '../limits/limits.ts';
import { holds, type Operator } from '../operators/rights.ts';
import { keepSettingChange } from '../operators/setting-store.ts';
import { digest, randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { conflict, type Failure } from '../platform/failure.ts';
import { changeOf } from '../platform/kept-changes.ts';
import { keptSettings } from '../platform/settings.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { recordStatusAct } from './act-store.ts';
import { removeScopeOfApi } from './api-scope-store.ts';
import { narrowed } from './decided-fields.ts';
import { canonicalResource } from './rules/canonical-resource.ts';
import { needsNewApproval, needsNewConsent, showsMoreGroups } from './rules/consent-approval.ts';
import { serverUriProblem } from './rules/redirect-uri.ts';
import { presentsSecret, registrationProblem } from './rules/registration.ts';
import { markFor } from './rules/resource-mark.ts';
import { isUnregistered } from './rules/unregistered.ts';
import { endSecretNow } from './secrets.ts';
import { CLIENT_SETTINGS } from './settings.ts';
import type { Client } from './store.ts';
import * as store from './store.ts';

/** What is wrong with a whole registration, as a sentence that names a field and the remedy; undefined if nothing is. */
export const clientProblem = (client: Client): string | undefined =>
  endpointsProblem(client) ?? registrationProblem(client) ?? backchannelLogoutProblem(client);

/** No request has an empty list, but it may be what is left of one. */
const endpointsProblem = ({ endpoints }: Client): string | undefined =>
  endpoints.length === 0 ? 'endpoints is missing.' : undefined;

/** Decisions §1: logout tokens are signed with a key of the key set, because only a hash of the secret is stored. */
function backchannelLogoutProblem({ backchannelLogoutUri, idTokenSignedResponseAlg }: Client): string | undefined {
  if (backchannelLogoutUri === null) return undefined;
  // OpenID Connect Back-Channel Logout 1.0 §2.2: an absolute URI without a fragment.
  const problem = serverUriProblem(backchannelLogoutUri);
  if (problem !== undefined) return `backchannelLogoutUri must ${problem}.`;
  if (idTokenSignedResponseAlg !== 'HS256') return undefined;
  return (
    'idTokenSignedResponseAlg must be RS256, ES256 or EdDSA for a client with a backchannelLogoutUri, or left out: ' +
    'a logout token cannot be signed with its secret.'
  );
}

type Algorithms = Pick<Client, 'idTokenSignedResponseAlg' | 'userinfoSignedResponseAlg'>;

const registeredAlgorithms = (client: Algorithms | undefined): readonly (IdTokenAlg | null)[] =>
  client === undefined ? [] : [client.idTokenSignedResponseAlg, client.userinfoSignedResponseAlg];

/** Part of the unit of work that changes or deletes a client: notes the algorithms that it uses no more. */
export function* giveUpAlgorithms(before: Algorithms, after: Algorithms | undefined, now: number): Work<void> {
  const kept = registeredAlgorithms(after);
  const given = registeredAlgorithms(before).filter((alg) => !kept.includes(alg));
  for (const alg of OPTIONAL_ALGS) if (given.includes(alg)) yield* giveUpAlgorithm({ alg, now });
}

/**
 * A resource server introspects the tokens of its `resource`, so no other may have the same in another spelling.
 * @returns the id of another client that has it
 */
function* findResourceOwner({ id, resource }: Pick<Client, 'id' | 'resource'>): Work<string | undefined> {
  if (resource === null) return undefined;
  const wanted = canonicalResource(resource);
  const taken = yield* store.listResources({});
  return taken.find((other) => other.id !== id && canonicalResource(other.resource) === wanted)?.id;
}

/**
 * Part of a unit of work that gives a client a resource. Of two spellings of one resource, the later unit waits for the earlier one. An app that
 * no operator answers for gives it up to one that an operator answers for: nobody reserves the names of others.
 * @throws {Failure} `conflict`
 */
export function* requireUniqueResource(client: Client, change: ClientChange): Work<void> {
  if (client.resource === null) return;
  yield* oneAtATime(`resource ${digest(canonicalResource(client.resource))}`, change.now);
  const id = yield* findResourceOwner(client);
  const holder = id === undefined ? undefined : yield* store.lockClient({ id });
  if (holder === undefined) return;
  if (!isUnregistered(holder) || isUnregistered(client)) throw resourceTaken(holder, change);
  yield* saveClientChange(holder, { ...holder, resource: null, resourceScopes: null }, change);
}

/** It names the other client to those who may see it. */
const resourceTaken = (holder: Client, { operator }: Pick<ClientChange, 'operator'>): Failure =>
  operator === undefined || holds(operator, 'apps.read', holder)
    ? conflict(`resource is that of another client, ${holder.id}. Send another one, or take it from that client first.`)
    : conflict('resource is that of another client. Send another one.');

/** A role stays while somebody is assigned to the app in it. @throws {Failure} `conflict` */
function* requireNoLostRole(before: Client, after: Client): Work<void> {
  const kept = new Set(after.roles.map(({ name }) => name));
  for (const { name } of before.roles) {
    if (!kept.has(name) && (yield* isRoleAssigned({ clientId: after.id, role: name }))) {
      throw conflict(`roles must keep ${name}: somebody is assigned to the app in it. Change these assignments first.`);
    }
  }
}

/** A scope that an API declares no more ends for every client: it is in no token, grant or form from then on. */
function* removeLostScopes(before: Client, after: Client): Work<void> {
  const kept = new Set(after.resourceScopes?.map(({ name }) => name));
  for (const { name } of before.resourceScopes ?? []) {
    if (!kept.has(name)) yield* removeScopeOfApi({ apiId: after.id, name });
  }
}

function updateEvent(before: Client, after: Client): EventType {
  if (after.status === before.status) return 'client.updated';
  return after.status === 'disabled' ? 'client.disabled' : 'client.enabled';
}

export const changedFields = (before: Client, after: Client): readonly (keyof Client)[] =>
  (Object.keys(before) as (keyof Client)[]).filter((field) => !isDeepStrictEqual(before[field], after[field]));

const KEPT = keptSettings(CLIENT_SETTINGS);

/** Who changes a client, and when. */
export interface ClientChange {
  /** Undefined for the command line on the server, and the server itself. */
  readonly operator: Operator | undefined;
  readonly origin: Origin;
  readonly now: number;
  /**
   * Where what an operator changed is put back: whether the operator had opened something, also where it was closed since. Then nobody knows to
   * whom codes and tokens were issued, and on what they rest: all of them end, and people are asked again.
   */
  readonly putsBack?: { readonly isOpened: boolean };
}

/**
 * Saves the fields of a client that changed, with all that follows from them: part of a unit of work that holds its lock.
 * @throws {Failure} `conflict`
 */
export function* saveClientChange(client: Client, changed: Client, change: ClientChange): Work<Client> {
  const { operator, origin, now, putsBack } = change;
  const { id } = client;
  const fields = changedFields(client, changed);
  const isOpened = putsBack?.isOpened === true;
  if (fields.length === 0 && !isOpened) return client;
  const isRestarted = changed.status !== client.status || changed.access !== client.access;
  const isEnded = isOpened || isRestarted || showsMoreGroups(client, changed);
  const endsApproval = client.consentApproval !== null && needsNewApproval(client, changed);
  const saved: Client = {
    ...narrowed(operator, client, changed),
    resourceMark: markFor(changed, client),
    // A token that may have been stolen manages it no more, also once it is enabled again.
    registrationHash: changed.status === 'disabled' ? null : client.registrationHash,
    consentApproval: endsApproval ? null : client.consentApproval,
    updatedAt: now,
    generation: isEnded ? randomIdentifier() : client.generation,
    consentEpoch: isOpened || needsNewConsent(client, changed) ? randomIdentifier() : client.consentEpoch,
  };
  if (saved.resource !== client.resource) yield* requireUniqueResource(saved, { operator, origin, now });
  yield* requireNoLostRole(client, saved);
  yield* store.saveClient(saved);
  yield* keepSettingChange({ operator }, { kind: 'app', id }, changeOf(client, saved, KEPT, now), CLIENT_SETTINGS);
  if (saved.status !== client.status) yield* recordStatusAct({ operator }, id, saved.status, now);
  yield* removeLostScopes(client, saved);
  if (endsApproval) yield* record({ at: now, type: 'client.consent_approval_ended', origin, clientId: id });
  yield* giveUpAlgorithms(client, saved, now);
  // A client that authenticates by its key has no secret, so that none is left to be guessed or stolen.
  if (!presentsSecret(saved)) {
    for (const { id: secretId } of yield* store.liveSecrets({ clientId: id, now })) {
      yield* endSecretNow(id, secretId, now, origin);
    }
  }
  const details = { fields, ...(putsBack !== undefined && { putBack: true }) };
  yield* record({ at: now, type: updateEvent(client, saved), origin, clientId: id, details });
  return saved;
}
