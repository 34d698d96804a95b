import { EventEmitter } from 'node:events';
import type { ClientBase } from 'pg';
import { type Poller, startPoller } from '../../poller.ts';
import { UnusableDatabase } from '../database.ts';
import { type DatabaseHost, readServerAddress } from '../server-address.ts';
import { observer } from './observer.ts';
import { type Choice, type ClusterPosition, choosePrimary, foreign, replaced, type Sighting } from './rules/primary.ts';

/** How often the other hosts are looked at, and for how long a search without result holds, in milliseconds. */
const INTERVAL = 1000;
const PAUSE = 250;

/** What all hosts are, and which of them is the primary. */
export interface Survey {
  readonly sightings: readonly Sighting[];
  readonly choice: Choice;
}

/** Knows which server is the primary, for all connections of a process. */
export interface Primary {
  /** Whether the address has several hosts. */
  readonly several: boolean;
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
  /** Calls back when connections are not trusted any more. */
  onReplaced(listener: () => void): void;
  /** Looks at the other hosts from time to time, so that a promotion is noticed even while the former primary still answers. */
  watch(): void;
  /** Looks at all hosts, for people. */
  survey(): Promise<Survey>;
  close(): Promise<void>;
}

/** @throws {UnusableDatabase} where the address is not valid */
export function openPrimary(url: string, application = 'tessera watch'): Primary {
  const address = readServerAddress(url);
  if ('problem' in address) throw new UnusableDatabase(`The address of the database ${address.problem}.`);
  const { hosts } = address;
  const several = hosts.length > 1;
  const observers = hosts.map((host) => ({ host, ...observer(host, application) }));
  const events = new EventEmitter();
  const positions = new WeakMap<ClientBase, ClusterPosition>();
  const pollers: Poller[] = [];
  /** The newest primary that this process has known. A server on an older timeline was replaced, and is never believed. */
  let known: ClusterPosition | undefined;
  let current: DatabaseHost | undefined;
  let search: Promise<DatabaseHost> | undefined;

  /** Takes note of a newer timeline: connections to the server of an older one are not trusted any more. */
  function learn(position: ClusterPosition): void {
    const newer = known === undefined || position.cluster !== known.cluster || position.timeline > known.timeline;
    if (!newer) return;
    known = position;
    current = undefined;
    events.emit('replaced');
  }

  async function survey(): Promise<Survey> {
    const sightings = await Promise.all(observers.map(({ look }) => look()));
    return { sightings, choice: choosePrimary(sightings, known) };
  }

  async function locate(): Promise<DatabaseHost> {
    const { choice } = await survey();
    const host = choice.kind === 'primary' ? hosts.find(({ name }) => name === choice.host) : undefined;
    if (choice.kind === 'none' || host === undefined) {
      const reasons = choice.others.map(({ host, reason }) => `${host}: ${reason}`).join(' ');
      throw new UnusableDatabase(`No host in TESSERA_DATABASE_URL is the primary. ${reasons}`);
    }
    learn(choice.position);
    current = host;
    // The connections of the service follow; this one would be one more.
    observers.find((one) => one.host === host)?.close();
    return host;
  }

  async function look(one: (typeof observers)[number]): Promise<void> {
    if (one.host === current) return;
    const sighting = await one.look();
    const position = sighting.kind === 'server' ? sighting.position : undefined;
    // Another cluster says nothing about this one.
    if (position !== undefined && position.cluster === known?.cluster) learn(position);
  }

  return {
    several,
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
      if (current === host) current = undefined;
    },
    accept(client, position) {
      if (position === undefined) return;
      if (known !== undefined && position.cluster === known.cluster && position.timeline < known.timeline) {
        throw new UnusableDatabase(`The server ${replaced(position.timeline, known.timeline)}`);
      }
      if (several && known !== undefined && position.cluster !== known.cluster) {
        throw new UnusableDatabase(`The server ${foreign(position.cluster, known.cluster)}`);
      }
      const host = current;
      learn(position);
      current = host;
      positions.set(client, position);
    },
    trusts(client) {
      const position = positions.get(client);
      if (position === undefined || known === undefined) return true;
      return position.cluster === known.cluster && position.timeline === known.timeline;
    },
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
      const stopped = pollers.map((poller) => poller.stop());
      for (const one of observers) one.close();
      await Promise.all(stopped);
    },
  };
}
