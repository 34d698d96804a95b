import type { Pool } from 'pg';
import { StoreUnavailable } from '../database.ts';
import type { NewIndex } from '../migrations/kinds.ts';
import { postgresColumnTypes } from './dialect.ts';
import { translate } from './errors.ts';
import { migrationPool } from './pools.ts';
import type { Primary } from './primary.ts';

/** Builds indexes beside the requests of a service, each on a connection that has time for it. */
export function indexBuilder(primary: Primary) {
  let pool: Pool | undefined;
  let closed = false;
  return {
    /**
     * Builds an index while others read and write its table, unless it is there.
     * @throws {StoreUnavailable} when another process builds it, or the database does not answer
     */
    async build(index: NewIndex): Promise<void> {
      if (closed) throw new StoreUnavailable('the database is closed');
      pool ??= migrationPool(primary);
      const connections = pool;
      try {
        await postgresColumnTypes.indexing?.build(async (text) => (await connections.query(text)).rows, index);
      } catch (error) {
        if (postgresColumnTypes.isContention(error))
          throw new StoreUnavailable('the index is built by another process', { cause: error });
        throw translate(error);
      }
    },
    /** Ends what is being built: the server completes a build whose connection is gone, or leaves an index that is not valid. */
    async close(): Promise<void> {
      closed = true;
      await pool?.end();
    },
  };
}
