import { Command } from 'commander';
import { type ActorType, actorTypes } from '../audit/audit.ts';
import type { RecordedEvent } from '../audit/event-store.ts';
import { eventFilters } from '../audit/schema.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import * as Type from '../platform/validation/type.ts';
import { accountId } from './account-id.ts';
import { type Api, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { follow } from './follow.ts';
import { pastTime, wholeNumber } from './option-parsers.ts';
import { printable } from './output.ts';
import { findUpstreamId } from './upstream.ts';

interface Flags {
  readonly type?: string;
  readonly actor?: string;
  readonly actorId?: string;
  readonly user?: string;
  readonly client?: string;
  readonly upstream?: string;
  readonly address?: string;
  readonly request?: string;
  readonly outcome?: string;
  readonly failures?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

const MAX_EVENTS = 10_000;

const Filters = Type.Object(eventFilters, { additionalProperties: false });

export function eventsCommand(getContext: GetCommandContext): Command {
  return examples(
    new Command('events'),
    'tessera events --since 1h',
    'tessera events --user ada --limit 200',
    'tessera events --actor grace --since 7d',
    'tessera events --failures --type sign_in --address 203.0.113.7',
    'tessera events --type token.refresh_reused --since 2030-01-31T12:00:00Z --json',
    'tessera events --follow --failures',
  )
    .description('show the newest matching audit events, in chronological order')
    .option('--type <type>', 'a type, or a group of types such as sign_in, token or client')
    .option(
      '--actor <actor>',
      `who acted: a user (ID, username or email), or a kind of actor: ${actorTypes.join(', ')}`,
    )
    .option('--actor-id <id>', 'ID of the user, client or admin key that acted')
    .option('--user <user>', 'about this user: ID, username or email; for a deleted user, the ID')
    .option('--client <clientId>', 'about this app')
    .option('--upstream <upstream>', 'about this provider through which people sign in: ID or name')
    .option('--address <address>', 'from this address')
    .option('--request <id>', 'from this request: the correlation ID of an error page, a response or the log')
    .option('--outcome <outcome>', 'success or failure')
    .option('--failures', 'same as --outcome failure')
    .option('--since <when>', 'from this time on: 2030-01-31T12:00:00Z, or 90m, 24h, 7d ago', pastTime)
    .option('--until <when>', 'before this time, in the same format', pastTime)
    .option('--limit <count>', `number of events, at most ${MAX_EVENTS}`, wholeNumber(1, MAX_EVENTS), 50)
    .option('--follow', 'keep running and print new events')
    .addHelpText('after', '\nWith --json, prints an array; with --json --follow, one object per line.')
    .action(async (flags: Flags, command: Command) => {
      const { flags: global, out } = getContext(command);
      await withApi(global, async (api) => {
        const filter = await readFilter(api, flags);
        const { limit } = flags;
        const newest = () => newestOf(api);
        const start = await newest();
        const events = (await api.list<RecordedEvent>(EVENTS, { limit }, { ...filter, order: 'desc' })).reverse();
        if (!flags.follow) return out.list(events.map(flat(global.json ?? false)), COLUMNS, { whole: true });
        const write = (event: RecordedEvent) =>
          void process.stdout.write(`${global.json ? JSON.stringify(event) : line(event)}\n`);
        events.forEach(write);
        const list = (after: string, most: number) =>
          api.list<RecordedEvent>(EVENTS, { after, limit: most }, { ...filter, order: 'asc' });
        await follow(start, { newest, list, show: write });
      });
    });
}

const EVENTS = '/audit-events';

async function readFilter(api: Api, flags: Flags) {
  const { user, client, actor, upstream } = flags;
  // An ID is not looked up: the events of a deleted account can still be listed.
  const idOf = async (who: string) => (isSnowflake(who) ? who : accountId(api, who));
  const kind = actorTypes.find((type): type is ActorType => type === actor);
  return checkInput(Filters, {
    type: flags.type,
    actor: kind,
    actorId: flags.actorId ?? (actor === undefined || kind !== undefined ? undefined : await idOf(actor)),
    userId: user === undefined ? undefined : await idOf(user),
    clientId: client,
    upstreamId: upstream === undefined ? undefined : await findUpstreamId(api, upstream),
    address: flags.address,
    requestId: flags.request,
    outcome: flags.failures ? 'failure' : flags.outcome,
    since: flags.since,
    until: flags.until,
  });
}

const COLUMNS = ['at', 'type', 'outcome', 'actor', 'userId', 'clientId', 'address', 'details'];

/** A record of texts for the table; with `--json`, the event unchanged. */
const flat =
  (json: boolean) =>
  (event: RecordedEvent): Readonly<Record<string, unknown>> =>
    json
      ? { ...event }
      : {
          ...event,
          actor: event.actor.id === null ? event.actor.type : `${event.actor.type} ${event.actor.id}`,
          details: detailsOf(event),
        };

const detailsOf = ({ details }: RecordedEvent): string =>
  Object.entries(details as object)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

const line = (event: RecordedEvent): string => {
  const record = flat(false)(event);
  return COLUMNS.map((name) => printable(String(record[name] ?? '-') || '-')).join('  ');
};

/** The ID of the newest event; 0 if there is none. */
async function newestOf(api: Api): Promise<bigint> {
  const [last] = await api.list<RecordedEvent>(EVENTS, { limit: 1 }, { order: 'desc' });
  return BigInt(last?.id ?? '0');
}
