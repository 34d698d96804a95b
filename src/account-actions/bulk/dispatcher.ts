import { setImmediate as nextTurn } from 'node:timers/promises';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { handsOut } from '../../operators/permissions.ts';
import { CannotOpen, InsufficientPermission } from '../../operators/refusal.ts';
import { heldByRoles, type OperatorRights } from '../../operators/rights.ts';
import { SECOND } from '../../platform/clock.ts';
import { type Database, StoreUnavailable, type Work } from '../../platform/database/database.ts';
import { Failure } from '../../platform/failure.ts';
import { startPoller } from '../../platform/poller.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { SessionEnded } from '../../sessions/sessions.ts';
import { hashOfSession } from '../../sessions/store.ts';
import { actingDatabase } from '../admission/acting-database.ts';
import { admit } from '../admission/admission.ts';
import { heldInSession, roleNamesOf } from '../admission/operator-session.ts';
import { mayEndMade } from '../makers/bar.ts';
import { allMadeBy, isNothing, type Made } from '../makers/list-made.ts';
import { type BulkActServices, bulkActKind } from './acts.ts';
import { neededFor, requireBulkPermission } from './lists.ts';
import {
  type BulkAct,
  type BulkState,
  claimBulkAct,
  endBulkAct,
  holdRunning,
  isBulkActDue,
  keepClaim,
  listWaiting,
  type Outcome,
  settlePerson,
} from './store.ts';

/** How long a claim holds: longer than a batch takes. */
const CLAIM_LIFETIME = 30 * SECOND;
const INTERVAL = SECOND;
/** How many people one process acts on until it renews its claim. */
const BATCH = 20;

interface BulkDispatcherServices extends BulkActServices {
  readonly recordThrottled: RecordThrottled;
  /** Is given internal errors and failures of the database. After one of the database, the act is continued later. */
  failed(error: unknown): void;
}

/** Does the acts on many people that operators have begun, of whichever node. */
export interface BulkDispatcher {
  /** Goes on with those that wait now. */
  runDue(): Promise<void>;
  /** Finishes with the person who is acted on, and begins with no other. */
  stop(): Promise<void>;
}

/** The person was acted on by another process, or the act was stopped: thrown in a unit of work, which rolls it back. */
class NotWaiting extends Error {}

/** The act would change nothing: thrown in a unit of work, which rolls it back. */
class NotNeeded extends Error {}

/**
 * Starts looking for acts that were begun. What happens to a person and the note that it happened are one commit, so an act that a
 * process leaves half done is continued by the next one, and nobody is acted on twice.
 * @param interval how often, in milliseconds
 */
export function startBulkDispatcher(services: BulkDispatcherServices, interval = INTERVAL): BulkDispatcher {
  const { database, clock, failed } = services;
  let isStopping = false;

  async function runAll(): Promise<void> {
    while (!isStopping) {
      const now = clock();
      if ((await database.read(() => isBulkActDue({ now }))) === undefined) return;
      const claimed = await database.commit(() => claimBulkAct({ now, until: now + CLAIM_LIFETIME }));
      if (claimed === undefined) return;
      await runOne(claimed);
    }
  }

  async function runOne(act: BulkAct): Promise<void> {
    const { id } = act;
    for (;;) {
      const people = await database.read(() => listWaiting({ id, limit: BATCH }));
      if (people.length === 0) return end(act, 'finished');
      for (const person of people) {
        // Another process goes on at once.
        if (isStopping) return void (await database.commit(() => keepClaim({ id, until: clock() })));
        const ended = await actOn(services, act, person);
        if (ended !== undefined) return end(act, ended);
        await nextTurn();
      }
      if (!(await database.commit(() => keepClaim({ id, until: clock() + CLAIM_LIFETIME })))) return;
    }
  }

  const end = async ({ id }: BulkAct, state: BulkState): Promise<void> =>
    void (await database.commit(() => endBulkAct({ id, state, now: clock() })));

  const poller = startPoller(runAll, interval, failed);
  return {
    runDue: () => poller.poll(),
    stop() {
      isStopping = true;
      return poller.stop();
    },
  };
}

interface Waiting {
  readonly number: number;
  readonly accountId: string;
}

/** Acts on one person and notes it. @returns how the whole act ended, where it did */
async function actOn(
  services: BulkDispatcherServices,
  act: BulkAct,
  person: Waiting,
): Promise<'role ended' | 'session ended' | undefined> {
  const { id, number } = { ...act, ...person };
  const settle = (outcome: Outcome, reason: string | null = null) =>
    services.database.commit(() => settlePerson({ id, number, outcome, reason }));
  try {
    await run(services, act, person);
    return undefined;
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    if (error instanceof NotWaiting) return undefined;
    if (error instanceof SessionEnded) return 'session ended';
    // Of somebody who holds more, another permission is missing.
    if (isRoleEnded(act, error)) return 'role ended';
    if (error instanceof NotNeeded) await settle('nothing');
    else if (error instanceof Failure) await settle('refused', error.message);
    else {
      services.failed(error);
      await settle('failed');
    }
    return undefined;
  }
}

