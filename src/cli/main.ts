import { type Command, CommanderError } from 'commander';
import { WrongSecret } from '../keys/keys.ts';
import { ConfigError } from '../platform/config/config.ts';
import { StoreUnavailable } from '../platform/database/database.ts';
import { Failure } from '../platform/failure.ts';
import { nearestText } from '../platform/nearest-text.ts';
import { withFlagNames } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { program } from './program.ts';
import { DECLINED } from './prompt.ts';
import { UnusableServer } from './remote.ts';

let usageError = '';
const tessera = program((text) => {
  usageError += text;
});

/** Prints an error to standard error; with `--json`, in the form of an API error. */
function fail(error: string, text: string, [code]: readonly [number, ...string[]]): void {
  const { json } = tessera.opts<{ json?: boolean }>();
  process.stderr.write(`${json ? JSON.stringify({ error, error_description: text }) : text}\n`);
  process.exitCode = code;
}

// The reader of a pipe may stop early: `tessera user list | head`.
process.stdout.on('error', (error: Error & { code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
});

/** Commander misses a required option before it looks at the ones that it does not know, of which one may be that option misspelt. */
function misspeltOption({ code }: CommanderError): string | undefined {
  if (code !== 'commander.missingMandatoryOptionValue') return undefined;
  let called: Command = tessera;
  for (const word of args) called = called.commands.find((child) => child.name() === word) ?? called;
  const [unknown] = called.parseOptions(args).unknown.filter((word) => word.startsWith('--') && !isGlobal(word));
  if (unknown === undefined) return undefined;
  const nearest = nearestText(
    unknown,
    called.options.flatMap(({ long }) => long ?? []),
  );
  const hint = nearest === undefined ? '' : `\n(Did you mean ${nearest}?)`;
  return `error: unknown option '${unknown}'${hint}\nRun the command with --help to see its options.`;
}

const isGlobal = (word: string): boolean => tessera.options.some(({ long }) => long === word.split('=', 1)[0]);

let running: Command = tessera;
tessera.hook('preAction', (_program, command) => {
  running = command;
});

// Commander's `help` takes one name only: for `tessera help user ban` it would print the help of `user`.
const [command, ...names] = process.argv.slice(2);
const args = command === 'help' && names.length > 1 ? [...names, '--help'] : process.argv.slice(2);

try {
  await tessera.parseAsync(args, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) {
    // Requested help and a declined confirmation have been printed already.
    if (error.exitCode === 0) [process.exitCode] = exitCodes.success;
    else if (error.code === DECLINED) [process.exitCode] = exitCodes.failure;
    else fail('invalid_request', misspeltOption(error) ?? usageError.trimEnd(), exitCodes.usage);
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
