import type { Command } from 'commander';
import { invalid, notFound } from '../platform/failure.ts';
import { accountId } from './account-id.ts';
import { path, withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { confirm, YES } from './prompt.ts';
import type { ListedRow } from './records.ts';

/** Adds the commands that help a person who cannot get in. Each of them tells the person by mail. */
export function supportCommands(
  about: (name: string, description: string) => Command,
  getContext: GetCommandContext,
): void {
  /** A command that does one thing for a user. */
  const helping = (name: string, does: string, to: (id: string) => string, done: string, result: object): void => {
    examples(about(name, does), `tessera user ${name} ada`).action(async (who: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const id = await withApi(flags, async (api) => {
        const found = await accountId(api, who);
        await api.post(to(found));
        return found;
      });
      out.say(done, { userId: id, ...result });
    });
  };

  helping(
    'send-recovery',
    'send a link that recovers the account, to the verified address; you do not see it',
    (id) => path`/users/${id}/recovery`,
    'Sent recovery to the address of the user.',
    { sent: true },
  );
  helping(
    'unlock',
    'end the wait after too many failed sign-ins',
    (id) => path`/users/${id}/unlock`,
    'Unlocked the user.',
    { unlocked: true },
  );
  examples(
    about('remind-to-verify', 'ask a user by mail to sign in and verify the address of the account'),
    'tessera user remind-to-verify ada',
  ).action(async (who: string, _options, command: Command) => {
    const { flags, out } = getContext(command);
    const { id, sent } = await withApi(flags, async (api) => {
      const found = await accountId(api, who);
      return { id: found, ...(await api.post<{ sent: boolean }>(path`/users/${found}/email-verification`)) };
    });
    out.say(sent ? 'Asked the user to verify the address.' : 'The address is verified already.', { userId: id, sent });
  });

  examples(
    about('factors', 'list the authenticator app and the passkeys of a user'),
    'tessera user factors ada',
  ).action(async (who: string, _options, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, async (api) =>
      api.items<ListedRow>(path`/users/${await accountId(api, who)}/factors`),
    );
    out.list(found, ['id', 'kind', 'name', 'createdAt']);
  });

  examples(
    about('last-sign-ins', 'show when a user last signed in, and why a sign-in last failed'),
    'tessera user last-sign-ins ada',
  ).action(async (who: string, _options, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, async (api) =>
      api.get<LastSignIns>(path`/users/${await accountId(api, who)}/last-sign-ins`),
    );
    out.say(describeSignIns(found).join('\n'), { ...found });
  });

  examples(
    about('remove-factor', 'remove a factor that a user lost; the sessions and tokens from before end'),
    'tessera user remove-factor ada totp',
    'tessera user remove-factor ada 289236738748416000',
  )
    .argument('<factorId>', 'totp, or the ID of a passkey from: tessera user factors <user>')
    .action(async (who: string, factorId: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      if (who === 'totp') {
        throw invalid(
          'The user comes first. Exchange the two: tessera user remove-factor <user> <factorId>. Nothing was changed.',
        );
      }
      const { id, removed } = await withApi(flags, async (api) => {
        const found = await accountId(api, who);
        return { id: found, ...(await api.delete<{ removed: boolean }>(path`/users/${found}/factors/${factorId}`)) };
      });
      if (!removed) throw notFound(`The user has no factor ${factorId}. List them with: tessera user factors ${who}`);
      out.say(`Removed the factor ${factorId}.`, { userId: id, factorId, removed });
    });
}

/** Adds the commands about the providers that a person connected. */
export function identityCommands(
  about: (name: string, description: string) => Command,
  getContext: GetCommandContext,
): void {
  examples(
    about('identities', 'list the providers that a user connected, through which they sign in'),
    'tessera user identities ada',
  ).action(async (who: string, _options, command: Command) => {
    const { flags, out } = getContext(command);
    const found = await withApi(flags, async (api) =>
      api.items<ListedRow>(path`/users/${await accountId(api, who)}/identities`),
    );
    out.list(found, ['id', 'displayName', 'subject', 'createdAt', 'lastUsedAt']);
  });

  examples(
    about('remove-identity', 'remove a provider that a user connected; the sessions and tokens from before end'),
    'tessera user remove-identity ada Yk3vZ0f1n8Qw',
    'tessera user remove-identity ada Yk3vZ0f1n8Qw --yes',
  )
    .argument('<identityId>', 'ID from: tessera user identities <user>')
    .option(...YES)
    .action(async (who: string, identityId: string, options: { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const { id, removed, ended } = await withApi(flags, async (api) => {
        const found = await accountId(api, who);
        await confirm(`This signs ${who} out everywhere, and out of every app.`, options);
        const done = await api.delete<RemovedIdentity>(path`/users/${found}/identities/${identityId}`);
        return { id: found, ...done };
      });
      if (!removed) {
        throw notFound(`The user has not connected ${identityId}. List what is: tessera user identities ${who}`);
      }
      const done = `Removed ${identityId}. Signed ${ended.sessions} browsers out.`;
      out.say(done, { userId: id, identityId, removed, ended });
    });
}

interface RemovedIdentity {
  readonly removed: boolean;
  readonly ended: { readonly sessions: number };
}

interface LastSignIn {
  readonly at: string;
  readonly browser: string | null;
  readonly system: string | null;
  readonly network: string | null;
  readonly requestId: string | null;
}

interface LastSignIns {
  readonly succeeded: LastSignIn | null;
  readonly failed: (LastSignIn & { readonly reason: string | null }) | null;
}

const occasion = ({ at, browser, system, network }: LastSignIn): string =>
  [at, browser, system, network].filter((part) => part !== null).join(', ');

function describeSignIns({ succeeded, failed }: LastSignIns): readonly string[] {
  const lines = [`Last sign-in: ${succeeded === null ? 'none in the audit trail' : occasion(succeeded)}`];
  if (failed === null) return [...lines, 'Last failure: none in the audit trail'];
  lines.push(`Last failure: ${occasion(failed)}`, `Reason:       ${failed.reason ?? 'not recorded'}`);
  return failed.requestId === null ? lines : [...lines, `Explained by: tessera explain ${failed.requestId}`];
}
