import { ID_TOKEN_ALGS } from '../src/keys/algorithms.ts';
import { following } from './drivers.ts';
import type { Field } from './field.ts';
import { load } from './load.ts';
import { type Cell, compare, measure, type Result } from './measure.ts';
import type { Options } from './options.ts';
import { startTessera } from './tessera.ts';
import { WORK } from './work-names.ts';

const PEOPLE = 1000;
const CONNECTIONS = 32;

/** Refreshes of apps that are registered with each algorithm of ID tokens, on one server for each. */
export async function signatures(field: Field, { rounds, seconds }: Options): Promise<Result[]> {
  const cells: Cell[] = [];
  for (const alg of ID_TOKEN_ALGS) {
    const population = await field.population('sqlite', PEOPLE, alg);
    const subject = field.keep(await startTessera(alg, population, { folder: field.folder }));
    const driver = () => following(subject, CONNECTIONS);
    cells.push({
      work: WORK.signed,
      target: alg,
      people: PEOPLE,
      connections: CONNECTIONS,
      warmUp: () => load(subject.port, CONNECTIONS, Math.min(1, seconds), driver()),
      round: () => measure(subject, CONNECTIONS, seconds, driver()),
    });
  }
  return compare(WORK.signed, cells, rounds);
}
