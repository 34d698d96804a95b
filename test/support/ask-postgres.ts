import { Client } from 'pg';

/** Works on a connection of its own, which is closed afterwards. */
export async function connected<T>(url: URL | string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: String(url) });
  // A server that ends while the connection is open fails the query, too.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Executes one statement on a connection of its own. */
export const ask = <T extends object = Record<string, unknown>>(
  url: URL | string,
  sql: string,
): Promise<readonly T[]> => connected(url, async (client) => (await client.query<T>(sql)).rows);
