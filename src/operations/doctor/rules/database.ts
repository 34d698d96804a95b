import type { DatabaseFacts, PostgresFacts, SqliteFacts } from '../../../platform/database/inspection.ts';
import type { MigrationState, UnfinishedMigration } from '../../../platform/database/migrations/position.ts';
import { configurationProblem, type Finding, ok, problem, tabulate, warning } from '../finding.ts';

const MEBIBYTE = 1024 * 1024;

/** Where the database is, or why it cannot be read, in the words of a start that fails for it. */
export type DatabaseSight =
  | { readonly kind: 'none'; readonly place: string }
  | {
      readonly kind: 'unusable';
      readonly problems: readonly string[];
      /** Which database it is, if the problems do not say so. */
      readonly place: string | undefined;
    }
  | { readonly kind: 'there'; readonly facts: DatabaseFacts };

export function judgeDatabase(sight: DatabaseSight): Finding[] {
  if (sight.kind === 'none') {
    return [
      ok('database', `There is none yet at ${sight.place}. The first start creates it, and so does: tessera migrate`),
    ];
  }
  if (sight.kind === 'unusable') {
    const otherwise = 'Correct TESSERA_DATABASE_URL, or repair the database.';
    return sight.problems.map((text) => {
      const finding = configurationProblem('database', text.replace(/^The database cannot be used: /, ''), otherwise);
      return sight.place === undefined ? finding : { ...finding, found: `${sight.place}: ${finding.found}` };
    });
  }
  return sight.facts.kind === 'sqlite' ? judgeFile(sight.facts) : judgeServer(sight.facts);
}

const amount = (bytes: number): string =>
  bytes < 1024 * MEBIBYTE ? `${Math.ceil(bytes / MEBIBYTE)} MiB` : `${Math.floor(bytes / MEBIBYTE / 1024)} GiB`;

const bytes = (count: number): string => (count < MEBIBYTE ? `${count} bytes` : amount(count));

/** Who besides the owner can read a file, by its permissions and those of its folder. */
export function othersWhoRead(mode: number, folderMode: number): 'all users' | 'its group' | undefined {
  if ((mode & 0o004) !== 0 && (folderMode & 0o001) !== 0) return 'all users';
  if ((mode & 0o040) !== 0 && (folderMode & 0o010) !== 0) return 'its group';
  return undefined;
}

/** Files that others can read: a problem if they are all users, and a warning if they are a group. */
export const levelOfReader = (reader: ReturnType<typeof othersWhoRead>): false | 'warning' | 'problem' =>
  reader === undefined ? false : reader === 'all users' ? 'problem' : 'warning';

function judgeFile(facts: SqliteFacts): Finding[] {
  const { path, size, free, damage, network, wal } = facts;
  const reader = othersWhoRead(facts.mode, facts.folderMode);
  // Commits and the journal need space, and a backup on the same disk as much as the database.
  const full = free < 64 * MEBIBYTE;
  const findings = tabulate('database', [
    [
      damage.length > 0 && 'problem',
      `${path} is damaged: ${damage.join('; ')}.`,
      'Stop the server, and restore a backup.',
    ],
    [
      !facts.writable && 'problem',
      `This user may not write to ${path} and its folder.`,
      'Run the command as the user of the server, or give the folder and its files to this user.',
    ],
    [levelOfReader(reader), `${path} can be read by ${reader} on this machine.`, `chmod 600 '${path}'*`],
    [
      network !== undefined && 'problem',
      `${path} is on ${network}: the locks and the journal of SQLite do not work over a network.`,
      'Move the data to a disk of this machine (TESSERA_DATA_DIR), or use PostgreSQL.',
    ],
    [full && 'problem', `Only ${amount(free)} are free on the disk of ${path}.`, 'Free up space on that disk.'],
    [
      !full && free < Math.max(size, 1024 * MEBIBYTE) && 'warning',
      `${amount(free)} are free on the disk of ${path} (${amount(size)}).`,
      'Free up space on that disk.',
    ],
    [
      !wal && 'warning',
      `${path} has no write-ahead log, so reads wait for writes.`,
      'Start the server, which enables it, and make sure that no other program changes the setting.',
    ],
  ]);
  if (findings.length > 0) return findings;
  return [
    ok('database', `SQLite at ${path}: intact, ${amount(size)}, ${amount(free)} free, readable only by its owner.`),
  ];
}

