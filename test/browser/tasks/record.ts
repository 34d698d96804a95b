import { cpus } from 'node:os';
import type { ShownPage, Way } from './hands.ts';

export interface WalkedTask {
  readonly name: string;
  readonly way: Way;
  readonly steps: readonly string[];
  readonly pages: readonly ShownPage[];
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const milliseconds = (time: number): string => time.toFixed(1);

/** The middle and the 95th percentile of the times to a first byte. */
function times(pages: readonly ShownPage[]): string {
  const sorted = pages.map(({ firstByte }) => firstByte).sort((one, other) => one - other);
  return `${milliseconds(quantile(sorted, 0.5))} | ${milliseconds(quantile(sorted, 0.95))}`;
}

/** How high a page was at most; a dash where it was shown on the way to another one alone. */
function highest(pages: readonly ShownPage[]): string {
  const heights = pages.flatMap(({ height }) => height ?? []);
  return heights.length === 0 ? '–' : String(Math.max(...heights));
}

/** The record of the walks, in Markdown. */
export function recordOf(walked: readonly WalkedTask[]): string {
  const tasks = Map.groupBy(walked, ({ name }) => name);
  const rows = [...tasks].map(([name, walks]) => {
    const [first] = walks;
    const slowest = Math.max(...walks.flatMap(({ pages }) => pages.map(({ firstByte }) => firstByte)));
    const ways = walks.map(({ way }) => way).join(', ');
    return `| ${name} | ${first?.steps.join(' → ')} | ${first?.steps.length} | ${first?.pages.length} | ${milliseconds(slowest)} | ${ways} |`;
  });
  const places = Map.groupBy(
    walked.flatMap(({ pages }) => pages),
    ({ path }) => path.replace(/\?.*/, ''),
  );
  const pages = [...places]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([path, shown]) => `| \`${path}\` | ${shown.length} | ${times(shown)} | ${highest(shown)} |`);
  const all = walked.flatMap(({ pages }) => pages);
  return `# Tasks of operators, as they were walked

\`npm run console-tasks\` wrote this on ${new Date().toISOString().slice(0, 10)}, with Node.js ${process.version}, SQLite and ${cpus().length} processors, which
Chromium and the server shared. Times are those from a request to the first byte of its answer, in milliseconds, as Chromium measured them: ${all.length} answers,
median and 95th percentile ${times(all).replace(' | ', ' and ')}. The height is the most that a page took at 320 × 640 px as it opened, without the script.

| Task | Steps | Number | Pages | Slowest | Walked |
|---|---|---|---|---|---|
${rows.join('\n')}

| Page or form | Shown | Median | 95th percentile | Height |
|---|---|---|---|---|
${pages.join('\n')}
`;
}
