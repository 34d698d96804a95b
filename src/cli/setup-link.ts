import { Command } from 'commander';
import { makeSetupLink, setupAddress } from '../account-actions/setup/setup.ts';
import { baseUrlOf } from '../settings/config.ts';
import { examples, type GetCommandContext } from './context.ts';
import { noteDefaultBaseUrl } from './link-note.ts';
import { CLI_ORIGIN, withCore } from './session.ts';

export function setupLinkCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('setup-link'),
    'tessera setup-link',
    'tessera setup-link --base-url https://id.example.com',
  )
    .description('print a link with which the first owner of the installation makes their account')
    .option('--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)')
    .option('--port <port>', 'port of the server, where it has no base URL (TESSERA_PORT)')
    .addHelpText('after', '\nThe link works for an hour and once. A newer link ends the one before it.')
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      await withCore(flags, async (core) => {
        const { config } = core;
        const url = setupAddress(baseUrlOf(config, config.port), await makeSetupLink(core, CLI_ORIGIN));
        out.say(url, { url });
        noteDefaultBaseUrl(flags, out, url);
      });
    });
}
