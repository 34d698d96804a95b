import { keepSettingChange, settingChangesOf } from '../operators/setting-store.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';
import { changesSince, valueBefore } from '../platform/kept-changes.ts';

/** What an operator did to a client that somebody who held the operator's account or key may still use. */
export type ClientActKind = (typeof CLIENT_ACTS)[number];
export const CLIENT_ACTS = ['registered', 'accepted', 'enabled', 'secret', 'approved'] as const;

interface ClientAct {
  readonly clientId: string;
  readonly kind: ClientActKind;
  /** Of the secret that was added. */
  readonly secretId: string | null;
  readonly actedAt: number;
}

/** An operator of whose acts on clients is asked. */
export interface MakerOfClients {
  readonly id: string;
  /** What was done earlier stays, */
  readonly since: number;
  /** and what was done at this instant or later. */
  readonly until: number;
  /** Whether an act goes on because the operator may do it without what is ended. */
  readonly goesOn: (
    kind: ClientActKind,
    place: { readonly organizationId: string | null; readonly developerId: string | null },
  ) => boolean;
}

/** Who acts: an operator, or undefined for the command line on the server and for clients that change themselves. */
export interface ClientActor {
  readonly operator: { readonly id: string } | undefined;
}

const remove = command((db, p: StoredAct) =>
  db
    .deleteFrom('client_act')
    .where('operator_id', '=', p.operatorId)
    .where('client_id', '=', p.clientId)
    .where('kind', '=', p.kind)
    .where('secret_id', 'is', null),
);

interface StoredAct extends Pick<ClientAct, 'clientId' | 'secretId'> {
  readonly kind: ClientActKind | typeof DISABLED;
  readonly operatorId: string;
}

/** Stored to know who may enable a client again. Nobody uses it while it is disabled, so that nothing ends with it. */
const DISABLED = 'disabled';

const insert = command((db, p: StoredAct & { now: number }) =>
  db.insertInto('client_act').values({
    operator_id: p.operatorId,
    client_id: p.clientId,
    kind: p.kind,
    secret_id: p.secretId,
    acted_at: p.now,
  }),
);

/** Records what an operator does to a client, in the unit of work that does it and holds the client's lock. */
export function* recordClientAct(
  { operator }: ClientActor,
  clientId: string,
  act: { readonly kind: ClientActKind; readonly secretId?: string },
  now: number,
): Work<void> {
  if (operator === undefined) return;
  const stored = { operatorId: operator.id, clientId, kind: act.kind, secretId: act.secretId ?? null };
  // The latest counts. Each secret is an act of its own.
  if (stored.secretId === null) yield* remove(stored);
  yield* insert({ ...stored, now });
}

/** Forgets that an operator approved an app, once what was issued by that has ended. */
export const removeApprovalAct = command((db, p: { operatorId: string; clientId: string }) =>
  db
    .deleteFrom('client_act')
    .where('operator_id', '=', p.operatorId)
    .where('client_id', '=', p.clientId)
    .where('kind', '=', 'approved'),
);

/** Forgets who added a secret, once it has ended: nothing of that goes on. */
export const removeSecretActs = command((db, p: { secretId: string }) =>
  db.deleteFrom('client_act').where('secret_id', '=', p.secretId),
);

const removeStatusActs = command((db, p: { clientId: string }) =>
  db.deleteFrom('client_act').where('client_id', '=', p.clientId).where('kind', 'in', ['enabled', DISABLED]),
);

const lastDisabler = one(
  (db, p: { clientId: string }) =>
    db.selectFrom('client_act').select('operator_id').where('client_id', '=', p.clientId).where('kind', '=', DISABLED),
  (row) => row.operator_id,
);

/** The status of a client, as its changes have it: it matters who disabled it. */
const ACTIVE = 'active';
const disabledBy = (operatorId = ''): string => `disabled ${operatorId}`;

/**
 * Records who enabled or disabled a client, in the unit of work that does it and holds the client's lock: the last one counts. Also what it
 * was before is kept.
 * @param options.isTakenOver whether the client was disabled already, by somebody else
 */
