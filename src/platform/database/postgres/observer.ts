import { Socket } from 'node:net';
import { Client } from 'pg';
import { UnusableDatabase } from '../database.ts';
import type { DatabaseHost } from '../server-address.ts';
import type { Sighting } from './rules/primary.ts';
import { askFacts, askPosition, explainConnectionError, unsuitability } from './start.ts';

/** How long a host may take to accept a connection, and to answer everything, in milliseconds. */
const CONNECTING = 2000;
const PATIENCE = 4000;

const LATE = `does not answer within ${PATIENCE / 1000} seconds.`;

/** Looks at one host, on a connection that it keeps. */
export interface Observer {
  look(): Promise<Sighting>;
  close(): void;
}

/** @param application the name of the connection in `pg_stat_activity` */
export function observer({ name, url }: DatabaseHost, application: string): Observer {
  let open: { readonly client: Client; readonly socket: Socket } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function close(): void {
    open?.socket.destroy();
    open = undefined;
  }

  async function connect(): Promise<Client> {
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      application_name: application,
      connectionTimeoutMillis: CONNECTING,
      stream: () => socket,
    });
    open = { client, socket };
    // A connection that breaks is noticed by the next query.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function ask(): Promise<Sighting> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      close();
    }, PATIENCE);
    try {
      const client = open?.client ?? (await connect());
      const facts = await askFacts(client);
      const standby = facts?.replica === true;
      const unsuitable = standby ? undefined : unsuitability(facts);
      return { kind: 'server', host: name, unsuitable, standby, position: await askPosition(client) };
    } catch (error) {
      close();
      return { kind: 'silent', host: name, reason: late ? LATE : reasonOf(explainConnectionError(error)) };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    look() {
      // One after another, and each on what the host is after it was called.
      const sighting = last.then(ask);
      last = sighting;
      return sighting;
    },
    close,
  };
}

const reasonOf = (error: unknown): string => {
  if (error instanceof UnusableDatabase) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  return `does not answer: ${text}.`;
};
