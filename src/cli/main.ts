import { CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { StoreUnavailable } from '../database/database.ts';
import { WrongSecret } from '../keys/keys.ts';
import { OAuthError } from '../oauth-error.ts';
import { program } from './program.ts';

/** 0 done · 1 refused: the input or the state does not allow it · 2 wrong usage · 3 the configuration or the data cannot be used */
const EXIT = { refused: 1, usage: 2, setup: 3 } as const;

function fail(text: string, code: number): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = code;
}

try {
  await program().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // The parser has said what is wrong already.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  } else if (error instanceof ConfigError) {
    fail(`Tessera cannot start:\n${error.problems.map((problem) => `  - ${problem}`).join('\n')}`, EXIT.setup);
  } else if (error instanceof WrongSecret || error instanceof StoreUnavailable) {
    fail(`Tessera cannot use its data: ${error.message}`, EXIT.setup);
  } else if (error instanceof OAuthError) {
    fail(error.message, EXIT.refused);
  } else {
    throw error;
  }
}
