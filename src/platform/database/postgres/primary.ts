import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { type Poller, startPoller } from '../../poller.ts';
import { UnusableDatabase } from '../database.ts';
import { type DatabaseHost, readServerAddress } from '../server-address.ts';
import { type Doubt, doubt } from './doubt.ts';
import { observer } from './observer.ts';
import {
  type Choice,
  type ClusterPosition,
  choosePrimary,
  foreign,
  replaced,
  SECRETIVE,
  type Sighting,
} from './rules/primary.ts';

/** How often the other hosts are looked at, and for how long a search without result holds, in milliseconds. */
const INTERVAL = 500;
const PAUSE = 250;

/** For how long a search that has found a successor waits for hosts that do not answer, in milliseconds. */
const GRACE = 500;

/** What all hosts are, and which of them is the primary. */
export interface Survey {
  readonly sightings: readonly Sighting[];
  readonly choice: Choice;
}

/** Knows which server is the primary, for all connections of a process. */
export interface Primary {
  /** Whether the address has several hosts. */
  readonly several: boolean;
  /** Whether data of an earlier time is used, too: by the commands that end what was issued before. */
  readonly acceptsLoss: boolean;
  /** The address of one of them, for what is the same for all. */
  readonly url: string;
  /**
   * The host to connect to.
   * @throws {UnusableDatabase} where no host is the primary, with the reason for each
   */
  find(): Promise<DatabaseHost>;
  /** Reports that a connection to a host failed, so that the next one looks for the primary again. */
  lost(host: DatabaseHost): void;
  /**
   * Accepts a connection to a server that takes writes.
   * @throws {UnusableDatabase} where a standby of that server was promoted
   */
  accept(client: ClientBase, position: ClusterPosition | undefined): void;
  /** Whether the server of a connection is still the newest primary known. */
  trusts(client: ClientBase): boolean;
  /** Notes what is sent to the primary, which is doubted when it does not answer for a while. */
  readonly sent: Doubt['sent'];
  /** Whether the server that is used tells its timeline, without which a former primary is not told from its successor. */
  tellsTimeline(): boolean;
  /** Calls back when connections are not trusted any more, also those being opened to other hosts than the given one. */
  onReplaced(listener: (by: DatabaseHost | undefined) => void): void;
  /** Looks at the other hosts from time to time, so that a promotion is noticed even while the former primary still answers. */
  watch(): void;
  /** Looks at all hosts, for people. */
  survey(): Promise<Survey>;
  close(): Promise<void>;
}

export interface PrimaryOptions {
  /** The name of its own connections in `pg_stat_activity`. */
  readonly application?: string;
  readonly acceptsLoss?: boolean;
}

