/** Which server, and which copy of the data on it. */
export interface ServerIdentity {
  /** `system_identifier`: shared by all physical copies of a server. */
  readonly cluster: string;
  /** Each promotion and each recovery begins another one. */
  readonly timeline: number;
  /** The OIDs of the database and of the table of the record: those of data that was restored from a dump are other ones. */
  readonly database: string;
  readonly relation: string;
  /** The major version. */
  readonly release: number;
}

/** What a server says of how it came to be where it is. */
export interface RecoverySigns {
  /** Its settings of a recovery target; empty where it has none. */
  readonly target: string;
  /** Whether it followed a primary until it was promoted; false as well once it was restarted since. */
  readonly followed: boolean;
  /** The history file of its timeline; undefined where this user may not read it. */
  readonly history: string | undefined;
}

/** How the server compares with the one on which the data is known to be complete. */
export type Standing =
  | { readonly kind: 'same' }
  /** By `pg_upgrade`. */
  | { readonly kind: 'upgraded' }
  /** A standby took over. */
  | { readonly kind: 'promoted' }
  /** A standby took over, or the server was recovered from a backup and the whole archive. */
  | { readonly kind: 'unclear' }
  /** What was committed later is missing. */
  | { readonly kind: 'earlier'; readonly sign: string };

/** The reason in a history file where a server was promoted, or had replayed all there was. */
const NO_TARGET = 'no recovery target specified';

/**
 * Tells a fail-over from a restore: both begin another timeline.
 *
 * A recovery to an earlier time leaves its target in the settings and in the history of the timelines. A standby with a target would
 * stop to follow there, so a server that has one was recovered.
 */
export function compareServers(known: ServerIdentity, present: ServerIdentity, signs: RecoverySigns): Standing {
  if (known.cluster !== present.cluster) {
    // `pg_upgrade` keeps the OIDs of tables: https://www.postgresql.org/docs/current/pgupgrade.html
    if (known.relation === present.relation && present.release > known.release) return { kind: 'upgraded' };
    return { kind: 'earlier', sign: `it was on the server ${known.cluster}, and is on ${present.cluster}` };
  }
  if (known.database !== present.database || known.relation !== present.relation) {
    return { kind: 'earlier', sign: 'its tables are not those that it was recorded in' };
  }
  if (known.timeline === present.timeline) return { kind: 'same' };
  const from = `it was on timeline ${known.timeline}, and is on ${present.timeline}`;
  if (signs.target !== '') return { kind: 'earlier', sign: `${from}, with ${signs.target}` };
  const stopped = reasonsSince(known.timeline, signs.history).find((reason) => reason !== NO_TARGET);
  if (stopped !== undefined) return { kind: 'earlier', sign: `${from}, which began ${stopped}` };
  return { kind: signs.followed ? 'promoted' : 'unclear' };
}

/** Why each timeline since one ended: https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES */
function reasonsSince(timeline: number, history = ''): readonly string[] {
  return history.split('\n').flatMap((line) => {
    const [, parent, reason = ''] = /^\s*(\d+)\s+\S+\s+(.+?)\s*$/.exec(line) ?? [];
    return Number(parent) >= timeline ? [reason] : [];
  });
}
