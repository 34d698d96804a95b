import { printable } from './output.ts';
import { declined, promptLine, type Terminal, terminal } from './prompt.ts';

export const YES = ['--yes', 'do not ask whether it is meant'] as const;

/**
 * Asks a person who sits at a terminal whether what cannot be undone is meant. A script has said what it wants.
 * @throws {CommanderError} where it is not meant
 */
export async function confirm(
  what: string,
  { yes = false }: { readonly yes?: boolean },
  at: Terminal = terminal,
): Promise<void> {
  if (yes || !at.input.isTTY) return;
  const answer = await promptLine(`${printable(what)} This cannot be undone. Type "yes" to go on: `, at);
  if (answer.trim().toLowerCase() !== 'yes') throw declined(at);
}