/** @throws {UnusableDatabase} where the address is not valid */
export function openPrimary(
  url: string,
  { application = 'tessera watch', acceptsLoss = false }: PrimaryOptions = {},
): Primary {
  const address = readServerAddress(url);
  if ('problem' in address) throw new UnusableDatabase(`The address of the database ${address.problem}.`);
  const { hosts } = address;
  const several = hosts.length > 1;
  const observers = hosts.map((host) => ({ host, ...observer(host, application) }));
  const events = new EventEmitter();
  /** Those that did not answer when they were last looked at or used. */
  const silent = new Set<DatabaseHost>();
  const positions = new WeakMap<ClientBase, ClusterPosition>();
  const pollers: Poller[] = [];
  /** The newest primary that this process has known. A server on an older timeline was replaced, and is never believed. */
  let known: ClusterPosition | undefined;
  /** The position of the server that was last used. */
  let used: ClusterPosition | undefined;
  let current: DatabaseHost | undefined;
  let search: Promise<DatabaseHost> | undefined;
  let closed = false;

  /** Looks for the primary again. The one so far is no successor of itself, and must not hold that up. */
  function leave(): void {
    if (current !== undefined) silent.add(current);
    current = undefined;
  }

  /** Takes note of a newer timeline: connections to the server of an older one are not trusted any more. */
  function learn(position: ClusterPosition, host: DatabaseHost | undefined): void {
    const newer = known === undefined || position.cluster !== known.cluster || position.timeline > known.timeline;
    if (!newer) return;
    known = position;
    leave();
    events.emit('replaced', host);
  }

  async function survey(): Promise<Survey> {
    const sightings = await Promise.all(observers.map(({ look }) => look()));
    return { sightings, choice: choosePrimary(sightings, known) };
  }

  /**
   * Asks all hosts until each has answered, and those that have meanwhile again. A host that answers nothing does not hold up a successor
   * of the server that was used.
   */
  async function askAll(): Promise<Choice> {
    const seen = new Map<DatabaseHost, Sighting>();
    const choose = () =>
      choosePrimary(
        hosts.map((host) => seen.get(host) ?? { kind: 'silent', host: host.name, reason: 'does not answer.' }),
        known,
      );
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let over = false;
    let grace: NodeJS.Timeout | undefined;
    async function follow({ host, look }: (typeof observers)[number]): Promise<void> {
      for (; !over; await wait(PAUSE)) {
        seen.set(host, await look());
        if (seen.size === hosts.length) return resolve();
        const choice = choose();
        if (choice.kind === 'primary' && succeeds(choice.position)) grace ??= setTimeout(resolve, GRACE);
      }
    }
    for (const one of observers) void follow(one);
    await enough;
    over = true;
    clearTimeout(grace);
    return choose();
  }

  const succeeds = ({ cluster, timeline }: ClusterPosition): boolean =>
    used !== undefined && cluster === used.cluster && timeline > used.timeline;

  async function locate(): Promise<DatabaseHost> {
    const choice = await askAll();
    const host = choice.kind === 'primary' ? hosts.find(({ name }) => name === choice.host) : undefined;
    if (choice.kind === 'none' || host === undefined) {
      const reasons = choice.others.map(({ host, reason }) => `${host}: ${reason}`).join(' ');
      throw new UnusableDatabase(`No host in TESSERA_DATABASE_URL is the primary. ${reasons}`);
    }
    learn(choice.position, host);
    used = choice.position;
    current = host;
    // The connections of the service follow; this one would be one more.
    observers.find((one) => one.host === host)?.close();
    return host;
  }

  async function look(one: (typeof observers)[number]): Promise<void> {
    if (one.host === current) return;
    const sighting = await one.look();
    if (sighting.kind === 'silent') silent.add(one.host);
    else silent.delete(one.host);
    const position = sighting.kind === 'server' ? sighting.position : undefined;
    // Another cluster says nothing about this one.
    if (position !== undefined && position.cluster === known?.cluster) learn(position, one.host);
  }

  async function lookAtOthers(): Promise<void> {
    if (closed) return;
    // One that did not answer before would only hold this up; it is still looked at from time to time.
    await Promise.all(observers.filter(({ host }) => !silent.has(host)).map(look));
  }

  const { sent } = doubt(lookAtOthers);

  return {
    several,
    acceptsLoss,
    url: hosts[0]?.url ?? url,
    async find() {
      const [only] = hosts;
      if (!several && only !== undefined) return only;
      if (current !== undefined) return current;
      search ??= locate().finally(() => {
        const forget = () => {
          search = undefined;
        };
        if (current === undefined) setTimeout(forget, PAUSE).unref();
        else forget();
      });
      return search;
    },
    lost(host) {
      if (current === host) leave();
    },
    accept(client, position) {
      if (position === undefined) {
        if (known !== undefined) throw new UnusableDatabase(`The server ${SECRETIVE}`);
        return;
      }
      if (known !== undefined && position.cluster === known.cluster && position.timeline < known.timeline) {
        throw new UnusableDatabase(`The server ${replaced(position.timeline, known.timeline)}`);
      }
      if (known !== undefined && position.cluster !== known.cluster) {
        throw new UnusableDatabase(`The server ${foreign(position.cluster, known.cluster)}`);
      }
      const host = current;
      learn(position, host);
      current = host;
      used = position;
      positions.set(client, position);
    },
    trusts(client) {
      const position = positions.get(client);
      if (position === undefined || known === undefined) return true;
      return position.cluster === known.cluster && position.timeline === known.timeline;
    },
    // One host alone can only be compared with itself.
    sent: several ? sent : () => () => undefined,
    tellsTimeline: () => known !== undefined,
    onReplaced: (listener) => void events.on('replaced', listener),
    watch() {
      if (several)
        pollers.push(
          ...observers.map((one) =>
            startPoller(
              () => look(one),
              INTERVAL,
              () => {},
            ),
          ),
        );
    },
    survey,
    async close() {
      closed = true;
      const stopped = pollers.map((poller) => poller.stop());
      for (const one of observers) one.close();
      await Promise.all(stopped);
    },
  };
}
