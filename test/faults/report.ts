import { availableParallelism, release, type } from 'node:os';
import type { Outcome } from './trial.ts';

const HEAD = ['Fault', 'Store', 'Times', 'Acknowledged', 'Without an answer', 'Retries refused', 'Lost or orphaned'];

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

/** The page of the documentation, with the results as its last recorded output. */
export function page(outcomes: readonly Outcome[], seconds: number): string {
  return `# Faults, and that nothing is lost

<!-- not run: it takes ten minutes -->
\`\`\`sh
npm run faults                                       # all of them, in about ten minutes
npm run faults -- --times 1000                       # with a thousand kills of a node on each store
npm run faults -- --only node-postgres --times 1000
npm run faults -- --record                           # writes this page anew
\`\`\`

The nodes are processes of \`tessera serve\`, the databases a file and a PostgreSQL 18 server of the script's own. People
use them side by side the whole time: they sign up, consent, exchange codes, refresh, and are edited, revoked, banned,
suspended and freed through the admin API. Each waits for an answer before the next request, and what is not answered, or
answered 503, is sent again. Nothing in between is replaced by a stand-in: processes are killed, disks are filled, bytes
are withheld.

| Fault | What happens |
|---|---|
| \`node-sqlite\`, \`node-postgres\` | \`kill -9\` of the only node after a random number of answers. Another starts on what it left behind. |
| \`postgres\` | In turns: \`kill -9\` of all processes of PostgreSQL, and its start on the same data; and of one process that works for a node, after which PostgreSQL ends the others and recovers. |
| \`unreachable-refused\` | For a minute PostgreSQL refuses connections, and those that there were are cut. |
| \`unreachable-silent\` | For a minute bytes between node and PostgreSQL vanish, while connections stand. Then they pass again. |
| \`unreachable-lost\` | The same, but what was connected before stays silent for ever, as behind a firewall that forgot it. |
| \`commit\` | PostgreSQL has done a COMMIT; the connection is cut before its answer reaches the node. At random, until every kind of change has met it. |
| \`disk\` | The file system of SQLite has no byte left until 20 changes have failed; then there is room again. |
| \`file-size\` | The same by a limit on the size of files, which needs no right to mount. |
| \`clocks\` | Two nodes on one PostgreSQL, the clock of one five seconds ahead; every connection may end at either. |

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

A short sample runs with the tests (\`test/faults/\`).

## Last recorded output

${new Date().toISOString().slice(0, 10)}, ${type()} ${release().split('-')[0]}, ${availableParallelism()} processors, Node ${process.versions.node}, in ${seconds} seconds.

${table(outcomes)}
`;
}
