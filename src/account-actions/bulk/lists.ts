import { grantsOf, operatorsAmong } from '../../access/operator-grant-store.ts';
import { findAllNamed } from '../../accounts/named-store.ts';
import { searchAccounts } from '../../accounts/store.ts';
import { findGroup, findGroupOfInstallation, type Group, listGroupMembers } from '../../groups/store.ts';
import { takeWithin } from '../../limits/limits.ts';
import type { Permission } from '../../operators/permissions.ts';
import { actsOnStronger, lacksPermission } from '../../operators/refusal.ts';
import { holds, INSTALLATION, lackingOf, liveGrants, type Operator } from '../../operators/rights.ts';
import { type Clock, DAY, HOUR } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict, invalid, limited, notFound } from '../../platform/failure.ts';
import { type Ids, isSnowflake } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';
import { type BulkActName, type BulkParameters, bulkActKind } from './acts.ts';
import {
  type BulkAct,
  beginBulkAct,
  completeList,
  countOutcomes,
  endBulkAct,
  insertBulkAct,
  insertBulkPerson,
  listBulkActs,
  lockBulkAct,
  type Outcome,
  removeBulkActsBefore,
  removeUnusedBefore,
} from './store.ts';

/** The most people on one list. */
const MOST_PEOPLE = 5_000;
/** How many acts of one operator run at the same time. */
const MOST_RUNNING = 2;
/** How many lists an operator makes. */
const MOST_LISTS = { count: 30, windowMs: HOUR };
/** How long a list can be used. */
const LIST_LIFETIME = HOUR;
/** How long it is kept what became of everybody. */
export const BULK_ACT_KEPT = 30 * DAY;

/** Who is to be on a list: who is named in it, whose name or address contains a text, or who is in a group. */
export type WantedPeople =
  | { readonly by: 'names'; readonly names: readonly string[] }
  | { readonly by: 'text'; readonly text: string }
  | { readonly by: 'group'; readonly groupId: string };

interface Found {
  readonly ids: readonly string[];
  /** The names that are nobody's. */
  readonly unknown: readonly string[];
}

/** How many people one read looks up. */
const AT_ONCE = 500;

const tooMany = () =>
  invalid(`That is more than ${MOST_PEOPLE} people. Choose fewer, and act on the others afterwards.`);

async function findPeople(database: Pick<Database, 'read'>, wanted: WantedPeople): Promise<Found> {
  if (wanted.by === 'names') return findNamedPeople(database, wanted.names);
  const ids: string[] = [];
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const { items, next }: Awaited<ReturnType<typeof pageOf>> = await pageOf(database, wanted, after);
    ids.push(...items.map(({ id }) => id));
    if (ids.length > MOST_PEOPLE) throw tooMany();
    after = next;
  }
  return { ids, unknown: [] };
}

async function findNamedPeople(database: Pick<Database, 'read'>, names: readonly string[]): Promise<Found> {
  const distinct = [...new Set(names)];
  if (distinct.length > MOST_PEOPLE) throw tooMany();
  const found = new Map<string, string>();
  for (let from = 0; from < distinct.length; from += AT_ONCE) {
    const some = distinct.slice(from, from + AT_ONCE);
    for (const [name, id] of await database.read(() => findAllNamed(some))) found.set(name, id);
  }
  return { ids: [...new Set(found.values())], unknown: distinct.filter((name) => !found.has(name)) };
}

async function pageOf(
  database: Pick<Database, 'read'>,
  wanted: Exclude<WantedPeople, { by: 'names' }>,
  after: string,
): Promise<{ readonly items: readonly { readonly id: string }[]; readonly next: string | undefined }> {
  if (wanted.by === 'text') return searchAccounts(database, { text: wanted.text, after, limit: AT_ONCE });
  const items = await database.read(() => listGroupMembers({ groupId: wanted.groupId, after, limit: AT_ONCE }));
  return { items, next: items.length < AT_ONCE ? undefined : items.at(-1)?.id };
}

