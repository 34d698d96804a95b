import { isDeepStrictEqual } from 'node:util';
import { takeWithin } from '../limits/limits.ts';
import { lacksApproval } from '../operators/refusal.ts';
import { developerIn, holds, type Operator, reachesByPolicyAlone } from '../operators/rights.ts';
import { DAY } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { conflict, Failure, invalid } from '../platform/failure.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { findBlockedHost, oneRegistrationAtATime } from './blocked-hosts.ts';
import type { DeveloperSettings } from './developer-settings.ts';
import { type Client, countAppsOf } from './store.ts';

/** What the app of a developer may request without an operator. */
const DEVELOPER_SCOPES: readonly string[] = ['openid', 'profile', 'email'];

/** Who registers an app: an operator, or the command line on the server and the playground. */
export type Registrar =
  | { readonly operator: undefined }
  | { readonly operator: Operator | undefined; readonly developers: DeveloperSettings };

/** How often a person registers as many apps as they may have within a day: who deletes an app makes room, and not without end. */
const PER_DAY = 2;

const DECIDES = 'apps.approve';

/** Whether some of these scopes are none of those allowed; null is every scope. */
const scopesBeyond = (scopes: readonly string[] | null, allowed: readonly string[]): boolean =>
  scopes === null || scopes.some((scope) => !allowed.includes(scope));

/**
 * The app that an operator registers, in the unit of work that does it and holds the operator: a developer's is that developer's, with the
 * scopes of a developer unless it names fewer. That of a developer by the policy alone counts as registered by no operator.
 * @param named whether the registration names scopes
 * @throws {Failure} `insufficient permission` for other scopes; `conflict` where a person has as many apps as they may; `limited` where they registered
 *   twice as many within a day; `invalid` for a blocked host
 */
export function* developed(
  registrar: Registrar,
  client: Client,
  { named, origin, now }: { readonly named: boolean; readonly origin: Origin; readonly now: number },
): Work<Client> {
  if (registrar.operator === undefined) return client;
  const developerId = developerIn(registrar.operator, client.organizationId);
  if (developerId === null) return client;
  const place = { organizationId: client.organizationId, developerId };
  const isStrangers = reachesByPolicyAlone(registrar.operator, 'apps.create', place);
  if (isStrangers) yield* requireNoBlockedHost(client);
  const scopes = named ? client.scopes : DEVELOPER_SCOPES;
  if (scopesBeyond(scopes, DEVELOPER_SCOPES)) throw lacksApproval(DECIDES, DEVELOPER_SCOPES);
  // A key is made by an operator who may register any number.
  if (origin.actor.type === 'user') yield* requireRoom(developerId, registrar.developers.mostApps, now);
  return { ...client, developerId, scopes, registeredBy: isStrangers ? 'developer' : null };
}

function* requireRoom(developerId: string, most: number, now: number): Work<void> {
  if ((yield* countAppsOf({ developerId })) >= most) {
    throw conflict(
      `You have ${most} apps of your own, and no more than ${most} are allowed at a time. Delete one that nobody uses, or ask an operator to register this one for you.`,
    );
  }
  const inDay = { count: PER_DAY * most, windowMs: DAY };
  if (yield* takeWithin(`apps registered by ${developerId}`, inDay, now)) return;
  throw new Failure(
    'limited',
    `You have registered ${inDay.count} apps within a day. Change one that you have, or register another in a day.`,
    { retryAfter: DAY / 1000 },
  );
}

/**
 * Part of the unit of work that changes a client: who may not approve scopes adds none beyond those of a developer.
 * @throws {Failure} `insufficient permission`
 */
export function requireOwnScopes(operator: Operator | undefined, before: Client, after: Client): void {
  if (operator === undefined || holds(operator, DECIDES, before) || before.scopes === null) return;
  const allowed = [...before.scopes, ...DEVELOPER_SCOPES];
  if (scopesBeyond(after.scopes, allowed)) throw lacksApproval(DECIDES, DEVELOPER_SCOPES);
}

/** What an operator answers for who registered or accepted an app: what people see of it, and the addresses that they and this server go to. */
const ANSWERED_FOR = [
  ...(['name', 'owner', 'picture', 'logoUrl', 'homepageUrl', 'policyUrl', 'termsUrl'] as const),
  ...(['redirectUris', 'postLogoutRedirectUris', 'jwksUri', 'backchannelLogoutUri'] as const),
  ...(['resource', 'resourceScopes'] as const),
] satisfies readonly (keyof Client)[];

/**
 * Part of the unit of work that changes a client: what is left of an operator's word for it. Where a developer by the policy alone changes what
 * an operator answers for, nobody does so any more until an operator accepts the app.
 * @throws {Failure} `invalid` for a blocked host
 */
export function* answeredFor(operator: Operator | undefined, before: Client, after: Client): Work<Client> {
  if (operator === undefined || !reachesByPolicyAlone(operator, 'apps.manage', before)) return after;
  if (!ANSWERED_FOR.some((field) => !isDeepStrictEqual(before[field], after[field]))) return after;
  yield* requireNoBlockedHost(after);
  return { ...after, registeredBy: 'developer', acceptedAt: null };
}

function* requireNoBlockedHost(client: Client): Work<void> {
  const host = yield* findBlockedHost(client);
  if (host === undefined) return;
  throw invalid(
    `redirectUris and postLogoutRedirectUris must not lead to ${host}: an operator has blocked it. Ask an operator about it.`,
  );
}

/**
 * Part of the unit of work in which an operator registers or changes a client, before it locks the client: no app of a stranger that leads to
 * a domain comes up while that is blocked.
 */
export function* orderWithBlocking(operator: Operator | undefined, now: number): Work<void> {
  if (operator?.developsByPolicy === true) yield* oneRegistrationAtATime(now);
}
