/** What differs between connections: time limits of the server, in milliseconds, each shorter than ours; 0 is none. */
export interface ConnectionSettings {
  readonly statement: number;
  readonly lock: number;
  /** For an idle transaction, whose process may have crashed. */
  readonly idle: number;
  /**
   * Whether all that is done is looking up rows by an index. Then no plan goes through a whole table: made while that is small, it would be
   * kept while the table grows.
   */
  readonly lookups: boolean;
}

/** Without `jit`, which is for plans that look expensive, as a plan does that has to go through a table now. */
const OFF_FOR_LOOKUPS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'];

/** Weaker settings of `synchronous_commit`, which acknowledge what is not on disk. A stronger one (`remote_apply`) is kept. */
const DURABLE =
  "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN 'on' " +
  "ELSE current_setting('synchronous_commit') END";

/** Only a warning reports that the wait for a standby was canceled, so warnings must be sent whatever the server's setting. */
const WARNINGS = "'warning'";

/**
 * What Tessera sets, as expressions of a SELECT. It is set with a statement because poolers reject startup parameters.
 * @param local whether it ends with the transaction, instead of the connection
 */
export function settings({ statement, lock, idle, lookups }: ConnectionSettings, local: boolean): string {
  const values = {
    statement_timeout: `'${statement}'`,
    lock_timeout: `'${lock}'`,
    idle_in_transaction_session_timeout: `'${idle}'`,
    client_min_messages: WARNINGS,
    synchronous_commit: DURABLE,
    ...(lookups && Object.fromEntries(OFF_FOR_LOOKUPS.map((name) => [name, "'off'"]))),
  };
  return Object.entries(values)
    .map(([name, value]) => `set_config('${name}', ${value}, ${local})`)
    .join(', ');
}

const TEN_MINUTES = 10 * 60 * 1000;

/**
 * For the transactions of migrations. While one waits for a lock, all others that need the table wait behind it, so this is shorter than
 * they wait.
 */
export const MIGRATION_SETTINGS: ConnectionSettings = {
  ...{ statement: TEN_MINUTES, lock: 2000, idle: TEN_MINUTES },
  lookups: false,
};
