import { availableParallelism, release, type } from 'node:os';
import type { Outcome } from './trial.ts';

const HEAD = ['Fault', 'Store', 'Times', 'Acknowledged', 'Without an answer', 'Retries refused', 'Violations'];

/** The results as a table of Markdown, which a terminal shows as well, and what else was measured. */
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

/** What each fault is, by its name or the beginning of several names. */
const EXPLANATIONS: readonly (readonly [names: readonly string[], text: string])[] = [
  [
    ['node-sqlite', 'node-postgres'],
    '`kill -9` of the only node after a random number of answers. Another starts on what it left behind.',
  ],
  [
    ['postgres'],
    '`kill -9` of one process of PostgreSQL that works for a node, after which PostgreSQL ends the others and recovers; and each fifth time of all its processes, and its start on the same data.',
  ],
  [
    ['wal-*', 'shm-*', 'database-*', 'secret-*'],
    'After `kill -9` of the node, a file of SQLite or the secret is deleted, cut, flipped, overwritten or replaced, as the row of the results says. Either the next start is refused in words that name a remedy, and with the files put back all is as it was; or it starts, and nothing is lost. Where the refusal names `tessera recover --accept-loss`, that is done on a copy: no token, code or session from before works afterwards.',
  ],
  [['disk'], 'The file system of SQLite has no byte left until 20 changes have failed; then there is room again.'],
  [['file-size'], 'The same by a limit on the size of files, which needs no right to mount.'],
  [
    ['descriptors-*'],
    'A node may have 64 or 128 file descriptors, and gets three times as many sockets. It answers or refuses, and recovers when they go.',
  ],
  [
    ['memory-*'],
    'A limit on the memory of a running node (`RLIMIT_DATA`), a few MiB above what it has, under which it dies at some point under load. Another starts.',
  ],
  [
    ['sockets-*'],
    '6,000 sockets beside the load: a third send a header and a third a body octet by octet, and a third are kept idle. What the node closes is opened again.',
  ],
  [['unreachable-refused'], 'For a minute PostgreSQL refuses connections, and those that there were are cut.'],
  [
    ['unreachable-silent'],
    'For a minute bytes between node and PostgreSQL vanish, while connections stand. Then they pass again.',
  ],
  [
    ['unreachable-lost'],
    'The same, but what was connected before stays silent for ever, as behind a firewall that forgot it.',
  ],
  [
    ['commit'],
    'PostgreSQL has done a COMMIT; the connection is cut before its answer reaches the node. At random, until every kind of change has met it.',
  ],
  [
    ['standby-lagging'],
    'A standby stops to replay what the primary sends, and every other new connection of the node ends there. What was revoked since is not accepted.',
  ],
  [
    ['standby-silent'],
    'A synchronous standby is silent for 15 seconds, and commits hang: reads go on, and the node takes no more than its 16 connections. In turns it then comes back; or the primary is killed and the standby takes over, with every change that was acknowledged.',
  ],
  [
    ['pgbouncer'],
    'PgBouncer in session mode between node and PostgreSQL, ended in turns by `kill -9` and by SIGTERM, and started again.',
  ],
  [['clocks'], 'Two nodes on one PostgreSQL, the clock of one five seconds ahead; every connection may end at either.'],
  [
    ['clock-ahead', 'clock-behind'],
    'Beside a right node under load another starts whose clock is 100 days ahead or an hour behind, and does each second what it does each minute. It is not ready and answers 503 or as the right one does; what callers hold with the right one, live tokens, chains of refresh tokens, codes and sessions, survives.',
  ],
  [
    ['restart'],
    'Three nodes are stopped with SIGTERM and started again, one after another, with 20,000 requests or more beside the load. Half of the callers come through a balancer that asks for readiness, half go to one node until it answers `Connection: close`. None may fail.',
  ],
  [
    ['next-version'],
    'Beside a running node one of a later version starts, and adds columns to the tables. The old one goes on with right answers, and says that it is not ready.',
  ],
];

/** The page of the documentation, with the results as its last recorded output. @param leftOut what could not be tried, and why */
export function page(outcomes: readonly Outcome[], seconds: number, leftOut: readonly string[] = []): string {
  const rows = EXPLANATIONS.map(([names, text]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${text} |`);
  const missing = leftOut.map((text) => `- ${text}\n`).join('');
  return `# Faults, and that nothing is lost

<!-- not run: it takes twenty minutes -->
\`\`\`sh
npm run faults                                       # all of them, in about twenty minutes
npm run faults -- --only node-postgres --times 1000
npm run faults -- --record                           # writes this page anew
\`\`\`

The nodes are processes of \`tessera serve\`, the databases a file and PostgreSQL 18 servers of the script's own. People
use them side by side the whole time: they sign up, consent, exchange codes, refresh, and are edited, revoked, banned,
suspended and freed through the admin API. Each waits for an answer before the next request, and what is not answered, or
answered 503, is sent again. Nothing in between is replaced by a stand-in: processes are killed, files are damaged, disks are
filled, bytes are withheld.

| Fault | What happens |
|---|---|
${rows.join('\n')}

After each fault, and once more at the end when nothing is under way:

- **No acknowledged change is lost**: accounts, edits, bans and their ends, consents and revocations are there; live tokens
  work; revoked, banned, suspended and ended ones are refused with the answer of the contract.
- **A retry succeeds or is refused as the rules have it**: a refresh sent again within 30 seconds gets the successor that the
  first attempt was not told; a code sent again whose first exchange was done is \`invalid_grant\`, and its tokens die
  ("Retries refused"). Any other refusal counts as a loss.
- **No orphaned live token**: read straight from the database, every live family of tokens is one that somebody was given,
  with that very refresh token as its last, and with its grant, account, client and the one code that it came from.
- **A change and its record stand or fall together**: issues, rotations, revocations, deaths of families, bans and suspensions
  are compared with the audit trail, one by one. The file of SQLite is checked for damage.
- While the database is out of reach, live, revoked and wrong credentials of every kind are answered 503 with
  \`Retry-After\`, after about five seconds at most; none is accepted or refused unchecked. Afterwards the service is back by itself. While
  a disk is full, reads and verdicts go on.

Whatever else comes is a violation: it is printed with what was expected and what came, and the command ends with status 1.
A short sample runs with the tests (\`test/faults/\`).

## Last recorded output

${new Date().toISOString().slice(0, 10)}, ${type()} ${release().split('-')[0]}, ${availableParallelism()} processors, Node ${process.versions.node}, in ${seconds} seconds.

${table(outcomes)}
${missing}`;
}
