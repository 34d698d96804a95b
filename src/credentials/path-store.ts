import type { InferResult, Kysely } from 'kysely';
import { type AssignedTo, assignedTo, hasAccess } from '../access/store.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, decoder, many, one, plain, storedField, type Values } from '../platform/database/statement.ts';

const FAMILY = {
  familyId: storedField('id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  assignmentId: storedField('assignment_id', plain<string>()),
  /** The membership by which the assignment reaches the person; null where the person is assigned. */
  memberId: storedField('member_id', plain<string | null>()),
};
const familyIn = decoder(FAMILY);

/** A token family of an app that is open to assigned people only, with the path that it was issued under. */
export interface FamilyOnPath extends Values<typeof FAMILY> {
  readonly to: AssignedTo;
}

const select = (db: Kysely<Tables>) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('app_assignment as s', 's.id', 'f.assignment_id')
    // What ended with a generation has ended for all: its notices were sent then.
    .innerJoin('account as a', (join) =>
      join.onRef('a.id', '=', 'f.account_id').onRef('a.generation', '=', 'f.account_generation'),
    )
    .innerJoin('client as c', (join) =>
      join.onRef('c.id', '=', 'f.client_id').onRef('c.generation', '=', 'f.client_generation'),
    )
    .select(['f.id', 'f.account_id', 'f.client_id', 'f.member_id', 's.id as assignment_id'])
    .select(['s.account_id as assigned_id', 's.group_id', 's.organization_id'])
    .where('f.dead_at', 'is', null);

const toFamily = (row: InferResult<ReturnType<typeof select>>[number]): FamilyOnPath => ({
  ...familyIn(row),
  to: assignedTo({ account_id: row.assigned_id, group_id: row.group_id, organization_id: row.organization_id }),
});

/** The families that were issued under an assignment, in the order of their ids. */
export const familiesUnder = many(
  (db, p: { assignmentId: string; after: string; limit: number }) =>
    select(db).where('f.assignment_id', '=', p.assignmentId).where('f.id', '>', p.after).orderBy('f.id').limit(p.limit),
  toFamily,
);

/** The families of a person whose paths exist, in apps that are open to assigned people only: the latest first. */
export const familiesWithPath = many(
  (db, p: { accountId: string; limit: number }) =>
    select(db)
      .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
      .where('g.account_id', '=', p.accountId)
      .where('c.status', '=', 'assigned')
      .where(hasAccess('f'), '=', 1)
      .orderBy('f.id', 'desc')
      .limit(p.limit),
  toFamily,
);

/** A family whose path exists, locked; undefined where it has ended, or goes by another path by now. */
export const lockFamilyOnPath = one(
  (db, p: { familyId: string; assignmentId: string }) =>
    select(db)
      .where('f.id', '=', p.familyId)
      .where('f.assignment_id', '=', p.assignmentId)
      .where(hasAccess('f'), '=', 1)
      .$call((query) => forUpdate(query, 'f')),
  toFamily,
);

/** Lets a family go by another path of the same person. The caller holds its lock. */
export const moveFamily = changes((db, p: { familyId: string; assignmentId: string; memberId: string | null }) =>
  db
    .updateTable('token_family')
    .set({ assignment_id: p.assignmentId, member_id: p.memberId })
    .where('id', '=', p.familyId)
    .returning('id'),
);
