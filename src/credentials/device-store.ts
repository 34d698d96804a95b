import type { Insertable, Kysely } from 'kysely';
import { storedResources } from '../claims/permissions.ts';
import { pick } from '../platform/database/columns.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { DeviceAuthorizationTable } from './tables.ts';

/** How a person answered a device. */
export type DeviceOutcome = 'allowed' | 'denied';

/** What is stored of a device that asks. */
const ASKED = {
  clientId: storedField('client_id', plain<string>()),
  /** The client's generation when the device asked. */
  clientGeneration: storedField('client_generation', plain<string>()),
  /** As a pending request has them: scopes of APIs by the ids of their rows. */
  scopes: storedField('scopes', plain<string>()),
  resources: storedField('resources', storedResources),
  /** The network that the device asked from; null where it is unknown. */
  network: storedField('network', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
} as const;

const NEW_DEVICE = {
  ...ASKED,
  /** The digest of the device code. */
  hash: storedField('hash', plain<string>()),
  /** The keyed digest of the code that the person types: it is short, so a plain one would reveal it. */
  userCode: storedField('user_code', plain<string>()),
  /** In seconds: RFC 8628 §3.2. */
  interval: storedField('poll_interval', plain<number>()),
} as const;

const DEVICE = {
  ...NEW_DEVICE,
  polledAt: storedField('polled_at', plain<number | null>()),
  /** Null until the person has answered. */
  outcome: storedField('outcome', plain<DeviceOutcome | null>()),
  /** The digest of the authorization code that was issued for the device. */
  codeHash: storedField('code_hash', plain<string | null>()),
} as const;

export type NewDevice = Values<typeof NEW_DEVICE>;

/** A device that waits for a person, or has been answered. */
export type WaitingDevice = Values<typeof DEVICE>;

const insert = changes((db, p: Insertable<DeviceAuthorizationTable>) =>
  db
    .insertInto('device_authorization')
    .values(pick(p, [...columnsOf(NEW_DEVICE), 'polled_at', 'outcome', 'code_hash']))
    .onConflict((conflict) => conflict.column('user_code').doNothing())
    .returning('hash'),
);

/** Records a device; gives false where another one has the same user code. */
export const insertDevice = (device: NewDevice) =>
  insert({ ...encode(NEW_DEVICE, device), polled_at: null, outcome: null, code_hash: null });

const select = (db: Kysely<Tables>) => db.selectFrom('device_authorization as d').select(columnsOf(DEVICE));

/** A device that still waits. */
export const findWaitingDevice = one(
  (db, p: { userCode: string; now: number }) =>
    select(db).where('user_code', '=', p.userCode).where('outcome', 'is', null).where('expires_at', '>', p.now),
  decoder(DEVICE),
);

/** Reads a device that the same unit of work is about to change. */
export const lockDevice = one(
  (db, p: { hash: string }) =>
    select(db)
      .where('hash', '=', p.hash)
      .$call((query) => forUpdate(query, 'd')),
  decoder(DEVICE),
);

export const recordPoll = command((db, p: { hash: string; now: number; interval: number }) =>
  db
    .updateTable('device_authorization')
    .set({ polled_at: p.now, poll_interval: p.interval })
    .where('hash', '=', p.hash),
);

/** Records the answer to a locked device. */
export const answerDevice = command((db, p: { hash: string; outcome: DeviceOutcome; codeHash: string | null }) =>
  db.updateTable('device_authorization').set({ outcome: p.outcome, code_hash: p.codeHash }).where('hash', '=', p.hash),
);
