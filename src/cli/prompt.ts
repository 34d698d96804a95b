import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { CommanderError } from 'commander';

/** What the refusal of the person at the terminal is known by. */
export const DECLINED = 'tessera.declined';

/** Where somebody is asked. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}
export const terminal: Terminal = { input: process.stdin, output: process.stderr };

/** Says that nothing became of it. */
export function declined({ output }: Terminal): CommanderError {
  output.write('Nothing was changed.\n');
  return new CommanderError(1, DECLINED, 'declined');
}

/**
 * Asks the person at a terminal for one line.
 * @param options.hidden whether the line is a secret, which the terminal does not show
 * @throws {CommanderError} where the person leaves instead: Ctrl+C, Ctrl+D, a terminal that was closed
 */
export async function promptLine(
  question: string,
  at: Terminal,
  { hidden = false }: { readonly hidden?: boolean } = {},
): Promise<string> {
  const { input, output } = at;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: hidden ? nowhere : output, terminal: true });
  const gone = new AbortController();
  lines.once('close', () => gone.abort());
  if (hidden) output.write(question);
  try {
    const line = await lines.question(hidden ? '' : question, { signal: gone.signal });
    if (hidden) output.write('\n');
    return line;
  } catch {
    output.write('\n');
    throw declined(at);
  } finally {
    lines.close();
  }
}