const isRoleEnded = ({ act }: BulkAct, error: unknown): boolean =>
  error instanceof InsufficientPermission &&
  !(error instanceof CannotOpen) &&
  neededFor(act).includes(error.permission);

/** The roles of the operator in the session in which they began the act, which is none of developers; undefined where that has ended. */
function* heldFor(
  { accountId, sid }: BulkAct,
  acting: Omit<Parameters<typeof heldInSession>[1], 'policy'>,
): Work<OperatorRights | undefined> {
  const hash = yield* hashOfSession({ accountId, sid });
  return hash === undefined ? undefined : yield* heldInSession({ hash, accountId }, { ...acting, policy: 'off' });
}

/** The ordinary act on one person, with the session and the rights that the operator has at this moment. */
async function run(services: BulkDispatcherServices, act: BulkAct, { number, accountId }: Waiting): Promise<void> {
  const { clock } = services;
  const kind = bulkActKind(act.act);
  const { permission, objects } = kind;
  const held = await services.database.read(() => heldFor(act, { now: clock(), locks: false }));
  if (held === undefined) throw new SessionEnded();
  const operator = { id: act.accountId, ...held };
  const origin: Origin = { ...act.origin, roles: roleNamesOf(held) };

  function* needed<T>(work: () => Work<T>): Work<T> {
    if ((yield* holdRunning({ id: act.id })) === undefined) throw new NotWaiting();
    if (!(yield* kind.isNeeded(accountId, act.parameters))) throw new NotNeeded();
    return yield* work();
  }

  function* note(): Work<string | null> {
    const isTold = kind.bars === true && mayEndMade(operator);
    return isTold ? noteMade(accountId, yield* allMadeBy(accountId, clock())) : null;
  }

  const acting = actingDatabase(settling(services.database, { act, number, makes: handsOut(permission), note }), {
    acts: true,
    *verify(locks) {
      const current = yield* heldFor(act, { now: clock(), locks, actedOn: accountId });
      Object.assign(operator, current ?? heldByRoles([]));
      return current !== undefined;
    },
    ended: async () => new SessionEnded(),
    *admit(locks, places) {
      requireBulkPermission(operator, act.act);
      const params =
        objects.group === undefined ? { id: accountId } : { id: act.parameters.groupId, userId: accountId };
      const asked = { permission, objects, acts: true, params, query: {}, body: {} };
      yield* admit(operator, asked, { now: clock(), locks, places });
    },
    refused: (refusal) =>
      services.recordThrottled({
        ...{ at: clock(), type: 'operator.refused', outcome: 'failure', origin },
        details: { permission: refusal.permission, reason: refusal.permission },
      }),
  });
  const database: Database = { ...acting, commit: (work) => acting.commit(() => needed(work)) };
  await kind.run({ ...services, database, operator }, accountId, act.parameters, origin);
}

interface Settling {
  readonly act: BulkAct;
  readonly number: number;
  readonly makes: boolean;
  /** What is noted of a person who was acted on. */
  readonly note: () => Work<string | null>;
}

/** A database whose commit also notes that the person was acted on. */
function settling(database: Database, { act: { id }, number, makes, note }: Settling): Database {
  const base = makes ? makingDatabase(database) : database;
  return {
    ...base,
    commit<T>(work: () => Work<T>): Promise<T> {
      return base.commit(function* settled(): Work<T> {
        const result = yield* work();
        const reason = yield* note();
        if (!(yield* settlePerson({ id, number, outcome: 'done', reason }))) throw new NotWaiting();
        return result;
      });
    },
  };
}

/** What a person made as an operator, for the operator who barred them: it goes on. Null for nothing. */
function noteMade(accountId: string, made: Made): string | null {
  if (isNothing(made)) return null;
  const counted = [
    `${made.adminKeys.length + made.roles.length} admin keys and roles`,
    `${made.apps.length + made.upstreams.length} apps and providers`,
    `${made.settings.length + made.unblockedDomains.length} settings`,
    `${made.access.length + made.accounts.length} people let in or accounts`,
    `${made.changedRights.length} rights of others that were changed or taken away`,
    `${made.through.length} accounts of others through which it was made`,
  ].filter((text) => !text.startsWith('0 '));
  return `What this person made as an operator goes on: ${counted.join(', ')}. End it with: tessera user suspend ${accountId} --end-made`;
}
