import { readConfig, variables } from '../settings/config.ts';
import type { Output } from './output.ts';
import { readServer } from './remote.ts';
import { environment, type GlobalFlags } from './session.ts';

/**
 * Says that a link begins with the default base URL: the command may run where the setting of the server is missing, and then the link
 * leads elsewhere. A server that is administered over the network makes its links itself.
 */
export function noteDefaultBaseUrl(flags: GlobalFlags & { readonly port?: string }, out: Output, url: string): void {
  const read = environment(flags);
  if (flags.port !== undefined || readServer(read) !== undefined || readConfig(read).baseUrl !== undefined) return;
  const { name } = variables.baseUrl;
  out.note(
    `The link begins with ${new URL(url).origin}, the default, because ${name} is not set here. If the server has another address, ` +
      `set ${name} to it for this command as well, and make a new link.`,
  );
}
