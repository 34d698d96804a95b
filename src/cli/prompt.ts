import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { CommanderError } from 'commander';
import { invalid } from '../platform/failure.ts';
import { decodeText } from '../platform/text-input.ts';
import { printable } from './output.ts';

/** The code of the error that is thrown if the user declines or cancels a prompt. */
export const DECLINED = 'tessera.declined';

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}

const processTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr });

function declined({ output }: Terminal): CommanderError {
  output.write('Nothing was changed.\n');
  return new CommanderError(1, DECLINED, 'declined');
}

/**
 * Asks for one line.
 * @param options.hidden whether the line is a secret and is not echoed
 * @throws {CommanderError} if the user cancels with Ctrl+C or Ctrl+D, or closes the terminal
 */
export async function promptLine(
  question: string,
  terminal: Terminal,
  { hidden = false }: { readonly hidden?: boolean } = {},
): Promise<string> {
  const { input, output } = terminal;
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: hidden ? discard : output, terminal: true });
  const canceled = new AbortController();
  lines.once('close', () => canceled.abort());
  if (hidden) output.write(question);
  try {
    const line = await lines.question(hidden ? '' : question, { signal: canceled.signal });
    if (hidden) output.write('\n');
    return line;
  } catch {
    output.write('\n');
    throw declined(terminal);
  } finally {
    lines.close();
  }
}

/** The option that lets the last owner of the installation go. */
export const LAST_OWNER = ['--last-owner', 'even if nobody is left who owns the installation'] as const;

export const YES = ['--yes', 'do not ask for confirmation'] as const;

/**
 * Asks for confirmation of what cannot be undone. Where there is no terminal to ask in, `--yes` must be given.
 * @throws {Failure} `invalid` without a terminal and `--yes`
 * @throws {CommanderError} if the user does not confirm
 */
export async function confirm(
  consequence: string,
  { yes = false }: { readonly yes?: boolean },
  terminal: Terminal = processTerminal(),
): Promise<void> {
  if (yes) return;
  if (!terminal.input.isTTY) {
    throw invalid(
      `${consequence} This cannot be undone, and there is no terminal to ask in, so nothing was changed. To go on, add --yes.`,
    );
  }
  const question = `${printable(consequence)} This cannot be undone. Type "yes" to continue: `;
  const answer = await promptLine(question, terminal);
  if (answer.trim().toLowerCase() !== 'yes') throw declined(terminal);
}

/**
 * Reads a secret from standard input: a hidden line of a terminal, or the whole input without its final line break.
 * @throws {Failure} `invalid` where the input is not text in UTF-8
 */
export async function readSecret(prompt: string, input: Terminal['input'] = process.stdin): Promise<string> {
  if (input.isTTY) return promptLine(prompt, processTerminal(), { hidden: true });
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk as Buffer);
  const reading = decodeText(Buffer.concat(chunks));
  if ('problem' in reading) throw invalid(`The text on standard input ${reading.problem}. Nothing was changed.`);
  return reading.text.replace(/\r?\n$/, '');
}
