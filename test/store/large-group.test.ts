// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { insertAssignment } from '../../src/access/assignment-store.ts';
import { unassign } from '../../src/account-actions/access/assignments.ts';
import { deleteGroup } from '../../src/account-actions/access/groups.ts';
import { deleteOrganization } from '../../src/account-actions/organizations/organizations.ts';
import { insertGroup } from '../../src/groups/store.ts';
import { insertOrganization } from '../../src/organizations/store.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { command, one } from '../../src/platform/database/statement.ts';
import { openOwnStore } from '../support/own-store.ts';
import { account, client, family, grant, NOW } from './rows.ts';

// Decisions §12: taking away is the change of one row, however many people it concerns.

const MANY = 100_000;
const SIGNED_IN = 250;
/** The first of the people; the others follow. */
const FIRST = 1_000_000;
const ID = { client: '11', group: '12', assignment: '13', organization: '14' } as const;
const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const isPostgres = process.env['TESSERA_TEST_POSTGRES'] !== undefined;

/** How many rows this connection has changed, those of cascades included. */
const changedRows = one(
  (db, _: object) =>
    db.selectNoFrom(
      (isPostgres
        ? sql<number>`(select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::int from pg_stat_xact_user_tables)`
        : sql<number>`total_changes()`
      ).as('rows'),
    ),
  ({ rows }) => Number(rows),
);

/** What a commit did. */
interface Effort {
  statements: number;
  rows: number;
  /** Whether it ended access: it wrote the event of the act. */
  ends: boolean;
}

/** A database that counts what each commit does. */
function counting(database: Database): { readonly database: Database; readonly efforts: Effort[] } {
  const efforts: Effort[] = [];
  const commit: Database['commit'] = (work) => {
    const effort: Effort = { statements: 0, rows: 0, ends: false };
    efforts.push(effort);
    return database.commit(function* count() {
      Object.assign(effort, { statements: 0, rows: 0, ends: false });
      const before = (yield* changedRows({})) ?? 0;
      const unit = work();
      for (let step = unit.next(); ; ) {
        if (step.done === true) {
          effort.rows = ((yield* changedRows({})) ?? 0) - before;
          return step.value;
        }
        effort.statements++;
        if ('actorType' in step.value.params) effort.ends = true;
        step = unit.next(yield step.value);
      }
    });
  };
  return { database: { ...database, commit }, efforts };
}

const COLUMNS = one(
  (db, p: { id: string }) => db.selectFrom('account').selectAll().where('id', '=', p.id),
  (row) => Object.keys(row),
);

/** Copies an account; names get the number of the copy. */
function* copies(template: string, slice: Slice): Work<void> {
  const columns = (yield* COLUMNS({ id: template })) ?? [];
  const value = (column: string) => {
    if (column === 'id') return sql`${sql.raw(String(FIRST))} + n.i`;
    return ['username', 'email', 'email_key'].includes(column)
      ? sql`t.${sql.ref(column)} || n.i`
      : sql`t.${sql.ref(column)}`;
  };
  yield* command((db, _: object) =>
    db
      .insertInto('account')
      .columns(columns as never)
      .expression((eb) =>
        eb
          .selectFrom(['account as t', numbers(slice).as('n')])
          .select(columns.map((column) => value(column).as(column)) as never)
          .where('t.id', '=', template),
      ),
  )({});
}

/** The whole numbers after one, through another. */
const numbers = ({ after, through }: Slice) =>
  sql<{
    i: number;
  }>`(with recursive n(i) as (select ${sql.lit(after + 1)} union all select i + 1 from n where i < ${sql.lit(through)}) select i from n)`;

/** Part of the people, few enough for one statement. */
interface Slice {
  readonly after: number;
  readonly through: number;
}
const SLICE = 5000;
const slices = (count: number): readonly Slice[] =>
  Array.from({ length: Math.ceil(count / SLICE) }, (_, n) => ({
    after: n * SLICE,
    through: Math.min(count, (n + 1) * SLICE),
  }));

/** A group with many people, of an organization or not, that is assigned to an app where some of them are signed in. */
function* groupOf(inOrganization: boolean): Work<void> {
  const organizationId = inOrganization ? ID.organization : null;
  yield* account('10', 'copied');
  yield* client(ID.client);
  yield* command((db, _: object) =>
    db.updateTable('client').set({ access: 'assigned', status: 'assigned' }).where('id', '=', ID.client),
  )({});
  if (inOrganization) {
    yield* insertOrganization({
      id: ID.organization,
      name: 'large',
      domain: 'large.example',
      requireSecondFactor: false,
      createdAt: NOW,
    });
  }
  yield* insertGroup({
    ...{ id: ID.group, organizationId, name: 'large', displayName: 'Large', description: null, source: 'local' },
    ...{ createdAt: NOW, updatedAt: NOW, deletedAt: null },
  });
  const to = { kind: 'group', groupId: ID.group } as const;
  yield* insertAssignment({ id: ID.assignment, clientId: ID.client, to, role: null, createdAt: NOW });
}

