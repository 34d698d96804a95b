import { Socket } from 'node:net';
import { Client } from 'pg';
import { UnusableDatabase } from '../database.ts';
import type { DatabaseHost } from '../server-address.ts';
import type { Sighting } from './rules/primary.ts';
import { askFacts, askPosition, explainConnectionError, unsuitability } from './start.ts';

/** How long a host may take to answer, in milliseconds. */
const PATIENCE = 2000;

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
      connectionTimeoutMillis: PATIENCE,
      query_timeout: PATIENCE,
      stream: () => socket,
    });
    open = { client, socket };
    // A connection that breaks is noticed by the next query.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function ask(): Promise<Sighting> {
    try {
      const client = open?.client ?? (await connect());
      const facts = await askFacts(client);
      const standby = facts?.replica === true;
      const unsuitable = standby ? undefined : unsuitability(facts);
      return { kind: 'server', host: name, unsuitable, standby, position: await askPosition(client) };
    } catch (error) {
      close();
      return { kind: 'silent', host: name, reason: reasonOf(explainConnectionError(error)) };
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