/** What an operator holds in the whole installation, or acts on nobody: of people, a role of an organization sees its members alone. */
export const neededFor = (act: BulkActName): readonly Permission[] => [bulkActKind(act).permission, 'users.read'];

/** @throws {InsufficientPermission} */
export function requireBulkPermission(operator: Operator, act: BulkActName): void {
  for (const permission of neededFor(act)) {
    if (!holds(operator, permission, INSTALLATION)) throw lacksPermission(permission);
  }
}

/** Whether an operator may choose people by the group that they are in: who sees no groups does not learn so who is in one. */
export const choosesByGroup = (operator: Operator): boolean => holds(operator, 'groups.read', INSTALLATION);

/** @throws {InsufficientPermission} */
function requireChoice(operator: Operator, { by }: WantedPeople): void {
  if (by === 'group' && !choosesByGroup(operator)) throw lacksPermission('groups.read');
}

/**
 * The group that an operator named, by its name or id: those of organizations by their ids.
 * @throws {InsufficientPermission} where the operator sees no groups, whether there is one or not
 */
export function* findChosenGroup(operator: Operator, named: string): Work<Group | undefined> {
  requireChoice(operator, { by: 'group', groupId: named });
  const byId = isSnowflake(named) ? yield* findGroup({ id: named }) : undefined;
  return byId ?? (yield* findGroupOfInstallation({ name: named.toLowerCase() }));
}

interface ListServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly operator: Operator;
}

interface NewList {
  readonly act: BulkActName;
  readonly parameters: BulkParameters;
  readonly wanted: WantedPeople;
  readonly session: Pick<Session, 'sid'>;
  readonly origin: Origin;
}

/**
 * Finds the people for an act and stores who they are: the act is done to these, and not to those whom a filter finds later. Nothing happens to
 * them yet. Those who hold more than the operator are refused from the beginning.
 * @returns the act, and the names that are nobody's, which are not stored
 * @throws {Failure} `invalid` for nobody or too many, `limited`
 */
export async function makeList(
  services: ListServices,
  { act, parameters, wanted, session, origin }: NewList,
): Promise<{ readonly id: string; readonly unknown: readonly string[] }> {
  const { database, clock, ids, operator } = services;
  requireBulkPermission(operator, act);
  requireChoice(operator, wanted);
  const { ids: people, unknown } = await findPeople(database, wanted);
  if (people.length === 0) {
    const named = unknown.slice(0, 10).join(', ');
    throw invalid(unknown.length === 0 ? 'This finds nobody.' : `Nobody has one of these names: ${named}.`);
  }
  const now = clock();
  const id = await ids.next();
  await database.commit(function* begin(): Work<void> {
    requireBulkPermission(operator, act);
    requireChoice(operator, wanted);
    if (!(yield* takeWithin(`bulk lists ${operator.id}`, MOST_LISTS, now))) throw limited(HOUR / 1000);
    yield* insertBulkAct({
      ...{ id, accountId: operator.id, sid: session.sid, act, parameters, origin, state: 'frozen' },
      ...{ unknown: unknown.length, total: 0, dueAt: now, createdAt: now, endedAt: null },
    });
  });
  for (let from = 0; from < people.length; from += AT_ONCE) {
    const some = people.slice(from, from + AT_ONCE);
    await database.commit(() => insertPeople(operator, { id, from, some, now }));
  }
  await database.commit(() => completeList({ id, total: people.length }));
  return { id, unknown };
}

interface SomePeople {
  readonly id: string;
  readonly from: number;
  readonly some: readonly string[];
  readonly now: number;
}

