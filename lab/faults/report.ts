import { availableParallelism, release, type } from 'node:os';
import type { Outcome } from './trial.ts';

const HEAD = ['Fault', 'Store', 'Times', 'Acknowledged', 'No response', 'Retries rejected', 'Violations'];

/** The results as a Markdown table, readable in a terminal too, followed by the other measurements. */
export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome) => [
    outcome.fault,
    outcome.store,
    ...[outcome.times, outcome.acknowledged, outcome.unanswered, outcome.refused, outcome.violations.length].map((n) =>
      n.toLocaleString('en'),
    ),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => (n < 2 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, n) => (n < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const notes = outcomes.flatMap(({ fault, notes }) => notes.map((note) => `- ${fault}: ${note}.`));
  return [line(HEAD), rule, ...rows.map(line), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

/** A description of each fault, by its name or by a prefix with `*`. */
const EXPLANATIONS: readonly (readonly [names: readonly string[], text: string])[] = [
  [
    ['node-sqlite', 'node-postgres'],
    '`kill -9` of the only node after a random number of responses. Another node starts on the same data.',
  ],
  [
    ['process-*'],
    'A service of two processes on one port, of which one is ended by `kill -9` after a random number of responses; the supervisor replaces it. Every fifth time the supervisor is, and the service starts again.',
  ],
  [
    ['postgres'],
    '`kill -9` of one PostgreSQL backend of a node, after which PostgreSQL ends the others and recovers. Every fifth time, of all its processes, followed by a start on the same data.',
  ],
  [
    ['wal-*', 'shm-*', 'database-*', 'secret-*'],
    'After `kill -9` of the node, a file of SQLite or the secret is deleted, truncated, altered, overwritten or replaced, as the results say. Either the next start fails with an error that names a remedy, and everything works again once the files are restored; or it succeeds, and nothing is lost. If the error names `tessera recover --accept-loss`, that command runs on a copy: no earlier token, code or session works afterwards.',
  ],
  [['disk'], 'The file system of SQLite is full until 20 changes have failed; then there is space again.'],
  [['file-size'], 'The same through a limit on the file size, which requires no right to mount file systems.'],
  [
    ['descriptors-*'],
    'A node is limited to 64 or 128 file descriptors, and callers open three times as many sockets. It responds or rejects, and recovers when they close.',
  ],
  [
    ['memory-*'],
    'The memory of a running node is limited (`RLIMIT_DATA`) to a few MiB more than it uses, so that it dies at some point under load. Another node starts.',
  ],
  [
    ['sockets-*'],
    '6,000 sockets in addition to the load: a third send a header and a third a body byte by byte, and a third stay idle. Sockets that the node closes are opened again.',
  ],
  [['unreachable-refused'], 'For a minute PostgreSQL refuses connections, and existing ones are cut.'],
  [
    ['unreachable-silent'],
    'For a minute all bytes between node and PostgreSQL are withheld, while connections stay open. Then they pass again.',
  ],
  [
    ['unreachable-lost'],
    'The same, but earlier connections stay silent permanently, as behind a firewall that has lost its state.',
  ],
  [
    ['commit'],
    'PostgreSQL has executed a COMMIT, and the connection is cut before the response reaches the node. At random, until it has hit every kind of change.',
  ],
  [
    ['standby-lagging'],
    'A standby stops replaying changes, and every other new connection of the node leads to it. Tokens revoked since then are not accepted.',
  ],
  [
    ['standby-silent'],
    'A synchronous standby is silent for 15 seconds, and commits hang. Reads continue, and the node uses no more than its 16 connections. Then the standby resumes; the last time, the primary is killed instead and the standby takes over, with every acknowledged change.',
  ],
  [
    ['pgbouncer-*'],
    'PgBouncer in session or transaction mode between node and PostgreSQL is ended alternately by `kill -9` and SIGTERM, and started again.',
  ],
  [['clocks'], 'Two nodes on one PostgreSQL, the clock of one five seconds ahead. A connection may lead to either.'],
  [
    ['clock-ahead', 'clock-behind'],
    'In addition to a node under load, another one starts with a clock that is 100 days ahead or an hour behind, and with housekeeping every second instead of every minute. It is not ready, and responds with 503 or as the correct node would. Live tokens, refresh token chains, codes and sessions of the correct node survive.',
  ],
  [
    ['restart'],
    'Three nodes are stopped with SIGTERM and started again, one after another, during at least 20,000 requests in addition to the load. Half of the callers use a load balancer that checks readiness, half use one node until it sends `Connection: close`. No request may fail.',
  ],
  [
    ['stop-*'],
    'A service of one process, then one of two, is told to stop while its log is written to a full disk or has no reader, PostgreSQL is halted (`SIGSTOP`), or one of its processes is, also while it hashes passwords. Until then it responds as far as it can; it ends within ten seconds, with status 0.',
  ],
  [
    ['next-version'],
    'In addition to a running node, one of a later version starts and adds columns to the tables. The old node keeps responding correctly, and reports that it is ready.',
  ],
];

/** A run of all faults. */
interface Run {
  readonly outcomes: readonly Outcome[];
  readonly seconds: number;
  /** Faults that could not be run, with the reason. */
  readonly leftOut: readonly string[];
  /** How the nodes were run, where it was not as usual. */
  readonly how: string;
}

const OUTPUT = '## Last recorded output';

/** The documentation page, with the results as the last recorded output of such a run. @param before what it was */
export function page(before: string, { outcomes, seconds, leftOut, how }: Run): string {
  const title = [OUTPUT, ...(how === '' ? [] : [how])].join(' ');
  const rows = EXPLANATIONS.map(([names, text]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${text} |`);
  const output = `${title}

${new Date().toISOString().slice(0, 10)}, ${type()} ${release().split('-')[0]}, ${availableParallelism()} processors, Node ${process.versions.node}, in ${seconds} seconds.

${table(outcomes)}
${leftOut.map((text) => `- ${text}\n`).join('')}`;
  // What other runs wrote stays.
  const others = before
    .split(new RegExp(`^(?=${OUTPUT})`, 'm'))
    .slice(1)
    .map((section) => `${section.trimEnd()}\n`);
  const sections = [...others.filter((section) => !section.startsWith(`${title}\n`)), output];
  return `# Fault injection

\`npm run faults\` injects faults under load and checks that no acknowledged change is lost.

<!-- not run: it takes twenty minutes -->
\`\`\`sh
npm run faults                                       # all faults, in about twenty minutes
npm run faults -- --only node-postgres --times 1000
npm run faults -- --processes 2                      # each node is a service of two processes on one port
npm run faults -- --pooled                           # nodes reach PostgreSQL through PgBouncer in transaction mode
npm run faults -- --record                           # rewrites this page
\`\`\`

The nodes are processes of \`tessera serve\`. The databases are a SQLite file and PostgreSQL 18 servers that the script starts.
Simulated people use them concurrently all the time: they sign up, consent, exchange codes and refresh; the admin API edits, revokes,
bans, suspends and reinstates them. Each waits for a response before the next request, and repeats a request without a response or
with 503. No component is mocked: processes are killed, files damaged, disks filled, and bytes withheld.

## Faults

| Fault | Description |
|---|---|
${rows.join('\n')}

## Checks

After each fault, and again at the end when no request is in progress:

- **No acknowledged change is lost**: accounts, edits, bans and their ends, consents and revocations are present. Live tokens work;
  revoked, banned, suspended and ended ones are rejected with the contract's response.
- **A retry succeeds, or is rejected as specified**: a refresh that is repeated within 30 seconds gets the successor that the first
  response would have contained. A repeated code whose first exchange had succeeded is \`invalid_grant\`, and its tokens end
  ("Retries rejected"). Any other rejection counts as a loss.
- **No orphaned live token**: read directly from the database, every live token family was issued to a simulated person, with exactly
  the current refresh token that this person holds, and with its grant, account, client and the one code that it came from.
- **A change and its audit event exist together or not at all**: tokens issued, rotations, revocations, ended families, bans and
  suspensions are compared with the audit trail, one by one. The SQLite file is checked for damage.
- **During an outage of the database**, live, revoked and wrong credentials of every kind get 503 with \`Retry-After\`, after at most
  about five seconds. None is accepted or rejected unchecked. Afterwards the service recovers without intervention. While a disk is
  full, reads and verdicts continue.

Any other result is a violation: the script prints what was expected and what happened, and exits with status 1. A short sample runs
with the tests (\`lab/faults/\`).

${sections.sort().join('\n')}`;
}
