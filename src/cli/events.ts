import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { actorTypes } from '../audit/audit.ts';
import { type EventFilter, eventFilters } from '../audit/schema.ts';
import { listEvents, type RecordedEvent } from '../audit/search-store.ts';
import type { Core } from '../core.ts';
import { SECOND } from '../platform/clock.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import * as Type from '../platform/validation/type.ts';
import { type ContextOf, checkInput, examples } from './context.ts';
import { pastMoment } from './moments.ts';
import { wholeNumber } from './numbers.ts';
import { printable } from './output.ts';
import { withCore } from './session.ts';
import { accountId } from './user.ts';

interface Flags {
  readonly type?: string;
  readonly actor?: string;
  readonly actorId?: string;
  readonly user?: string;
  readonly client?: string;
  readonly address?: string;
  readonly request?: string;
  readonly outcome?: string;
  readonly failures?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

const MOST = 10_000;

const Filters = Type.Object(eventFilters, { additionalProperties: false });

export function eventsCommand(contextOf: ContextOf): Command {
  return examples(
    new Command('events'),
    'tessera events --since 1h',
    'tessera events --user ada --limit 200',
    'tessera events --failures --type sign_in --address 203.0.113.7',
    'tessera events --type token.refresh_reused --since 2030-01-31T12:00:00Z --json',
    'tessera events --follow --failures',
  )
    .description('what happened: the newest events that fit, the last of them at the end')
    .option('--type <type>', 'a type, or a family of types such as sign_in, token or client')
    .option('--actor <kind>', `who acted: ${actorTypes.join(', ')}`)
    .option('--actor-id <id>', 'the user, client or admin key that acted')
    .option('--user <user>', 'about this user: id, username or email; a deleted one by its id')
    .option('--client <clientId>', 'about this app')
    .option('--address <address>', 'from this address')
    .option('--request <id>', 'of this request: the correlation id on an error page, in an answer or the log')
    .option('--outcome <outcome>', 'success or failure')
    .option('--failures', 'only what was refused: --outcome failure')
    .option('--since <when>', 'from then on: an instant such as 2030-01-31T12:00:00Z, or 90m, 24h, 7d ago', pastMoment)
    .option('--until <when>', 'before then, likewise', pastMoment)
    .option('--limit <count>', `how many, at most ${MOST}`, wholeNumber(1, MOST), 50)
    .option('--follow', 'go on, and show what happens from now on')
    .addHelpText('after', '\nWith --json it prints a list; with --json --follow an object on each line.')
    .action(async (flags: Flags, command: Command) => {
      const { flags: global, out } = contextOf(command);
      await withCore(global, async (core) => {
        const filter = await readFilter(core, flags);
        const start = await newestOf(core);
        const query = { filter, order: 'desc', after: String(start + 1n), limit: flags.limit } as const;
        const events = (await listEvents(core.database, query)).reverse();
        if (!flags.follow) return out.list(events.map(flat(global.json ?? false)), COLUMNS, { whole: true });
        const write = (event: RecordedEvent) =>
          void process.stdout.write(`${global.json ? JSON.stringify(event) : line(event)}\n`);
        events.forEach(write);
        await follow(core, filter, start, write);
      });
    });
}

async function readFilter(core: Core, flags: Flags): Promise<EventFilter> {
  const { user, client } = flags;
  // Also of a deleted account there is something to tell.
  const userId = user === undefined || isSnowflake(user) ? user : await accountId(core, user);
  return checkInput(Filters, {
    type: flags.type,
    actor: flags.actor,
    actorId: flags.actorId,
    userId,
    clientId: client,
    address: flags.address,
    requestId: flags.request,
    outcome: flags.failures ? 'failure' : flags.outcome,
    since: flags.since,
    until: flags.until,
  });
}

const COLUMNS = ['at', 'type', 'outcome', 'actor', 'userId', 'clientId', 'address', 'details'];

/** For people a record of texts; for scripts the event as it is. */
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

/** How often is looked for more, and how far back: with several nodes an event may appear after one with a higher id. */
const PAUSE = SECOND;
const OVERLAP = 500n;

/** The id of the newest event of all. */
async function newestOf({ database }: Core): Promise<bigint> {
  const [last] = await listEvents(database, { filter: {}, order: 'desc', after: '0', limit: 1 });
  return BigInt(last?.id ?? '0');
}

/** Shows what comes after an event, until nobody reads it any more. */
async function follow(
  core: Core,
  filter: EventFilter,
  start: bigint,
  show: (event: RecordedEvent) => void,
): Promise<void> {
  let shown = new Set<string>();
  for (let seen = start; process.stdout.writable; await wait(PAUSE)) {
    const newest = await newestOf(core);
    const after = String(seen - OVERLAP > start ? seen - OVERLAP : start);
    const events = await listEvents(core.database, { filter, order: 'asc', after, limit: MOST });
    for (const event of events) if (!shown.has(event.id)) show(event);
    shown = new Set(events.map(({ id }) => id));
    // Where there were more than could be read at once, the rest is next.
    seen = events.length < MOST ? newest : BigInt(events.at(-1)?.id ?? newest);
  }
}
