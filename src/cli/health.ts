import { Command } from 'commander';
import { sendProbe } from '../operations/doctor/http-probe.ts';
import { answersLive } from '../operations/doctor/rules/answers.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { baseUrlOf, readConfig } from '../settings/config.ts';
import { examples, type GetCommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { printable } from './output.ts';
import { environment } from './session.ts';

/** Addresses that mean every address of the machine, of which the loopback one is asked. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1', '': '127.0.0.1' };

/** @param serverOptions adds the options of `serve` that say where the server listens */
export function healthCommand(getContext: GetCommandContext, serverOptions: (command: Command) => Command): Command {
  return examples(serverOptions(new Command('health')), 'tessera health', 'tessera health --live')
    .description('ask the server on this machine whether it is ready for requests, for health checks of containers')
    .option('--live', 'ask only whether the process answers')
    .addHelpText('after', '\nExit status: 0 if it is, 1 if it is not or nothing answers.')
    .action(async (options: { live?: boolean }, command: Command) => {
      const { out } = getContext(command);
      const address = localAddress(environment(command.optsWithGlobals()), options.live ? 'live' : 'ready');
      const answer = await sendProbe(address);
      const healthy = answersLive(answer);
      const state = options.live ? 'alive' : 'ready';
      const reason = healthy
        ? null
        : answer.kind === 'silence'
          ? `Nothing answers (${answer.reason}). Start the server, or correct TESSERA_HOST and TESSERA_PORT.`
          : `It answered ${answer.status}: ${description(answer.text)}`;
      const said = healthy ? `The server is ${state}.` : `The server at ${address.host} is not ${state}. ${reason}`;
      out.say(printable(said), { healthy, address: address.href, reason });
      if (!healthy) [process.exitCode] = exitCodes.failure;
    });
}

/** Where the server of these settings listens, past any proxy. */
function localAddress(settings: ReturnType<typeof environment>, check: 'live' | 'ready'): URL {
  const config = readConfig(settings);
  if (config.port === 0) {
    throw new ConfigError(['TESSERA_PORT is 0, so the port of the server is not known. Set it to the port in use.']);
  }
  const host = LOOPBACK_OF[config.host] ?? config.host;
  const path = new URL(baseUrlOf(config, config.port)).pathname.replace(/\/$/, '');
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${config.port}${path}/health/${check}`);
}

/** The reason in an error of Tessera, or the beginning of what something else answered. */
function description(text: string): string {
  try {
    const { error_description } = JSON.parse(text) as { error_description?: unknown };
    if (typeof error_description === 'string') return error_description;
  } catch {
    // Not JSON: it is shown as it came.
  }
  return text.slice(0, 200);
}
