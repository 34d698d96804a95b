import { Command } from 'commander';
import { VERSION } from '../platform/version.ts';
import { adminKeyCommands } from './admin-key.ts';
import { backupCommand } from './backup.ts';
import { clientCommands } from './client.ts';
import { examples, type GetCommandContext } from './context.ts';
import { doctorCommand } from './doctor.ts';
import { eventsCommand } from './events.ts';
import { exitCodesInShort } from './exit-codes.ts';
import { explainCommand } from './explain.ts';
import { groupCommands } from './group.ts';
import { healthCommand } from './health.ts';
import { initialAccessTokenCommands } from './initial-access-token.ts';
import { inviteCommands } from './invite.ts';
import { keysCommands } from './keys.ts';
import { loginCommand, logoutCommand } from './login.ts';
import { mailCommands } from './mail.ts';
import { migrateCommand } from './migrate.ts';
import { ON_SERVER_ONLY, requireOwnServer } from './on-server-only.ts';
import { orgCommands } from './org.ts';
import { output } from './output.ts';
import { recoverCommand } from './recover.ts';
import { restoreCommand } from './restore.ts';
import { secondFactorCommands } from './second-factor.ts';
import type { GlobalFlags } from './session.ts';
import { setupLinkCommand } from './setup-link.ts';
import { tracesCommand } from './traces.ts';
import { upstreamCommands } from './upstream.ts';
import { userCommands } from './user.ts';

const FIRST_STEPS = `
Examples:
  tessera serve
  tessera user create --username ada --display-name "Ada Lovelace" --email ada@example.com --password-stdin
  tessera client create --name "My app" --redirect-uri http://localhost:8080/callback
  tessera user ban ada --reason spam
  tessera events --failures --since 1h

For the options of a command, use --help: tessera user ban --help
Exit status: ${exitCodesInShort}.`;

/** The settings of the server that are also flags. */
const serverOptions = (command: Command): Command =>
  command
    .option('--host <address>', 'address to listen on (TESSERA_HOST)')
    .option('--port <port>', 'port to listen on (TESSERA_PORT)')
    .option('--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)');

/** The words of a command, without the name of the program. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent == null ? command.name() : `${nameOf(parent)} ${command.name()}`;
}

/**
 * The command line: decisions §7.
 * @param writeError receives the parser's messages about wrong usage
 */
export function program(writeError: (text: string) => void = (text) => process.stderr.write(text)): Command {
  const tessera = new Command('tessera')
    .description('OAuth 2.0 and OpenID Connect identity provider with immediate revocation.')
    .option('--json', 'print JSON, for scripts')
    .option('--data-dir <path>', 'data folder (TESSERA_DATA_DIR; default: ./data)')
    .option('--database-url <url>', 'database to use (TESSERA_DATABASE_URL; default: SQLite in the data folder)')
    .option('--server <url>', 'administer the server at this base URL, over the admin API (TESSERA_SERVER)')
    .option('--key-file <path>', 'file with the admin key to act with at that server (TESSERA_KEY_FILE)')
    .version(VERSION, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ writeErr: writeError })
    .showHelpAfterError('Run the command with --help to see its options.')
    .showSuggestionAfterError()
    .addHelpText('after', FIRST_STEPS);
  examples(
    serverOptions(tessera.command('serve')).option(
      '--processes <number>',
      'how many processes share the port, or auto for one for each processor (TESSERA_PROCESSES)',
    ),
    'tessera serve',
    'tessera serve --port 8080 --base-url https://id.example.com',
    'tessera serve --processes auto',
  )
    .description('run the server')
    // Imported on demand: no other command needs the server.
    .action(async (_options, command: Command) => (await import('./serve.ts')).serve(command.optsWithGlobals()));
  const getContext: GetCommandContext = (command) => {
    const flags = command.optsWithGlobals<GlobalFlags>();
    return { flags, out: output(flags.json ?? false) };
  };
  for (const commands of [
    userCommands,
    clientCommands,
    orgCommands,
    groupCommands,
    inviteCommands,
    upstreamCommands,
    secondFactorCommands,
    adminKeyCommands,
    initialAccessTokenCommands,
    keysCommands,
    mailCommands,
    eventsCommand,
    explainCommand,
    tracesCommand,
    migrateCommand,
    backupCommand,
    restoreCommand,
    recoverCommand,
    setupLinkCommand,
    loginCommand,
    logoutCommand,
  ]) {
    tessera.addCommand(commands(getContext));
  }
  tessera.addCommand(doctorCommand(getContext, serverOptions));
  tessera.addCommand(healthCommand(getContext, serverOptions));
  const inherit = (command: Command): void => {
    for (const child of command.commands) inherit(child.copyInheritedSettings(command));
  };
  inherit(tessera);
  tessera.hook('preAction', (_program, command) => {
    const reason = ON_SERVER_ONLY[nameOf(command)];
    if (reason !== undefined) requireOwnServer(command.optsWithGlobals<GlobalFlags>(), reason);
  });
  return tessera;
}
