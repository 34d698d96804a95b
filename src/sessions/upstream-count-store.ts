import type { Kysely } from 'kysely';
import type { Tables } from '../platform/database/schema.ts';
import { many, one } from '../platform/database/statement.ts';

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

/** How many people are signed in through an upstream, in how many browsers. */
export const countSignedInThrough = one(
  (db, p: Through) =>
    liveThrough(db, p).select((eb) => [
      eb.fn.count<number>('a.id').distinct().as('people'),
      eb.fn.count<number>('s.hash').distinct().as('sessions'),
    ]),
  ({ people, sessions }) => ({ people: Number(people), sessions: Number(sessions) }),
);

/** A person who is signed in through an upstream. */
export interface SignedInThrough {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly sessions: number;
}

/** Those people, in the order of their ids. */
export const listSignedInThrough = many(
  (db, p: Through & { readonly limit: number }) =>
    liveThrough(db, p)
      .select(['a.id', 'a.username', 'a.display_name as displayName'])
      .select((eb) => eb.fn.count<number>('s.hash').distinct().as('sessions'))
      .groupBy(['a.id', 'a.username', 'a.display_name'])
      .orderBy('a.id')
      .limit(p.limit),
  (row): SignedInThrough => ({ ...row, sessions: Number(row.sessions) }),
);
