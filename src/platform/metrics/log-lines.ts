import { Counter, type Registry } from 'prom-client';

/** Of several processes, each counts what it lost, and so does their supervisor. */
export function countDroppedLines(dropped: () => number, registry: Registry): void {
  new Counter({
    name: 'tessera_log_lines_dropped_total',
    help: 'Lines of the log that could not be written: its disk is full, or nobody reads it.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}