/** Some of them are signed in. */
function* signIns(count: number): Work<void> {
  for (let n = 1; n <= Math.min(SIGNED_IN, count); n++) {
    const accountId = String(FIRST + n);
    const [grantId, familyId] = [String(2 * FIRST + n), String(3 * FIRST + n)];
    yield* grant(grantId, accountId, ID.client);
    yield* family(familyId, { accountId, clientId: ID.client, grantId });
  }
  yield* command((db, _: object) =>
    db.updateTable('token_family').set({
      assignment_id: ID.assignment,
      member_id: sql<string>`(select m.id from group_member as m where m.account_id = token_family.account_id)`,
      account_generation: sql<string>`(select a.generation from account as a where a.id = token_family.account_id)`,
      client_generation: sql<string>`(select c.generation from client as c where c.id = token_family.client_id)`,
    }),
  )({});
}

/** Some of the people, in the group. */
function* peopleIn(slice: Slice, inOrganization: boolean): Work<void> {
  yield* copies('10', slice);
  if (inOrganization) {
    yield* command((db, _: object) =>
      db
        .insertInto('membership')
        .columns(['account_id', 'organization_id', 'role'])
        .expression((eb) =>
          eb
            .selectFrom('account')
            .select([
              'id',
              sql<string>`${sql.raw(ID.organization)}`.as('organization_id'),
              sql<string>`'MEMBER'`.as('role'),
            ])
            .where('id', '>', String(FIRST + slice.after))
            .where('id', '<=', String(FIRST + slice.through)),
        ),
    )({});
  }
  yield* command((db, _: object) =>
    db
      .insertInto('group_member')
      .columns(['group_id', 'account_id', 'organization_id', 'added_at'])
      .expression((eb) =>
        eb
          .selectFrom('account')
          .select([
            sql<string>`${sql.raw(ID.group)}`.as('group_id'),
            'id',
            sql<string>`${sql.raw(inOrganization ? ID.organization : 'cast(null as bigint)')}`.as('organization_id'),
            sql<number>`${sql.raw(String(NOW))}`.as('added_at'),
          ])
          .where('id', '>', String(FIRST + slice.after))
          .where('id', '<=', String(FIRST + slice.through)),
      ),
  )({});
}

type Acting = { readonly database: Database; readonly clock: () => number };
const ACTS: Readonly<
  Record<string, { readonly inOrganization: boolean; readonly end: (acting: Acting) => Promise<unknown> }>
> = {
  'an assignment is taken away': {
    inOrganization: false,
    end: (acting) => unassign({ ...acting, operator: undefined }, ID.client, ID.assignment, origin),
  },
  'the group is deleted': { inOrganization: false, end: (acting) => deleteGroup(acting, ID.group, origin) },
  'its organization is deleted': {
    inOrganization: true,
    end: (acting) => deleteOrganization(acting, ID.organization, origin),
  },
};

/** What each commit of an act does with so many people in the group. */
async function effortsOf(act: string, people: number): Promise<readonly Effort[]> {
  const acting = ACTS[act];
  assert.ok(acting);
  const store = await openOwnStore();
  try {
    await store.database.commit(() => groupOf(acting.inOrganization));
    for (const slice of slices(people)) await store.database.commit(() => peopleIn(slice, acting.inOrganization));
    await store.database.commit(() => signIns(people));
    const { database, efforts } = counting(store.database);
    await acting.end({ database, clock: () => NOW });
    return efforts;
  } finally {
    await store.dispose();
  }
}

describe('access of a group of 100,000 people ends', () => {
  for (const act of Object.keys(ACTS)) {
    test(`${act}: the commit that ends it does what it does for a group of two`, async (t) => {
      const [few, many] = [await effortsOf(act, 2), await effortsOf(act, MANY)];
      const ending = (efforts: readonly Effort[]) => efforts.filter(({ ends }) => ends);
      assert.equal(ending(many).length, 1);
      assert.deepEqual(ending(many), ending(few));
      const [{ statements, rows } = { statements: 0, rows: 0 }] = ending(many);
      assert.ok(statements <= 10 && rows <= 5, `${statements} statements, ${rows} rows`);
      // Before and after, no commit does more than its batch.
      const most = (of: 'statements' | 'rows') => Math.max(...many.map((effort) => effort[of]));
      assert.ok(
        most('statements') <= 600 && most('rows') <= 1100,
        `${most('statements')} statements, ${most('rows')} rows`,
      );
      t.diagnostic(
        `${statements} statements and ${rows} rows in the commit that ends it; at most ${most('statements')} and ${most('rows')} in the ${many.length - 1} others`,
      );
    });
  }
});
