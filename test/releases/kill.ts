import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { tessera } from '../operator/command.ts';
import type { Place } from './places.ts';

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));

/** When a migration is killed: once it has printed a text, or after a time. */
export type Moment = { readonly printed: string } | { readonly milliseconds: number };

/** What a killed migration left behind. */
export interface Remains {
  /** Whether it had ended by itself before. */
  readonly late: boolean;
  /** Whether the schema was the one from before or the new one. */
  readonly schema: 'before' | 'after';
  /** What is wrong; empty if the next run completed it and nothing is lost. */
  readonly problems: readonly string[];
}

/** Kills `tessera migrate` on the database of a release, looks at what is left, and migrates again. */
export async function killMigration(place: Place, moment: Moment): Promise<Remains> {
  const tables = await place.columns();
  const rows = await place.rows(tables);
  const late = await killed(place, moment);
  const problems: string[] = [];
  const left = await place.columns();
  const schema = isDeepStrictEqual(left, tables) ? 'before' : 'after';
  if (!isDeepStrictEqual(await place.rows(tables), rows)) problems.push('rows are lost or changed by what was killed');
  const { code, stderr } = await tessera(['migrate'], { env: place.environment });
  if (code !== 0) problems.push(`the next run ended with ${code}: ${stderr}`);
  if (!isDeepStrictEqual(await place.rows(tables), rows)) problems.push('rows are lost or changed by the next run');
  if (schema === 'after' && !isDeepStrictEqual(await place.columns(), left))
    problems.push('half of the schema was there');
  const { stdout } = await tessera(['migrate', '--json'], { env: place.environment });
  if (stdout.replaceAll(/\s/g, '') !== '{"ran":[]}') problems.push(`the third run had something to do: ${stdout}`);
  return { late, schema, problems };
}

/** Returns whether it had ended before. */
async function killed({ environment }: Place, moment: Moment): Promise<boolean> {
  const child = spawn(process.execPath, [COMMAND, 'migrate'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if ('printed' in moment && printed.includes(moment.printed)) child.kill('SIGKILL');
  });
  const timer = 'milliseconds' in moment ? setTimeout(() => child.kill('SIGKILL'), moment.milliseconds) : undefined;
  await closed;
  clearTimeout(timer);
  return child.signalCode !== 'SIGKILL';
}
