import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { many } from '../platform/database/statement.ts';

interface Through {
  readonly upstreamId: string;
  readonly now: number;
  /** Those that were last used before have ended. */
  readonly idleSince: number;
}

/** The live sessions that began, or were continued, at an upstream: those that end where all that came through it ends. */
const liveThrough = (db: Kysely<Tables>, { upstreamId, now, idleSince }: Through) =>
  db
    .selectFrom('upstream_session as u')
    .innerJoin('account as a', 'a.id', 'u.account_id')
    .innerJoin('browser_session as s', (join) =>
      join
        .onRef('s.account_id', '=', 'u.account_id')
        .onRef('s.sid', '=', 'u.sid')
        .onRef('s.generation', '=', 'a.generation'),
    )
    .where('u.upstream_id', '=', upstreamId)
    .where('s.expires_at', '>', now)
    .where('s.last_seen_at', '>', idleSince);

/** A person who is signed in through an upstream. */
export interface SignedInThrough {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly sessions: number;
}

const listThrough = many(
  (db, p: Through & { readonly limit: number }) =>
    liveThrough(db, p)
      .select(['a.id', 'a.username', 'a.display_name as displayName'])
      .select((eb) => [
        eb.fn.count<number>('s.hash').distinct().as('sessions'),
        // Of all of them, whatever the limit.
        eb.fn.countAll<number>().over().as('people'),
        eb.fn.sum<number>(eb.fn.count('s.hash').distinct()).over().as('browsers'),
      ])
      .groupBy(['a.id', 'a.username', 'a.display_name'])
      .orderBy('a.id')
      .limit(p.limit),
  ({ people, browsers, ...row }) => ({
    person: { ...row, sessions: Number(row.sessions) },
    counts: { people: Number(people), sessions: Number(browsers) },
  }),
);

/** How many people are signed in through an upstream, in how many browsers, and the first of them in the order of their ids. */
export function* signedInThrough(search: Through & { readonly limit: number }): Work<{
  readonly people: number;
  readonly sessions: number;
  readonly first: readonly SignedInThrough[];
}> {
  const rows = yield* listThrough(search);
  return { ...(rows[0]?.counts ?? { people: 0, sessions: 0 }), first: rows.map(({ person }) => person) };
}
