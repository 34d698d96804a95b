import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { type Poller, startPoller } from '../../poller.ts';
import { UnusableDatabase } from '../database.ts';
import { type DatabaseHost, readServerAddress } from '../server-address.ts';
import { observer } from './observer.ts';
import {
  type Choice,
  type ClusterPosition,
  choosePrimary,
  foreign,
  replaced,
  type Sighting,
  TIMELINE_HIDDEN,
} from './rules/primary.ts';
import { createStallCheck, type StallCheck } from './stall-check.ts';

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
  readonly sent: StallCheck['sent'];
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

/** A host, and how to look at it. */
type ObservedHost = ReturnType<typeof observer> & { readonly host: DatabaseHost };

/** @throws {UnusableDatabase} where the address is not valid */
export function openPrimary(
  url: string,
  { application = 'tessera watch', acceptsLoss = false }: PrimaryOptions = {},
): Primary {
  const address = readServerAddress(url);
  if ('problem' in address) throw new UnusableDatabase(`The address of the database ${address.problem}.`);
  return new KnownPrimary(url, address.hosts, application, acceptsLoss);
}

class KnownPrimary implements Primary {
  readonly several: boolean;
  readonly acceptsLoss: boolean;
  readonly url: string;
  readonly sent: StallCheck['sent'];
  readonly #hosts: readonly DatabaseHost[];
  readonly #observers: readonly ObservedHost[];
  readonly #events = new EventEmitter();
  /** Those that did not answer when they were last looked at or used. */
  readonly #silent = new Set<DatabaseHost>();
  readonly #positions = new WeakMap<ClientBase, ClusterPosition>();
  #pollers: readonly Poller[] = [];
  /** The newest primary that this process has known. A server on an older timeline was replaced, and is never believed. */
  #known: ClusterPosition | undefined;
  /** The position of the server that was last used. */
  #used: ClusterPosition | undefined;
  #current: DatabaseHost | undefined;
  #search: Promise<DatabaseHost> | undefined;
  #closed = false;

