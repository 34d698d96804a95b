import { availableParallelism } from 'node:os';
import { type Reading, Variable } from './variable.ts';

const MOST = 64;

function processes(value: string): Reading<number> {
  // As many as the processors that this process may use, limits of a container included.
  if (value === 'auto') return { value: Math.min(MOST, availableParallelism()) };
  const count = /^[1-9]\d?$/.test(value) ? Number(value) : Number.NaN;
  if (count <= MOST) return { value: count };
  return { problem: `must be a whole number from 1 to ${MOST}, or auto for one for each processor` };
}

export const processesVariable = new Variable('TESSERA_PROCESSES', processes, {
  initial: '`1`',
  about:
    'How many processes [share the port](../how-to/use-all-processors.md), from 1 to 64; `auto` runs one for each processor that is available. With more than one, another process supervises them.',
});
