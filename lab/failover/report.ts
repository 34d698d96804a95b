import { availableParallelism, loadavg, release, type } from 'node:os';
import { table } from '../faults/report.ts';
import type { Outcome } from '../faults/trial.ts';
import { type FailOver, LIMIT } from './fail-over.ts';
import { PATRONI } from './patroni.ts';

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;

/** Each fail-over in a line. */
export function list(all: readonly FailOver[]): string {
  const rows = all.map(
    ({ how, asked, promoted, back, rebuilt }, index) =>
      `| ${index + 1} | ${how} | ${asked === undefined ? '' : seconds(asked)} | ${seconds(promoted)} | ${seconds(back)} | ${seconds(Math.max(0, back - promoted))} | ${rebuilt} |`,
  );
  return [
    '| No. | The primary was | Promotion begun | Promoted | Service back | After the promotion | Rebuilt with |',
    '|---:|---|---:|---:|---:|---:|---|',
    ...rows,
  ].join('\n');
}

/** How the standby came to be promoted. */
export type Promoter = 'by hand' | 'by Patroni';

const HEADING = '## Last recorded output, promoted ';

/** The results of a run, as a section of the page. */
export function section(promoter: Promoter, outcome: Outcome, all: readonly FailOver[], run: Run): string {
  const longest = Math.max(0, ...all.map(({ promoted, back }) => back - promoted));
  const loads = loadavg().map((load) => load.toFixed(0));
  return `${HEADING}${promoter}

${new Date().toISOString().slice(0, 10)}, ${type()} ${release().split('-')[0]}, ${availableParallelism()} processors, Node ${process.versions.node}, ${run.software}, in ${run.seconds} seconds,
with a load average of ${loads[2]} at the end. The service was back at most ${seconds(longest)} after a promotion.

${table([outcome])}

${list(all)}
`;
}

interface Run {
  readonly software: string;
  readonly seconds: number;
}

/** The documentation page with a new section, and the other one as it was. */
export function page(before: string, promoter: Promoter, own: string): string {
  const kept = (of: Promoter): string =>
    before.split(/^(?=## Last recorded output)/m).find((part) => part.startsWith(HEADING + of)) ?? '';
  const sections = (['by hand', 'by Patroni'] as const).map((of) => (of === promoter ? own : kept(of)).trimEnd());
  return `# Fail-over

\`npm run failover\` takes the PostgreSQL primary away under load, promotes its standby, and checks that nothing acknowledged is lost.

<!-- not run: it needs PostgreSQL with pg_basebackup and pg_rewind, and some minutes -->
\`\`\`sh
apt-get install postgresql
npm run failover                        # 20 times
npm run failover -- --times 9 --silent 3 --halted 3
npm run failover -- --patroni --times 5 # apt-get install patroni etcd-server
npm run failover -- --record            # rewrites its part of this page
\`\`\`

Two servers of Debian's PostgreSQL replicate synchronously. Two nodes of \`tessera serve\` have both in their address
(\`127.0.0.1:<port>,127.0.0.1:<port>\`, \`target_session_attrs=read-write\`), and are never restarted. Simulated people use them as in
[fault injection](../faults/README.md): they sign up, consent, exchange codes and refresh; the admin API edits, revokes, bans, suspends and reinstates.
In each round:

1. A token is revoked, and then presented to each node all the time: only 403 and 503 are right answers.
2. All processes of the primary are killed (\`SIGKILL\`). Up to three seconds later the standby is promoted (\`pg_ctl promote\`).
3. Both nodes must be ready again, which includes a durable write, at most ${LIMIT / 1000} seconds after the promotion.
4. The former primary is rebuilt as a standby with \`pg_rewind\`, or with \`pg_basebackup\` where that refuses.
5. Everything that was acknowledged is checked, and the records in the database, as in [fault injection](../faults/README.md#checks).

With \`--silent <n>\`, the primary is halted (\`SIGSTOP\`) instead, until the service is back: its sockets still take connections, and
nothing answers, as when a machine hangs. With \`--halted <n>\`, it is halted in the last rounds, and woken as soon as it was replaced:
what happens without [fencing](../../docs/how-to/use-postgresql.md#fail-over).

With \`--patroni\`, Patroni is killed together with the primary. It promotes the standby when the lock of the former primary in etcd has
expired, which takes up to ${PATRONI.ttl} seconds, and rebuilds the former primary when it is started again. Its settings are those of
[Use PostgreSQL](../../docs/how-to/use-postgresql.md#fail-over) and the shortest \`ttl\` that it accepts: \`ttl: ${PATRONI.ttl}\`,
\`loop_wait: ${PATRONI.loop_wait}\`, \`retry_timeout: ${PATRONI.retry_timeout}\`, \`synchronous_mode: ${PATRONI.synchronous_mode}\`. A round begins when
Patroni has noted the standby as synchronous in etcd, because it promotes no other.

The nodes follow [hosts and timelines](../../docs/decisions/0027-fail-over.md); [Use PostgreSQL](../../docs/how-to/use-postgresql.md#fail-over) says how to set
it up.

${sections.filter(Boolean).join('\n\n')}
`;
}