  constructor(url: string, hosts: readonly DatabaseHost[], application: string, acceptsLoss: boolean) {
    this.url = hosts[0]?.url ?? url;
    this.several = hosts.length > 1;
    this.acceptsLoss = acceptsLoss;
    this.#hosts = hosts;
    this.#observers = hosts.map((host) => ({ host, ...observer(host, application) }));
    // One host alone can only be compared with itself.
    this.sent = this.several ? createStallCheck(() => this.#observeOthers()).sent : () => () => undefined;
  }

  async find(): Promise<DatabaseHost> {
    const [only] = this.#hosts;
    if (!this.several && only !== undefined) return only;
    if (this.#current !== undefined) return this.#current;
    this.#search ??= this.#locate().finally(() => {
      const forget = () => {
        this.#search = undefined;
      };
      if (this.#current === undefined) setTimeout(forget, PAUSE).unref();
      else forget();
    });
    return this.#search;
  }

  lost(host: DatabaseHost): void {
    if (this.#current === host) this.#leave();
  }

  accept(client: ClientBase, position: ClusterPosition | undefined): void {
    const known = this.#known;
    if (position === undefined) {
      if (known !== undefined) throw new UnusableDatabase(`The server ${TIMELINE_HIDDEN}`);
      return;
    }
    if (known !== undefined && position.cluster === known.cluster && position.timeline < known.timeline) {
      throw new UnusableDatabase(`The server ${replaced(position.timeline, known.timeline)}`);
    }
    if (known !== undefined && position.cluster !== known.cluster) {
      throw new UnusableDatabase(`The server ${foreign(position.cluster, known.cluster)}`);
    }
    const host = this.#current;
    this.#learn(position, host);
    this.#current = host;
    this.#used = position;
    this.#positions.set(client, position);
  }

  trusts(client: ClientBase): boolean {
    const known = this.#known;
    const position = this.#positions.get(client);
    if (position === undefined || known === undefined) return true;
    return position.cluster === known.cluster && position.timeline === known.timeline;
  }

  tellsTimeline(): boolean {
    return this.#known !== undefined;
  }

  onReplaced(listener: (by: DatabaseHost | undefined) => void): void {
    this.#events.on('replaced', listener);
  }

  watch(): void {
    if (!this.several) return;
    this.#pollers = this.#observers.map((one) =>
      startPoller(
        () => this.#look(one),
        INTERVAL,
        () => {},
      ),
    );
  }

  async survey(): Promise<Survey> {
    const sightings = await Promise.all(this.#observers.map(({ look }) => look()));
    return { sightings, choice: choosePrimary(sightings, this.#known) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const stopped = this.#pollers.map((poller) => poller.stop());
    for (const one of this.#observers) one.close();
    await Promise.all(stopped);
  }

  /** Looks for the primary again. The one so far is no successor of itself, and must not hold that up. */
  #leave(): void {
    if (this.#current !== undefined) this.#silent.add(this.#current);
    this.#current = undefined;
  }

  /** Takes note of a newer timeline: connections to the server of an older one are not trusted any more. */
  #learn(position: ClusterPosition, host: DatabaseHost | undefined): void {
    const known = this.#known;
    const newer = known === undefined || position.cluster !== known.cluster || position.timeline > known.timeline;
    if (!newer) return;
    this.#known = position;
    this.#leave();
    this.#events.emit('replaced', host);
  }

  /**
   * Asks all hosts until each has answered, and those that have meanwhile again. A host that answers nothing does not hold up a successor
   * of the server that was used.
   */
  async #askAll(): Promise<Choice> {
    const seen = new Map<DatabaseHost, Sighting>();
    const choose = () =>
      choosePrimary(
        this.#hosts.map((host) => seen.get(host) ?? { kind: 'silent', host: host.name, reason: 'does not answer.' }),
        this.#known,
      );
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let over = false;
    let grace: NodeJS.Timeout | undefined;
    const follow = async ({ host, look }: ObservedHost): Promise<void> => {
      for (; !over; await wait(PAUSE)) {
        seen.set(host, await look());
        if (seen.size === this.#hosts.length) return resolve();
        const choice = choose();
        if (choice.kind === 'primary' && this.#succeeds(choice.position)) grace ??= setTimeout(resolve, GRACE);
      }
    };
    for (const one of this.#observers) void follow(one);
    await enough;
    over = true;
    clearTimeout(grace);
    return choose();
  }

  #succeeds({ cluster, timeline }: ClusterPosition): boolean {
    const used = this.#used;
    return used !== undefined && cluster === used.cluster && timeline > used.timeline;
  }

  async #locate(): Promise<DatabaseHost> {
    const choice = await this.#askAll();
    const host = choice.kind === 'primary' ? this.#hosts.find(({ name }) => name === choice.host) : undefined;
    if (choice.kind === 'none' || host === undefined) {
      const reasons = choice.others.map(({ host, reason }) => `${host}: ${reason}`).join(' ');
      throw new UnusableDatabase(`No host in TESSERA_DATABASE_URL is the primary. ${reasons}`);
    }
    this.#learn(choice.position, host);
    this.#used = choice.position;
    this.#current = host;
    // The connections of the service follow; this one would be one more.
    this.#observers.find((one) => one.host === host)?.close();
    return host;
  }

  async #look(one: ObservedHost): Promise<void> {
    if (one.host === this.#current) return;
    const sighting = await one.look();
    if (sighting.kind === 'silent') this.#silent.add(one.host);
    else this.#silent.delete(one.host);
    const position = sighting.kind === 'server' ? sighting.position : undefined;
    // Another cluster says nothing about this one.
    if (position !== undefined && position.cluster === this.#known?.cluster) this.#learn(position, one.host);
  }

  async #observeOthers(): Promise<void> {
    if (this.#closed) return;
    // One that did not answer before would only hold this up; it is still looked at from time to time.
    await Promise.all(this.#observers.filter(({ host }) => !this.#silent.has(host)).map((one) => this.#look(one)));
  }
}
