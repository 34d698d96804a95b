import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Reads a password: see {@link readHidden}. */
export const readPassword = (): Promise<string> => readHidden('Password: ');

/** Reads a secret from standard input: all of it without the line end, or one line that a terminal does not show. */
export async function readHidden(prompt: string): Promise<string> {
  if (process.stdin.isTTY) return ask(prompt);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

async function ask(prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(prompt);
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
