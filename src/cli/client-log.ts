import type { Command } from 'commander';
import { path, withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { type StepFlags, showSteps, withStepOptions } from './show-steps.ts';

/** Adds the command by which those who manage an app read what it sent and was told. */
export function clientLogCommand(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  const command = about('log', 'show what an app sent and was told, one line for each step').option(
    '--request <requestId>',
    'the steps of one request and of the flow that it belongs to, from: x-request-id, or an error page',
  );
  examples(
    withStepOptions(command),
    'tessera client log 289236738748416000 --follow',
    'tessera client log 289236738748416000 --request 0198c4f2-4c2e-7c1a-9d55-6f1f0b8e2a10',
  ).action(async (id: string, { request, ...steps }: StepFlags & { readonly request?: string }, command: Command) => {
    const { flags } = getContext(command);
    const list = {
      path: path`/clients/${checkedClientId(id)}/trace-steps`,
      filter: { requestId: request },
      explain: (requestId: string) => `tessera client log ${id} --request ${requestId}`,
    };
    await withApi(flags, (api) => showSteps(api, list, steps, flags.json ?? false));
  });
}
