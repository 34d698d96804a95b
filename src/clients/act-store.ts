import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';

/** What an operator did to a client that somebody who held the operator's account or key may still use. */
export type ClientActKind = 'registered' | 'accepted' | 'enabled' | 'secret' | 'redirect URIs' | 'approved';

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
  /** What was done earlier stays. */
  readonly since: number;
  /** Whether an act goes on because the operator may do it without what is ended. */
  readonly goesOn: (
    kind: ClientActKind,
    place: { readonly organizationId: string | null; readonly developerId: string | null },
  ) => boolean;
}

/** Who acts: an operator, or undefined for the command line on the server and for clients that change themselves. */
export interface ClientActor {
  readonly operator?: { readonly id: string } | undefined;
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

const removeStatusActs = command((db, p: { clientId: string }) =>
  db.deleteFrom('client_act').where('client_id', '=', p.clientId).where('kind', 'in', ['enabled', DISABLED]),
);

/** Records who enabled or disabled a client, in the unit of work that does it and holds the client's lock: the last one counts. */
export function* recordStatusAct(
  { operator }: ClientActor,
  clientId: string,
  status: 'active' | 'disabled',
  now: number,
): Work<void> {
  yield* removeStatusActs({ clientId });
  if (operator === undefined) return;
  const kind = status === 'active' ? 'enabled' : DISABLED;
  yield* insert({ operatorId: operator.id, clientId, kind, secretId: null, now });
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

interface ActsOf {
  readonly operatorId: string;
  readonly since: number;
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
      .orderBy('client.id'),
  (row): ClientAct => ({ clientId: row.client_id, kind: 'registered', secretId: null, actedAt: row.created_at }),
);

const recordedActs = many(
  (db, p: ActsOf) =>
    db
      .selectFrom('client_act')
      .select(['client_id', 'kind', 'secret_id', 'acted_at'])
      .where('operator_id', '=', p.operatorId)
      .where('acted_at', '>=', p.since)
      .where('kind', '<>', DISABLED)
      .orderBy('id'),
  (row): ClientAct => ({
    clientId: row.client_id,
    kind: row.kind as ClientActKind,
    secretId: row.secret_id,
    actedAt: row.acted_at,
  }),
);

/** What an operator did to clients at an instant or later; what registered with their initial access tokens comes first. */
export function* clientActsSince(of: ActsOf): Work<readonly ClientAct[]> {
  return [...(yield* registeredWithTokensOf(of)), ...(yield* recordedActs(of))];
}