function judgeServer(facts: PostgresFacts): Finding[] {
  const { release, roundTrip, maxConnections, poolSize, pooled } = facts;
  const trip = `${roundTrip < 10 ? roundTrip.toFixed(1) : roundTrip.toFixed(0)} ms`;
  const nodes = Math.floor(maxConnections / poolSize);
  const room = pooled
    ? 'connections are not checked, because a pooler, which alone knows how many it may open, shares them among nodes (PgBouncer: SHOW POOLS)'
    : `it has enough connections for ${nodes} nodes`;
  const left = maxConnections - facts.usedConnections;
  return [
    ok('database', `PostgreSQL ${release} accepts writes; a round trip takes ${trip}; ${room}.`),
    ...judgeHosts(facts),
    ...facts.cautions.map(({ found, remedy }) => warning('database', found, remedy)),
    ...tabulate('database', [
      [
        ['off', 'local', 'remote_write'].includes(facts.synchronousCommit) && 'ok',
        `synchronous_commit is ${facts.synchronousCommit} on the PostgreSQL server; Tessera sets it to on for its own connections.`,
      ],
      [
        roundTrip > 5 && 'warning',
        `A round trip takes ${trip}, and a request waits for several.`,
        'Run Tessera close to the primary, in the same zone.',
      ],
      // During an upgrade, the old and the new node run at the same time.
      [
        nodes === 1 && !pooled && 'warning',
        `The server offers ${maxConnections} connections, and one node uses up to ${poolSize}.`,
        `Raise max_connections to ${poolSize} for each node and one additional node.`,
      ],
    ]),
    ...(nodes < 1 && !pooled ? facts.tooFew.map(({ found, remedy }) => problem('database', found, remedy)) : []),
    ...tabulate('database', [
      [
        left < poolSize && !pooled && (left < 2 ? 'problem' : 'warning'),
        `${facts.usedConnections} of the ${maxConnections} connections are in use: a node that starts now may get none.`,
        'Raise max_connections, or close connections of other programs: SELECT pid, usename, application_name FROM pg_stat_activity',
      ],
      [
        !facts.local && !facts.encrypted && 'warning',
        `The connection ${pooled ? 'of the pooler ' : ''}to another machine is not encrypted.`,
        `Enable TLS on the server, and ${pooled ? 'in the pooler (PgBouncer: server_tls_sslmode = verify-full)' : 'add ?sslmode=verify-full to TESSERA_DATABASE_URL'}.`,
      ],
    ]),
  ];
}

const REBUILD = 'Start it as a standby of the primary, or take it out of TESSERA_DATABASE_URL.';

/** Which host is the primary, why the others are not used, and whether a fail-over loses nothing. */
function judgeHosts({ hosts, standbys, standbyNames }: PostgresFacts): Finding[] {
  const findings = hosts.map(({ name, role, timeline, behind, reason = '' }) => {
    const on = timeline === undefined ? '' : ` on timeline ${timeline}`;
    if (role === 'primary') return ok('database', `${name} is the primary${on}.`);
    if (role === 'other')
      return warning('database', `${name} is not used: it ${reason}`.replace(/it ([A-Z])/, '$1'), REBUILD);
    const lag = behind === undefined ? '' : `, ${bytes(behind)} behind`;
    return ok('database', `${name} is a standby${on}${lag}: not used while it is one.`);
  });
  if (hosts.length === 0 && standbys.length === 0) return findings;
  const connected = standbys.map(({ name, state, sync }) => `${name} (${sync ?? 'hidden'}, ${state ?? 'hidden'})`);
  const all = connected.length === 0 ? 'No standby is connected' : `Connected standbys: ${connected.join(', ')}`;
  const hidden = standbys.length > 0 && standbys.every(({ sync }) => sync === undefined);
  const safe = standbys.some(({ sync }) => sync === 'sync' || sync === 'quorum');
  const waits = standbyNames !== '';
  return [
    ...findings,
    ...tabulate('database', [
      [
        !waits && 'warning',
        `Commits wait for no standby (synchronous_standby_names is empty): after a fail-over the latest acknowledged changes may be lost, and what was revoked revived. ${all}.`,
        "Let them wait: ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf(); with Patroni: synchronous_mode: true",
      ],
      [
        waits && hidden && 'warning',
        `Commits wait for a standby (synchronous_standby_names is ${standbyNames}), but this user may not see which is synchronous.`,
        'Let it see: GRANT pg_monitor TO <user>;',
      ],
      [
        waits && !hidden && !safe && 'problem',
        `Commits wait for a standby (synchronous_standby_names is ${standbyNames}), and none that it names is connected. ${all}.`,
        'Start the standby, or correct synchronous_standby_names: until then every change gets a 503.',
      ],
      [
        waits && !hidden && safe && 'ok',
        `Commits wait for a standby: a fail-over to it loses nothing that was acknowledged. ${all}.`,
      ],
      // Programs such as pg_receivewal are connected as standbys are.
      [
        hosts.length === 0 && standbys.some(({ name }) => !name.startsWith('pg_')) && 'warning',
        'TESSERA_DATABASE_URL has one host, and its server has standbys: after a promotion, nodes may read from the former primary for up to a minute if that lives on.',
        'Name the standbys, too: postgres://<user>@<host>,<host>/<database>. Behind a proxy, let it close the connections to a server that is not the primary any more.',
      ],
    ]),
  ];
}

/** @param position undefined if the database could not be read */
export function judgeMigrations(
  sight: DatabaseSight,
  position: MigrationState | undefined,
  unfinished: UnfinishedMigration | undefined,
): Finding[] {
  if (sight.kind === 'none') return [];
  if (position === undefined) {
    return [warning('migrations', 'Not checked, because the database cannot be read.', 'Repair the database first.')];
  }
  const { obstacle, pending, later } = position;
  if (obstacle !== undefined) return [configurationProblem('migrations', obstacle.message, 'Restore a backup.')];
  if (later.length > 0) {
    return [
      ok('migrations', `A later version has extended the schema (${later.join(', ')}), and this version runs on it.`),
    ];
  }
  if (pending.length === 0) return [ok('migrations', 'None are pending.')];
  const names = pending.join(', ');
  const rows = unfinished?.rowsDone.toLocaleString('en');
  const begun =
    unfinished === undefined ? '' : ` ${unfinished.name} has gone through ${rows} rows, and continues after them.`;
  const found = `${pending.length} pending: ${names}.${begun}`;
  if (sight.kind === 'there' && sight.facts.kind === 'postgres' && sight.facts.migrating) {
    return [ok('migrations', `${found} A node or command is running them.`)];
  }
  return [warning('migrations', found, 'Run tessera migrate, or start a node of this version.')];
}
