import { type Command, CommanderError } from 'commander';
import { WrongSecret } from '../keys/keys.ts';
import { ConfigError } from '../platform/config/config.ts';
import { StoreUnavailable } from '../platform/database/database.ts';
import { OAuthError } from '../platform/oauth-error.ts';

import { inFlags } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { program } from './program.ts';
import { DECLINED } from './prompt.ts';

let complaint = '';
const tessera = program((text) => {
  complaint += text;
});

/** Says what is wrong on standard error: to scripts as the API would. */
function fail(error: string, text: string, [code]: readonly [number, ...string[]]): void {
  const { json } = tessera.opts<{ json?: boolean }>();
  process.stderr.write(`${json ? JSON.stringify({ error, error_description: text }) : text}\n`);
  process.exitCode = code;
}

// Whoever reads the output may stop early: `tessera user list | head`.
process.stdout.on('error', (error: Error & { code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
});

let running: Command = tessera;
tessera.hook('preAction', (_program, command) => {
  running = command;
});

// The parser's own `help` knows one name: `tessera help user ban` would tell of `user`.
const [command, ...names] = process.argv.slice(2);
const words = command === 'help' && names.length > 1 ? [...names, '--help'] : process.argv.slice(2);

try {
  await tessera.parseAsync(words, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) {
    // Help that was asked for, and whoever did not mean it, have their answer already.
    if (error.exitCode === 0) [process.exitCode] = exitCodes.done;
    else if (error.code === DECLINED) [process.exitCode] = exitCodes.refused;
    else fail('invalid_request', complaint.trimEnd(), exitCodes.usage);
  } else if (error instanceof ConfigError) {
    const what = running.name() === 'serve' ? 'Tessera cannot start' : 'The command cannot run';
    const text = `${what}:\n${error.problems.map((problem) => `  - ${problem}`).join('\n')}`;
    fail('invalid_configuration', text, exitCodes.setup);
  } else if (error instanceof WrongSecret || error instanceof StoreUnavailable) {
    fail('temporarily_unavailable', `Tessera cannot use its data: ${error.message}`, exitCodes.setup);
  } else if (error instanceof OAuthError) {
    fail(error.code, inFlags(error, running).message, exitCodes.refused);
  } else {
    throw error;
  }
}