export function* recordStatusAct(
  { operator }: ClientActor,
  clientId: string,
  status: 'active' | 'disabled',
  now: number,
  { isTakenOver = false }: { readonly isTakenOver?: boolean } = {},
): Work<void> {
  const disabler = yield* lastDisabler({ clientId });
  yield* removeStatusActs({ clientId });
  if (operator === undefined) return;
  const kind = status === 'active' ? 'enabled' : DISABLED;
  const before = status === 'active' || isTakenOver ? disabledBy(disabler) : ACTIVE;
  const after = status === 'active' ? ACTIVE : disabledBy(operator.id);
  const change = { at: now, fields: { status: { before, after } } };
  yield* keepSettingChange({ operator }, { kind: 'app', id: clientId }, change, {});
  yield* insert({ operatorId: operator.id, clientId, kind, secretId: null, now });
}

/** Whether a client was active before the acts of makers that do not go on: those who enabled it then gave it nothing. */
export function* wasActiveBefore(
  makers: readonly MakerOfClients[],
  client: { readonly id: string; readonly organizationId: string | null; readonly developerId: string | null },
): Work<boolean> {
  const changes = [];
  for (const { id, since, until, goesOn } of makers) {
    if (goesOn('enabled', client)) continue;
    changes.push(...changesSince(yield* settingChangesOf(id, { kind: 'app', id: client.id }), since, until));
  }
  return valueBefore(changes, 'status') === ACTIVE;
}

const lastDisabling = one((db, p: { clientId: string; operatorId: string }) =>
  db
    .selectFrom('client_act')
    .select('id')
    .where('operator_id', '=', p.operatorId)
    .where('client_id', '=', p.clientId)
    .where('kind', '=', DISABLED),
);

/** Whether an operator was the last one to disable a client. */
export function* isDisabledBy(of: { readonly clientId: string; readonly operatorId: string }): Work<boolean> {
  return (yield* lastDisabling(of)) !== undefined;
}

const disablingOfOther = one((db, p: { clientId: string; operatorId: string }) =>
  db
    .selectFrom('client_act')
    .select('id')
    .where('operator_id', '!=', p.operatorId)
    .where('client_id', '=', p.clientId)
    .where('kind', '=', DISABLED),
);

/** Whether another operator was the last one to disable a client. */
export function* isDisabledByOther(of: { readonly clientId: string; readonly operatorId: string }): Work<boolean> {
  return (yield* disablingOfOther(of)) !== undefined;
}

interface ActsOf {
  readonly operatorId: string;
  readonly since: number;
  readonly until: number;
}

/** Who hands out an initial access token answers for what registers with it: see `acceptedAt`. */
const registeredWithTokensOf = many(
  (db, p: ActsOf) =>
    db
      .selectFrom('initial_access_token')
      .innerJoin('client', 'client.initial_token_id', 'initial_access_token.id')
      .select(['client.id as client_id', 'client.created_at'])
      .where('initial_access_token.admin_key_id', '=', p.operatorId)
      .where('client.created_at', '>=', p.since)
      .where('client.created_at', '<', p.until)
      .orderBy('client.id'),
  (row): ClientAct => ({ clientId: row.client_id, kind: 'registered', secretId: null, actedAt: row.created_at }),
);

const recordedActs = many(
  (db, p: ActsOf) =>
    db
      .selectFrom('client_act')
      .select(['client_id as clientId', 'kind', 'secret_id as secretId', 'acted_at as actedAt'])
      .where('operator_id', '=', p.operatorId)
      .where('acted_at', '>=', p.since)
      .where('acted_at', '<', p.until)
      .where('kind', 'in', CLIENT_ACTS)
      .orderBy('id'),
  (row): ClientAct => ({ ...row, kind: row.kind as ClientActKind }),
);

/** What an operator did to clients from one instant on, and before another one; what registered with their initial access tokens comes first. */
export function* clientActsSince(of: ActsOf): Work<readonly ClientAct[]> {
  return [...(yield* registeredWithTokensOf(of)), ...(yield* recordedActs(of))];
}
