// Replaces the nodes of the last release by this version and back, under load: see README.md.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VERSION } from '../../src/platform/version.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { newDatabase } from '../../test/support/postgres-database.ts';
import { ADMIN_KEY, type TestServer } from '../../test/support/server.ts';
import { killSectionOf, withKillSection } from '../releases/kill-report.ts';
import { makePeople, startLoad } from './load.ts';
import { type Sources, startNode, type UpgradeNode } from './node.ts';
import { openProxy } from './proxy.ts';
import { type Phase, report } from './report.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The last release, and the commit that it was made of. */
const LAST = { version: '0.2.0', commit: '41bc579b' };

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '200' },
    nodes: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
});
const requests = values.record ? Math.max(20_000, Number(values.requests)) : Number(values.requests);
const [rate, size] = [Number(values.rate), Number(values.nodes)];
const say = (line: string) => void process.stdout.write(`${new Date().toISOString()}  ${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'tessera-upgrade-'));
const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });

/** The sources of the last release. */
function lastRelease(): Sources {
  const sources = join(folder, 'last');
  try {
    git('worktree', 'add', '--detach', sources, LAST.commit);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The sources of ${LAST.version} (commit ${LAST.commit}) are not in this clone: ${cause}\n` +
        'A shallow clone or a copy without history lacks them. Run: git fetch --unshallow',
    );
  }
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
  return { version: LAST.version, folder: sources };
}

const limits = [
  'SIGN_IN_ACCOUNT',
  'SIGN_IN_ADDRESS',
  'PENDING_ADDRESS',
  'PENDING_BYTES_ADDRESS',
  'AUTHORIZATION',
  'FORM_ACCOUNT',
  'TOKEN',
];

const last = lastRelease();
const current: Sources = { version: VERSION, folder: ROOT };
const postgres = await startPostgres();
const database = await newDatabase(postgres.url);
const proxy = await openProxy();
const settings = {
  ...database.environment,
  TESSERA_BASE_URL: proxy.baseUrl,
  TESSERA_ADMIN_KEY: ADMIN_KEY,
  TESSERA_LOG_LEVEL: 'error',
  TESSERA_DRAIN_SECONDS: '3',
  ...Object.fromEntries(limits.map((name) => [`TESSERA_LIMIT_${name}`, 'off'])),
};
const server = { baseUrl: proxy.baseUrl, now: Date.now } as TestServer;
const nodes: UpgradeNode[] = [];

async function add(sources: Sources): Promise<UpgradeNode> {
  const node = await startNode(sources, settings, say);
  proxy.add(node);
  await proxy.takes(node);
  return node;
}

/** Replaces the nodes one after the other while requests come. */
async function replace(people: Awaited<ReturnType<typeof makePeople>>, title: string, by: Sources): Promise<Phase> {
  const before = proxy.resent();
  const load = startLoad(server, people, rate);
  // The replacements are spread over the requests.
  const until = async (share: number) => {
    while (load.sent() < requests * share) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (const [index, node] of nodes.entries()) {
    await until((index + 0.5) / size);
    say(`${title}: stopping ${node.version} at ${node.port} (${load.sent()} requests)`);
    await node.stop();
    proxy.remove(node);
    nodes[index] = await add(by);
    say(`${title}: ${by.version} at ${nodes[index]?.port} is ready (${load.sent()} requests)`);
  }
  await until(1);
  const counts = await load.stop();
  const sent = Object.values(counts.requests).reduce((a, b) => a + b, 0);
  say(`${title}: ${counts.failures.length} of ${sent} requests failed, ${Math.round(counts.rate)} a second`);
  for (const failure of counts.failures.slice(0, 20)) say(`  ${failure.at} ${failure.request}: ${failure.found}`);
  return { title, counts, resent: proxy.resent() - before };
}

let failed = 0;
try {
  while (nodes.length < size) nodes.push(await add(last));
  say(`${size} nodes of ${last.version} are ready`);
  const people = await makePeople(server, 40);
  say(`${people.length} people are signed in`);
  const phases = [
    await replace(people, `${last.version} → ${current.version}`, current),
    await replace(people, `${current.version} → ${current.version}`, current),
    await replace(people, `${current.version} → ${last.version}`, last),
  ];
  failed = phases.reduce((sum, { counts }) => sum + counts.failures.length, 0);
  if (values.record) {
    const circumstances = { size, rate, processors: cpus().length, last: LAST, current: VERSION };
    const path = join(ROOT, 'lab/upgrade/results.md');
    // The other section is that of `npm run upgrade:kill`.
    const kills = killSectionOf(readFileSync(path, 'utf8'));
    writeFileSync(path, withKillSection(report(phases, circumstances), kills));
  }
} finally {
  for (const node of nodes) if (node.state === 'running') await node.stop();
  await proxy.close();
  await database.drop();
  await postgres.stop();
  git('worktree', 'remove', '--force', last.folder);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
