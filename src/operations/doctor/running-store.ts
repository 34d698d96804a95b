import { deadMails } from '../../mail/store.ts';
import { one } from '../../platform/database/statement.ts';
import { currentLeases } from '../../platform/ids/lease-store.ts';

/** How many messages were given up, and how many node numbers are leased. */
export const countForDoctor = one(
  (db, p: { now: number }) =>
    db
      .selectFrom(deadMails(db).as('mails'))
      .innerJoin(currentLeases(db, p).as('leases'), (join) => join.onTrue())
      .select(['mails.count as dead', 'leases.count as leases']),
  ({ dead, leases }) => ({ dead: Number(dead), leases: Number(leases) }),
);
