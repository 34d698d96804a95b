import type { QueryConfig } from 'pg';
import type { Row, Step } from '../database.ts';
import type { Sum } from '../statement.ts';
import type { Ask } from './connections.ts';
import { CALLER_NUMBER } from './dialect.ts';
import type { ReadableQuery } from './readable-query.ts';
import { listsOf, type SharedStatement } from './shared-statements.ts';

/** An addition that was committed for a unit of work that then ran alone, with its answer. */
export interface Added {
  readonly statement: Step['statement'];
  readonly of: unknown;
  readonly rows: readonly Row[];
}

export const isAnswerTo = ({ statement, of }: Added, step: Step): boolean =>
  statement === step.statement && of === step.params[statement.build.joint?.sum?.of ?? ''];

/** A step with its statement. */
export interface JointQuery {
  readonly step: Step;
  readonly values: readonly unknown[];
  readonly prepared: SharedStatement;
  readonly query: ReadableQuery;
}

/** The same statement for several members. */
export interface QueryGroup<Member extends JointMember = JointMember> {
  readonly first: JointQuery;
  readonly members: Member[];
  readonly queries: JointQuery[];
}

/** A member of a joint transaction, as far as it asks something. */
export interface JointMember {
  /** An addition that it makes. It has gone on as if the sum was within the limit. */
  adds: JointQuery | undefined;
  /** The step that it waits for. */
  asks: JointQuery | undefined;
  writes: JointQuery[];
  readonly added: Added[];
}

/** Takes note of what was added for the members of a group. */
export function note({ members, queries }: QueryGroup, answers: readonly (readonly Row[])[], sum: Sum): void {
  for (const [index, { step }] of queries.entries()) {
    members[index]?.added.push({ statement: step.statement, of: step.params[sum.of], rows: answers[index] ?? [] });
  }
}

/** Whether a sum is within the limit, so that a unit goes on alike whatever the sum is. */
export const isWithin = ({ params }: Step, { total, most }: Sum, row: Row | undefined): boolean =>
  row !== undefined && Number(row[total]) <= Number(params[most]);

/** What the members ask for or add to now, as few queries. All transactions ask in the same order, and so lock what they add to in it. */
export function grouped<Member extends JointMember>(
  members: readonly Member[],
  what: 'adds' | 'asks',
): readonly QueryGroup<Member>[] {
  const groups = new Map<string, QueryGroup<Member>>();
  for (const member of members) {
    const { [what]: query } = member;
    if (query === undefined) continue;
    const { step, prepared } = query;
    const common = step.statement.build.joint?.sum?.common ?? [];
    const key = JSON.stringify([prepared.alone.name, ...common.map((parameter) => step.params[parameter])]);
    const group = groups.get(key) ?? { first: query, members: [], queries: [] };
    groups.set(key, group);
    group.members.push(member);
    group.queries.push(query);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/** What they write, as few queries. The writes of each keep their order. */
export function writesOf(members: readonly JointMember[]): readonly QueryConfig[] {
  const groups: { readonly first: JointQuery; readonly callers: JointQuery[] }[] = [];
  for (const { writes } of members) {
    let from = 0;
    for (const query of writes) {
      const { prepared, step } = query;
      const index = groups.findIndex(({ first }, index) => index >= from && first.prepared === prepared);
      groups[index]?.callers.push(query);
      from = index === -1 ? groups.push({ first: query, callers: [query] }) - 1 : index;
      // One query changes a row only once.
      if (step.statement.build.joint?.row !== undefined) from++;
    }
  }
  return groups.map(({ first, callers }) => queryFor(first, callers));
}

const queryFor = ({ prepared, query }: JointQuery, callers: readonly Pick<JointQuery, 'values'>[]): QueryConfig =>
  query.with(listsOf(prepared, callers));

/** The rows for each member of a group. */
export async function readFor(ask: Ask, { first, queries }: QueryGroup): Promise<readonly (readonly Row[])[]> {
  const answers: Row[][] = queries.map(() => []);
  const answer = await ask(queryFor(first, queries));
  for (const row of first.query.rowsOf(answer)) answers[Number(row[CALLER_NUMBER]) - 1]?.push(row);
  return answers;
}

/** Adds up what the members of a group add to the same number. Each gets the sum as if they had been added one after the other. */
export async function addFor(ask: Ask, { first, queries }: QueryGroup, sum: Sum): Promise<readonly (readonly Row[])[]> {
  const additions = new Map<unknown, { params: Row; amount: number }>();
  const shares = queries.map(({ step: { params } }) => {
    const of = params[sum.of];
    const upTo = (additions.get(of)?.amount ?? 0) + Number(params[sum.amount]);
    additions.set(of, { params, amount: upTo });
    return { of, upTo };
  });
  const callers = [...additions]
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    .map(([, { params, amount }]) => ({ values: first.prepared.bind({ ...params, [sum.amount]: amount }) }));
  const rows = new Map(first.query.rowsOf(await ask(queryFor(first, callers))).map((row) => [row[sum.of], row]));
  return shares.map(({ of, upTo }) => {
    const row = rows.get(of);
    if (row === undefined) return [];
    const later = (additions.get(of)?.amount ?? 0) - upTo;
    return [{ ...row, [sum.total]: Number(row[sum.total]) - later }];
  });
}
