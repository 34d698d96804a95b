import type { Work } from '../../platform/database/database.ts';
import { first, run, statement } from '../../platform/database/statement.ts';
import type { AuthorizationRequest } from './rules/request.ts';
import { restoredRequest, type StoredRequest } from './rules/request.ts';

/** How a pending request ended. */
export type InteractionOutcome = 'code' | 'denied';

/** A pending authorization request, kept here and bound to the browser that began it. */
export interface Interaction {
  readonly hash: string;
  readonly browserHash: string;
  readonly request: AuthorizationRequest;
  readonly expiresAt: number;
  readonly signedInSession: string | null;
  readonly chosenSession: string | null;
  readonly outcome: InteractionOutcome | null;
}

const insert = statement(
  (
    db,
    p: {
      hash: string;
      browserHash: string;
      clientId: string;
      json: string;
      state: Uint8Array | null;
      now: number;
      expiresAt: number;
    },
  ) =>
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
const byHash = statement((db, p: { hash: string }) =>
  db
    .selectFrom('interaction')
    .select(['browser_hash', 'request', 'state', 'expires_at', 'signed_in_session', 'chosen_session', 'outcome'])
    .where('hash', '=', p.hash),
);
const signIn = statement((db, p: { hash: string; session: string }) =>
  db.updateTable('interaction').set({ signed_in_session: p.session }).where('hash', '=', p.hash),
);
const choose = statement((db, p: { hash: string; session: string }) =>
  db.updateTable('interaction').set({ chosen_session: p.session }).where('hash', '=', p.hash),
);
const rebind = statement((db, p: { hash: string; from: string; to: string }) =>
  db
    .updateTable('interaction')
    .set({ browser_hash: p.to })
    .where('hash', '=', p.hash)
    .where('browser_hash', '=', p.from),
);
const finish = statement((db, p: { hash: string; outcome: string }) =>
  db
    .updateTable('interaction')
    .set({ outcome: p.outcome })
    .where('hash', '=', p.hash)
    .where('outcome', 'is', null)
    .returning('hash'),
);

const removeAll = statement((db, _p: object) => db.deleteFrom('interaction'));

export interface NewInteraction extends Pick<Interaction, 'hash' | 'browserHash' | 'expiresAt'> {
  readonly clientId: string;
  readonly stored: StoredRequest;
  readonly now: number;
}

export function* insertInteraction(interaction: NewInteraction): Work<void> {
  const { hash, browserHash, clientId, stored, now, expiresAt } = interaction;
  const { json, state } = stored;
  yield* run(insert, { hash, browserHash, clientId, json, state, now, expiresAt });
}

export function* findInteraction(hash: string): Work<Interaction | undefined> {
  const row = yield* first(byHash, { hash });
  return (
    row && {
      hash,
      browserHash: row.browser_hash,
      request: restoredRequest(row.request, row.state),
      expiresAt: row.expires_at,
      signedInSession: row.signed_in_session,
      chosenSession: row.chosen_session,
      outcome: row.outcome as InteractionOutcome | null,
    }
  );
}

/** Notes which session was begun for a request. */
export function* signInFor(hash: string, session: string): Work<void> {
  yield* run(signIn, { hash, session });
}

/** Notes with which session the person chose to go on. */
export function* chooseFor(hash: string, session: string): Work<void> {
  yield* run(choose, { hash, session });
}

/** Binds a pending request to the lasting identity of the browser that began it under another. */
export function* rebindInteraction(hash: string, from: string, to: string): Work<void> {
  yield* run(rebind, { hash, from, to });
}

/** Ends a pending request, once: answers false where it had ended before. */
export function* finishInteraction(hash: string, outcome: InteractionOutcome): Work<boolean> {
  return (yield* first(finish, { hash, outcome })) !== undefined;
}

/** Removes every pending request. */
export function* removeInteractions(): Work<void> {
  yield* run(removeAll, {});
}