function* insertPeople(operator: Operator, { id, from, some, now }: SomePeople): Work<void> {
  const refused = new Map<string, string>();
  for (const accountId of yield* operatorsAmong(some)) {
    const lacking = lackingOf(operator, liveGrants(yield* grantsOf(accountId), now));
    if (lacking !== undefined) refused.set(accountId, actsOnStronger(lacking).message);
  }
  for (const [index, accountId] of some.entries()) {
    const reason = refused.get(accountId) ?? null;
    const outcome: Outcome = reason === null ? 'waiting' : 'refused';
    yield* insertBulkPerson({ id, number: from + index + 1, accountId, outcome, reason });
  }
}

/** How many people of a list have each outcome. Who was deleted since is in none. */
export type Counts = Readonly<Record<Outcome, number>>;

export function* countPeople(id: string): Work<Counts> {
  const counts: Record<Outcome, number> = { waiting: 0, done: 0, nothing: 0, refused: 0, failed: 0 };
  for (const { outcome, count } of yield* countOutcomes({ id })) counts[outcome as Outcome] = Number(count);
  return counts;
}

export const bulkActNotFound = (id: string) =>
  notFound(`There is no list of people with the id ${id}: it is another operator’s, or was removed.`);

interface Start {
  readonly id: string;
  /** How many people the operator was shown. */
  readonly shown: number;
  readonly session: Pick<Session, 'sid'>;
  readonly origin: Origin;
}

/**
 * Begins an act on the people of a list, who are counted again.
 * @throws {Failure} `not found`, or `conflict` where the list is used or old, has another number of people, or too many acts run
 */
export function startBulkAct(
  { database, clock, operator }: Omit<ListServices, 'ids'>,
  { id, shown, session, origin }: Start,
): Promise<void> {
  const now = clock();
  return database.commit(function* start(): Work<void> {
    const found = yield* lockBulkAct({ id, accountId: operator.id });
    if (found === undefined) throw bulkActNotFound(id);
    requireBulkPermission(operator, found.act);
    if (found.state !== 'frozen') throw conflict('This act was begun before.');
    if (found.total === 0 || found.createdAt + LIST_LIFETIME <= now) {
      throw conflict('This list is too old. Make it again.');
    }
    const { waiting } = yield* countPeople(id);
    if (waiting !== shown) {
      throw conflict('The list has another number of people than when the page was opened. Look at it again.');
    }
    if (waiting === 0) throw conflict('There is nobody on this list on whom you may act.');
    // Only the operator's own, whose account this unit of work holds: two starts come one after the other.
    const newest = yield* listBulkActs({ accountId: operator.id, limit: 100 });
    if (newest.filter(({ state }) => state === 'running').length >= MOST_RUNNING) {
      throw conflict(`${MOST_RUNNING} of your acts run already. Wait until one has ended, or stop it.`);
    }
    yield* beginBulkAct({ id, sid: session.sid, origin: JSON.stringify(origin), now });
  });
}

/** Stops an act that runs: those who were not acted on stay as they are. @returns false where it had ended */
export function stopBulkAct(
  { database, clock, operator }: Omit<ListServices, 'ids'>,
  { id }: Pick<BulkAct, 'id'>,
): Promise<boolean> {
  const now = clock();
  return database.commit(function* stop(): Work<boolean> {
    if ((yield* lockBulkAct({ id, accountId: operator.id })) === undefined) throw bulkActNotFound(id);
    return yield* endBulkAct({ id, state: 'stopped', now });
  });
}

/** How many acts one unit of work removes, each with its list. */
const REMOVED_AT_ONCE = 5;

/** Removes lists that nobody used, and what became of people long ago. */
export async function maintainBulkActs(database: Database, now: number): Promise<void> {
  const old = () => removeBulkActsBefore({ before: now - BULK_ACT_KEPT, limit: REMOVED_AT_ONCE });
  while ((await database.commit(old)).length === REMOVED_AT_ONCE);
  const unused = () => removeUnusedBefore({ before: now - LIST_LIFETIME, limit: REMOVED_AT_ONCE });
  while ((await database.commit(unused)).length === REMOVED_AT_ONCE);
}
