import { Command } from 'commander';
import type { Core } from '../core.ts';
import { openKeys } from '../keys/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { conflict, invalid } from '../platform/failure.ts';
import { formats } from '../platform/validation/formats.ts';
import { explainToken } from '../protocol/token/explain.ts';
import { baseUrlOf } from '../settings/config.ts';
import { previousSecrets } from '../settings/secret-file.ts';
import type { Trace } from '../traces/read-trace.ts';
import { factsOf } from '../traces/rules/step-facts.ts';
import { path, withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { EXPLAIN_TOKEN, requireOwnServer } from './on-server-only.ts';
import { printable } from './output.ts';
import { readSecret } from './prompt.ts';
import { type GlobalFlags, withCore } from './session.ts';

/** The database without the right to write. */
const readOnly = (database: Database): Database => ({
  ...database,
  commit: () =>
    Promise.reject(
      conflict(
        'The signing keys of this database must be created or sealed again first. Start the server: tessera serve',
      ),
    ),
});

export function explainCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('explain'),
    'tessera explain 6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11',
    'printf %s "$ACCESS_TOKEN" | tessera explain',
    'tessera explain --base-url https://id.example.com < token.txt',
  )
    .description(
      'explain a refusal by its correlation ID, or whether a token from standard input is valid now, and why',
    )
    .argument('[id]', 'correlation ID of an error page, of a response (x-request-id) or of the log')
    .option('--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)')
    .addHelpText(
      'after',
      '\nWith an ID, prints the steps of the authorization that the request belongs to. Credentials are masked.' +
        '\nA token stays valid and is never printed. Exit status: 0 if it is valid or the trace was found, 1 if the token is refused, 4 if' +
        '\nthere is no trace.',
    )
    .action(async (id: string | undefined, options: { baseUrl?: string }, command: Command) => {
      const { flags, out } = getContext(command);
      if (id !== undefined) {
        const trace = await withApi(flags, (api) => api.get<Trace>(path`/traces/${requestIdOf(id)}`));
        return flags.json ? out.show({ ...trace }) : out.say(formatTrace(trace));
      }
      requireOwnServer(flags, EXPLAIN_TOKEN);
      const token = (await readSecret('Token: ')).trim().replace(/^Bearer /i, '');
      if (token === '')
        throw invalid('There is no token on standard input. Example: printf %s "$TOKEN" | tessera explain');
      const all: GlobalFlags = { ...flags, ...options };
      const explained = await withCore(all, async (core) => explainToken(await partsOf(core), token));
      const { verdict, answer, reason, remedy, ...about } = explained;
      out.show({ verdict, answer, reason, remedy, ...about });
      if (verdict === 'refused') process.exitCode = 1;
    });
}

/** @throws {Failure} `invalid` where it is no correlation ID */
function requestIdOf(text: string): string {
  const id = text.trim().toLowerCase();
  if (formats.uuid(id)) return id;
  const bare = /^["'`“”‘’]+(.*?)["'`“”‘’]+$/.exec(id)?.[1]?.trim();
  if (bare !== undefined && formats.uuid(bare)) {
    throw invalid(`The correlation ID has quotes around it. Give it alone: tessera explain ${bare}`);
  }
  throw invalid(
    'The argument must be a correlation ID such as 6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11, from an error page, the response header ' +
      'x-request-id or the log. A token is read from standard input instead: printf %s "$TOKEN" | tessera explain',
  );
}

async function partsOf({ database, secret, config, clock }: Core) {
  const reading = readOnly(database);
  const keys = await openKeys(reading, { current: secret, previous: previousSecrets(config) }, clock);
  return { database: reading, keys, clock, issuer: baseUrlOf(config, config.port) };
}

/** A trace for people, as the command prints it: one paragraph for each step, with a mark at those that failed and at the one that was asked about. */
export function formatTrace({ requestId, clientId, userId, steps }: Trace): string {
  const about = [
    `App ${clientId ?? 'unknown'}`,
    `user ${userId ?? 'unknown'}`,
    steps.length === 1 ? '1 step' : `${steps.length} steps`,
  ].join(', ');
  const paragraphs = steps.map((step) => {
    const request = [step.method, step.path, step.status].filter((part) => part !== undefined).join(' ');
    const own = step.requestId === requestId ? '  ← this request' : '';
    const mark = step.outcome === 'failure' ? '✗' : '✓';
    const facts = factsOf(step).map(([name, text]) => `    ${name.padEnd(12)}${printable(text)}`);
    const head = `${mark} ${step.at}  ${step.step}  ${printable(request)}`.trimEnd() + own;
    return [head, `    ${'request'.padEnd(12)}${step.requestId ?? '-'}`, ...facts].join('\n');
  });
  return [about, ...paragraphs].join('\n\n');
}
