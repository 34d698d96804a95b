import { printable } from './output.ts';
import { ask, declined, terminal } from './prompt.ts';

export const YES = ['--yes', 'do not ask whether it is meant'] as const;

/**
 * Asks a person who sits at a terminal whether what cannot be undone is meant. A script has said what it wants.
 * @throws {CommanderError} where it is not meant
 */
export async function confirm(what: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes || !process.stdin.isTTY) return;
  const answer = await ask(`${printable(what)} This cannot be undone. Type "yes" to go on: `, terminal);
  if (answer.trim().toLowerCase() !== 'yes') throw declined(terminal);
}
