import type { Work } from '../platform/database/database.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';

/** How a pending request ended. */
export type InteractionOutcome = 'code' | 'denied' | 'no access';

const INTERACTION = {
  browserHash: storedField('browser_hash', plain<string>()),
  /** See `storedRequest` of `protocol/authorize/rules/request.ts`. */
  json: storedField('request', plain<string>()),
  state: storedField('state', plain<Uint8Array | null>()),
  expiresAt: storedField('expires_at', plain<number>()),
  signedInSession: storedField('signed_in_session', plain<string | null>()),
  chosenSession: storedField('chosen_session', plain<string | null>()),
  /** Null while it is pending. */
  outcome: storedField('outcome', plain<InteractionOutcome | null>()),
} as const;

/** A pending authorization request, bound to the browser that started it. */
export type Interaction = Values<typeof INTERACTION>;

/** A request as it is stored. */
type StoredInteraction = Pick<Interaction, 'json' | 'state'>;

/** A request to store. The key of its row is the hash of its handle. */
export interface NewInteraction extends Pick<Interaction, 'browserHash' | 'expiresAt'> {
  readonly hash: string;
  /** Null for a client that is not on record. */
  readonly clientId: string | null;
  readonly stored: StoredInteraction;
  readonly now: number;
}

const insert = command((db, p: Omit<NewInteraction, 'stored'> & StoredInteraction) =>
  db.insertInto('interaction').values({
    hash: p.hash,
    browser_hash: p.browserHash,
    client_id: p.clientId,
    request: p.json,
    state: p.state,
    created_at: p.now,
    expires_at: p.expiresAt,
    signed_in_session: null,
    chosen_session: null,
    outcome: null,
  }),
);

export const insertInteraction = ({ stored, ...interaction }: NewInteraction): Work<void> =>
  insert({ ...interaction, json: stored.json, state: stored.state });

export const findInteraction = one(
  (db, p: { hash: string }) => db.selectFrom('interaction').select(columnsOf(INTERACTION)).where('hash', '=', p.hash),
  decoder(INTERACTION),
);

/** Records with which session the person chose to continue. */
export const setChosenSession = command((db, p: { hash: string; session: string }) =>
  db.updateTable('interaction').set({ chosen_session: p.session }).where('hash', '=', p.hash),
);

const setSignedInSession = command((db, p: { hash: string; session: string }) =>
  db.updateTable('interaction').set({ signed_in_session: p.session }).where('hash', '=', p.hash),
);

const carrySignedIn = command((db, p: { hash: string; from: string; to: string }) =>
  db
    .updateTable('interaction')
    .set({ signed_in_session: p.to })
    .where('hash', '=', p.hash)
    .where('signed_in_session', '=', p.from),
);

const carryChosen = command((db, p: { hash: string; from: string; to: string }) =>
  db
    .updateTable('interaction')
    .set({ chosen_session: p.to })
    .where('hash', '=', p.hash)
    .where('chosen_session', '=', p.from),
);

/**
 * A session goes on under another secret: the request knows the new one as what it knew the old one for, and as nothing more. A factor
 * that was proved or set up in a session is no sign-in.
 */
export function* carryRequest(hash: string | null, sessions: { from: string; to: string }): Work<void> {
  if (hash === null || sessions.from === sessions.to) return;
  yield* carrySignedIn({ hash, ...sessions });
  yield* carryChosen({ hash, ...sessions });
}

/** A request remembers the session that a person started for it. @param hash null where no request waits */
export function* noteSignedIn(hash: string | null, session: string): Work<void> {
  if (hash !== null) yield* setSignedInSession({ hash, session });
}

/** Binds a pending request to another identity of the browser that started it. */
export const rebindInteraction = command((db, p: { hash: string; from: string; to: string }) =>
  db
    .updateTable('interaction')
    .set({ browser_hash: p.to })
    .where('hash', '=', p.hash)
    .where('browser_hash', '=', p.from),
);

/** Ends a pending request, once: gives false where it had ended before. */
export const finishInteraction = changes((db, p: { hash: string; outcome: InteractionOutcome }) =>
  db
    .updateTable('interaction')
    .set({ outcome: p.outcome })
    .where('hash', '=', p.hash)
    .where('outcome', 'is', null)
    .returning('hash'),
);

const removeAll = command((db, _p: object) => db.deleteFrom('interaction'));

/** Removes every pending request. */
export const removeInteractions = (): Work<void> => removeAll({});
