import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { COMMAND_LINE_ID } from '../clients/rules/command-line.ts';
import { DEVICE_GRANT } from '../clients/rules/registration.ts';
import { SECOND } from '../platform/clock.ts';
import { type Failure, invalid } from '../platform/failure.ts';
import { examples, type GetCommandContext } from './context.ts';
import { printable } from './output.ts';
import { callServer, requireServerUrl } from './remote.ts';
import { environment, type GlobalFlags } from './session.ts';
import { removeSignIn, saveSignIn } from './sign-ins.ts';

/** How a sign-in waits, and shows what the person has to do. */
interface Waiting {
  readonly wait: (seconds: number) => Promise<unknown>;
  readonly show: (text: string) => void;
}

interface StartedSignIn {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly interval: number;
}

const AS_COMMAND_LINE = { client_id: COMMAND_LINE_ID };

/**
 * Signs a person in at a server by RFC 8628: they type a code in a browser, see which roles they hand over, and prove a second factor.
 * @throws {Failure} where the server does not offer it, the person declines, or nobody answers in time
 */
export async function signInAtServer(
  server: string,
  { wait: pause, show }: Waiting,
): Promise<{ readonly token: string; readonly endsAt: string }> {
  const begun = await callServer(server, '/oidc/device_authorization', AS_COMMAND_LINE);
  if (begun.error !== undefined) throw refused(server, begun);
  const started = begun.answer as unknown as StartedSignIn;
  const { device_code, user_code, verification_uri } = started;
  show(
    `${await qrOf(verification_uri)}Open ${printable(verification_uri)} in a browser, and enter the code ${printable(user_code)}`,
  );
  for (let interval = started.interval; ; ) {
    await pause(interval);
    const request = { ...AS_COMMAND_LINE, grant_type: DEVICE_GRANT, device_code };
    const { error, answer } = await callServer(server, '/oidc/token', request);
    if (error === undefined) {
      const { access_token: token, expires_in: seconds } = answer;
      return { token: String(token), endsAt: new Date(Date.now() + Number(seconds) * SECOND).toISOString() };
    }
    // RFC 8628 §3.5.
    if (error === 'slow_down') interval += 5;
    else if (error !== 'authorization_pending') throw refused(server, { error, answer });
  }
}

/** What the errors of the flow mean here. */
const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was declined in the browser.',
  expired_token: 'Nobody answered within ten minutes. Begin again with: tessera login',
  unauthorized_client:
    'This server does not let operators sign in with the command line (TESSERA_COMMAND_LINE_SIGN_IN). Use an admin key: --key-file',
  invalid_client:
    'This server does not know the command line: it may run an earlier version. Use an admin key: --key-file',
};

function refused(server: string, { error = '', answer }: Awaited<ReturnType<typeof callServer>>): Failure {
  const description =
    REFUSALS[error] ?? `${server} answers: ${printable(String(answer['error_description'] ?? error))}`;
  return invalid(description);
}

/** The address as a QR code for the terminal, without the code that is to be typed. */
async function qrOf(address: string): Promise<string> {
  if (!process.stderr.isTTY) return '';
  const { renderUnicodeCompact } = await import('uqr');
  return `${renderUnicodeCompact(address)}\n`;
}

export function loginCommand(getContext: GetCommandContext): Command {
  return examples(new Command('login'), 'tessera login --server https://id.example.com')
    .description('sign in at a server elsewhere, to administer it in your roles for eight hours')
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      const server = serverOf(flags);
      const show = (text: string): void => void process.stderr.write(`${text}\n`);
      const signedIn = await signInAtServer(server, { wait: (seconds) => wait(seconds * SECOND), show });
      saveSignIn(environment(flags), server, signedIn);
      const { endsAt } = signedIn;
      out.say(`You are signed in at ${server} until ${endsAt}.`, { server, endsAt });
    });
}

export function logoutCommand(getContext: GetCommandContext): Command {
  return examples(new Command('logout'), 'tessera logout --server https://id.example.com')
    .description('end the sign-in at a server elsewhere')
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      const server = serverOf(flags);
      const signedIn = removeSignIn(environment(flags), server);
      if (signedIn !== undefined) {
        const { error } = await callServer(server, '/oidc/revoke', {
          ...AS_COMMAND_LINE,
          token: signedIn.token,
        });
        if (error !== undefined) throw invalid(`${server} did not end the sign-in. It is forgotten here.`);
      }
      const text = signedIn === undefined ? `You were not signed in at ${server}.` : `You are signed out at ${server}.`;
      out.say(text, { server, signedOut: signedIn !== undefined });
    });
}

const serverOf = (flags: GlobalFlags): string => requireServerUrl(environment(flags));
