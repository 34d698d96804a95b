import { program } from '../../src/cli/program.ts';
import { ConfigError } from '../../src/platform/config/config-error.ts';

/** What a command printed, and the error that ended it. */
export interface CommandOutcome {
  readonly out: string;
  readonly errors: string;
  readonly error: Error | undefined;
}

/** Runs a command in this process, which is much faster than starting one. */
export async function runCommand(...args: readonly string[]): Promise<CommandOutcome> {
  const { write } = process.stdout;
  const writeError = process.stderr.write;
  let [out, errors] = ['', ''];
  // What the test runner itself reports comes the same way, as bytes.
  process.stdout.write = ((chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return write.call(process.stdout, chunk);
    out += chunk;
    return true;
  }) as typeof write;
  process.stderr.write = ((chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return writeError.call(process.stderr, chunk);
    errors += chunk;
    return true;
  }) as typeof writeError;
  try {
    await program().parseAsync([...args], { from: 'user' });
    return { out, errors, error: undefined };
  } catch (error) {
    const known = error instanceof ConfigError ? new Error(error.problems.join(' '), { cause: error }) : error;
    return { out, errors, error: known instanceof Error ? known : new Error(String(known)) };
  } finally {
    process.stdout.write = write;
    process.stderr.write = writeError;
  }
}
