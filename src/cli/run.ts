import { type Command, CommanderError } from 'commander';
import { WrongSecret } from '../keys/keys.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { StoreUnavailable } from '../platform/database/database.ts';
import { Failure } from '../platform/failure.ts';
import { withFlagNames } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { program } from './program.ts';
import { DECLINED } from './prompt.ts';
import { UnusableServer } from './remote.ts';
import { usageAdvice } from './usage-advice.ts';

/** Runs a command to its end, whose status becomes that of the process; throws what is no answer to its user. */
export async function run(given: readonly string[]): Promise<void> {
  let usageError = '';
  const tessera = program((text) => {
    usageError += text;
  });
  let running: Command = tessera;
  tessera.hook('preAction', (_program, command) => {
    running = command;
  });
  const args = withoutHelpOfMany(given);
  const fail = failing(tessera);
  try {
    await tessera.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Requested help and a declined confirmation have been printed already.
      if (error.exitCode === 0) [process.exitCode] = exitCodes.success;
      else if (error.code === DECLINED) [process.exitCode] = exitCodes.failure;
      else fail('invalid_request', usageAdvice(error, tessera, args) ?? usageError.trimEnd(), exitCodes.usage);
    } else if (error instanceof ConfigError) {
      const what = running.name() === 'serve' ? 'Tessera cannot start' : 'The command cannot run';
      const text = `${what}:\n${error.problems.map((problem) => `  - ${problem}`).join('\n')}`;
      fail('invalid_configuration', text, exitCodes.unusable);
    } else if (error instanceof WrongSecret || error instanceof StoreUnavailable) {
      fail('temporarily_unavailable', `Tessera cannot use its data: ${error.message}`, exitCodes.unusable);
    } else if (error instanceof UnusableServer) {
      fail(error.code, error.message, exitCodes.unusable);
    } else if (error instanceof Failure) {
      fail(
        error.code,
        withFlagNames(error, running).message,
        error.kind === 'not found' ? exitCodes.missing : exitCodes.failure,
      );
    } else {
      throw error;
    }
  }
}

/** Commander's `help` takes one name only: for `tessera help user ban` it would print the help of `user`. */
function withoutHelpOfMany(args: readonly string[]): readonly string[] {
  const [command, ...names] = args;
  return command === 'help' && names.length > 1 ? [...names, '--help'] : args;
}

/** Prints an error to standard error; with `--json`, in the form of an API error. */
const failing =
  (tessera: Command) =>
  (error: string, text: string, [code]: readonly [number, ...string[]]): void => {
    const { json } = tessera.opts<{ json?: boolean }>();
    process.stderr.write(`${json ? JSON.stringify({ error, error_description: text }) : text}\n`);
    process.exitCode = code;
  };
