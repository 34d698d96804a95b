import { ID_TOKEN_ALGS } from '../../src/keys/algorithms.ts';
import { following } from './drivers.ts';
import type { Field } from './field.ts';
import { load } from './load.ts';
import { type Cell, compare, measure, type Result } from './measure.ts';
import type { Options } from './options.ts';
import { processors } from './processors.ts';
import { startTessera } from './tessera.ts';
import { WORK } from './work-names.ts';

const PEOPLE = 1000;
const CONNECTIONS = 32;

/**
 * Refreshes of apps that are registered with each algorithm of ID tokens, on one server for each: on all processors, and with one left
 * for the threads that sign.
 */
export async function signatures(field: Field, { rounds, seconds }: Options): Promise<Result[]> {
  const cells: Cell[] = [];
  const apart: Cell[] = [];
  const two = processors();
  for (const alg of ID_TOKEN_ALGS) {
    const population = await field.population('sqlite', PEOPLE, alg);
    const subject = field.keep(await startTessera(alg, population, { folder: field.folder }));
    const driver = () => following(subject, CONNECTIONS);
    const cell: Cell = {
      work: WORK.signed,
      target: alg,
      people: PEOPLE,
      connections: CONNECTIONS,
      warmUp: () => load(subject.port, CONNECTIONS, Math.min(1, seconds), driver()),
      round: () => measure(subject, CONNECTIONS, seconds, driver()),
    };
    cells.push(cell);
    if (two !== undefined) {
      apart.push({ ...cell, work: WORK.signedApart, round: () => two.apart(subject.process, cell.round) });
    }
  }
  return compare(WORK.signed, [...cells, ...apart], rounds);
}
