import { createRequire } from 'node:module';
import { Command } from 'commander';
import { adminKeyCommands } from './admin-key.ts';
import { clientCommands } from './client.ts';
import { type ContextOf, examples } from './context.ts';
import { doctorCommand } from './doctor.ts';
import { eventsCommand } from './events.ts';
import { exitCodesInShort } from './exit-codes.ts';
import { explainCommand } from './explain.ts';
import { keysCommands } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { orgCommands } from './org.ts';
import { output } from './output.ts';
import { recoverCommand } from './recover.ts';
import type { GlobalFlags } from './session.ts';
import { userCommands } from './user.ts';

const require = createRequire(import.meta.url);
const { version } = require('../../package.json') as { version: string };

const FIRST_STEPS = `
Examples:
  tessera serve
  tessera user create --username ada --display-name "Ada Lovelace" --email ada@example.com --password-stdin
  tessera client create --name "My app" --redirect-uri http://localhost:8080/callback
  tessera user ban ada --reason spam
  tessera events --failures --since 1h

Every command says more with --help: tessera user ban --help
Exit status: ${exitCodesInShort}.`;

/** The settings of a server that can be given as flags. */
const serverOptions = (command: Command): Command =>
  command
    .option('--host <address>', 'the address to listen on (TESSERA_HOST)')
    .option('--port <port>', 'the port to listen on (TESSERA_PORT)')
    .option('--base-url <url>', 'the address that people and clients use (TESSERA_BASE_URL)');

/**
 * The command line: decisions §7.
 * @param complain takes what the parser has to say about wrong usage
 */
export function program(complain: (text: string) => void = (text) => process.stderr.write(text)): Command {
  const tessera = new Command('tessera')
    .description('The identity provider whose tokens stop working the moment access is taken away.')
    .option('--json', 'print JSON, for scripts')
    .option('--data-dir <path>', 'where the data lies (TESSERA_DATA_DIR; ./data where neither is given)')
    .option('--database-url <url>', 'which database to use (TESSERA_DATABASE_URL)')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ writeErr: complain })
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .showSuggestionAfterError()
    .addHelpText('after', FIRST_STEPS);
  examples(
    serverOptions(tessera.command('serve')),
    'tessera serve',
    'tessera serve --port 8080 --base-url https://id.example.com',
  )
    .description('run the server')
    // Loaded where it runs: no other command needs the server.
    .action(async (_options, command: Command) => (await import('./serve.ts')).serve(command.optsWithGlobals()));
  const contextOf: ContextOf = (command) => {
    const flags = command.optsWithGlobals<GlobalFlags>();
    return { flags, out: output(flags.json ?? false) };
  };
  for (const commands of [
    userCommands,
    clientCommands,
    orgCommands,
    adminKeyCommands,
    keysCommands,
    eventsCommand,
    explainCommand,
    migrateCommand,
    recoverCommand,
  ]) {
    tessera.addCommand(commands(contextOf));
  }
  tessera.addCommand(doctorCommand(contextOf, serverOptions));
  const inherit = (command: Command): void => {
    for (const child of command.commands) inherit(child.copyInheritedSettings(command));
  };
  inherit(tessera);
  return tessera;
}
