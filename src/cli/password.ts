import { promptLine, terminal } from './prompt.ts';

/** Reads a password: see {@link readHidden}. */
export const readPassword = (): Promise<string> => readHidden('Password: ');

/** Reads a secret from standard input: all of it without the line end, or one line that a terminal does not show. */
export async function readHidden(prompt: string): Promise<string> {
  if (process.stdin.isTTY) return promptLine(prompt, terminal, { hidden: true });
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
