import type { Readable } from 'node:stream';

const NEWLINE = 0x0a;

/**
 * Writes what a stream brings to another one, in whole lines, so that the lines of several streams do not mix. The end of a line that
 * its writer did not live to write is added.
 */
export function passLines(from: Readable, to: { write(lines: Buffer): void }): void {
  let begun: Buffer[] = [];
  from.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      to.write(Buffer.concat([...begun, chunk.subarray(0, end)]));
      begun = [];
    }
    if (end < chunk.length) begun.push(chunk.subarray(end));
  });
  from.on('end', () => {
    if (begun.length > 0) to.write(Buffer.concat([...begun, Buffer.of(NEWLINE)]));
  });
}
