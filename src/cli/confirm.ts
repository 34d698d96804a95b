import { createInterface } from 'node:readline/promises';
import { CommanderError } from 'commander';
import { printable } from './output.ts';

/** What the refusal of the person at the terminal is known by. */
export const DECLINED = 'tessera.declined';

export const YES = ['--yes', 'do not ask whether it is meant'] as const;

/**
 * Asks a person who sits at a terminal whether what cannot be undone is meant. A script has said what it wants.
 * @throws {CommanderError} where it is not meant
 */
export async function confirm(what: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes || !process.stdin.isTTY) return;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${printable(what)} This cannot be undone. Type "yes" to go on: `);
    if (answer.trim().toLowerCase() === 'yes') return;
  } finally {
    lines.close();
  }
  process.stderr.write('Nothing was changed.\n');
  throw new CommanderError(1, DECLINED, 'declined');
}
