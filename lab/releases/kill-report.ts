import { STAGES, type Stage } from './kill.ts';

/** What the kills on one database came to. */
export interface Kills {
  readonly database: string;
  readonly times: number;
  /** How far the migration was. */
  readonly stages: Readonly<Record<Stage, number>>;
  readonly problems: readonly string[];
}

const HEADING = '## Killed migrations';

const HEADERS: Readonly<Record<Stage, string>> = {
  before: 'Before it changed anything',
  rows: 'While it filled in rows',
  indexes: 'While it built indexes',
  after: 'Complete',
};

/** The results, as the last section of the page. */
export function killSection(version: string, all: readonly Kills[]): string {
  const rows = all.map(
    ({ database, times, stages, problems }) =>
      `| ${database} | ${times} | ${STAGES.map((stage) => stages[stage]).join(' | ')} | ${problems.length} |`,
  );
  return `${HEADING}

\`tessera migrate\` was killed with \`kill -9\` at random moments of each of its phases in turn, on the database of ${version} with thousands of token
families. What is left must be a whole step, with which ${version} still runs, and the next run must complete it: no row lost, none left
out, none changed twice, all indexes valid.

| Database | Kills | ${STAGES.map((stage) => HEADERS[stage]).join(' | ')} | Lost or half |
|---|---:|${STAGES.map(() => '---:|').join('')}---:|
${rows.join('\n')}

\`npm run upgrade:kill -- --record\` does this again, and writes this section.
`;
}

/** That section of a page; empty if there is none. */
export const killSectionOf = (page: string): string => page.slice(page.split(HEADING)[0]?.length);

/** A page with that section. */
export const withKillSection = (page: string, section: string): string =>
  `${(page.split(HEADING)[0] ?? '').trimEnd()}\n${section === '' ? '' : `\n${section}`}`;
