import { constant } from '../../platform/database/columns.ts';
import { many, one } from '../../platform/database/statement.ts';

/** Apps that registered themselves, that no operator has accepted, and that nobody allows any more. */
export const listAbandoned = many(
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('client as c')
      .select('c.id')
      // As in the condition of the index.
      .where('c.registered_by', '=', constant('open'))
      .where('c.accepted_at', 'is', null)
      .where('c.unused_until', 'is', null)
      .where('c.id', '>', p.after)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('consent_grant as g').select('g.id').whereRef('g.client_id', '=', 'c.id'))),
      )
      .orderBy('c.id')
      .limit(p.limit),
  ({ id }) => id,
);

/** Whether an app registered itself that somebody has allowed, so that it may be abandoned. */
export const findUsed = one((db, p: { after: string }) =>
  db
    .selectFrom('client')
    .select('id')
    .where('registered_by', '=', constant('open'))
    .where('accepted_at', 'is', null)
    .where('unused_until', 'is', null)
    .where('id', '>', p.after)
    .limit(1),
);

/** Whether anybody has allowed an app, or took that away lately. */
export const hasGrant = one((db, p: { clientId: string }) =>
  db.selectFrom('consent_grant').select('id').where('client_id', '=', p.clientId).limit(1),
);
