import { changes, command, one } from '../platform/database/statement.ts';

/** A request that was begun, and its answer once there is one. */
export interface KnownRequest {
  readonly fingerprint: string;
  readonly status: number | null;
  /** Sealed: it may hold a secret that is shown once. */
  readonly answer: string | null;
}

/** Notes that a request is begun; false where it was before, and its day is not over. */
export const beginRequest = changes((db, p: { hash: string; fingerprint: string; now: number; expiresAt: number }) =>
  db
    .insertInto('idempotent_request')
    .values({ hash: p.hash, fingerprint: p.fingerprint, status: null, answer: null, expires_at: p.expiresAt })
    .onConflict((conflict) =>
      conflict
        .column('hash')
        .doUpdateSet({ fingerprint: p.fingerprint, status: null, answer: null, expires_at: p.expiresAt })
        .where('idempotent_request.expires_at', '<=', p.now),
    )
    .returning('hash'),
);

export const findRequest = one(
  (db, p: { hash: string; now: number }) =>
    db
      .selectFrom('idempotent_request')
      .select(['fingerprint', 'status', 'answer'])
      .where('hash', '=', p.hash)
      .where('expires_at', '>', p.now),
  (row): KnownRequest => row,
);

export const saveAnswer = command((db, p: { hash: string; status: number; answer: string }) =>
  db.updateTable('idempotent_request').set({ status: p.status, answer: p.answer }).where('hash', '=', p.hash),
);

/** Forgets a request that came to nothing. */
export const forgetRequest = command((db, p: { hash: string }) =>
  db.deleteFrom('idempotent_request').where('hash', '=', p.hash),
);
