import { Readable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import { clean, type Outcome, type Run, tessera } from './command.ts';

let before: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as {@link tessera} does, without a process of its own, which would load the program for each of them: what the
 * command would have of its process is put into this one until it has ended. So one runs at a time. One that Node itself is to read
 * settings for gets its process: Node does so as it starts.
 */
export function tesseraHere(args: readonly string[], how: Omit<Run, 'command'> = {}): Promise<Outcome> {
  if (Object.keys(how.env ?? {}).some((name) => name.startsWith('NODE_'))) return tessera(args, how);
  const outcome = before.then(() => runAlone(args, how));
  before = outcome.catch(() => undefined);
  return outcome;
}

async function runAlone(
  args: readonly string[],
  { env, cwd = process.cwd(), input = '', atTerminal = false }: Run,
): Promise<Outcome> {
  const own = { env: process.env, exitCode: process.exitCode, cwd: process.cwd() };
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  const [out, err] = [capture(process.stdout), capture(process.stderr)];
  const typed = Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), { isTTY: atTerminal });
  process.env = clean(env);
  process.exitCode = 0;
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: typed, configurable: true });
  try {
    await run(args);
    return { code: Number(process.exitCode), stdout: out.text(), stderr: err.text() };
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
    process.chdir(own.cwd);
    process.env = own.env;
    process.exitCode = own.exitCode;
    for (const stream of [out, err]) stream.release();
  }
}

/** Keeps what is written to a stream as text; what the runner of the tests reports comes as bytes. */
function capture(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const { write } = stream;
  let text = '';
  stream.write = ((chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return write.call(stream, chunk);
    text += chunk;
    return true;
  }) as typeof write;
  return {
    text: () => text,
    release() {
      stream.write = write;
    },
  };
}
